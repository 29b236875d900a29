"""Bad graphs: a clear error that names file, place and fix, before anything is written."""

from __future__ import annotations

import time

import pytest

from distanon import job as jobs
from distanon.errors import DistanonError, InfeasibleError, InputError, SpecError
from distanon.spec import parse
from distanon.storage import text_blocks

RING = "source,target\n" + "".join(
    f"n{one},n{(one + 1) % 30}\nn{one},n{(one + 7) % 30}\n" for one in range(30)
)
STAR = "source,target\n" + "".join(f"hub,n{one}\n" for one in range(30))
CLIQUE = "source,target\n" + "".join(
    f"n{one},n{other}\n" for one in range(12) for other in range(one)
)

ACCEPTED = "method.unchanged_edges=accept"


def people(job_of) -> str:
    rows = "".join(f"n{one},{'ab'[one % 2]},{job_of(one)}\n" for one in range(30))
    return "node,town,job\n" + rows


@pytest.fixture
def run(tmp_path):
    """Runs a job on a graph, and checks that a refusal has published nothing."""

    def go(edges: str, *settings: str, nodes: str | None = None, is_early: bool = True):
        (tmp_path / "edges.csv").write_text(edges)
        given = f"edges: {tmp_path}/edges.csv"
        if nodes is not None:
            (tmp_path / "nodes.csv").write_text(nodes)
            given += f", nodes: {tmp_path}/nodes.csv"
            given += ", columns: {town: quasi_identifier, job: sensitive}"
        text = f"""
spec: 1
name: bad
seed: 3
input: {{graph: {{{given}}}}}
method: {{name: kmfc_gwo, k: 3, wolves: 2, iterations: 2}}
measure: {{draws: 1}}
output: {tmp_path / "out"}
private: {tmp_path / "private"}
"""
        try:
            return jobs.run_job(parse(text, settings), serial=True)
        except DistanonError:
            assert not (tmp_path / "out").exists(), "something was published"
            if is_early:
                assert not (tmp_path / "private").exists(), "something was written"
            raise

    return go


def refused(error, kind, code, *words):
    assert error.type is kind, error.value
    assert error.value.exit_code == code
    for word in words:
        assert word in str(error.value), str(error.value)


@pytest.mark.parametrize(("edges", "word"), [("", "empty"), ("source,target\n", "empty")])
def test_an_empty_graph_is_refused(run, edges, word):
    with pytest.raises(InputError) as error:
        run(edges)
    refused(error, InputError, 2, "edges.csv", word)


def test_one_edge_joins_too_few_nodes_for_k_3_and_enough_for_2(run):
    with pytest.raises(InfeasibleError) as error:
        run("source,target\na,b\n")
    refused(error, InfeasibleError, 3, "method.k 3", "got 2", "largest k that works is 2")
    assert all(one.kept for one in run("source,target\na,b\n", "method.k=2", ACCEPTED).verdicts)


def test_a_star_needs_a_larger_budget_and_is_told_which(run):
    with pytest.raises(InfeasibleError) as error:
        run(STAR, is_early=False)
    refused(error, InfeasibleError, 3, "method.edit_budget 0.5", "smallest budget that may work")


@pytest.mark.parametrize(
    ("edges", "k"),
    [(CLIQUE, 3), ("source,target\na,b\n", 2), (RING, 3)],
    ids=["clique", "edge", "ring"],
)
@pytest.mark.parametrize("method", ["kmfc_gwo", "degree_anonymization"])
def test_edges_that_no_promise_needs_to_edit_go_out_where_that_is_accepted_alone(
    run, edges, k, method
):
    settings = [f"method={{name: {method}, k: {k}}}"]
    if method == "kmfc_gwo":
        settings = [f"method.k={k}"]
    with pytest.raises(InfeasibleError) as error:
        run(edges, *settings, is_early=False)
    refused(error, InfeasibleError, 3, "method.unchanged_edges", "unchanged_edges: accept")
    result = run(edges, *settings, "method.unchanged_edges=accept")
    assert all(one.kept for one in result.verdicts)
    (kept,) = [one for one in result.measurements if one.name == "topology.edges_kept"]
    assert kept.value == 1.0


