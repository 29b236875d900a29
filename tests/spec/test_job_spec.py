import pickle
from textwrap import dedent

import pytest
from pydantic import ValidationError

from distanon.errors import SpecError
from distanon.methods import METHODS
from distanon.promises import PROMISES
from distanon.spec import JobSpec, load, parse

SECRET = 918_273_645_546_372

SPEC = """
spec: 1
name: forest-fires
seed: 918273645546372
input:
  table:
    path: builtin:forest-fires
    columns: {area: sensitive}
    default_role: quasi_identifier
method: {name: dptpe, k: 10}
output: out/
"""

NAMES = ", ".join(sorted(METHODS))


def spec_of(*changes):
    return parse(SPEC, changes)


def faults_of(*changes, text=SPEC):
    with pytest.raises(SpecError) as caught:
        parse(dedent(text), changes)
    return caught.value.faults


def test_what_is_not_written_has_the_contracts_defaults():
    spec = spec_of()
    assert spec.input.table.missing == "own_category"
    assert spec.input.control is None
    assert spec.compare == ()
    assert (spec.measure.attacks, spec.measure.draws, spec.measure.budget_s) == (
        "standard",
        10,
        600,
    )
    assert spec.output_format == "parquet"
    assert spec.keep_mapping is False
    assert spec.private is None
    assert spec.runtime.address is None
    assert spec.storage.endpoint_url is None


def test_a_spec_can_not_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        spec_of().output = "elsewhere"


def test_a_method_and_a_compared_method_may_be_a_name_alone():
    assert spec_of("method=rbt").method == METHODS["rbt"]()
    assert spec_of("compare=[rbt, nends]").compare == (METHODS["rbt"](), METHODS["nends"]())


def test_a_compared_variant_of_the_method_takes_what_it_does_not_state():
    spec = spec_of("method.t=1.5", "compare=[{name: dptpe, k: 5}, {name: dptpe, t: 2}]")
    assert [(other.k, other.t) for other in spec.compare] == [(5, 1.5), (10, 2)]
    assert list(spec.comparisons()) == ["dptpe (k: 5)", "dptpe (t: 2.0)"]


def test_labels_of_other_methods_name_what_was_written():
    spec = spec_of("compare=[rbt, {name: nends, variant: tuple}, {name: noise, rms: match}]")
    assert list(spec.comparisons()) == ["rbt", "nends (variant: tuple)", "noise (rms: match)"]


def test_a_run_id_is_the_name_and_a_digest_of_what_is_written():
    run_id = spec_of().run_id
    name, _, digest = run_id.rpartition("-")
    assert name == "forest-fires"
    assert len(digest) == 12
    assert int(digest, 16) >= 0
    assert parse("# a comment\n" + SPEC).run_id == run_id
    assert spec_of("runtime.workers=2").run_id == run_id
    assert spec_of("method.k=10").run_id == run_id
    assert len({spec_of(change).run_id for change in ("method.k=11", "seed=1", "output=o/")}) == 3


def test_private_files_of_a_local_release_go_below_private():
    spec = spec_of()
    assert spec.private_prefix() == f"./private/forest-fires/{spec.run_id}/"
    assert spec.private_prefix("mine") == "./private/forest-fires/mine/"


def test_a_private_prefix_may_hold_the_run_id():
    assert spec_of("private=p/").private_prefix("mine") == "p/"
    assert spec_of("private=p/${RUN_ID}/").private_prefix("mine") == "p/mine/"


def test_the_seed_is_in_no_text_of_a_spec():
    spec = spec_of()
    texts = [repr(spec), str(spec), str(spec.private_dict()), str(spec.public_dict())]
    texts += [spec.model_dump_json(), spec.run_id, repr(spec.seed)]
    assert not any(str(SECRET) in text for text in texts)
    assert spec.resolve_seed() == SECRET


def test_the_seed_is_in_no_fault():
    for changes in (("seed=-918273645546372",), ("seed='918273645546372'", "name=A"), ("k=1",)):
        assert not any(str(SECRET) in fault for fault in faults_of(*changes))
    with pytest.raises(ValidationError) as caught:
        JobSpec(seed=SECRET, name="A")
    assert str(SECRET) not in str(caught.value)


