"""Tables made to mislead a verifier, beside brute force over Python values.

Each case says which of its cells are the same value; the figures are then counted by hand.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from distanon.data.evidence import Evidence
from distanon.job import audit
from distanon.promises.k_anonymity import KAnonymity
from distanon.promises.l_diversity import LDiversity
from distanon.promises.t_closeness import TCloseness

NAN, DENORMAL = float("nan"), 5e-324
ZONE = pa.timestamp("ns", "Pacific/Apia")


def dictionary(indices, values):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(values))


CASES = {  # a column of quasi-identifiers, and the value that each of its cells is
    "zeros and gaps": (pa.array([0.0, -0.0, None, NAN, DENORMAL, -NAN]), "00gndn"),
    "words for nothing": (pa.array([None, "", "*", "null", "NaN", " "]), "012345"),
    "blanks": (pa.array(["a", "a ", " a", "a\t", "a\u00a0", "A", "a\u200b"]), "0123456"),
    "unicode forms": (pa.array(["\u00e9", "e\u0301", "\u1e9b\u0323", "\u1e69"]), "0123"),
    "digits as text": (pa.array(["1", "1.0", "01", "1e0", "\u0661"]), "01234"),
    "beyond 2^53": (pa.array([2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63 - 2]), "01234"),
    "unsigned": (pa.array([2**64 - 1, 2**63, 2**63 - 1, 2**64 - 2], pa.uint64()), "0123"),
    "decimals": (pa.array([Decimal("1.10"), Decimal("1.1"), Decimal("1.11")]), "001"),
    "dictionary": (dictionary([0, 1, 2, 0, None], ["a", "b", "a", "unused"]), "01002"),
    "null in a dictionary": (dictionary([0, 1, None], ["a", None]), "011"),
    "moments": (pa.array([0, 1, 2**62, None], pa.int64()).cast(ZONE), "0123"),
    "float32": (pa.array([0.1, 0.1 + 1e-9, 0.2, -0.0, 0.0], pa.float32()), "00122"),
    "float16": (pa.array(np.array([0.1, 0.1 + 1e-6, 0.0, -0.0, np.nan], np.float16)), "00112"),
    "truth": (pa.array([True, False, None]), "012"),
    "bytes of text": (pa.array(["x", "x", "y"], pa.large_string()), "001"),
    "views": (pa.array(["x", "x" * 20, "x", None], pa.string_view()), "0102"),
    "nothing": (pa.nulls(3), "000"),
}


def brute(keys, secrets, sources):
    """k, people, l distinct, exp(entropy), (r2 + …) / r1; t equal, t ordered."""
    classes, whole = defaultdict(list), Counter(secrets)
    for key, *row in zip(keys, secrets, sources, strict=True):
        classes[key].append(row)
    line = sorted(secret for secret in whole if secret is not None)
    least, most = [], []
    for rows in classes.values():
        own = Counter(secret for secret, _ in rows)
        gap = {v: Fraction(own[v], len(rows)) - Fraction(whole[v], len(secrets)) for v in whole}
        known = sorted((own[v] for v in line if own[v]), reverse=True) or [1]
        some = bool([v for v in line if own[v]])
        entropy = -sum(n / sum(known) * math.log(n / sum(known)) for n in known)
        people = len({source for _, source in rows})
        least.append(
            (
                len(rows),
                people,
                len(known) * some,
                math.exp(entropy) * some,
                Fraction(sum(known[1:]), known[0]),
            )
        )
        steps = np.cumsum([gap[v] for v in line])[:-1]
        ordered = sum(map(abs, steps)) / Fraction(max(len(line) - 1, 1))
        most.append((sum(map(abs, gap.values())) / 2, ordered))
    return [min(one) for one in zip(*least, strict=True)], [max(o) for o in zip(*most, strict=True)]


def verified(evidence):
    """The same figures, by the promises."""

    def measured(promise, figure):
        return promise.verify(evidence).measured[figure]

    above = measured(LDiversity(l=2, kind="recursive", c=1), "c_above")
    return [
        measured(KAnonymity(k=2, distinct_sources=False), "k"),
        measured(KAnonymity(k=2), "k"),
        measured(LDiversity(l=2), "l"),
        measured(LDiversity(l=2, kind="entropy"), "l"),
        0 if above is None else 1 / above,
    ], [measured(TCloseness(t=1, distance=one), "t") for one in ("equal", "ordered")]


@pytest.mark.parametrize("pieces", [1, 5])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_figures_are_those_of_brute_force(dataset, name, seed, pieces):
    column, same = CASES[name]
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(column), 60)
    others = rng.integers(0, 2, 60)
    secrets = [int(s) for s in rng.choice([2**53, 2**53 + 1, -5, 7], 60)]
    sources = rng.integers(0, 30, 60)
    cells = [column[row] for row in rows]
    table = pa.table({"x": pa.array(cells, column.type), "y": others, "s": secrets})
    release = dataset(table, sensitive=["s"], pieces=pieces)
    found = verified(Evidence(release, sources=sources, replicates=True))
    keys = [(same[row], other) for row, other in zip(rows, others, strict=True)]
    for ours, theirs in zip(found, brute(keys, secrets, sources), strict=True):
        assert ours == pytest.approx([float(one) for one in theirs], rel=1e-11)


@pytest.mark.parametrize("rows", [1, 2, 30])
def test_one_row_and_rows_all_the_same_are_one_class(dataset, rows):
    release = dataset({"x": ["a"] * rows, "s": [4] * rows}, sensitive=["s"])
    least, most = verified(Evidence(release, sources=np.zeros(rows, np.int64), replicates=True))
    assert least == [rows, 1, 1, 1.0, 0]
    assert most == [0, 0]


@pytest.mark.parametrize("seed", range(6))
def test_each_of_several_sensitive_columns_counts_also_beside_the_others(dataset, seed):
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, 3, 80).tolist() for name in ("x", "s", "u", "v")}
    columns["u"] = [None if one == 2 else one for one in columns["u"]]
    table = pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})
    evidence = Evidence(dataset(table, sensitive=["s", "u", "v"]))
    for others in ("unknown", "known"):
        wanted = {}
        for name in ("s", "u", "v"):
            beside = ["x", *(one for one in ("s", "u", "v") if one != name and others == "known")]
            keys = list(zip(*(columns[one] for one in beside), strict=True))
            wanted[name] = brute(keys, columns[name], range(80))[0]
        found = LDiversity(l=2, others=others).verify(evidence).measured
        assert {name: found["columns"][name]["l"] for name in wanted} == {
            name: figures[2] for name, figures in wanted.items()
        }
        assert found["l"] == min(figures[2] for figures in wanted.values())


def test_texts_of_one_number_give_the_same_t_in_any_order_of_the_rows(dataset):
    texts = ["9007199254740993", "9007199254740992", "1", "1.0", "3"] * 6
    classes = [0, 0, 1, 1, 1] * 3 + [0, 1, 1, 0, 1] * 3
    rng, found = np.random.default_rng(2), set()
    for _ in range(8):
        order = rng.permutation(30)
        table = pa.table({"x": np.array(classes)[order], "s": np.array(texts)[order]})
        release = dataset(table, sensitive=["s"], settings={"s": {"type": "numeric"}})
        found.add(TCloseness(t=1, distance="ordered").verify(Evidence(release)).measured["t"])
    assert len(found) == 1


KINDS = {
    "object": lambda values: pd.Series(values, dtype=object),
    "category": lambda values: pd.Series(pd.Categorical(values, ["unused", "b", "a"])),
    "string": lambda values: pd.Series(values, dtype="string"),
    "arrow": lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.dictionary("int8", "string"))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_a_pandas_column_changes_no_figure(kind):
    values = ["a", None, "b", "a", None, "a", "b", None]
    frame = pd.DataFrame({"x": KINDS[kind](values), "s": [1, 2, 1, 2, 1, 1, 2, 2]})
    frame.index = [0] * 8  # labels say nothing
    asked = {"k_anonymity": {"k": 2}, "l_diversity": {"l": 2}}
    found = audit(frame, quasi_identifiers=["x"], sensitive=["s"], promises=asked).verdicts
    assert [one.measured for one in found][1] == {"l": 2}
    assert found[0].measured["k"] == 2
    assert found[0].measured["classes"] == 3


@pytest.mark.parametrize("values", [[1, "1", 1.0, True] * 2, ["a", b"a"] * 4, [[1], [1]] * 4])
def test_a_column_of_mixed_kinds_is_refused_by_name(values):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object), "s": range(8)})
    with pytest.raises(Exception, match="x") as error:
        audit(frame, quasi_identifiers=["x"], sensitive=["s"], promises={"k_anonymity": {"k": 2}})
    assert getattr(error.value, "exit_code", None) == 2