def test_two_rows_of_one_node_name_both_and_not_the_node(run):
    with pytest.raises(InputError) as error:
        run(RING, nodes=people(lambda one: "xy"[one % 2]) + "n3,a,y\n")
    refused(error, InputError, 2, "nodes.csv", "row 31", "row 4", "'node'")
    assert "n3" not in str(error.value)


def test_an_edge_to_an_unknown_node_names_its_line(run):
    with pytest.raises(InputError) as error:
        run(RING + "n3,nobody\n", nodes=people(lambda one: "xy"[one % 2]))
    refused(error, InputError, 2, "edges.csv", "line 62", "'target'")
    assert "nobody" not in str(error.value)


def test_missing_attributes_are_a_value(run):
    nodes = people(lambda one: "" if one % 3 else "xy"[one % 2])
    result = run(RING, "method.l=2", ACCEPTED, nodes=nodes)
    assert all(one.kept for one in result.verdicts)


def test_one_sensitive_value_can_not_be_diverse(run):
    with pytest.raises(InfeasibleError) as error:
        run(RING, "method.l=2", nodes=people(lambda _: "x"))
    refused(error, InfeasibleError, 3, "l_diversity", "'job'", "no l works")


def test_k_of_1_is_refused(run):
    with pytest.raises(SpecError) as error:
        run(RING, "method.k=1")
    refused(error, SpecError, 2, "method.k", "2 or more")


def test_k_above_all_nodes_names_the_largest_that_works(run):
    with pytest.raises(InfeasibleError) as error:
        run(RING, "method.k=31")
    refused(error, InfeasibleError, 3, "largest k that works is 30")


def test_t_of_0_with_a_rare_value_names_what_works(run):
    with pytest.raises(InfeasibleError) as error:
        run(RING, "method.t=0", nodes=people(lambda one: "x" if one == 4 else "y"))
    refused(error, InfeasibleError, 3, "t_closeness", "smallest t that works", "smallest k 30")


@pytest.mark.parametrize(
    ("edges", "settings", "words"),
    [
        (RING, ["input.graph.csv={delimiter: ;}"], ["line 1: 1 column", "csv.delimiter"]),
        (RING.replace(",", ";"), ["input.graph.csv={delimiter: ','}"], ["line 1: 1 column"]),
        (RING.replace(",", "|").replace("|", ",", 1), [], ["line 2: 1 cells, expected 2", "','"]),
        (RING + "n1;n2\n", [], ["line 62: 1 cells, expected 2, as the header has", "','"]),
    ],
)
def test_a_wrong_delimiter_names_the_first_bad_line(run, edges, settings, words):
    with pytest.raises(InputError) as error:
        run(edges, *settings)
    refused(error, InputError, 2, "edges.csv", *words)


def test_of_2_gb_with_a_wrong_delimiter_the_head_alone_is_read(run, tmp_path, monkeypatch):
    # Behind the head the file is a hole of zero bytes, which is no text: reading on would say so.
    path, size = tmp_path / "large.csv", 2 << 30
    with path.open("wb") as file:
        file.write(b"source,target\n" + b"n1;n2\n" * 200_000)
        file.truncate(size)
    taken, read = [], text_blocks.read_some

    def counted(stream, most, name):
        piece = read(stream, most, name)
        taken.append(len(piece))
        return piece

    monkeypatch.setattr(text_blocks, "read_some", counted)
    started = time.monotonic()
    with pytest.raises(InputError) as error:
        run(RING, f"input.graph.edges={path}")
    refused(error, InputError, 2, "large.csv, line 2: 1 cells, expected 2", "','")
    assert sum(taken) < 1 << 20
    assert time.monotonic() - started < 10