def test_the_private_file_reads_back_to_the_same_spec(tmp_path):
    spec = spec_of(
        "compare=[{name: noise, rms: match}, {name: dptpe, t: 2}]",
        "promises.linkage={at_most: 0.5}",
        "promises.unchanged=null",
        "input.control.fraction=0.1",
        "input.table.columns.day={role: quasi_identifier, order: [mon, tue]}",
    )
    (tmp_path / "spec.yaml").write_text(spec.to_yaml())
    again = load(tmp_path / "spec.yaml")
    assert again == spec
    assert again.run_id == spec.run_id
    assert again.resolve_seed() == SECRET
    assert again.effective_promises() == spec.effective_promises()


def test_a_spec_travels_to_other_processes():
    spec = spec_of("promises.linkage={at_most: 0.5}", "compare=[rbt]")
    again = pickle.loads(pickle.dumps(spec))
    assert again == spec
    assert again.effective_promises() == spec.effective_promises()


def test_promises_are_the_methods_own_changed_by_the_spec():
    unchanged, linkage = PROMISES["unchanged"], PROMISES["linkage"]
    assert spec_of().effective_promises() == ({"unchanged": unchanged(at_most=0)}, [])
    assert spec_of("promises.unchanged.at_most=0.1").effective_promises() == (
        {"unchanged": unchanged(at_most=0.1)},
        [],
    )
    assert spec_of("promises.linkage.at_most=0.5").effective_promises() == (
        {"unchanged": unchanged(at_most=0), "linkage": linkage(at_most=0.5)},
        [],
    )
    assert spec_of("promises.unchanged=null").effective_promises() == ({}, ["unchanged"])
    assert spec_of("method=rbt", "promises.unchanged=null").effective_promises() == ({}, [])


def test_the_public_part_is_method_parameters_and_promises():
    public = spec_of("promises.linkage.at_most=0.5").public_dict()
    assert set(public) == {"method", "promises", "removed_promises"}
    assert public["method"]["name"] == "dptpe"
    assert public["method"]["k"] == 10
    assert public["promises"] == {"unchanged": {"at_most": 0}, "linkage": {"at_most": 0.5}}


def test_the_width_of_influence_is_never_public():
    assert spec_of().public_dict()["method"]["sigma"] == "auto"
    spec = spec_of("method.sigma=0.236")
    assert spec.public_dict()["method"]["sigma"] == "given"
    assert spec.private_dict()["method"]["sigma"] == 0.236


@pytest.mark.parametrize(
    ("path", "seed", "warned"),
    [
        ("builtin:magic", "7", False),
        ("t.csv", "7", True),
        ("t.csv", str(2**64), False),
        ("t.csv", "null", False),
    ],
)
def test_a_seed_that_can_be_guessed_is_warned_of_on_data_of_others(path, seed, warned):
    spec = spec_of(f"input.table.path={path}", f"seed={seed}")
    warning = spec.seed_warning(spec.resolve_seed())
    assert (warning is not None) is warned
    assert warning is None or seed not in warning.replace("2^64", "").replace("128", "")


def test_a_seed_from_outside_is_warned_of_too(monkeypatch):
    monkeypatch.setenv("SEED", "3")
    spec = spec_of("input.table.path=t.csv", "seed=env:SEED")
    assert spec.seed_warning(spec.resolve_seed())


def test_a_sweep_is_read_and_refused_by_a_run():
    spec = spec_of("sweep={method.k: [5, 10]}")
    assert spec.sweep == {"method.k": (5, 10)}
    with pytest.raises(SpecError, match=r"varies method\.k; a sweep is for `distanon submit`"):
        spec.require_single_run()
    spec_of("sweep=null").require_single_run()


def test_paths_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("BUCKET", "s3://b")
    spec = spec_of("output=${BUCKET}/out", "private=${BUCKET}/private/${RUN_ID}")
    assert spec.output == "s3://b/out"
    assert spec.private_prefix("r") == "s3://b/private/r"
    assert "${BUCKET}" not in spec.to_yaml()


