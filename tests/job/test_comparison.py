import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon import job as jobs
from distanon.spec import parse


@pytest.fixture
def graph_spec(tmp_path):
    def make(*settings: str):
        rng = np.random.default_rng(3)
        ends = rng.integers(0, 60, (200, 2))
        ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
        pq.write_table(
            pa.table({"source": ends[:, 0], "target": ends[:, 1]}), tmp_path / "e.parquet"
        )
        return parse(
            f"""
spec: 1
name: x
seed: 20240229000000000000000000000000000001
input: {{graph: {{edges: {tmp_path / "e.parquet"}, source: source, target: target, node: node}}}}
method: {{name: kmfc_gwo, k: 3, wolves: 3, iterations: 1, edit_budget: 9}}
compare: [random_edits]
measure: {{draws: 2}}
output: {tmp_path / "out"}
private: {tmp_path / "private"}
""",
            settings,
        )

    return make


def figures_of(measurements):
    return {one.name: one for one in measurements}


def lost(measurements):
    found = figures_of(measurements)
    edges = found["topology.original.edges"].value
    lost = 1.0 - found["topology.edges_kept"].value + found["topology.edges_added"].value
    return round(lost * edges)


def test_random_edits_are_as_many_as_those_of_the_release(graph_spec):
    result = jobs.run_job(graph_spec(), serial=True)
    assert lost(result.measurements) == lost(result.compared["random_edits"]) > 0


def test_supernodes_have_no_edits_to_match(graph_spec):
    result = jobs.run_job(graph_spec("method.publish=generalize"), serial=True)
    (found,) = result.compared["random_edits"]
    assert found.name == "release.not_made"
    assert "method.loss match" in found.note


def test_compared_supernodes_tell_what_their_clusters_lose(graph_spec):
    others = "compare=[sangreea, {name: kmfc_gwo, publish: generalize}]"
    result = jobs.run_job(graph_spec(others), serial=True)
    supernodes = [figures_of(figures) for figures in result.compared.values()]
    assert len(supernodes) == 2
    for found in supernodes:
        assert 0 < found["topology.nsil"].value < 1
        assert "topology.edges_kept" not in found


@pytest.fixture
def table_spec(tmp_path):
    def make(method: str, *settings: str):
        rng = np.random.default_rng(4)
        age = rng.integers(18, 80, 240)
        job = rng.choice(["clerk", "smith", "cook"], 240)
        table = pa.table(
            {"age": age, "pay": rng.random(240), "job": job, "ill": np.where(age > 50, "y", "n")}
        )
        pq.write_table(table, tmp_path / "table.parquet")
        columns = "{age: quasi_identifier, pay: quasi_identifier, job: quasi_identifier, "
        return parse(
            f"""
spec: 1
name: x
seed: 20240229000000000000000000000000000001
input:
  table: {{path: {tmp_path / "table.parquet"}, columns: {columns} ill: sensitive}}}}
  control: {{fraction: 0.2}}
method: {method}
measure: {{draws: 2}}
output: {tmp_path / "out"}
private: {tmp_path / "private"}
""",
            settings,
        )

    return make


def test_generalized_releases_are_judged_by_every_attack_and_measure(table_spec, tmp_path):
    spec = table_spec(
        "{name: mondrian, k: 8}",
        "promises.linkage.at_most=0.125",
        f"input.population={tmp_path / 'table.parquet'}",
    )
    found = figures_of(jobs.run_job(spec, serial=True).measurements)
    assert not [name for name in found if name.endswith("not_measured")]
    assert 0.0 < found["identity.highest"].ci_high <= 1 / 8
    assert found["identity.k_map"].value >= 8
    assert found["attribute.inference.ill"].value > 0.8
    assert found["classification.random_forest.ill"].value > 0.8
    assert 0.0 < found["generalization.ncp"].value < 1.0


def test_noise_is_turned_back_by_who_knows_the_seed(table_spec):
    full = "{name: noise, rms: 0.05, domain: free, decimals: full}"
    found = figures_of(jobs.run_job(table_spec(full), serial=True).measurements)
    back, released = found["inversion.known_seed"], found["inversion.known_seed_as_released"]
    assert back.value > released.value
    assert found["inversion.known_seed_linked"].value > found["identity.release_to_original"].value
