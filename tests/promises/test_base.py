import pytest

from distanon.errors import SpecError
from distanon.promises import PROMISES


@pytest.mark.parametrize("name", PROMISES)
def test_a_promise_with_an_odd_parameter_is_a_spec_error_in_our_words(name):
    with pytest.raises(SpecError) as refused:
        PROMISES[name](nonsense=3)
    assert f"{PROMISES[name].__name__}: nonsense: no such setting" in str(refused.value)
    assert "pydantic" not in str(refused.value)
    assert refused.value.__suppress_context__


def test_a_near_match_is_named():
    with pytest.raises(SpecError, match="Linkage: at_mos: no such setting; did you mean 'at_most'"):
        PROMISES["linkage"](at_mos=0.5)
