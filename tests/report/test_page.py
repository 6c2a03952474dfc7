import math
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest

from netlearn import paper, teachers
from netlearn.cli import main
from netlearn.errors import MissingExtraError
from netlearn.network import ShallowNetwork
from netlearn.report.directions import leading_directions
from netlearn.report.importance import sensitivity
from netlearn.report.page import page_html
from netlearn.report.section import Code
from netlearn.report.terms import Terms
from netlearn.report.verdict import headline
from netlearn.report.words import number, share_text
from netlearn.result import Diagnostics, HeldOut, Status
from netlearn.words import missed_epsilon, rounded_up
from tests.report.results import CASES, NASTY, in_dimension, made

INTERPRETED = {"matters", "effects", "directions", "network", "spectra", "convergence", "units"}
"""Sections that would tell what chance has made where nothing was found."""
ORDER = (
    "verdict outputs good fit matters effects directions network sure next technical run spectra convergence units "
    "parameters reproduce"
).split()
HOUSE_WORDS = re.compile(
    r"\b(probes?|V|polish\w*|bend\w*|bent|melt\w*|rooms?|corridor|judg\w*|aside|sleeps?|grain|twins?)\b"
)
# Elements that HTML does not close.
VOID = {"meta", "link", "br", "img"}


class Reader(HTMLParser):
    """Elements, ids, texts and numbers of a page; a tag that is closed wrongly is an error."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.ids, self.references, self.texts = [], [], [], [], []
        self.numbers, self.attributes = {}, []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        self.attributes.append((tag, attributes))
        if "id" in attributes:
            self.ids.append(attributes["id"])
            if "data-value" in attributes:
                self.numbers[attributes["id"]] = float(attributes["data-value"])
        for key, value in attributes.items():
            if key in ("href", "clip-path") and value and "#" in value:
                self.references.append(value.removeprefix("url(").removesuffix(")").removeprefix("#"))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(self.texts)


def sections_of(page):
    return [attributes["id"] for tag, attributes in page.attributes if tag == "section"]


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_result_has_a_whole_page_in_order(name):
    result = CASES[name]()
    page = Reader(page_html(result))
    found = sections_of(page)
    assert found == [section for section in ORDER if section in found]
    assert {"verdict", "good", "sure", "next", "technical", "run", "reproduce"} <= set(found)
    assert ("matters" in found) == ("network" in found) == (INTERPRETED & set(found) != set())
    assert ("outputs" in found) == (result.network is not None and result.network.n_outputs > 1)
    assert len(page.ids) == len(set(page.ids))
    assert set(page.references) <= set(page.ids)
    assert not any(math.isnan(value) for value in page.numbers.values())
    assert not HOUSE_WORDS.search(page.text)


def test_house_words_would_be_seen():
    for text in ("two probes", "the span V of", "after the polish", "points melt", "judging"):
        assert HOUSE_WORDS.search(text)
    assert not HOUSE_WORDS.search("mushrooms; Verdict; lambda")


@pytest.mark.parametrize("status", Status)
def test_every_status_has_its_headline_on_the_first_screen_and_its_message(status):
    bare = replace(CASES["k = 0"](), status=status, message="", held_out=None, diagnostics=Diagnostics())
    page = page_html(bare)
    first = page[: page.index("</header>")]
    found = headline(bare)
    assert f'class="card {found.kind}" data-status="{status.name}"' in first
    text = " ".join(Reader(page).text.split())
    assert found.short in text
    assert found.sentence in text
    assert status.value in text
    told = page_html(replace(bare, message="What this run has to say."))
    assert "What this run has to say." in told


def test_where_nothing_was_found_nothing_is_interpreted():
    names = ("alpha", "beta", "gamma")
    page = Reader(page_html(replace(CASES["nothing found but noise"](), names=names)))
    assert not INTERPRETED & set(sections_of(page))
    assert "Nothing found" in page.text
    body = page.text[: page.text.index("Technical details")]
    assert not any(name in body for name in names)
    # The same network would be told about, had it found something.
    told = Reader(
        page_html(replace(CASES["nothing found but noise"](), names=names, status=Status.NOISE_LIMITED))
    )
    assert all(name in told.text for name in names)


def test_a_network_without_units_says_that_a_linear_model_is_enough():
    text = Reader(page_html(CASES["k = 0"]())).text
    assert text.count("a linear model is enough") == 2  # at the top, and of the network
    assert "linear model" not in Reader(page_html(in_dimension(2))).text


def test_a_missed_epsilon_is_on_the_first_screen():
    result = in_dimension(2)
    note = missed_epsilon(0.1, 0.25, "")
    page = page_html(replace(result, diagnostics=replace(result.diagnostics, notes=(note,))))
    assert "is not certified: the bound is 0.25, 2.5 times as large." in page[: page.index("</header>")]
    assert "not certified" not in page_html(result)


def section(result, key):
    """Words of a section without those inside it, each white space one plain space."""
    page = page_html(result)
    body = page[page.index(f'<section id="{key}">') :]
    return " ".join(Reader(body[: body.index("</section>") + len("</section>")]).text.split())


SHAPE = "a clearly lopsided or two-humped shape means that something is missing"


def test_the_shape_of_the_residuals_means_something_only_where_it_does():
    result = in_dimension(2)
    shown = {status: section(replace(result, status=status, message=""), "fit") for status in Status}
    assert f"{SHAPE}. With 200 rows, gaps and small bumps are chance." in shown[Status.NOISE_LIMITED]
    for status in (Status.RECOVERED, Status.REPRODUCED):
        assert "what is left, y minus prediction: it is rounding." in shown[status]
    assert "what is left, y minus prediction." in shown[Status.NO_SIGNAL]
    assert [status for status in Status if SHAPE in shown[status]] == [
        Status.CERTIFIED,
        Status.NOISE_LIMITED,
        Status.NOT_A_SMALL_NETWORK,
        Status.TOO_FEW_ROWS,
        Status.OUT_OF_TIME,
    ]


def test_a_value_below_zero_is_explained_and_has_a_mark():
    result = in_dimension(2)
    below, above = (
        page_html(replace(result, score=replace(result.score, r2_mean=r2))) for r2 in (-0.003, 0.0)
    )
    explained = "The mean is that of the rows learned from, so on other rows it can fall slightly below 0."
    assert explained in below
    assert explained not in above
    bar = re.search(r'<span class="fill" style="([^"]*)"></span></span><span[^>]*id="r2-mean"', below)[1]
    assert bar == "width: 0.00%"
    assert re.search(r"\.fill \{[^}]*min-width: 3px", below)  # no track looks empty


def test_the_column_that_is_predicted_is_named_at_the_top_and_in_sentences():
    page = page_html(replace(in_dimension(2), target="price"))
    text = " ".join(Reader(page).text.split())
    assert (
        "netlearn report on price (the target; its values are the labels), predicted from 8 features" in text
    )
    for words in ("R² is the share of the variation of price", "spread of price (standard", "by their price"):
        assert words in text
    assert "(the targets; their values are the labels)" in page_html(CASES["several outputs"]())


def test_what_next_has_commands_that_run_and_says_what_to_look_for(tmp_path, monkeypatch, capsys):
    result = replace(in_dimension(2), names=tuple("abcdefgh"), target="price")
    text = section(result, "next")
    lines = (
        "netlearn predict model.safetensors new.csv --out predictions.csv",
        "netlearn recheck model.safetensors fresh.csv",
    )
    monkeypatch.chdir(tmp_path)
    result.save("model.safetensors")
    rows = np.random.default_rng(1).standard_normal((150, 9))
    header = ",".join([*result.names, "price"])
    np.savetxt("fresh.csv", rows, delimiter=",", header=header, comments="")
    np.savetxt("new.csv", rows[:, :8], delimiter=",", header=header.removesuffix(",price"), comments="")
    for line in lines:
        assert line in text
        monkeypatch.setattr(sys, "argv", line.split())
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
    assert "on the 150 rows of fresh.csv" in capsys.readouterr().out
    predicted = np.loadtxt("predictions.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(predicted, result.network(rows[:, :8]))
    assert "result.predict(X)" in text
    error = number(result.certificate.empirical_error)
    assert f"rows in which price is known, and look at the error: if it is clearly above the {error}" in text
    assert "For recheck, " not in section(replace(result, certificate=None), "next")
    assert "netlearn predict model" not in section(CASES["nothing found but noise"](), "next")


def test_a_bound_is_put_beside_the_spread_and_the_errors_seen():
    result = in_dimension(2)
    own = result.certificate
    spread = float(np.std(result.held_out.y))
    assert own.empirical_error < spread
    said = [
        section(replace(result, certificate=replace(own, error_bound=bound)), "sure")
        for bound in (1.01 * spread, 0.99 * spread, 0.5 * (own.empirical_error + own.tolerance))
    ]
    assert f"larger than the spread of y ({number(spread)}), so it says nothing" in said[0]
    assert "larger than any error seen: a proved limit also covers" in said[1]
    assert "larger than the typical error seen" in said[2]
    assert all("rely on the first statement, which needs none of them" in text for text in said)
    assert all("At most 2 times as steep means: " in text for text in said)
    steep = replace(own, basis=replace(own.basis, target_lipschitz=50.0))
    assert "No steeper than 50 means: " in section(replace(result, certificate=steep), "sure")
    assert "as steep" not in section(CASES["no L2 bound"](), "sure")


def test_shares_of_directions_that_do_not_add_up_are_explained():
    joint = section(in_dimension(3), "directions")
    found = leading_directions(in_dimension(3))
    share, first, second = (
        share_text(value).replace("\u202f", " ") for value in (found.joint_share, *found.shares[:2])
    )
    assert f"two explain {share} of its variation. Alone they explain {first} and {second}; the rest" in joint
    assert f"the rest of the {share} is what they do only together" in joint
    of_two = section(in_dimension(2), "directions")
    assert "of its variation; the rest is what they do only together" in of_two
    assert "The leading" not in of_two
    adds_up = made(ShallowNetwork([0.0, 0.0], [1.0, 0.5], np.eye(2)), n_rows=1000)
    assert "only together" not in section(adds_up, "directions")


def test_lines_of_the_formula_are_broken_between_terms():
    code = Code("", "y = -2*a + 0.5*b - 1\n    - relu(a - 3)")
    assert code.lines == [["y = -2*a", " + 0.5*b", " - 1"], ["   ", " - relu(a", " - 3)"]]
    assert "\n".join("".join(line) for line in code.lines) == code.text


def test_results_of_the_papers_algorithm_have_a_page():
    rng = np.random.default_rng(100)
    target = teachers.random(2, 6, rng, radius=2.0)

    def sample(n):
        X = rng.standard_normal((n, 6))
        return X, target(X)

    result = paper.netlearn(sample, 6, 2, 0.25, 2.0, rng=rng)
    assert len(result.held_out.y) == 1000
    np.testing.assert_array_equal(result.held_out.y, target(result.held_out.X))
    page = Reader(page_html(result))
    assert "practical: k = 2, epsilon = 0.25, R = 2" in page.text
    assert page.numbers["held-out-error"] == result.certificate.empirical_error
    assert page.numbers["error-bound"] == result.certificate.error_bound
    assert page.numbers["share"] == result.certificate.share
    kept = [spectrum.n_kept for spectrum in result.diagnostics.spectra]
    assert None not in kept
    assert max(kept) == 2


def test_what_came_from_data_is_text_and_never_markup():
    result = made(
        teachers.random(3, 4, 0, biases=1.0),
        names=NASTY,
        target="<script>alert('y')</script>",
    )
    result = replace(result, diagnostics=replace(result.diagnostics, notes=("<b onclick=x>note</b>",)))
    for html in (page_html(result), result._repr_html_()):
        page = Reader(html)
        assert not {"script", "img", "b"} & set(page.tags)
        assert not any(key.startswith("on") for _, attributes in page.attributes for key in attributes)
        assert "<b onclick=x>note</b>" in page.text
    assert all(name in Reader(page_html(result)).text for name in NASTY)
    assert "<script>alert('y')</script>" in Reader(page_html(result)).text


def test_equal_results_give_equal_pages_whatever_the_callers_style():
    page = page_html(in_dimension(2))
    with matplotlib.rc_context({"text.color": "white", "axes.edgecolor": "red", "font.size": 20}):
        assert page_html(in_dimension(2)) == page
    assert page_html(in_dimension(2, seed=1)) != page


def test_the_page_asks_for_nothing_and_runs_nothing():
    page = page_html(in_dimension(3))
    assert not re.search(r"https?://|url\((?!#)|@import|<script|src=", page)
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page


def test_figures_take_their_colours_from_the_page_and_say_what_they_show():
    page = page_html(in_dimension(2))
    figures = re.findall(r"<figure[^>]*>(.*?)</figure>", page, re.DOTALL)
    assert len(figures) == 10  # two of the fit, four effects, the plane, spectra, convergence, units
    for figure in figures:
        assert re.match(r'<svg viewBox="[\d. ]+" role="img" aria-label="[^"]{30,}">', figure)
        assert "#000000" not in figure
        assert "<style" not in figure
    assert "currentColor" in page


def test_numbers_beside_the_figures_are_those_of_the_result():
    result = in_dimension(3)
    page = page_html(result)
    f, held_out = result.network, result.held_out
    errors = held_out.y - f(held_out.X)
    fit = [row[0] for row in table(page, "fit")]
    np.testing.assert_allclose(fit, [np.sqrt(np.mean(errors**2)), np.max(np.abs(errors)), np.std(held_out.y)])
    sizes = [row[0] for row in table(page, "units")]
    np.testing.assert_array_equal(sizes, f.coefficients)
    assert [row[0] for row in table(page, "convergence")] == list(result.diagnostics.trace)
    spectrum = result.diagnostics.spectra[0]
    assert table(page, "spectra")[0] == [spectrum.n_kept, spectrum.noise_floor, *spectrum.eigenvalues[:6]]
    parameters, terms = table(page, "parameters"), Terms.of(f)
    np.testing.assert_array_equal(parameters[0], [terms.intercept[0], *terms.linear[0]])
    np.testing.assert_array_equal(
        parameters[1:], np.column_stack([terms.outputs[:, 0], terms.biases, terms.weights])
    )
    numbers = Reader(page).numbers
    assert numbers["r2"] == result.score.r2
    assert numbers["r2-linear"] == result.score.r2_linear
    totals = sensitivity(result).totals
    np.testing.assert_array_equal([numbers[f"share-{place}"] for place in range(len(totals))], totals)


def table(page, key):
    """Numbers of a table, row by row."""
    body = re.search(rf'<table id="{key}-table">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)[1]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [[float(value) for value in re.findall(r'data-value="([^"]*)"', row)] for row in rows]


def test_numbers_of_several_outputs_are_those_of_each():
    result = CASES["several outputs"]()
    page = page_html(result)
    f, X, y = result.network, result.held_out.X, result.held_out.y
    errors = y - f(X)
    rms, sd = np.sqrt(np.mean(errors**2, axis=0)), y.std(axis=0)
    expected = np.column_stack([rms, np.abs(errors).max(axis=0), sd, 1 - (rms / sd) ** 2])
    np.testing.assert_allclose(table(page, "good"), expected)
    bounds = np.array(table(page, "sure"))
    certified = result.certificate.per_output
    np.testing.assert_allclose(bounds[:, 0], [own.empirical_error for own in certified])
    promised = np.array([[own.tolerance, own.error_bound] for own in certified])
    assert np.all((promised <= bounds[:, 1:]) & (bounds[:, 1:] <= 1.0101 * promised))  # never rounded down
    sobol = f.precompose(np.diag(X.std(axis=0)), X.mean(axis=0)).sobol()
    totals = np.array([own.total for own in sobol.per_output])
    order = np.argsort(-totals.mean(axis=0))
    np.testing.assert_allclose(table(page, "matters"), totals.T[order], atol=1e-12)
    read = Reader(page)
    assert read.numbers["n-outputs"] == 2
    assert read.numbers["held-out-error"] == pytest.approx(np.linalg.norm(rms))
    assert "Drawn is y2, the output that fits worst." in read.text


def test_every_output_has_a_card():
    result = CASES["one output constant"]()
    page = page_html(result)
    cards = re.findall(r'<article class="output">(.*?)</article>', page, re.DOTALL)
    assert len(cards) == 3
    for card, name, own in zip(cards, result.output_names, result.certificate.per_output, strict=True):
        text = " ".join(Reader(card).text.split())
        assert text.startswith(name)
        assert f"are off by more than {rounded_up(own.tolerance)}" in text
        assert "<svg" in card
    assert "Matters most" in cards[0]
    assert "Matters most" not in cards[2]  # nothing matters to a constant


def test_many_outputs_are_cut_and_the_page_stays_small():
    result = CASES["many outputs"]()
    page = page_html(result)
    text = " ".join(Reader(page).text.split())
    assert len(page) < 1_500_000
    assert "netlearn report on logit_0, logit_1, logit_2, logit_3, logit_4, logit_5 and 54 more" in text
    assert "Of 60 outputs, these 8 fit worst." in text
    assert "Only the first 20 of 60 outputs and 12 of 30 features are printed" in text
    assert "Drawn are the first 40 of 60 outputs." in text
    assert text.count("The worst 12, and 48 more.") == 2
    assert len(table(page, "sure")) == len(table(page, "good")) == 12
    rms = np.sqrt(np.mean((result.held_out.y - result.network(result.held_out.X)) ** 2, axis=0))
    shares = rms / result.held_out.y.std(axis=0)
    np.testing.assert_allclose(
        [row[0] / row[2] for row in table(page, "good")], np.sort(shares)[::-1][:12], rtol=1e-9
    )


def test_large_networks_are_cut_and_the_page_stays_small():
    rng = np.random.default_rng(0)
    result = made(teachers.random(40, 50, 0, biases=1.0), n_rows=5000)
    page = page_html(result)
    assert len(page) < 1_500_000
    assert "Only the first 20 of 40 units and 12 of 50 features are printed" in page
    long = replace(result, diagnostics=replace(result.diagnostics, trace=tuple(rng.random(500))))
    assert "The first and last 20 of 500 rounds." in page_html(long)


def test_a_failed_report_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    in_dimension(2).report(path)
    old = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        in_dimension(3).report(path)
    assert path.read_bytes() == old
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("module", ["jinja2", "matplotlib.style"])
def test_without_the_extra_the_line_to_type_is_given(monkeypatch, tmp_path, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"A report needs .* pip install '\.\[report\]'"):
        in_dimension(2).report(tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_inputs_far_from_standard_are_drawn_in_units_of_their_spread():
    result = in_dimension(2)
    A = np.diag(np.geomspace(1e-3, 1e3, 8))
    far = replace(
        result,
        network=result.network.precompose(np.linalg.inv(A)),
        held_out=HeldOut(result.held_out.X @ A, result.held_out.y),
        subspace=None,
    )
    assert "only through 2 weighted sums of them" in page_html(far)
