import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from distanon.cli.program import COMMANDS, app
from distanon.errors import (
    AccessError,
    ClusterError,
    InfeasibleError,
    InputError,
    OutputExistsError,
    PromiseBrokenError,
    ResumeError,
    SpecError,
    StorageError,
)
from distanon.promises import PROMISES
from distanon.storage.leftovers import Removed


def test_help_lists_the_commands_and_shows_an_example(command):
    answer = command("--help")
    assert answer.exit_code == 0
    assert "Example: distanon run" in answer.stdout
    places = [answer.stdout.index(f"│ {name} ") for name in COMMANDS]
    assert places == sorted(places)
    assert {
        command.name or command.callback.__name__ for command in app.registered_commands
    } == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_shows_an_example(command, name):
    answer = command(name, "--help")
    assert answer.exit_code == 0
    assert f"Example: distanon {name}" in answer.stdout


def test_no_command_shows_the_help(command):
    answer = command()
    assert answer.exit_code == 2
    assert "Example: distanon run" in answer.output


def test_the_version_is_shown(command):
    answer = command("--version")
    assert answer.exit_code == 0
    assert answer.stdout.startswith("distanon 0.")


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["runn", "x"], ["run", "x", "--k", "3"], ["schema", "x"], ["audit"]],
)
def test_wrong_usage_exits_with_2_and_names_it_on_stderr(command, arguments):
    answer = command(*arguments)
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert "Usage" in answer.stderr


def test_run_passes_the_spec_and_shows_where_things_are(command, job, spec_file):
    answer = command("run", spec_file, "--quiet")
    assert answer.exit_code == 0, answer.output
    (call,) = job.calls
    assert call.name == "run_job"
    assert call.args[0].name == "a"
    assert (call.kwargs["run_id"], call.kwargs["overwrite"]) == (None, False)
    for shown in ("out/", "private/a/a-1/report.html", "a-1", "0.790", "not measured", "at_most 0"):
        assert shown in answer.stdout
    assert "some.other" not in answer.stdout
    assert answer.stderr == ""


def test_run_takes_changes_an_address_and_a_run_id(command, job, spec_file):
    answer = command(
        "run", spec_file, "--set", "method={name: nends, variant: tuple}", "--set", "name=b",
        "--address", "10.0.0.1:6379", "--overwrite", "--run-id", "mine",
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    (call,) = job.calls
    spec = call.args[0]
    assert (spec.name, spec.method.variant) == ("b", "tuple")
    assert spec.runtime.address == "10.0.0.1:6379"
    assert (call.kwargs["run_id"], call.kwargs["overwrite"]) == ("mine", True)


def test_figures_as_json_hold_no_value_of_the_data(command, job, spec_file):
    answer = command("run", spec_file, "--quiet", "--json")
    assert answer.exit_code == 0
    assert "a value of the data" not in answer.stdout
    found = json.loads(answer.stdout)
    assert found["run_id"] == "a-1"
    assert found["promises"][0]["kept"] is True
    assert [each["value"] for each in found["measurements"]] == [0.83, 0.79, None, 3.0]


def test_compared_methods_are_shown_beside_the_release(command, job, spec_file, figures):
    job.answer.compared = {"rbt": [], "dptpe (rule: krad)": figures}
    answer = command("run", spec_file, "--quiet")
    assert "On the same data" in answer.stdout
    row = next(line for line in answer.stdout.splitlines() if "rule: krad" in line)
    assert "0.830" in row
    found = json.loads(command("run", spec_file, "--quiet", "--json").stdout)["compared"]
    assert found["rbt"] == []
    assert [each["name"] for each in found["dptpe (rule: krad)"]] == [each.name for each in figures]


def test_all_faults_of_a_spec_are_shown_and_nothing_is_started(command, job, spec_file):
    answer = command("run", spec_file, "--set", "nam=x", "--set", "method.kk=3")
    assert answer.exit_code == 2
    assert job.calls == []
    assert answer.stdout == ""
    assert f"{spec_file}: 2 faults:" in answer.stderr
    assert "nam: no such setting; did you mean 'name'?" in answer.stderr
    assert "918273645" not in answer.stderr


def test_a_sweep_is_refused_by_run_and_resume(command, job, spec_file):
    for name in ("run", "resume"):
        answer = command(name, spec_file, "--set", "sweep={method.variant: [attribute, tuple]}")
        assert answer.exit_code == 2
        assert "distanon submit" in answer.stderr
    assert job.calls == []


def test_a_spec_that_is_not_there_exits_with_2(command, job):
    answer = command("run", "nowhere.yaml")
    assert answer.exit_code == 2
    assert "nowhere.yaml" in answer.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SpecError("x: wrong"), 2),
        (InputError("file t.csv, column age, row 17: text, expected number"), 2),
        (AccessError("s3://b: there is no such bucket"), 2),
        (OutputExistsError("out/ holds a release"), 2),
        (ResumeError("nothing to resume"), 2),
        (InfeasibleError("too few records"), 3),
        (PromiseBrokenError("unchanged does not hold"), 3),
        (ClusterError("workers are gone"), 4),
        (StorageError("the disk is full"), 4),
    ],
)
def test_an_expected_failure_is_one_message_with_its_exit_code(
    command, job, spec_file, error, code
):
    job.answer = error
    answer = command("run", spec_file, "--quiet")
    assert answer.exit_code == code
    assert answer.stderr == f"distanon: {error}\n"
    assert answer.stdout == ""


