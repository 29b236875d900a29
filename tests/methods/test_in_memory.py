import numpy as np
import pandas as pd
import pytest

from distanon.data.schema import AttributeType, Role
from distanon.errors import InputError
from distanon.methods.dptpe import DPTPE
from distanon.methods.in_memory import Request, anonymize

ROWS = [["nurse", "care", "*"], ["doctor", "care", "*"], ["cook", "food", "*"]]


def request(quasi_identifiers, **settings):
    parts = {"types": {}, "hierarchies": {}, "promises": {}, "seed": 1, "workers": None} | settings
    return Request({Role.QUASI_IDENTIFIER: quasi_identifiers}, **parts)


def frame(**columns):
    generator = np.random.default_rng(5)
    size = {"size": 30}
    made = {
        "x": generator.integers(0, 50, **size),
        "job": generator.choice([r[0] for r in ROWS], 30),
    }
    return pd.DataFrame(made | columns)


def test_types_are_inferred_and_can_be_declared():
    data = frame(grade=pd.Categorical(["lo", "hi"] * 15, categories=["lo", "hi"], ordered=True))
    schema = anonymize(DPTPE(k=3), data, request(["x", "job", "grade"])).schema
    kinds = [attribute.type for attribute in schema]
    assert kinds == [AttributeType.NUMERIC, AttributeType.NOMINAL, AttributeType.ORDINAL]
    assert schema["grade"].order == ("lo", "hi")
    assert not schema["x"].declared
    declared = request(["x", "job", "grade"], types={"x": "ordinal"})
    assert anonymize(DPTPE(k=3), data, declared).schema["x"].type == AttributeType.ORDINAL


def test_a_hierarchy_makes_a_column_nominal_and_must_know_its_values():
    made = anonymize(DPTPE(k=3), frame(), request(["x", "job"], hierarchies={"job": ROWS}))
    assert made.schema["job"].hierarchy.height == 2
    with pytest.raises(InputError, match="job"):
        anonymize(DPTPE(k=3), frame(), request(["x", "job"], hierarchies={"job": ROWS[:2]}))
    both = request(["x", "job"], hierarchies={"job": ROWS}, types={"job": "ordinal"})
    with pytest.raises(InputError, match="hierarchy is for a nominal"):
        anonymize(DPTPE(k=3), frame(), both)


def test_what_the_user_must_see_is_a_warning():
    with pytest.warns(UserWarning, match="rsn_nominal"):
        anonymize(DPTPE(k=3, rsn_nominal=0), frame(), request(["x", "job"]))


def test_the_reserved_column_name_is_refused():
    with pytest.raises(InputError, match="reserved"):
        anonymize(DPTPE(k=3), frame(__source__=1), request(["x", "job", "__source__"]))


def test_an_empty_frame_is_refused():
    with pytest.raises(InputError, match="holds no records"):
        anonymize(DPTPE(k=3), frame().head(0), request(["x", "job"]))