def test_a_promise_that_needs_no_edit_is_no_release(run):
    with pytest.raises(SpecError) as error:
        run(RING, "method.knowledge=attributes", nodes=people(lambda one: "xy"[one % 2]))
    refused(error, SpecError, 2, "unchanged_edges")


def test_missing_attributes_are_an_error_where_the_spec_says_so(run):
    nodes = people(lambda one: "" if one in (4, 9) else "xy"[one % 2])
    with pytest.raises(InputError) as error:
        run(RING, "input.graph.missing=error", nodes=nodes)
    refused(
        error, InputError, 2, "nodes.csv: column 'job'", "2 missing values", "row 5", "own_category"
    )


def test_an_insensitive_attribute_that_names_people_is_refused(run):
    nodes = people(lambda one: f"work of {one}")
    roles = "input.graph.columns={town: quasi_identifier, job: insensitive}"
    with pytest.raises(InputError) as error:
        run(RING, roles, nodes=nodes)
    refused(error, InputError, 2, "'job'", "names people", "input.graph.confirm_unique")
    run(RING, roles, "input.graph.confirm_unique=[job]", ACCEPTED, nodes=nodes)


def test_nodes_without_attributes_lack_none(run):
    run(RING, "input.graph.missing=error", ACCEPTED)


@pytest.mark.parametrize("method", ["kmfc_gwo", "sangreea", "degree_anonymization"])
def test_bad_attributes_name_the_file_of_the_nodes_whatever_the_method(run, method):
    settings = [f"method={{name: {method}, k: 3}}"] if method != "kmfc_gwo" else []
    settings.append(
        "input.graph.columns={town: quasi_identifier, job: {role: sensitive, type: numeric}}"
    )
    nodes = people(lambda one: "much" if one == 4 else str(one % 3))
    with pytest.raises(InputError) as error:
        run(RING, *settings, nodes=nodes)
    refused(error, InputError, 2, "nodes.csv", "'job'", "row 5")
    assert "much" not in str(error.value)


def test_nan_is_a_missing_number_where_the_type_is_a_number(run):
    columns = "columns={town: quasi_identifier, job: {role: sensitive, type: numeric}}"
    nodes = people(lambda one: "NaN" if one == 4 else str(one % 3))
    marks = "input.graph.csv={missing: [NaN]}"
    with pytest.raises(InputError) as error:
        run(RING, f"input.graph.{columns}", marks, "input.graph.missing=error", nodes=nodes)
    refused(error, InputError, 2, "nodes.csv: column 'job'", "1 missing values", "row 5")
    result = run(RING, f"input.graph.{columns}", marks, "method.l=2", ACCEPTED, nodes=nodes)
    assert all(one.kept for one in result.verdicts)


@pytest.mark.parametrize("method", ["sangreea", "degree_anonymization"])
def test_the_baselines_refuse_what_can_not_be(run, method):
    def asked(**settings):
        return f"method={{name: {method}, {', '.join(f'{k}: {v}' for k, v in settings.items())}}}"

    one_value = people(lambda _: "x")
    with pytest.raises(InfeasibleError) as error:
        run(RING, asked(k=3, l=2), nodes=one_value)
    refused(error, InfeasibleError, 3, "l_diversity", "'job'", "1 different value", "no l works")
    with pytest.raises(InfeasibleError) as error:
        run(RING, asked(k=31))
    refused(error, InfeasibleError, 3, "largest k that works is 30")
    with pytest.raises(SpecError) as error:
        run(RING, asked(k=1))
    refused(error, SpecError, 2, "method.k", "2 or more")
    rare = people(lambda one: "x" if one == 4 else "y")
    found = run(RING + "n1,n3\n", asked(k=3, t=0), nodes=rare)
    assert all(one.kept for one in found.verdicts)
