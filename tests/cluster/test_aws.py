"""The EC2 configuration: valid to Ray's autoscaler and to the EC2 API, secure by what it says."""

from __future__ import annotations

import copy
import json
import re
from importlib.util import find_spec
from pathlib import Path

import botocore.loaders
import botocore.model
import botocore.validate
import pytest
import yaml

CONFIG = Path(__file__).parents[2] / "cluster" / "aws.yaml"
HEAD = CONFIG.with_name("aws-head.json")
CHANGES = {"ec2:CreateTags", "ec2:StartInstances", "ec2:StopInstances", "ec2:TerminateInstances"}


@pytest.fixture
def config():
    return yaml.safe_load(CONFIG.read_text())


@pytest.fixture(scope="session")
def run_instances():
    service = botocore.loaders.Loader().load_service_model("ec2", "service-2")
    model = botocore.model.ServiceModel(service, "ec2")
    return model.operation_model("RunInstances").input_shape


def faults(node, shape):
    """What EC2 would refuse; `SubnetIds` is the autoscaler's own, it takes one of them."""
    asked = {name: value for name, value in node.items() if name != "SubnetIds"}
    asked |= {"MinCount": 1, "MaxCount": 1}
    return botocore.validate.ParamValidator().validate(asked, shape).generate_report()


def checked(config):
    from ray.autoscaler._private.util import prepare_config, validate_config

    validate_config(prepare_config(copy.deepcopy(config)))


def test_the_autoscaler_takes_it(config):
    checked(config)


def test_the_autoscaler_refuses_a_misspelt_part(config):
    config["idle_timeout_minuts"] = config.pop("idle_timeout_minutes")
    with pytest.raises(Exception, match="idle_timeout_minuts"):
        checked(config)


def test_ec2_takes_every_node(config, run_instances):
    for node in config["available_node_types"].values():
        assert not faults(node["node_config"], run_instances)


def test_ec2_refuses_a_misspelt_setting(config, run_instances):
    node = config["available_node_types"]["worker.spot"]["node_config"]
    node["InstanceMarketOption"] = node.pop("InstanceMarketOptions")
    assert "InstanceMarketOption" in faults(node, run_instances)


def test_nodes_have_a_role_no_key_an_encrypted_disk_and_the_safe_metadata_service(config):
    text = CONFIG.read_text()
    assert not any(word in text for word in ("aws_secret", "AKIA", "KeyName", "ssh_private_key"))
    assert config["provider"]["use_internal_ips"] is True
    for node in config["available_node_types"].values():
        settings = node["node_config"]
        assert settings["IamInstanceProfile"]["Name"]
        assert settings["MetadataOptions"] == {
            "HttpTokens": "required",
            "HttpPutResponseHopLimit": 2,
        }
        assert all(disk["Ebs"]["Encrypted"] for disk in settings["BlockDeviceMappings"])


def test_the_head_takes_no_items_and_workers_are_spot_before_on_demand(config):
    nodes = config["available_node_types"]
    assert nodes[config["head_node_type"]]["resources"] == {"CPU": 0}
    assert "InstanceMarketOptions" not in nodes["head"]["node_config"]
    spot, fallback = nodes["worker.spot"], nodes["worker.on-demand"]
    assert spot["node_config"]["InstanceMarketOptions"]["MarketType"] == "spot"
    assert "InstanceMarketOptions" not in fallback["node_config"]
    assert spot["max_workers"] > fallback["max_workers"]
    assert config["max_workers"] == spot["max_workers"] + fallback["max_workers"]
    assert spot["min_workers"] == fallback["min_workers"] == 0


def test_spot_nodes_come_first_and_on_demand_ones_where_there_are_no_more(config, brought):
    workers = {
        name: (node["max_workers"], node["resources"]["CPU"], node.get("priority", 0))
        for name, node in config["available_node_types"].items()
        if name != "head"
    }
    assert brought(workers, 8) == {"worker.spot": 1}
    assert brought(workers, 8 * 18) == {"worker.spot": 16, "worker.on-demand": 2}
    assert brought(workers, 8 * 3, failed=["worker.spot"]) == {"worker.on-demand": 3}


def test_the_cluster_asks_for_a_token_and_the_dashboard_stays_on_the_head(config):
    assert any("RAY_AUTH_MODE=token" in option for option in config["docker"]["run_options"])
    head = " ".join(config["head_start_ray_commands"])
    assert "--dashboard-host=127.0.0.1" in head


@pytest.fixture
def statements():
    return json.loads(HEAD.read_text())["Statement"]


def allowed(statements):
    return {action for statement in statements for action in statement["Action"]}


def called_by_the_autoscaler():
    """The operations of EC2 that Ray's node provider names in its source."""
    source = Path(find_spec("ray.autoscaler._private.aws.node_provider").origin).read_text()
    named = set(re.findall(r"\b(?:client|ec2|ec2_fail_fast)\.([a-z]+_[a-z_]+)", source))
    named |= {"describe_instances" for _ in re.findall(r"ec2\.instances\.filter", source)}
    called = {name.title().replace("_", "") for name in named}
    return {f"ec2:{name}".replace("CreateInstances", "RunInstances") for name in called}


def test_the_head_may_do_what_the_autoscaler_does_and_pass_on_one_role(statements):
    called = called_by_the_autoscaler()
    assert {"ec2:RunInstances", "ec2:TerminateInstances", "ec2:DescribeInstances"} <= called
    assert allowed(statements) == called | {"iam:PassRole"}


def test_the_rights_of_the_head_are_operations_that_exist(statements):
    for service in ("ec2", "iam"):
        model = botocore.loaders.Loader().load_service_model(service, "service-2")
        own = {name for name in allowed(statements) if name.startswith(f"{service}:")}
        missing = {name for name in own if name.split(":")[1] not in model["operations"]}
        assert missing <= {"iam:PassRole"}  # a right without an operation


def test_the_head_launches_and_ends_nodes_of_this_cluster_alone(config, statements):
    name = config["cluster_name"]
    bound = {f"aws:{of}/ray-cluster-name": name for of in ("RequestTag", "ResourceTag")} | {
        "ec2:CreateAction": "RunInstances"
    }
    for statement in statements:
        actions, resources = set(statement["Action"]), statement["Resource"]
        conditions = statement.get("Condition", {}).get("StringEquals", {})
        if actions & CHANGES or any("instance/" in one for one in resources):
            assert conditions
            assert all(bound[key] == value for key, value in conditions.items())
        assert "*" not in resources or all(":Describe" in action for action in actions)
        assert not any("*" in action for action in actions)
    workers = [n for kind, n in config["available_node_types"].items() if kind != "head"]
    (passed,) = (s["Resource"] for s in statements if s["Action"] == ["iam:PassRole"])
    roles = {node["node_config"]["IamInstanceProfile"]["Name"] for node in workers}
    assert {one.rpartition("/")[2] for one in passed} == roles
    head = config["available_node_types"]["head"]["node_config"]
    assert head["IamInstanceProfile"]["Name"] not in roles
