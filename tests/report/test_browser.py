# ruff: noqa: RUF001  minus and multiplication signs are what the report writes
"""The report as Chromium shows it: it asks for nothing, complains of nothing, fits, and shows the right numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest

from netlearn import learn, teachers
from netlearn.report.formula import text_formula
from netlearn.report.importance import sensitivity
from netlearn.report.measures import baselines, has_signal
from netlearn.report.verdict import headline
from tests.report.browser import EXECUTABLE, browser
from tests.report.headlines import EVERY, HEADLINES
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
    headlines = {name: make() for name, make in EVERY.items()}
    long = tuple("a_rather_long_column_name_without_any_space_" + str(index) for index in range(11))
    return headlines | {
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


NAMES = [*EVERY, "learned", "dim V 3", "nasty names", "several outputs", "many outputs", "long names"]


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


SIZES = {"phone": PHONE, "desk": {"width": 1200, "height": 900}}
OPEN = "document.querySelectorAll('details').forEach(d => d.open = true)"
OVERLAPS = """(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), boxes = [];
  while (walker.nextNode()) {
    const node = walker.currentNode, range = document.createRange();
    // Code scrolls inside its box: what is out of sight there lies on nothing.
    if (!node.textContent.trim() || node.parentElement.closest('pre')) continue;
    range.selectNodeContents(node);
    for (const r of range.getClientRects())
      if (r.width > 2 && r.height > 2) boxes.push([node, r.left + 1, r.top + 3, r.right - 1, r.bottom - 3]);
  }
  const found = [];
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [a, l, t, r, b] = boxes[i], [c, L, T, R, B] = boxes[j];
    if (a !== c && l < R && L < r && t < B && T < b) found.push(a.textContent.trim() + ' | ' + c.textContent.trim());
  }
  return JSON.stringify(found);
})()"""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_the_page_fits_and_nothing_is_clipped(page, files, name, size):
    window = SIZES[size]
    page.look(**window)
    page.open(files[name])
    page.evaluate(OPEN)
    width = window["width"]
    assert page.evaluate("window.innerWidth") == width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Figures fit too, their text is large enough to read, and tables and code scroll in boxes of their own.
    extreme = "Math.{}(...[...document.querySelectorAll('{}')].map(e => {}))"
    right = "e.getBoundingClientRect().right"
    for box in ("figure svg", ".scroll", "pre", ".bar", "dd", "li", "h1", "p"):
        assert page.evaluate(f"document.querySelector('{box}') === null") or (
            page.evaluate(extreme.format("max", box, right)) <= width
        )
    scrolls = "getComputedStyle(t.parentElement).overflowX === 'auto'"
    assert page.evaluate(f"[...document.querySelectorAll('table')].every(t => {scrolls})")
    size = "parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getScreenCTM().a"
    assert page.evaluate(extreme.format("min", "figure svg text", size)) > 8.0


@pytest.mark.parametrize("name", HEADLINES)
def test_on_a_phone_only_tables_of_numbers_scroll(page, files, name):
    page.look(**PHONE)
    page.open(files[name])
    page.evaluate(OPEN)
    boxes = "[...document.querySelectorAll('pre, #fit .scroll, #directions .scroll')]"
    assert page.evaluate(f"{boxes}.length") > 0
    assert page.evaluate(f"{boxes}.every(e => e.scrollWidth <= e.clientWidth)")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["recovered", "certified", "useful"])
def test_no_term_of_the_formula_is_broken_and_it_can_be_copied(page, files, results, name, size):
    page.look(**SIZES[size])
    page.open(files[name])
    line = "parseFloat(getComputedStyle(e).lineHeight)"
    terms = (
        "[...document.querySelectorAll('#network p + pre .term')].filter(e => !e.innerText.includes('(t)'))"
    )
    assert page.evaluate(f"{terms}.length") > 8
    assert page.evaluate(f"{terms}.every(e => e.getBoundingClientRect().height < 1.5 * {line})")
    copied = page.evaluate("document.querySelector('#network p + pre').innerText")
    assert copied.startswith("\n".join(text_formula(results[name])) + "\n")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", EVERY)
def test_no_text_lies_on_another(page, files, name, size):
    page.look(**SIZES[size])
    page.open(files[name])
    page.evaluate(OPEN)
    assert json.loads(page.evaluate(OVERLAPS)) == []


def test_text_on_another_would_be_seen(page, tmp_path):
    """Negative control of the test above."""
    path = tmp_path / "bad.html"
    path.write_text("<p>one</p><p style='margin-top: -2.5em'>two</p>")
    page.open(path)
    assert json.loads(page.evaluate(OVERLAPS)) == ["one | two"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_headline_has_a_colour_of_its_own_that_can_be_read(page, files, results, scheme):
    page.look(scheme=scheme)
    seen = {}
    for name in HEADLINES:
        page.open(files[name])
        style = "getComputedStyle(document.querySelector('{}')).{}"
        colour = page.evaluate(style.format(".badge", "color"))
        assert colour == page.evaluate(style.format("#verdict", "borderLeftColor"))
        ground = luminance(page.evaluate(style.format("#verdict", "backgroundColor")))
        ink = luminance(colour)
        assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) > 4.5
        seen[name] = colour
        shown = page.evaluate("document.querySelector('h1').innerText")
        assert shown == headline(results[name]).sentence
    assert len(set(seen.values())) == 4


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", HEADLINES)
def test_the_four_answers_are_on_the_first_screen(page, files, name, size):
    window = SIZES[size]
    page.look(**window)
    page.open(files[name])
    bottom = page.evaluate("document.getElementById('verdict').getBoundingClientRect().bottom")
    assert bottom <= window["height"]
    for key in ("good", "matters", "sure", "next"):
        assert len(page.evaluate(f"document.getElementById('answer-{key}').innerText")) > 20


def test_printing_unfolds_what_is_folded(page, files):
    page.look()
    page.open(files["useful"])
    page.call("Emulation.setEmulatedMedia", media="print")
    try:
        height = "document.getElementById('spectra').getBoundingClientRect().height"
        assert page.evaluate(height) > 200
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    finally:
        page.call("Emulation.setEmulatedMedia", media="")


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
    expected = {
        "n-hidden": result.network.n_hidden,
        "dimension": result.subspace.shape[1],
        "held-out-error": result.certificate.empirical_error,
        "rows": sum(seen.rows.values()),
        "seconds": sum(seen.seconds.values()),
        "certificate-rows": result.certificate.n_val,
        # A page has no number for a bound that nothing proves.
        "error-bound": result.certificate.error_bound
        if np.isfinite(result.certificate.error_bound)
        else None,
        "share": result.certificate.share,
        "departure": seen.departure,
    }
    for one in baselines(result):
        expected[one.key] = one.r2
    found = sensitivity(result) if has_signal(result) else None
    if found is not None:
        expected |= {f"share-{place}": total for place, total in enumerate(found.totals)}
    if result.network.n_outputs > 1:
        expected["n-outputs"] = result.network.n_outputs
    if seen.noise_level is not None:
        expected |= {"noise-level": seen.noise_level, "excess-error": seen.excess_error}
    assert values == pytest.approx(expected, rel=1e-12)
    assert page.evaluate("document.getElementById('verdict').dataset.status") == result.status.name
    # What is shown is the number, rounded.
    for key in ("held-out-error", "seconds", "n-hidden"):
        text = page.evaluate(f"document.getElementById('{key}').textContent")
        assert read(text) == pytest.approx(expected[key], rel=0.06)
    shown = page.evaluate("document.getElementById('sure').textContent")
    share = read(shown.split("at most ")[1].split()[0]) / 100
    assert result.certificate.share <= share <= 1.101 * result.certificate.share
    if expected["error-bound"] is None:
        assert result.certificate.why_no_bound in shown
    else:
        bound = read(shown.split("at most ")[2].split()[0])
        assert expected["error-bound"] <= bound <= 1.0101 * expected["error-bound"]


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
            "getComputedStyle(document.querySelector('#fit svg text')).fill,"
            "getComputedStyle(document.querySelector('#fit svg use')).stroke])"
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
