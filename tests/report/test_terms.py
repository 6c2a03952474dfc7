"""The ReLU form that people read, its sentences and formulas: the same function as the network's."""

from dataclasses import replace

import numpy as np
import pytest

from netlearn.network import ShallowNetwork
from netlearn.report.directions import leading_directions
from netlearn.report.formula import is_readable, latex_formula, python_code, text_formula
from netlearn.report.sentences import linear_sentence, unit_sentences
from netlearn.report.tables import directions_table
from netlearn.report.terms import Terms, linear_slopes, readable, units
from netlearn.result import HeldOut
from tests.report.results import CASES, NASTY, affine, made

WITH_NETWORK = [name for name in CASES if name != "no network"]


def rows(result, n=50):
    return np.random.default_rng(7).standard_normal((n, result.network.n_features))


@pytest.mark.parametrize("name", WITH_NETWORK)
def test_the_terms_are_the_network_with_a_relu_for_each_unit(name):
    result = CASES[name]()
    terms, X = Terms.of(result.network), rows(result)
    np.testing.assert_allclose(terms(X), result.network(X).reshape(len(X), -1), atol=1e-12)
    assert terms.n_hidden == result.network.n_hidden


def test_a_linear_part_and_a_doubled_unit_are_folded():
    # relu(x1) + 0.5 relu(-x1) - 3 relu(x2 - 1) is three ReLUs; folded it is two and a linear part.
    network = ShallowNetwork.from_relu(
        np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), [1.0, 0.5, -3.0], [0.0, 0.0, -1.0], 2.0
    )
    assert len(network.to_relu().weights) == 3
    terms = Terms.of(network)
    assert terms.n_hidden == 2
    X = np.random.default_rng(0).standard_normal((30, 2))
    np.testing.assert_allclose(terms(X)[:, 0], network(X), atol=1e-14)


@pytest.mark.parametrize("name", WITH_NETWORK)
def test_python_code_computes_the_network(name):
    result = CASES[name]()
    space, X = {}, rows(result)
    exec(python_code(result), space)
    expected = result.network(X)
    assert space["predict"](X).shape == expected.shape
    np.testing.assert_allclose(space["predict"](X), expected, atol=1e-9)


def test_python_code_holds_names_as_text_only():
    result = made(
        CASES["d = 1"]().network, names=('x"""\nimport os; os.abort()',), target="\nraise SystemExit"
    )
    space = {}
    exec(python_code(result), space)
    assert space["predict"](np.ones((2, 1))).shape == (2,)


def test_a_large_network_has_no_code():
    network = ShallowNetwork(np.zeros(100), np.ones(60), np.random.default_rng(0).standard_normal((60, 100)))
    assert python_code(made(network)) == ""
    assert not is_readable(made(network))


def value_of(line, names, row):
    """Read a line of the formula as arithmetic."""
    text = line.partition("=")[2] or line
    space = {"relu": lambda t: max(t, 0.0), **dict(zip(names, row, strict=True))}
    return eval(text.strip(), {}, space)


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e-6])
def test_the_text_formula_gives_the_predictions_to_a_thousandth_of_their_spread(scale):
    names = ("income", "rooms", "age")
    rng = np.random.default_rng(1)
    network = ShallowNetwork(
        rng.standard_normal(3), [2.0, -1.0], rng.standard_normal((2, 3)), [0.5, -1.0], 3.0
    )
    spreads, shift = np.array([scale, 1.0, 1.0]), np.array([10 * scale, 2015.0, 0.0])
    X = rng.standard_normal((100, 3))
    raw = network.precompose(np.diag(1 / spreads), -shift / spreads)
    result = replace(
        made(raw, names=names, target="price"), held_out=HeldOut(X * spreads + shift, network(X))
    )
    formula = text_formula(result)
    assert formula[0].startswith("price = ")
    assert len(formula) == 3
    joined = " ".join(line.strip() for line in formula)
    shown = [value_of(joined, names, row) for row in result.held_out.X]
    assert np.max(np.abs(shown - network(X))) < 1.01e-3 * network(X).std()


def test_what_rounding_left_is_no_term():
    network = ShallowNetwork([1e-17, 0.5], [], np.zeros((0, 2)), None, 1e-17)
    assert text_formula(made(network, names=("a", "b"), noise=0.0)) == ["y = 0.5*b"]
    bare = ShallowNetwork.from_relu([[1.0, 0.0], [0.0, 2.0]], [-1.0, 1.0], [0.25, 0.0])
    lines = text_formula(made(bare, names=("a", "b")))
    assert set(lines[0].removeprefix("y = ").split("\n") + [line.strip() for line in lines[1:]]) in (
        {"relu(2*b)", "- relu(a + 0.25)"},
        {"-relu(a + 0.25)", "+ relu(2*b)"},
    )


