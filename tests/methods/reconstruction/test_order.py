"""The order of categories and the widths of attributes."""

import numpy as np
import pandas as pd

from distanon.methods.baselines.whole_table import WholeTable
from distanon.methods.reconstruction.confidential import Confidential
from distanon.methods.reconstruction.order import axes_of


def axes(dataset, k, rule="label"):
    table = WholeTable.read(dataset)
    found = axes_of(table.space, table.values, Confidential.of(dataset, 4), k, rule)
    return table, found


def frame_of(job, sick):
    return pd.DataFrame({"job": job, "sick": sick})


def test_categories_stand_in_the_order_of_their_rates(dataset_of):
    job = ["a"] * 20 + ["b"] * 20 + ["c"] * 20
    sick = ["no"] * 10 + ["yes"] * 10 + ["no"] * 20 + ["yes"] * 20
    _, found = axes(dataset_of(frame_of(job, sick)), 5)
    a, b, c, _ = found.places[0].tolist()
    assert (b < a < c) or (c < a < b)


def test_a_rare_categorys_place_does_not_tell_its_label(dataset_of):
    job = ["a"] * 30 + ["b"] * 30 + ["c"] * 2
    places = []
    for label in ("no", "yes"):
        sick = ["no"] * 25 + ["yes"] * 5 + ["yes"] * 28 + ["no"] * 2 + [label] * 2
        places.append(axes(dataset_of(frame_of(job, sick)), 5)[1].places[0].tolist())
    assert places[0] == places[1]


def test_what_tells_more_of_the_label_is_wider(dataset_of):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.random(200), "y": rng.random(200)})
    frame["sick"] = np.where(frame["x"] > 0.5, "yes", "no")
    _, found = axes(dataset_of(frame), 5)
    assert found.widths[0] < found.widths[1] / 2
    _, plain = axes(dataset_of(frame), 5, "range")
    assert np.allclose(plain.widths, 1, atol=0.1)


def test_columns_without_values_or_with_one_have_no_width(dataset_of):
    frame = pd.DataFrame({"x": [None, None, None], "y": ["a"] * 3, "sick": list("nny")})
    _, found = axes(dataset_of(frame.astype({"x": float})), 2)
    assert found.widths.tolist() == [0.0, 0.0]