def test_an_interrupted_run_exits_with_130(command, job, spec_file):
    job.answer = KeyboardInterrupt()
    answer = command("run", spec_file, "--quiet")
    assert answer.exit_code == 130
    assert "distanon resume" in answer.stderr


def test_resume_takes_a_spec_or_a_private_prefix(command, job, spec_file):
    assert command("resume", spec_file, "--run-id", "r").exit_code == 0
    assert command("resume", "s3://b/private/a", "--address", "h:1").exit_code == 0
    first, second = job.calls
    assert first.args[0].name == "a"
    assert first.kwargs["run_id"] == "r"
    assert second.args[0] == "s3://b/private/a"
    assert second.kwargs["address"] == "h:1"


def test_settings_of_a_run_that_is_resumed_can_not_change(command, job):
    answer = command("resume", "s3://b/private/a", "--set", "method.k=3")
    assert answer.exit_code == 2
    assert job.calls == []


def test_a_run_id_is_looked_up_among_local_runs(command, job, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job.answer = "report.html"
    run_id = "a-0123456789ab"
    assert command("report", run_id).exit_code == 2
    (tmp_path / "private" / "a" / run_id).mkdir(parents=True)
    (tmp_path / "private" / "b" / "mine").mkdir(parents=True)
    assert command("report", run_id).stdout == "report.html\n"
    assert command("report", "mine").exit_code == 0
    assert [call.args[0] for call in job.calls] == [f"private/a/{run_id}", "private/b/mine"]


def test_clean_says_what_it_removed(command, job):
    job.answer = [Removed("s3://b/p/checkpoint", 3), Removed("s3://b/out/_CLAIM", 1)]
    assert command("clean", "s3://b/p/").stdout == (
        "removed s3://b/p/checkpoint: 3 files\nremoved s3://b/out/_CLAIM: 1 file\n"
    )
    job.answer = []
    assert command("clean", "s3://b/p/").stdout == "nothing to remove\n"
    assert [call.args[0] for call in job.calls] == ["s3://b/p/", "s3://b/p/"]


def test_validate_shows_notes_and_promises_without_running(command, job, spec_file):
    job.answer = ["input.table.columns.x: type numeric, inferred"]
    answer = command("validate", spec_file, "--set", "promises.linkage.at_most=0.5")
    assert answer.exit_code == 0
    assert "inferred" in answer.stdout
    assert 'promises: linkage {"at_most": 0.5}' in answer.stdout
    assert [call.name for call in job.calls] == ["validate"]
    found = json.loads(command("validate", spec_file, "--json").stdout)
    assert found["method"]["name"] == "rbt"
    assert found["notes"] == job.answer


def test_the_schema_is_json_schema(command):
    answer = command("schema")
    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["properties"]["method"]


def test_audit_takes_columns_and_promises(command, job):
    answer = command(
        "audit", "release/", "--original", "t.csv", "--quasi-identifiers", "age, zip",
        "--sensitive", "job", "--promise", "k_anonymity.k=5", "--quiet", "--json",
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    (call,) = job.calls
    assert call.args == ("release/",)
    assert call.kwargs["original"] == "t.csv"
    assert call.kwargs["spec"] is None
    assert call.kwargs["quasi_identifiers"] == ("age", "zip")
    assert call.kwargs["sensitive"] == ("job",)
    assert call.kwargs["promises"] == {"k_anonymity": PROMISES["k_anonymity"](k=5)}
    assert json.loads(answer.stdout)["release"] == "release/"


def test_audit_takes_roles_from_a_spec(command, job, spec_file):
    assert command("audit", "release/", "--spec", spec_file).exit_code == 0
    assert job.calls[0].kwargs["spec"].name == "a"
    both = command("audit", "release/", "--spec", spec_file, "--quasi-identifiers", "a")
    assert both.exit_code == 2


def test_audit_takes_the_run_that_made_the_release_and_another_release(command, job):
    answer = command("audit", "a/", "--private", "s3://b/p/", "--also", "b/", "--quiet")
    assert answer.exit_code == 0, answer.output
    (call,) = job.calls
    assert (call.kwargs["private"], call.kwargs["also"]) == ("s3://b/p/", "b/")
    assert call.kwargs["quasi_identifiers"] == ()


@pytest.mark.parametrize(
    "options",
    [
        ["--quasi-identifiers", ""],
        ["--quasi-identifiers", " , "],
        ["--quasi-identifiers", "a", "--sensitive", ""],
        ["--sensitive", "a"],
    ],
)
def test_an_audit_without_columns_is_refused(command, job, options):
    answer = command("audit", "release/", "--promise", "k_anonymity.k=5", *options)
    assert answer.exit_code == 2
    assert "--quasi-identifiers" in answer.stderr or "--sensitive names no column" in answer.stderr
    assert job.calls == []


def test_of_a_graph_the_knowledge_may_be_all_that_is_named(command, job):
    options = ["--knowledge", "degree", "--sensitive", "job", "--quiet"]
    assert command("audit", "graph/", *options).exit_code == 0
    assert job.calls[0].kwargs["knowledge"] == "degree"
    assert command("audit", "graph/", "--knowledge", "cluster").exit_code == 2


def test_the_audit_of_a_graph_ends_in_the_words_of_graphs(command, job, figures):
    reached = replace(figures[0], name="reached.degree.k", value=3.0)
    job.answer.measurements = [reached]
    told = " ".join(command("audit", "graph/", "--quiet").stdout.split())
    assert "which edges are told apart" in told
    assert "the source of each node" in told
    assert "linkage, stability" not in told
    job.answer.measurements = [reached, replace(reached, name="topology.edges_kept", value=0.9)]
    assert "Not measured" not in command("audit", "graph/", "--quiet").stdout


def test_an_audit_without_roles_leaves_them_to_the_release(command, job):
    assert command("audit", "release/", "--quiet").exit_code == 0
    assert job.calls[0].kwargs["quasi_identifiers"] == ()


def test_audit_exits_with_3_when_a_promise_does_not_hold(command, job, broken):
    job.answer = broken
    answer = command("audit", "release/", "--quasi-identifiers", "a", "--quiet")
    assert answer.exit_code == 3
    assert "25 % of the records" in answer.stdout


def test_audit_fails_closed_where_nothing_or_what_was_asked_can_not_be_verified(
    command, job, asserted
):
    job.answer = asserted
    roles = ("--quasi-identifiers", "a", "--quiet")
    answer = command("audit", "release/", *roles)
    assert answer.exit_code == 3
    assert "needs the originals" in answer.stdout
    assert "no: " not in answer.stdout
    assert "some.other" in answer.stdout
    told = " ".join(answer.stdout.split())
    assert "Not verified: unchanged. Not measured: linkage, stability and change." in told
    assert "That needs the originals and the source of each row" in told
    assert "keep_mapping: true" in told
    told = " ".join(command("audit", "release/", *roles, "--original", "t.csv").stdout.split())
    assert "That needs beside the originals the source of each row" in told
    kept = replace(asserted.verdicts[0], promise="k_anonymity", kept=True, verified_from="release")
    asserted.verdicts.append(kept)
    assert command("audit", "release/", *roles).exit_code == 0
    asked = command("audit", "release/", *roles, "--promise", "unchanged.at_most=0")
    assert asked.exit_code == 3


def python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_the_package_is_a_command_and_its_help_loads_no_heavy_library():
    answer = python("-X", "importtime", "-m", "distanon", "run", "--help")
    assert answer.returncode == 0
    assert "--overwrite" in answer.stdout
    loaded = {line.rpartition("|")[2].strip() for line in answer.stderr.splitlines()}
    assert "typer" in loaded
    assert loaded.isdisjoint(
        {"ray", "s3fs", "pandas", "sklearn", "scipy", "numba", "numpy", "pyarrow", "matplotlib"}
    )


def test_a_real_command_explains_a_wrong_spec_on_stderr(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text("spec: 1\nname: a\nname: b\n")
    answer = python("-m", "distanon", "validate", str(path))
    assert answer.returncode == 2
    assert answer.stdout == ""
    told = "line 3, column 1: the key 'name' stands twice in one mapping"
    assert answer.stderr == f"distanon: {path}: {told}\n"


def test_the_time_at_the_end_counts_from_the_start_of_the_command(command, job, spec_file):
    shown = command("run", spec_file, "--quiet").stdout.splitlines()[-1]
    found = re.fullmatch(r"run      a-1, released after 1\.\d s, (\d+\.\d) s in all", shown)
    assert found
    assert float(found[1]) > 0
