"""The report shows what was measured, and the public one only what it may."""

from __future__ import annotations

import html.parser
import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from distanon.data.measurement import Measurement
from distanon.report import Subject, Summary, render


def measured(name, value, **more):
    return Measurement(name, value, **more)


@pytest.fixture
def summary():
    figures = [
        measured("identity.release_to_original", 0.7912, ci_low=0.75, ci_high=0.83, goal="lower"),
        measured("identity.original_to_release", 0.95, ci_low=0.93, ci_high=0.97, goal="lower"),
        measured("neighborhoods.stability_owner", 0.7234, goal="higher"),
        measured("neighborhoods.stability_analyst", 0.7251, goal="higher"),
        measured("clustering.kmeans_f", 0.94, goal="higher"),
        measured("change.mean_absolute.temp <°C>", 0.0123, goal="lower"),
        measured("change.mean_absolute.price $a$", 0.0456, goal="lower"),
        measured("change.private_range", 987.125, unit="column unit", is_public=False),
        measured("clustering.dbscan_f", float("nan"), note="no cluster was found"),
    ]
    noise = [
        measured("identity.release_to_original", 0.97, goal="lower"),
        measured("neighborhoods.stability_owner", 0.71, goal="higher"),
    ]
    return Summary(
        name="forest-fires",
        method={"name": "dptpe", "parameters": {"k": 10, "ties": "include", "sigma": 0.5147}},
        limits="most records stay nearest to themselves",
        records=517,
        columns=[
            {"name": "temp <°C>", "role": "quasi_identifier", "type": "numeric", "published": True},
            {"name": "ssn", "role": "identifier", "type": "nominal", "published": False},
        ],
        certificate=[
            {
                "promise": "unchanged",
                "asked": {"at_most": 0},
                "measured": {"share": 0.0},
                "kept": True,
                "verified_from": "release+private",
                "reason": "",
            }
        ],
        removed=[],
        counts={"records": 517, "dispersed": 210, "kept_nominal": "<10"},
        subjects=[
            Subject("dptpe", {figure.name: figure for figure in figures}),
            Subject("noise", {figure.name: figure for figure in noise}),
        ],
        public_parameters={"k": 10, "ties": "include", "sigma": "given"},
        private={"sigma": 0.2361234, "notes": ["one record makes most of a mean"]},
        versions={"distanon": "0.1.0", "numpy": "2.4.6"},
    )


def text_of(page):
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def test_the_private_report_shows_certificate_figures_and_comparison(summary):
    page = render(summary, public=False)
    text = text_of(page)
    assert "Every promise was kept" in text
    assert text.count("0.791") >= 2  # on a card and in the table, with the same digits
    assert "0.7912" not in text
    assert "noise" in text
    assert "987.125" in text
    assert "not measured" in text
    assert "no cluster was found" in text
    assert page.count("<svg ") == 5


def test_the_strongest_attacks_lead_the_page_and_every_bar_is_explained(summary):
    figures = [
        measured("identity.highest", 0.993, goal="lower", note="the best attack: assignment"),
        measured("inversion.known_sample", 0.4, goal="lower"),
        measured("inversion.known_more", 0.876, goal="lower"),
        measured("identity.journalist", 1.0, goal="lower"),
        *summary.release.measurements.values(),
    ]
    release = Subject("dptpe", {figure.name: figure for figure in figures})
    page = render(replace(summary, subjects=[release, *summary.subjects[1:]]), public=False)
    cards = text_of(page.partition('id="key-figures"')[2].partition("</section>")[0])
    assert re.search(r"0\.993\s+found by the strongest identity attack", cards)
    assert re.search(r"0\.876\s+values turned back", cards)
    assert "0.400" not in cards
    assert "(assignment)" in page.partition("Protection against usefulness")[2]
    assert "<dt>journalist</dt><dd>risk of the person easiest to find" in page


def test_it_is_said_that_sensitive_columns_are_published_as_they_are(summary):
    told = "Sensitive columns are published as they are"
    assert told not in render(summary, public=False)
    ill = {"name": "ill", "role": "sensitive", "type": "nominal", "published": True}
    for public in (True, False):
        assert told in render(replace(summary, columns=[*summary.columns, ill]), public=public)


def test_the_public_report_holds_nothing_that_is_private(summary):
    page = render(summary, public=True)
    text = text_of(page)
    for secret in (
        "0.5147",
        "987.1",
        "0.236",
        "ssn",
        "noise",
        "makes most of a mean",
        "0.7912",
        "0.7234",
    ):
        assert secret not in text
    assert "0.79" in text
    assert page.count("<svg ") >= 3


