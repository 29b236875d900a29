import json
import pickle

import pytest

from distanon.errors import AccessError, InputError, SpecError
from distanon.promises import PROMISES
from distanon.spec import load, parse, parse_promises

SPEC = {
    "spec": 1,
    "name": "a",
    "input": {"table": {"path": "builtin:magic", "default_role": "quasi_identifier"}},
    "method": {"name": "rbt"},
    "output": "out",
}


def test_json_and_yaml_files_are_the_same_spec(tmp_path):
    as_json = tmp_path / "spec.json"
    as_yaml = tmp_path / "spec.yaml"
    as_json.write_text(json.dumps(SPEC, indent="\t"))
    as_yaml.write_text(json.dumps(SPEC))
    assert load(as_json) == load(str(as_yaml)) == parse(json.dumps(SPEC))


def test_a_byte_order_mark_does_no_harm(tmp_path):
    (tmp_path / "spec.yaml").write_text(json.dumps(SPEC), encoding="utf-8-sig")
    assert load(tmp_path / "spec.yaml").name == "a"


def test_a_file_url_is_read(tmp_path):
    (tmp_path / "spec.yaml").write_text(json.dumps(SPEC))
    assert load(f"file://{tmp_path}/spec.yaml").name == "a"


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(AccessError, match=r"nowhere\.yaml"):
        load(tmp_path / "nowhere.yaml")


def test_faults_name_the_file_as_it_was_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text("spec: 1\nname: [\n")
    with pytest.raises(SpecError, match=r"^job\.yaml: line 3, column 1: this") as refused:
        load("job.yaml")
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    (tmp_path / "job.yaml").write_text("spec: 1\nnam: x\n")
    with pytest.raises(SpecError) as refused:
        load("job.yaml")
    assert all(line.startswith("job.yaml: ") for line in str(refused.value).splitlines())
    assert not any(fault.startswith("job.yaml") for fault in refused.value.faults)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "spec.yaml").write_bytes(b"\xff\xff\xff")
    with pytest.raises(InputError, match="UTF-8"):
        load(tmp_path / "spec.yaml")


def test_promises_are_read_from_assignments():
    assert parse_promises(["k_anonymity.k=5", "unchanged={at_most: 0.5}"]) == {
        "k_anonymity": PROMISES["k_anonymity"](k=5),
        "unchanged": PROMISES["unchanged"](at_most=0.5),
    }
    assert parse_promises([]) == {}


def test_all_faults_of_assigned_promises_are_told():
    with pytest.raises(SpecError) as caught:
        parse_promises(["k_anonimity.k=5", "unchanged.at_most=x", "k_degree.k=1"])
    assert caught.value.faults == (
        "--promise unchanged.at_most: found 'x'; expected a number",
        "--promise k_degree.k: found 1; expected 2 or more",
        "--promise k_anonimity: no such setting; did you mean 'k_anonymity'?",
    )
    with pytest.raises(SpecError, match="--promise k_anonymity: expected PATH=VALUE"):
        parse_promises(["k_anonymity"])
