import pytest

from distanon.errors import SpecError
from distanon.promises import PROMISES
from distanon.promises.asking import asked_promises


def test_a_mapping_is_a_promise_and_none_takes_one_away():
    k = PROMISES["k_anonymity"](k=5)
    asked = {"k_anonymity": {"k": 5}, "l_diversity": PROMISES["l_diversity"](l=2), "linkage": None}
    found = asked_promises(asked)
    assert found == {"k_anonymity": k, "l_diversity": asked["l_diversity"], "linkage": None}


def test_all_faults_are_told_with_their_places_and_near_matches():
    with pytest.raises(SpecError) as refused:
        asked_promises(
            {"k_anonimity": {"k": 5}, "k_anonymity": {"kk": 5}, "t_closeness": 0.2, "linkage": {}}
        )
    names = ", ".join(sorted(PROMISES))
    settings = ", ".join(PROMISES["t_closeness"].model_fields)
    assert list(refused.value.faults) == [
        f"promises: no such promise 'k_anonimity'; expected {names}; did you mean 'k_anonymity'?",
        "promises.k_anonymity.k: missing",
        "promises.k_anonymity.kk: no such setting; did you mean 'k'?",
        f"promises.t_closeness: expected a mapping of its parameters: {settings}",
        "promises.linkage.at_most: missing",
    ]


def test_a_promise_under_the_name_of_another_is_refused():
    with pytest.raises(SpecError, match=r"promises\.linkage: expected a mapping"):
        asked_promises({"linkage": PROMISES["k_anonymity"](k=5)})