def test_no_chart_of_the_public_report_draws_more_than_two_digits(summary):
    rounded = {
        name: replace(
            figure,
            value=round(figure.value, 2),
            ci_low=None if figure.ci_low is None else round(figure.ci_low, 2),
            ci_high=None if figure.ci_high is None else round(figure.ci_high, 2),
        )
        for name, figure in summary.release.measurements.items()
    }
    told = replace(summary, subjects=[Subject("dptpe", rounded), *summary.subjects[1:]])
    assert render(summary, public=True) == render(told, public=True)
    assert render(summary, public=False) != render(told, public=False)


@pytest.mark.parametrize(
    ("n", "told"), [(517, 517), (507, 507), (508, None), (516, None), (10, 10), (9, None)]
)
def test_a_number_of_records_that_tells_a_small_group_is_not_public(summary, n, told):
    figure = measured("change.mean_absolute.a", 0.5, n=n)
    shown = replace(summary, subjects=[Subject("dptpe", {figure.name: figure})]).public()
    assert shown.release.measurements[figure.name].n == told


def test_the_same_figures_give_the_same_bytes(summary):
    assert render(summary, public=False) == render(summary, public=False)


def test_names_of_columns_are_escaped_and_never_read_as_formulas(summary):
    page = render(summary, public=False)
    assert "temp <°C>" not in page
    assert "temp &lt;°C&gt;" in page
    assert "price $a$" in text_of(page)


def test_a_broken_promise_leads_the_page(summary):
    broken = [dict(summary.certificate[0], kept=False, reason="class 3 has 4 records")]
    page = render(
        Summary(
            **{name: getattr(summary, name) for name in summary.__slots__} | {"certificate": broken}
        ),
        public=False,
    )
    assert "A promise does not hold" in page
    assert "class 3 has 4 records" in page


def test_without_promises_and_figures_the_page_says_so(summary):
    bare = Summary(
        **{name: getattr(summary, name) for name in summary.__slots__}
        | {
            "certificate": [],
            "subjects": [Subject("noise", {})],
            "counts": {},
            "removed": ["unchanged"],
        }
    )
    text = text_of(render(bare, public=True))
    assert "Nothing was promised" in text
    assert "“unchanged” was removed" in text
    assert "No attack was run" in text


def test_the_page_loads_nothing(summary):
    page = render(summary, public=False)
    links = []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            values = dict(attrs)
            assert tag not in {"script", "iframe", "link", "object", "img"}, tag
            links.extend(
                value
                for name in ("src", "href", "xlink:href")
                if (value := values.get(name)) and not value.startswith("#")
            )

    Reader().feed(page)
    assert links == []
    assert "url(http" not in page


@pytest.mark.browser
def test_a_browser_draws_every_chart_and_table_inside_the_page(summary, tmp_path):
    others = [
        Subject(f"reconstruction (variant: {kind}, k: 10)", summary.subjects[1].measurements)
        for kind in ("plain", "nominal", "half", "double", "triple", "whole")
    ]
    summary = replace(summary, subjects=[*summary.subjects, *others])
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    probe = (
        "<script>addEventListener('load', () => {"
        "const drawings = [...document.querySelectorAll('figure svg')];"
        "const boxes = drawings.map(drawing => drawing.getBoundingClientRect());"
        "const inside = boxes.every(b => b.width > 300 && b.height > 60 && b.right <= innerWidth);"
        "const overflow = document.documentElement.scrollWidth > innerWidth;"
        "const tables = [...document.querySelectorAll('.scroll')];"
        "const wide = tables.filter(t => t.scrollWidth > t.clientWidth).length;"
        "const drawn = `charts ${boxes.length} inside ${inside}`;"
        "document.title = `${drawn} overflow ${overflow} wide ${wide}`;"
        "})</script>"
    )
    page = tmp_path / "report.html"
    # The page forbids scripts; the probe needs one, so this copy is freed of its policy.
    text = re.sub(
        r"<meta http-equiv=.Content-Security-Policy.[^>]*>", "", render(summary, public=False)
    )
    page.write_text(text.replace("</body>", probe + "</body>"))
    dom = subprocess.run(
        [
            chromium,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=1000,1400",
            "--virtual-time-budget=4000",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    assert "<title>charts 5 inside true overflow false wide 0</title>" in dom


def test_counts_have_no_digits_and_shares_do(summary):
    figures = {
        "reached.degree.k": measured("reached.degree.k", 10.0, unit="1"),
        "classes.unique_rows": measured("classes.unique_rows", 1.0),
    }
    fields = {name: getattr(summary, name) for name in summary.__slots__}
    page = render(Summary(**fields | {"subjects": [Subject("kmfc_gwo", figures)]}), public=False)
    cells = re.findall(r'<td class="n">([^<]*)</td>', page)
    assert "10" in cells
    assert "1.000" in cells