def test_all_faults_are_told_at_once():
    assert faults_of(
        text="""
        spec: 2
        name: Forest
        seed: -1
        input:
          table:
            path: builtin:forest-fire
            columns:
              X: quasi_identifer
              Y: {rol: sensitive, type: nominall}
              on: off
            confirm_unique: [2017]
          control: {fraction: 2}
        method: {name: dptpe, kk: 10, k: ten}
        promises: {unchanged: 0, linkage: {at_most: 0.5, to: 1}, unchangd: {}, k_degree: {k: 1}}
        compare: [noisy, {name: rbt, k: 1}, mdaw, {name: dptpe, t: -}]
        measure: {attacks: fast, draws: 0}
        output: s3://bucket/a/
        output_format: csvs
        private: s3://bucket/a/private
        outputs: x
        """
    ) == (
        "spec: found 2; expected 1",
        "name: found 'Forest'; expected text that matches ^[a-z0-9-]{1,63}$",
        (
            "seed: expected null, a whole number from 0 on, env:NAME or file:PATH "
            "(the value is not shown)"
        ),
        (
            "input.table.columns.X: found 'quasi_identifer'; expected 'identifier', 'subject', "
            "'quasi_identifier', 'sensitive' or 'insensitive'; did you mean 'quasi_identifier'?"
        ),
        "input.table.columns.Y.role: missing",
        (
            "input.table.columns.Y.type: found 'nominall'; expected 'numeric', 'ordinal', "
            "'nominal' or 'binary'; did you mean 'nominal'?"
        ),
        "input.table.columns.Y.rol: no such setting; did you mean 'role'?",
        (
            "input.table.columns.on: found 'off'; expected 'identifier', 'subject', "
            "'quasi_identifier', 'sensitive' or 'insensitive'"
        ),
        ("input.table.confirm_unique.0: found 2017; expected text; write it in quotes: '2017'"),
        (
            "input.table.path: no such built-in data set 'forest-fire'; expected adult, "
            "forest-fires, magic, poker-hand; did you mean 'forest-fires'?"
        ),
        "input.control.fraction: found 2; expected 0.5 or less",
        "method.k: found 'ten'; expected a whole number",
        "method.kk: no such setting; did you mean 'k'?",
        "promises.unchanged: expected its parameters, such as {at_most: …}, or null to remove it",
        "promises.linkage.to: no such setting; there are at_most",
        "promises.k_degree.k: found 1; expected 2 or more",
        "promises.unchangd: no such setting; did you mean 'unchanged'?",
        (f"compare.0: no such method 'noisy'; expected {NAMES}; did you mean 'noise'?"),
        "compare.1.k: no such setting; there are " + ", ".join(METHODS["rbt"].model_fields),
        f"compare.2: no such method 'mdaw'; expected {NAMES}; did you mean 'mdav'?",
        "compare.3.t: found '-'; expected a number",
        "measure.attacks: found 'fast'; expected 'standard' or 'full'",
        "measure.draws: found 0; expected 1 or more",
        "output_format: found 'csvs'; expected 'parquet' or 'csv'; did you mean 'csv'?",
        "outputs: no such setting; did you mean 'output'?",
        "private: 's3://bucket/a/private' lies inside the output 's3://bucket/a/', which is public",
    )


def test_credentials_in_a_url_are_not_shown():
    (fault,) = faults_of("private=s3://me:secret@b/out/x", "output=s3://me:secret@b/out")
    assert "secret" not in fault


def test_what_is_missing_is_named():
    assert faults_of(text="spec: 1") == (
        "name: missing",
        "input: missing",
        "method: missing",
        "output: missing",
    )


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (
            "rtb",
            f"no such method 'rtb'; expected {NAMES}; did you mean 'rbt'?",
        ),
        ("{k: 3}", "the method's name is missing"),
        ("3", "expected the name of a method"),
        ("{name: [x]}", "no such method a list"),
    ],
)
def test_a_method_that_is_not_there_is_refused(method, message):
    (fault,) = faults_of(f"method={method}")
    assert fault.startswith(f"method: {message}")


def test_a_missing_environment_is_a_fault_like_any_other(monkeypatch):
    monkeypatch.delenv("DISTANON_DATA", raising=False)
    faults = faults_of("input.table.path=${DISTANON_DATA}/x.csv", "name=A")
    assert len(faults) == 2
    assert faults[1].startswith("input.table.path: the environment has no DISTANON_DATA; set it")


@pytest.mark.parametrize(("sigma", "told"), [("0.236", "given"), ("auto", "auto")])
def test_a_given_sigma_is_not_told_in_public(sigma, told):
    spec = spec_of(f"method.sigma={sigma}")
    assert spec.public_parameters()["sigma"] == told
    assert spec.public_dict()["method"]["sigma"] == told
