import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from distanon.data.schema import AttributeType, Role
from distanon.errors import InputError, SpecError
from distanon.methods.baselines.rbt import RBT
from distanon.methods.dptpe import DPTPE
from distanon.methods.in_memory import Request, anonymize
from distanon.promises.unchanged import Unchanged

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


def test_a_kept_column_that_names_people_is_refused_unless_it_is_confirmed():
    data = frame(token=[f"t{row}" for row in range(30)])
    roles = {"quasi_identifiers": ["x", "job"], "insensitive": ["token"]}
    with pytest.raises(InputError, match=r"'token' is unique for 100% .* list it in confirm_uniq"):
        DPTPE(k=3).anonymize(data, **roles)
    assert DPTPE(k=3).anonymize(data, **roles, confirm_unique=["token"]).data is not None
    with pytest.raises(InputError, match="confirm_unique, got one name"):
        DPTPE(k=3).anonymize(data, **roles, confirm_unique="token")


def test_a_promise_that_these_columns_can_not_keep_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(Unchanged, "faults", lambda self, schema: ["promises.unchanged: can't"])
    monkeypatch.setattr(DPTPE, "release", None)
    with pytest.raises(SpecError, match=r"promises\.unchanged: can't"):
        anonymize(DPTPE(k=3), frame(), request(["x", "job"]))


def test_settings_of_columns_are_those_of_a_spec():
    data = frame(grade=["lo", "mid", "hi"] * 10)
    settings = {
        "x": {"domain_bounds": [10, 40], "decimals": 0},
        "grade": {"order": ["lo", "mid", "hi"]},
    }
    made = anonymize(DPTPE(k=3), data, request(["x", "job", "grade"], columns=settings))
    assert 10 <= made.data["x"].min() <= made.data["x"].max() <= 40
    assert made.schema["grade"].type == AttributeType.ORDINAL
    assert made.schema["grade"].order == ("lo", "mid", "hi")
    capped = anonymize(DPTPE(k=3), data[["x"]], request(["x"], columns={"x": {"top_code": 20}}))
    assert capped.data["x"].max() == 20
    with pytest.raises(InputError, match="no column 'y'"):
        anonymize(DPTPE(k=3), data[["x"]], request(["x"], columns={"y": {"top_code": 20}}))


def test_bounds_that_a_rotation_would_leave_are_refused():
    asked = request(["x", "y"], columns={"x": {"domain_bounds": (0, 60)}})
    data = frame(y=np.arange(30.0))[["x", "y"]]
    with pytest.raises(SpecError, match=r"domain_bounds: rbt moves values out of any bounds"):
        anonymize(RBT(), data, asked)


def test_a_subject_is_dropped_and_counted_as_a_person():
    data = frame(person=[f"p{row // 2}" for row in range(30)])
    made = DPTPE(k=3).anonymize(data, quasi_identifiers=["x", "job"], subject="person")
    assert list(made.data.columns) == ["x", "job"]
    assert made.schema["person"].role == Role.SUBJECT


def test_what_the_user_must_see_is_a_warning():
    with pytest.warns(UserWarning, match="rsn_nominal") as caught:
        anonymize(DPTPE(k=3, rsn_nominal=0), frame(), request(["x", "job"]))
    assert {warning.filename for warning in caught} == {__file__}


def test_the_reserved_column_name_is_refused():
    with pytest.raises(InputError, match="reserved"):
        anonymize(DPTPE(k=3), frame(__source__=1), request(["x", "job", "__source__"]))


def test_an_empty_frame_is_refused():
    with pytest.raises(InputError, match="holds no records"):
        anonymize(DPTPE(k=3), frame().head(0), request(["x", "job"]))


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_ordered_categories_keep_their_order_and_are_anonymized_by_it(kind):
    levels = ["none", "low", "high", "extreme"]  # neither sorted nor all in use
    chosen = np.random.default_rng(4).choice(levels[:3], (2, 60))
    column, other = (pd.Categorical(one, categories=levels, ordered=True) for one in chosen)
    data = pd.DataFrame({"x": np.arange(60), "grade": column, "stage": other})
    given = data if kind == "pandas" else pa.Table.from_pandas(data)
    made = DPTPE(k=5).anonymize(
        given, quasi_identifiers=["x", "grade"], sensitive=["stage"], seed=1, workers=None
    )
    assert made.schema["grade"].order == tuple(levels)
    frame = made.data if kind == "pandas" else made.data.to_pandas()
    for name in ("grade", "stage"):
        assert frame[name].cat.ordered
        assert list(frame[name].cat.categories) == levels[:3]
