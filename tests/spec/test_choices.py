import pytest
from pydantic import TypeAdapter, ValidationError

from distanon.methods import METHODS
from distanon.promises import PROMISES
from distanon.spec.choices import MethodChoice, PromiseChoices

METHODS_OF_THE_FORMAT = {
    "dptpe", "kmfc_gwo", "kfcfa", "reconstruction", "rbt", "nends", "noise", "mondrian", "mdav",
    "decision_tree_leaves", "random_edits", "degree_anonymization", "sangreea",
}  # fmt: skip
PROMISES_OF_THE_FORMAT = {
    "k_anonymity", "l_diversity", "t_closeness", "unchanged", "linkage", "beta_likeness",
    "delta_disclosure", "alpha_k", "k_degree", "link_confidence",
    "copies",
}  # fmt: skip


def test_every_name_of_the_format_is_known_and_no_other():
    assert set(METHODS) == METHODS_OF_THE_FORMAT
    assert set(PROMISES) == PROMISES_OF_THE_FORMAT


def test_the_registry_names_each_method_and_promise_as_it_names_itself():
    assert {name: method.model_fields["name"].default for name, method in METHODS.items()} == {
        name: name for name in METHODS
    }
    assert all(promise.name == name for name, promise in PROMISES.items())


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_read_by_name_from_mapping_and_from_itself(name):
    choice = TypeAdapter(MethodChoice)
    method = choice.validate_python(name)
    assert type(method) is METHODS[name]
    assert choice.validate_python({"name": name}) == method
    assert choice.validate_python(method) is method
    assert choice.validate_python(choice.dump_python(method)) == method


def test_what_a_method_can_be_asked_for_is_a_promise():
    assert all(method.keeps <= set(PROMISES) for method in METHODS.values())
    for method in METHODS.values():
        assert set(method().default_promises()) <= method.keeps


def test_promises_that_are_no_mapping_are_refused():
    with pytest.raises(ValidationError, match="instance of"):
        TypeAdapter(PromiseChoices).validate_python(["unchanged"])


def test_a_promise_may_be_given_as_itself():
    asked = PROMISES["unchanged"](at_most=0.5)
    assert TypeAdapter(PromiseChoices).validate_python({"unchanged": asked}).asked == {
        "unchanged": asked
    }
