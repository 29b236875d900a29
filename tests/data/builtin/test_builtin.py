import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distanon.data.builtin import GRAPHS, NAMES, graph_paths_of, path_of

SHAPES = {
    "adult": (32_561, 15),
    "forest-fires": (517, 13),
    "magic": (19_020, 11),
    "poker-hand": (25_010, 11),
}


def test_every_data_set_has_the_shape_of_its_source():
    assert {name: pq.read_table(path_of(name)).shape for name in NAMES} == SHAPES


@pytest.mark.parametrize("name", NAMES)
def test_a_data_set_is_small_and_has_plain_types_and_no_metadata(name):
    assert path_of(name).stat().st_size < 1_000_000
    schema = pq.read_schema(path_of(name))
    assert schema.metadata is None
    assert {str(kind) for kind in schema.types} <= {"int64", "double", "string"}


def test_unknown_values_of_adult_are_missing():
    table = pq.read_table(path_of("adult"))
    missing = {name: table[name].null_count for name in table.column_names}
    assert {name: count for name, count in missing.items() if count} == {
        "workclass": 1_836,
        "occupation": 1_843,
        "native-country": 583,
    }
    text = [name for name in table.column_names if pa.types.is_string(table[name].type)]
    assert not any("?" in set(table[name].to_pylist()) for name in text)


def test_forest_fires_are_as_described():
    area = pq.read_table(path_of("forest-fires"))["area"].to_pylist()
    assert sum(value == 0 for value in area) == 247
    assert max(area) == 1090.84


def test_a_licence_is_named_for_every_data_set():
    text = (path_of("adult").parent / "README.md").read_text()
    assert all(f"`{name}`" in text for name in NAMES)
    assert text.count("CC BY 4.0") >= len(NAMES)


def test_another_name_is_no_data_set():
    with pytest.raises(KeyError):
        path_of("../builtin/adult")


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_is_two_small_files_of_plain_types_with_its_licence(name):
    for path in graph_paths_of(name):
        assert path.stat().st_size < 1_000_000
        schema = pq.read_schema(path)
        assert schema.metadata is None
        assert {str(kind) for kind in schema.types} == {"int64"}
    assert "MIT License" in (graph_paths_of(name)[0].parent / "LICENSE").read_text()
    assert f"`{name}`" in (path_of("adult").parent / "README.md").read_text()


def test_lastfm_asia_is_as_described():
    edges, nodes = (pq.read_table(path) for path in graph_paths_of("lastfm-asia"))
    assert (edges.shape, nodes.shape) == ((27_806, 2), (7_624, 2))
    assert len(set(nodes["target"].to_pylist())) == 18


def test_a_table_is_no_graph():
    with pytest.raises(KeyError):
        graph_paths_of("magic")