def test_several_outputs_share_the_relus():
    lines = text_formula(CASES["several outputs"]())
    assert [line.split(" = ")[0] for line in lines] == ["h1", "h2", "h3", "h4", "y1", "y2"]
    assert "h1" in lines[4]


def test_latex_shows_names_and_obeys_none():
    result = made(affine(4).network, names=("a_b", "50%", r"\input{x}", "c^2 ~"), target="$y$")
    text = latex_formula(result)
    for shown in (r"a\_b", r"50\%", r"\textbackslash{}input\{x\}", r"\textasciicircum{}2", r"\$y\$"):
        assert shown in text
    assert text.count(r"\begin{align*}") == text.count(r"\end{align*}") == 1


def house(**fields):
    """Price rises by 3 per standard deviation of income beyond its mean, in raw units of income."""
    rng = np.random.default_rng(0)
    X = np.column_stack([50_000 + 10_000 * rng.standard_normal(500), rng.standard_normal(500)])
    X = (X - X.mean(axis=0)) / X.std(axis=0) * [10_000, 1.0] + [50_000, 0.0]
    network = ShallowNetwork.from_relu([[1e-4, 0.0]], [3.0], [-5.0], 7.0)
    result = made(network, names=("income", "rooms"), target="price", **fields)
    return replace(result, held_out=HeldOut(X, network(X)))


def test_sentences_are_in_standard_deviations():
    (sentence,) = unit_sentences(house())
    assert sentence.startswith("Once income exceeds ")
    assert ", price rises by 3 for each 1 above it. This unit is on in " in sentence
    assert sentence.endswith(" % of held-out rows.")
    (unit,) = units(house())
    assert unit.threshold == pytest.approx(0.0, abs=1e-9)
    assert unit.slopes == pytest.approx([3.0])
    assert unit.active == pytest.approx(0.5, abs=0.1)
    assert linear_sentence(house()) == ""


def test_the_linear_part_is_a_sentence_of_its_own():
    result = made(
        ShallowNetwork([2.0, -1.0, 1e-9], [], np.zeros((0, 3)), None), names=("a", "b", "c"), target="y"
    )
    slopes = linear_slopes(result)[0]
    sentence = linear_sentence(result)
    of_a = f"by +{slopes[0]:.3g} for each standard deviation of a"
    of_b = f"by \N{MINUS SIGN}{-slopes[1]:.3g} for each standard deviation of b"
    assert sentence == f"Everywhere, y changes {of_a} and {of_b}."
    assert unit_sentences(result) == []


@pytest.mark.parametrize("name", WITH_NETWORK)
def test_every_unit_has_a_sentence_up_to_a_limit(name):
    result = CASES[name]()
    sentences = unit_sentences(result)
    assert len(sentences) == min(result.network.n_hidden, 20)
    assert all(sentence.endswith(".") for sentence in sentences)


def test_names_of_any_kind_are_in_formulas():
    result = made(CASES["several outputs"]().network, names=(*NASTY, "x5"))
    joined = " ".join(text_formula(result))
    assert all(name in joined for name in NASTY)
    assert readable(result).n_hidden == 4


def test_what_estimates_leave_of_a_linear_part_is_not_mentioned_beside_units():
    network = house().network
    tiny, meant = (
        replace(
            house(), network=ShallowNetwork([0.0, w], network.coefficients, network.units, network.biases)
        )
        for w in (1e-4, 1.0)
    )
    assert "rooms" not in linear_sentence(tiny)
    assert "rooms" in linear_sentence(meant)


def test_weights_at_rounding_are_no_terms():
    network = ShallowNetwork.from_relu(np.array([[1.0, 1e-15, 0.0], [0.0, 1e-3, 1.0]]), [1.0, 2.0])
    result = made(network, names=("a", "b", "c"))
    of_c, of_a = unit_sentences(result)
    assert of_a.startswith("Once a exceeds ")
    assert of_c.startswith("Once c + 1 smaller term exceeds ")
    shown = [row[2].text for row in directions_table(result, leading_directions(result)).rows]
    assert not any("b" in text for text in shown)


def test_directions_that_explain_nothing_are_not_listed():
    network = ShallowNetwork.from_relu(np.eye(3), [1.0, 1.0, 1e-5])
    result = made(network)
    table = directions_table(result, leading_directions(result))
    assert len(table.rows) == 2
    assert table.left_out == "1 more direction explains less than 0.1 %."
