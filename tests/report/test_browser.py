# ruff: noqa: RUF001  minus and multiplication signs are what the report writes
"""The report as Chromium shows it: it asks for nothing, complains of nothing, fits, and shows the right numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest

from netlearn import learn, teachers
from tests.report.browser import EXECUTABLE, browser
from tests.report.results import CASES, NASTY, in_dimension, made, several_outputs

pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="no Chromium is installed")

PHONE = {"width": 390, "height": 844, "mobile": True}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    target = teachers.hard_plane(4, 12, rng)
    X = rng.standard_normal((4_000, 12))
    long = tuple("a_rather_long_column_name_without_any_space_" + str(index) for index in range(11))
    return {
        "learned": learn(X, target(X), rng=0),
        "dim V 3": in_dimension(3),
        "nasty names": made(teachers.random(3, 4, 0, biases=1.0), names=NASTY, target="<img src=x>"),
        "several outputs": several_outputs(3, names=(*NASTY, "x5"), target=("t" * 300, "<b>", "third")),
        "many outputs": CASES["many outputs"](),
        "long names": replace(made(teachers.random(30, 12, 0)), names=(*long, "z" * 300), target="t" * 300),
    }


@pytest.fixture(scope="module")
def files(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    paths = {name: folder / f"{index}.html" for index, name in enumerate(results)}
    for name, path in paths.items():
        results[name].report(path)
    return paths


NAMES = ["learned", "dim V 3", "nasty names", "several outputs", "many outputs", "long names"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_asked_for_and_nothing_complained_of(page, files, name, scheme):
    page.look(scheme=scheme)
    page.open(files[name])
    assert page.requests() == [files[name].as_uri()]
    assert page.complaints() == []


def test_requests_and_complaints_would_be_seen(page, tmp_path):
    """Negative control of the test above."""
    path = tmp_path / "bad.html"
    path.write_text("<img src='absent.png'><script>console.error('seen'); missing()</script>")
    page.open(path)
    assert (tmp_path / "absent.png").as_uri() in page.requests()
    assert len(page.complaints()) >= 2


@pytest.mark.parametrize("name", NAMES)
def test_the_page_fits_a_phone(page, files, name):
    page.look(**PHONE)
    page.open(files[name])
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("window.innerWidth") == 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # Figures fit too, their text is large enough to read, and tables scroll in boxes of their own.
    extreme = "Math.{}(...[...document.querySelectorAll('{}')].map(e => {}))"
    right = "e.getBoundingClientRect().right"
    assert page.evaluate(extreme.format("max", "figure svg", right)) <= 390
    assert page.evaluate(extreme.format("max", ".scroll", right)) <= 390
    size = "parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getScreenCTM().a"
    assert page.evaluate(extreme.format("min", "figure svg text", size)) > 8.0


def test_the_answer_is_on_the_first_screen(page, files):
    for window in ({"width": 1280, "height": 720}, PHONE):
        page.look(**window)
        page.open(files["learned"])
        bottom = page.evaluate(
            "document.getElementById('certificate-sentence').getBoundingClientRect().bottom"
        )
        assert bottom <= window["height"]


@pytest.mark.parametrize("name", NAMES)
def test_numbers_shown_are_those_of_the_result(page, files, results, name):
    result = results[name]
    page.look()
    page.open(files[name])
    values = json.loads(
        page.evaluate(
            "JSON.stringify(Object.fromEntries([...document.querySelectorAll('[id][data-value]')]"
            ".map(e => [e.id, Number(e.dataset.value)])))"
        )
    )
    seen = result.diagnostics
    bound = result.certificate.error_bound
    expected = {
        "n-hidden": result.network.n_hidden,
        "dimension": result.subspace.shape[1],
        "held-out-error": result.certificate.empirical_error,
        "rows": sum(seen.rows.values()),
        "seconds": sum(seen.seconds.values()),
        "certificate-rows": result.certificate.n_val,
        # A page has no number for a bound that nothing proves.
        "error-bound": bound if np.isfinite(bound) else None,
        "share": result.certificate.share,
        "departure": seen.departure,
    }
    if result.r2 is not None:
        expected["r2"] = result.r2
    if result.network.n_outputs > 1:
        expected["n-outputs"] = result.network.n_outputs
    if seen.noise_level is not None:
        expected |= {"noise-level": seen.noise_level, "excess-error": seen.excess_error}
    assert values == expected
    assert page.evaluate("document.getElementById('status').textContent") == result.status.name
    # What is shown is the number, rounded.
    for key in ("held-out-error", "seconds", "n-hidden"):
        text = page.evaluate(f"document.getElementById('{key}').textContent")
        assert read(text) == pytest.approx(expected[key], rel=0.06)
    shown = page.evaluate("document.getElementById('verdict').textContent")
    share = float(shown.split("at most ")[1].split(" ")[0]) / 100
    assert result.certificate.share <= share <= 1.101 * result.certificate.share
    if expected["error-bound"] is None:
        assert result.certificate.why_no_bound in shown
    else:
        assert bound <= float(shown.split("at most ")[2].split(" ")[0]) <= 1.0101 * bound


def read(text):
    """Read a number as the page writes it."""
    plain = text.replace("−", "-").replace(",", "")
    mantissa, _, power = plain.partition("10") if "⁻" in plain or "×" in plain else (plain, "", "")
    mantissa = mantissa.replace("×", "") or "1"
    return float(mantissa) * 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_figures_stand_out_of_the_ground_in_both_schemes(page, files, scheme):
    page.look(scheme=scheme)
    page.open(files["learned"])
    colours = json.loads(
        page.evaluate(
            "JSON.stringify([getComputedStyle(document.body).backgroundColor,"
            "getComputedStyle(document.querySelector('h2')).color,"
            "getComputedStyle(document.querySelector('dt')).color,"
            "getComputedStyle(document.querySelector('#spectra svg text')).fill,"
            "getComputedStyle(document.querySelector('#spectra svg use')).stroke])"
        )
    )
    ground, *inks = [luminance(colour) for colour in colours]
    assert (ground > 0.5) == (scheme == "light")
    # WCAG's contrast for text.
    assert all((max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) > 4.5 for ink in inks)


def luminance(colour):
    channels = (
        np.array([int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]) / 255
    )
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_names_that_look_like_markup_are_shown_as_they_are(page, files):
    page.look()
    page.open(files["nasty names"])
    text = page.evaluate("document.body.textContent")
    assert all(name in text for name in (*NASTY, "<img src=x>"))
    assert page.evaluate("document.querySelectorAll('img, script').length") == 0
