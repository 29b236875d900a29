import pytest

from distanon.data.evidence import Evidence
from distanon.errors import SpecError
from distanon.promises.graphs import graph_evidence
from distanon.promises.link_confidence import LinkConfidence


def test_a_table_is_no_graph(dataset):
    evidence = Evidence(dataset({"city": ["a", "a"]}))
    with pytest.raises(SpecError, match=r"promises\.link_confidence: a promise about graphs"):
        graph_evidence(LinkConfidence(at_most=0.5), evidence)
