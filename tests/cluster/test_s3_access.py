"""What is handed out for S3: documents that S3 understands, and that grant what they say.

The documents are tried on a real S3 server, by identities that have nothing but them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import botocore.loaders
import botocore.model
import botocore.session
import botocore.validate
import pytest
from botocore.exceptions import ClientError

FOLDER = Path(__file__).parents[2] / "cluster" / "s3"
ROLES = ("writer", "reader", "auditor")
PLACES = {
    "REPLACE-INPUT": "input",
    "REPLACE-DATA": "people",
    "REPLACE-RELEASES": "releases",
    "REPLACE-PRIVATE": "private",
    "REPLACE-JOB": "shop",
}
OPERATIONS = {
    "s3:GetObject": "GetObject",
    "s3:PutObject": "PutObject",
    "s3:DeleteObject": "DeleteObject",
    "s3:AbortMultipartUpload": "AbortMultipartUpload",
    "s3:ListMultipartUploadParts": "ListParts",
    "s3:ListBucket": "ListObjectsV2",
    "s3:ListBucketMultipartUploads": "ListMultipartUploads",
}
"""What an action of a policy permits; a misspelt one would permit nothing, in silence."""
LISTS = {"s3:ListBucket", "s3:ListBucketMultipartUploads"}
WRITES = {"s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"}
SPEC = """
spec: 1
name: shop
seed: 5
input:
  table:
    path: s3://input/people/*.parquet
    columns: {name: identifier, age: quasi_identifier, income: quasi_identifier, sick: sensitive}
method: {name: mondrian, k: 5}
measure: {draws: 1}
output: s3://releases/shop/
private: s3://private/shop/run/
"""


def document(name, *, filled=False):
    text = (FOLDER / f"{name}.json").read_text()
    for old, new in PLACES.items() if filled else ():
        text = text.replace(old, new)
    return json.loads(text)


def granted(role):
    """Pairs of an action and a resource."""
    return {
        (action, resource)
        for one in document(role)["Statement"]
        for action in one["Action"]
        for resource in one["Resource"]
    }


@pytest.fixture(scope="session")
def s3_model():
    service = botocore.loaders.Loader().load_service_model("s3", "service-2")
    return botocore.model.ServiceModel(service, "s3")


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_granted_known_actions_on_named_prefixes_and_nothing_else(role, s3_model):
    for one in document(role)["Statement"]:
        assert set(one) <= {"Sid", "Effect", "Action", "Resource", "Condition"}
        assert one["Effect"] == "Allow"
        for action in one["Action"]:
            assert OPERATIONS[action] in s3_model.operation_names
        listing = {action.startswith("s3:ListBucket") for action in one["Action"]}
        assert len(listing) == 1, "listing is granted on buckets, the rest on what is in them"
        for resource in one["Resource"]:
            bucket, _, key = resource.removeprefix("arn:aws:s3:::").partition("/")
            assert "*" not in bucket
            assert bucket
            assert (key == "") == (listing == {True})
            # Below a prefix, or the prefix itself, which clients ask for as an object.
            assert key == "" or (key.removesuffix("/*") and "*" not in key.removesuffix("/*"))
            assert key.endswith("/*") or set(one["Action"]) <= {"s3:GetObject", *LISTS}


def test_readers_see_the_release_alone_and_nobody_but_the_job_writes():
    assert {resource for _, resource in granted("reader")} == {
        "arn:aws:s3:::REPLACE-RELEASES",
        "arn:aws:s3:::REPLACE-RELEASES/REPLACE-JOB",
        "arn:aws:s3:::REPLACE-RELEASES/REPLACE-JOB/*",
    }
    (listing,) = [
        one for one in document("reader")["Statement"] if "s3:ListBucket" in one["Action"]
    ]
    assert listing["Condition"] == {
        "StringLike": {"s3:prefix": ["REPLACE-JOB", "REPLACE-JOB/*"]},
    }
    assert granted("reader") < granted("auditor") < granted("writer")
    assert not {action for action, _ in granted("auditor")} & WRITES
    changed = {resource for action, resource in granted("writer") if action in WRITES}
    assert not any("INPUT" in resource for resource in changed)


@pytest.mark.parametrize("name", ["lifecycle-private", "lifecycle-releases"])
def test_lifecycles_are_what_s3_takes_and_end_abandoned_uploads(name, s3_model):
    shape = s3_model.operation_model("PutBucketLifecycleConfiguration").input_shape
    rules = document(name)
    validator = botocore.validate.ParamValidator()
    asked = {"Bucket": "bucket", "LifecycleConfiguration": rules}
    assert not validator.validate(asked, shape).generate_report()
    wrong = json.loads(json.dumps(asked).replace("DaysAfterInitiation", "DaysAfterInitation"))
    assert "DaysAfterInitation" in validator.validate(wrong, shape).generate_report()
    everywhere = [rule for rule in rules["Rules"] if rule["Filter"] == {"Prefix": ""}]
    assert any("AbortIncompleteMultipartUpload" in rule for rule in everywhere)
    assert all(rule["Status"] == "Enabled" for rule in rules["Rules"])


def test_private_runs_expire_and_releases_do_not():
    private = document("lifecycle-private")["Rules"]
    assert [rule["Filter"]["Prefix"] for rule in private if "Expiration" in rule] == [
        "REPLACE-JOB/"
    ]
    assert not any("Expiration" in rule for rule in document("lifecycle-releases")["Rules"])


def test_the_private_bucket_refuses_whoever_comes_without_tls():
    (one,) = document("transport")["Statement"]
    assert (one["Effect"], one["Principal"], one["Action"]) == ("Deny", "*", ["s3:*"])
    assert one["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert one["Resource"] == ["arn:aws:s3:::REPLACE-PRIVATE", "arn:aws:s3:::REPLACE-PRIVATE/*"]


# --- On a real server ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(s3_module):
    """An S3 server whose identities have these documents and no other right."""
    others = tuple(
        s3_module.Identity(f"{role}-policy", (), json.dumps(document(role, filled=True)))
        for role in ROLES
    )
    with s3_module.S3Server(others=others) as standing:
        for bucket in ("input", "releases", "private"):
            standing.bucket(bucket)
        yield standing


def client(server, role):
    (who,) = [one for one in server._identities if one.name in {role, f"{role}-policy"}][-1:]
    return botocore.session.get_session().create_client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=who.key,
        aws_secret_access_key=who.secret,
        region_name="us-east-1",
    )


RUN = """
import sys
from distanon import job
from distanon.errors import DistanonError
from distanon.spec import load
try:
    job.run_job(load(sys.argv[1]), serial=True)
