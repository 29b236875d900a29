from distanon.promises.base import Verdict
from distanon.promises.linkage import Linkage
from distanon.promises.unchanged import Unchanged
from distanon.promises.wording import in_words, refusal


def test_a_refusal_says_what_was_asked_what_was_measured_and_what_would_help():
    promises = {"unchanged": Unchanged(), "linkage": Linkage(at_most=0.5)}
    kept = Verdict("unchanged", {"at_most": 0.0}, {"share": 0.0}, True, "release+private")
    broken = Verdict(
        "linkage", {"at_most": 0.5}, {"rate": 0.81, "upper_limit": 0.9, "rows": None}, False,
        "release+private", "it links 0.81", private={"rows": ["a value of the data"]},
    )  # fmt: skip
    first, second = refusal(promises, [kept, broken]).splitlines()
    assert first == (
        "promises.linkage: asked at_most 0.5; measured rate 0.81, upper_limit 0.9: it links 0.81"
    )
    assert second.startswith("  what would help: a higher at_most")
    assert refusal(promises, [kept, kept]) == ""


def test_parameters_are_told_without_braces_quotes_and_none():
    measured = {"l": None, "k": 3, "share": 0.123456, "kept": True, "columns": {"job": {"l": 2}}}
    assert in_words(measured) == "k 3, share 0.123456, kept yes, columns (job (l 2))"
    assert in_words({"columns": ["a", "b"], "none": ()}) == "columns (a, b), none (–)"
    assert in_words({}) == in_words(None) == in_words({"l": None}) == "–"
