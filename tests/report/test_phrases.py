from distanon.data.measurement import Measurement
from distanon.report.phrases import attack, phrase


def test_a_figure_of_a_column_names_it():
    assert phrase("classes.l_distinct.job").startswith("job: different values")
    assert phrase("classes.t.a.b").startswith("a.b: ")
    assert "(journalist)" in phrase("identity.journalist")
    assert phrase("some.other") == ""
    assert phrase("other") == ""


def test_the_highest_rate_is_called_by_the_attack_behind_it():
    highest = Measurement("identity.highest", 0.5, note="the best attack: assignment")
    assert attack(highest) == "assignment"
    assert attack(Measurement("inversion.known_more", 0.5)) == "inversion: known more"
    assert attack(Measurement("identity.release_to_original", 0.5)) == "release to original"