except DistanonError as error:
    sys.stderr.write(str(error))
    sys.exit(error.exit_code)
"""
"""`distanon run` without Ray."""


def run(server, role, *command):
    (who,) = [one for one in server._identities if one.name == f"{role}-policy"]
    return subprocess.run(
        [sys.executable, *command],
        check=False,
        capture_output=True,
        text=True,
        timeout=200,
        env=os.environ | server.environment(who),
    )


@pytest.fixture(scope="module")
def published(server, tmp_path_factory):
    """A release made by the writer; other jobs' files stand beside it."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(2)
    table = pa.table(
        {
            "name": [f"person-{number}" for number in range(200)],
            "age": draw.integers(18, 80, 200),
            "income": np.round(draw.lognormal(8, 0.3, 200), 2),
            "sick": draw.random(200) < 0.3,
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    admin = client(server, "admin")
    admin.put_object(Bucket="input", Key="people/a.parquet", Body=sink.getvalue().to_pybytes())
    for bucket in ("input", "releases", "private"):
        admin.put_object(Bucket=bucket, Key="shop2/theirs", Body=b"of another job")
    spec = tmp_path_factory.mktemp("access") / "shop.yaml"
    spec.write_text(SPEC)
    done = run(server, "writer", "-c", RUN, str(spec))
    assert done.returncode == 0, done.stderr
    return spec


def outcome(call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return "done"


def keys(server, bucket, prefix):
    found = client(server, "admin").list_objects_v2(Bucket=bucket, Prefix=prefix)
    return [entry["Key"] for entry in found.get("Contents", [])]


@pytest.mark.s3
def test_the_writer_makes_a_release_with_these_rights_and_leaves_nothing_unfinished(
    server, published
):
    assert "shop/_SUCCESS" in keys(server, "releases", "shop/")
    assert "private/shop/run/staging" not in " ".join(keys(server, "private", "shop/"))
    assert published.exists()


@pytest.mark.s3
@pytest.mark.parametrize("role", ROLES)
def test_what_each_role_may_read_write_and_list(server, published, role):
    asked = client(server, role)
    reads = {
        (bucket, key): outcome(asked.get_object, Bucket=bucket, Key=key)
        for bucket, key in (
            ("releases", "shop/release.json"),
            ("private", "shop/run/run.json"),
            ("input", "people/a.parquet"),
            ("releases", "shop2/theirs"),
            ("private", "shop2/theirs"),
        )
    }
    lists = {
        (bucket, prefix): outcome(asked.list_objects_v2, Bucket=bucket, Prefix=prefix)
        for bucket, prefix in (
            ("releases", "shop/"),
            ("private", "shop/"),
            ("input", "people/"),
            ("releases", ""),
            ("private", "shop2/"),
        )
    }
    may = 1 if role == "reader" else 3
    assert list(reads.values()) == ["done"] * may + ["AccessDenied"] * (5 - may)
    # S3 says 403 instead of 404 to whoever may not list, so job and auditor list whole buckets.
    named = 1 if role == "reader" else 5
    assert list(lists.values()) == ["done"] * named + ["AccessDenied"] * (5 - named)
    writes = {
        bucket: outcome(asked.put_object, Bucket=bucket, Key=key, Body=b"?")
        for bucket, key in (
            ("releases", "shop/stray"),
            ("private", "shop/stray"),
            ("input", "people/stray"),
        )
    }
    removals = [
        outcome(asked.delete_object, Bucket=bucket, Key="shop/stray")
        for bucket in ("releases", "private")
    ]
    removals.append(outcome(asked.delete_object, Bucket="input", Key="people/a.parquet"))
    expected = ["done", "done"] if role == "writer" else ["AccessDenied", "AccessDenied"]
    assert list(writes.values()) == [*expected, "AccessDenied"]
    assert removals == [*expected, "AccessDenied"]
    assert outcome(asked.put_object, Bucket="releases", Key="shop2/x", Body=b"") == "AccessDenied"
    assert outcome(asked.delete_object, Bucket="private", Key="shop2/theirs") == "AccessDenied"


@pytest.mark.s3
def test_the_auditor_checks_a_release_and_whoever_has_too_few_rights_is_told_so(server, published):
    audit = ("-m", "distanon", "audit", "s3://releases/shop/", "--spec", str(published))
    checked = run(server, "auditor", *audit)
    assert checked.returncode == 0, checked.stderr
    told = run(server, "reader", *audit)
    assert told.returncode == 2
    assert "no permission to" in told.stderr
    refused = run(server, "auditor", "-c", RUN, str(published))
    assert refused.returncode == 2, refused.stderr
    assert not {"shop/stray", "shop/_CLAIM"} & set(keys(server, "releases", "shop/"))
