"""The Kubernetes manifests, checked offline: KubeRay's definitions made strict, core kinds."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path

import jsonschema
import kubernetes_validate
import pytest
import yaml

ROOT = Path(__file__).parents[2]
KUBERAY = ROOT / "cluster" / "kuberay"


def documents(name):
    return list(yaml.safe_load_all((KUBERAY / name).read_text()))


@cache
def definition(folder, plural):
    file = Path(folder) / "kuberay" / f"ray.io_{plural}.yaml"
    if not file.exists():
        pytest.skip(f"KubeRay's definitions are not in {file.parent}")
    versions = yaml.load(file.read_text(), yaml.CSafeLoader)["spec"]["versions"]
    (schema,) = [one["schema"]["openAPIV3Schema"] for one in versions if one["name"] == "v1"]
    strict(schema)
    return schema


def strict(schema):
    """Refuses unknown keys; lets keys out that have a default; knows int-or-string."""
    if schema.pop("x-kubernetes-int-or-string", False):
        schema.pop("type", None)
        schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    properties = schema.get("properties", {})
    if properties and "additionalProperties" not in schema:
        schema["additionalProperties"] = False
    if "required" in schema:
        schema["required"] = [
            name for name in schema["required"] if "default" not in properties.get(name, {})
        ]
    for part in properties.values():
        strict(part)
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            strict(schema[name])


def check(document, data_folder):
    plural = f"{document['kind'].lower()}s"
    jsonschema.Draft202012Validator(definition(str(data_folder), plural)).validate(document)


@pytest.fixture(params=["raycluster.yaml", "rayjob.yaml"])
def ray(request):
    (document,) = documents(request.param)
    return document


def cluster_of(document):
    spec = document["spec"]
    return spec.get("rayClusterSpec", spec)


def pods(document):
    cluster = cluster_of(document)
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    return [group["template"] for group in groups]


def test_the_manifests_hold_what_kuberay_defines_and_nothing_else(ray, data_folder):
    check(ray, data_folder)


@pytest.mark.parametrize(
    "path",
    [
        ("rayVersion",),
        ("headGroupSpec", "rayStartParams"),
        ("workerGroupSpecs", 0, "minReplicas"),
        ("workerGroupSpecs", 0, "template", "spec", "containers", 0, "image"),
        ("autoscalerOptions", "version"),
    ],
)
def test_a_typo_anywhere_is_found(ray, data_folder, path):
    wrong = copy.deepcopy(ray)
    place = cluster_of(wrong)
    for step in path[:-1]:
        place = place[step]
    place[f"{path[-1]}x"] = place.pop(path[-1])
    with pytest.raises(jsonschema.ValidationError):
        check(wrong, data_folder)


def test_pods_and_access_hold_what_kubernetes_defines(ray):
    for document in documents("access.yaml"):
        kubernetes_validate.validate(document, "1.37", strict=True)
    for number, pod in enumerate(pods(ray)):
        whole = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, **pod}
        whole["metadata"] = {**pod.get("metadata", {}), "name": f"pod-{number}"}
        kubernetes_validate.validate(whole, "1.37", strict=True)


def test_both_clusters_are_one_but_for_the_mounted_spec():
    clusters = [cluster_of(documents(name)[0]) for name in ("raycluster.yaml", "rayjob.yaml")]
    head = clusters[1]["headGroupSpec"]["template"]["spec"]
    assert head["volumes"].pop(0) == {"name": "job", "configMap": {"name": "distanon-job"}}
    assert head["containers"][0]["volumeMounts"].pop()["mountPath"] == "/etc/distanon"
    assert clusters[0] == clusters[1]


def test_every_pod_runs_without_rights_and_with_shared_memory(ray):
    for pod in pods(ray):
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["restartPolicy"] == "Never"  # what the autoscaler's second version needs
        assert spec["terminationGracePeriodSeconds"] > 30  # how long a drained node hands over
        assert spec["serviceAccountName"] == "distanon"
        mounts = {
            mount["mountPath"]: mount["name"] for mount in spec["containers"][0]["volumeMounts"]
        }
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        assert volumes[mounts["/dev/shm"]]["emptyDir"]["medium"] == "Memory"
        for container in spec["containers"]:
            security = container["securityContext"]
            assert security["allowPrivilegeEscalation"] is False
            assert security["capabilities"] == {"drop": ["ALL"]}
            assert not any("valueFrom" in one for one in container.get("env", []))


def test_the_driver_stays_off_spot_and_workers_prefer_it(ray):
    cluster = cluster_of(ray)
    assert cluster["authOptions"]["mode"] == "token"
    assert cluster["autoscalerOptions"]["version"] == "v2"
    head = cluster["headGroupSpec"]
    assert head["rayStartParams"]["num-cpus"] == "0"
    terms = head["template"]["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert terms[0]["matchExpressions"][0]["operator"] == "NotIn"
    spot, fallback = cluster["workerGroupSpecs"]
    assert spot["labels"] == {"ray.io/market-type": "spot"}
    assert spot["template"]["spec"]["tolerations"]
    assert spot["minReplicas"] == fallback["minReplicas"] == 0
    assert spot["maxReplicas"] > fallback["maxReplicas"]


def test_spot_pods_come_first_and_on_demand_ones_where_there_are_no_more(ray, brought):
    workers = {
        group["groupName"]: (
            group["maxReplicas"],
            float(
                group["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"],
            ),
            group.get("priority", 0),
        )
        for group in cluster_of(ray)["workerGroupSpecs"]
    }
    assert brought(workers, 8) == {"spot": 1}
    assert brought(workers, 8 * 18) == {"spot": 16, "on-demand": 2}
    assert brought(workers, 8 * 3, failed=["spot"]) == {"on-demand": 3}


def test_the_pod_that_submits_is_let_through_to_the_dashboard_and_has_no_rights():
    (job,) = documents("rayjob.yaml")
    submitter = job["spec"]["submitterPodTemplate"]
    policy = next(one for one in documents("access.yaml") if one["kind"] == "NetworkPolicy")
    let_in = [
        peer["podSelector"]["matchLabels"]
        for rule in policy["spec"]["ingress"]
        for peer in rule["from"]
        if "podSelector" in peer and {"protocol": "TCP", "port": 8265} in rule.get("ports", [])
    ]
    assert submitter["metadata"]["labels"] in let_in
    whole = {"apiVersion": "v1", "kind": "Pod", **copy.deepcopy(submitter)}
    whole["metadata"]["name"] = "submitter"
    kubernetes_validate.validate(whole, "1.37", strict=True)
    assert submitter["spec"]["automountServiceAccountToken"] is False
    (container,) = submitter["spec"]["containers"]
    head = pods(job)[0]["spec"]["containers"][0]
    assert container["securityContext"] == head["securityContext"]
    assert container["image"] == head["image"]


def test_the_policy_closes_every_pod_of_the_cluster_but_for_what_it_needs(ray):
    policy = next(one for one in documents("access.yaml") if one["kind"] == "NetworkPolicy")["spec"]
    ours = policy["podSelector"]["matchLabels"]
    for pod in pods(ray):
        assert ours.items() <= pod["metadata"]["labels"].items()
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    for rule in policy["ingress"]:
        others = [
            peer for peer in rule["from"] if peer.get("podSelector", {}) != {"matchLabels": ours}
        ]
        assert rule["from"], "a rule without peers lets everybody in"
        assert not others or {port["port"] for port in rule["ports"]} <= {8265, 8080}
    for rule in policy["egress"]:
        assert "to" in rule or {port["port"] for port in rule["ports"]} == {443, 6443}


def test_no_manifest_holds_a_credential_and_the_role_comes_from_the_service_account():
    (account,) = [one for one in documents("access.yaml") if one["kind"] == "ServiceAccount"]
    assert account["metadata"]["annotations"]["eks.amazonaws.com/role-arn"]
    assert account["automountServiceAccountToken"] is False
    for file in KUBERAY.glob("*.yaml"):
        text = file.read_text()
        for word in ("kind: Secret", "AWS_", "secretKeyRef", "AKIA", "password"):
            assert word not in text, f"{word} in {file.name}"


def test_versions_are_those_of_the_lock(ray):
    lock = (ROOT / "requirements.lock").read_text()
    assert f"ray=={cluster_of(ray)['rayVersion']} " in lock.replace("[default]", "")
