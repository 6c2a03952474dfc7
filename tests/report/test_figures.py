import subprocess
import sys
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from netlearn import teachers
from netlearn.errors import InputError, MissingExtraError
from netlearn.report import figures
from netlearn.report.directions import leading_directions
from netlearn.report.importance import effect, sensitivity
from netlearn.result import Diagnostics
from tests.report.results import CASES, in_dimension, made

ALL = (
    "spectrum",
    "summary",
    "sobol",
    "neurons",
    "biases",
    "directions",
    "predicted",
    "residuals",
    "residual_histogram",
    "importance",
    "effect",
    "convergence",
)


def lines(ax, marker=None):
    """Data of the lines, or of those drawn with a marker."""
    drawn = [line for line in ax.lines if len(line.get_xdata()) and marker in (None, line.get_marker())]
    return [line.get_xydata() for line in drawn]


@pytest.mark.parametrize("name", ALL)
def test_each_draws_into_the_axes_it_is_given_or_its_own(name):
    draw, result = getattr(figures, name), in_dimension(2)
    before = dict(matplotlib.rcParams)
    own = draw(result)
    assert isinstance(own.figure, Figure)
    mine = Figure().add_subplot()
    assert draw(result, mine) is mine
    assert mine.has_data()
    assert dict(matplotlib.rcParams) == before


def test_pyplot_is_never_imported():
    code = (
        "import sys; from tests.report.results import in_dimension; from netlearn.report.page import page_html; "
        "page_html(in_dimension(2)); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("spectrum", "no diagnostics"),
        ("summary", "no held-out rows"),
        ("summary", "a constant"),
        ("sobol", "no held-out rows"),
        ("sobol", "constant outputs"),
        ("neurons", "k = 0"),
        ("neurons", "no network"),
        ("biases", "k = 0"),
        ("directions", "dim V 1"),
        ("directions", "dim V 5"),
        ("directions", "no network"),
        ("predicted", "no held-out rows"),
        ("residuals", "no network"),
        ("residual_histogram", "no held-out rows"),
        ("importance", "a constant"),
        ("effect", "a constant"),
        ("effect", "no held-out rows"),
        ("convergence", "no diagnostics"),
    ],
)
def test_what_a_figure_lacks_is_said_in_one_sentence(name, case):
    with pytest.raises(InputError, match=f"The {name} figure needs .*, which this result does not have.$"):
        getattr(figures, name)(CASES[case]())


def test_without_matplotlib_the_line_to_type_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[report\]'"):
        figures.convergence(in_dimension(2))


def test_spectra_are_in_units_of_the_noise_floor_and_kept_ones_filled():
    result = in_dimension(2)
    spectrum = result.diagnostics.spectra[0]
    assert 0 < spectrum.n_kept < len(spectrum.eigenvalues)
    ax = figures.spectrum(replace(result, diagnostics=Diagnostics(spectra=(spectrum,))))
    marks = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())]
    filled, open_ = marks
    assert (filled.get_fillstyle(), open_.get_fillstyle()) == ("full", "none")
    np.testing.assert_allclose(filled.get_ydata(), np.abs(spectrum.eigenvalues[: spectrum.n_kept]) / 0.4)
    np.testing.assert_allclose(open_.get_ydata(), np.abs(spectrum.eigenvalues[spectrum.n_kept :]) / 0.4)
    assert any(np.all(line[:, 1] == 1.0) for line in lines(ax))


def test_summary_of_one_direction_is_labels_and_network():
    result = in_dimension(1, k=1)
    ax = figures.summary(result)
    points, curve = lines(ax)
    np.testing.assert_array_equal(points[:, 1], result.held_out.y)
    # On the curve lie the network's values at the same rows.
    values = np.interp(points[:, 0], curve[:, 0], curve[:, 1])
    np.testing.assert_allclose(values, result.network(result.held_out.X), atol=0.02)


def test_summary_of_two_directions_is_coloured_by_the_label():
    result = in_dimension(2)
    ax = figures.summary(result)
    points = ax.collections[-1]
    np.testing.assert_array_equal(points.get_array(), result.held_out.y)
    S = leading_directions(result).coordinates(result.held_out.X)
    np.testing.assert_allclose(points.get_offsets(), S[:, :2])
    # Each has a dark ring inside a white one, which show on light and on dark ground.
    behind = ax.collections[-2]
    np.testing.assert_array_equal(behind.get_offsets(), points.get_offsets())
    np.testing.assert_array_equal(behind.get_facecolor(), [[1, 1, 1, 1]])
    assert np.max(points.get_edgecolor()[:, :3]) < 0.2
    assert behind.get_sizes() > points.get_sizes()


def test_bars_are_coefficients_and_biases():
    network = in_dimension(2).network
    heights = [bar.get_height() for bar in figures.neurons(in_dimension(2)).patches]
    np.testing.assert_array_equal(heights, network.coefficients)
    heights = [bar.get_height() for bar in figures.biases(in_dimension(2)).patches]
    np.testing.assert_array_equal(heights, network.biases)
    assert len(figures.neurons(CASES["many units"]()).patches) == 40


def test_coefficients_of_several_outputs_are_a_heat_map():
    result = CASES["one output constant"]()
    lam = result.network.coefficients
    ax = figures.neurons(result)
    drawn = ax.collections[0].get_array().reshape(3, 4)
    for shares, column in zip(drawn[:2], lam.T, strict=False):
        np.testing.assert_allclose(shares, column / np.max(np.abs(column)))
    assert not np.any(drawn[2])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second", "third"]
    assert figures.neurons(CASES["many outputs"]()).collections[0].get_array().size == 40 * 4


def test_sobol_indices_are_drawn_by_output_and_feature():
    result = CASES["several outputs"]()
    X = result.held_out.X
    f = result.network.precompose(np.diag(X.std(axis=0)), X.mean(axis=0))
    ax = figures.sobol(result)
    features = [int(label.get_text()[1:]) - 1 for label in ax.get_xticklabels()]
    assert sorted(features) == list(range(5))
    expected = [own.total[features] for own in f.sobol().per_output]
    np.testing.assert_allclose(ax.collections[0].get_array().reshape(2, 5), expected, atol=1e-12)


@pytest.mark.parametrize("asked", [None, 0])
def test_the_worst_output_is_drawn_unless_another_is_asked_for(asked):
    result = CASES["several outputs"]()  # the second has twice the noise
    worst = 1 if asked is None else asked
    y, fit = result.held_out.y[:, worst], result.network(result.held_out.X)[:, worst]
    ax = figures.predicted(result, output=asked)
    np.testing.assert_array_equal(lines(ax, "o")[0], np.column_stack([y, fit]))
    assert ax.get_xlabel() == f"y{worst + 1}, held out"
    drawn = lines(figures.residuals(result, output=asked), "o")[0]
    np.testing.assert_array_equal(drawn, np.column_stack([y, y - fit]))
    points = figures.summary(result, output=asked).collections[-1]
    np.testing.assert_array_equal(points.get_array(), y)


def test_units_of_a_plane_lie_on_the_circle_at_their_angles():
    result = made(teachers.hard_plane(6, 10, 0))
    places = np.concatenate(lines(figures.directions(result), "o"))
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 1.0)
    np.testing.assert_allclose(places @ places.T, result.network.units @ result.network.units.T, atol=1e-12)


def test_units_of_a_space_lie_inside_the_disc_at_true_distance_from_the_pole():
    result = in_dimension(3)
    places = np.concatenate(lines(figures.directions(result), "o"))
    height = np.abs(result.network.units @ result.subspace)[:, 2]
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), np.sqrt(2) * np.sin(np.arccos(height) / 2))


def test_predictions_and_residuals_are_those_of_the_network():
    result = in_dimension(2)
    y, fit = result.held_out.y, result.network(result.held_out.X)
    np.testing.assert_array_equal(lines(figures.predicted(result), "o")[0], np.column_stack([y, fit]))
    np.testing.assert_array_equal(lines(figures.residuals(result), "o")[0], np.column_stack([y, y - fit]))


def test_the_histogram_counts_every_residual():
    result = in_dimension(2)
    ax = figures.residual_histogram(result)
    left = result.held_out.y - result.network(result.held_out.X)
    heights = np.array([bar.get_height() for bar in ax.patches])
    edges = np.linspace(-1, 1, 13) * np.max(np.abs(left))
    np.testing.assert_array_equal(heights, np.histogram(left, edges)[0])
    assert heights.sum() == 200


def test_importance_bars_are_the_shares_largest_first():
    result = replace(in_dimension(2), names=tuple("abcdefgh"))
    found = sensitivity(result)
    ax = figures.importance(result)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], 100 * found.totals)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["abcdefgh"[feature] for feature in found.features]


def test_effects_are_drawn_of_the_feature_asked_for_on_the_scale_asked_for():
    result = in_dimension(2)
    ax = figures.effect(result, feature=3, scale=(-10.0, 10.0))
    drawn = effect(result.network, result.held_out.X, 3)
    np.testing.assert_array_equal(lines(ax)[0], np.column_stack([drawn.values, drawn.means]))
    assert ax.get_xlabel() == "x4"
    assert ax.get_ylim()[0] < -10 < 10 < ax.get_ylim()[1]
    first = sensitivity(result).features[0]
    assert figures.effect(result).get_xlabel() == f"x{first + 1}"


def test_convergence_never_rises():
    result = in_dimension(2)
    trace = (0.5, 0.1, 0.3, 0.05, 0.2)
    jumping = replace(result, diagnostics=replace(result.diagnostics, trace=trace))
    drawn = lines(figures.convergence(jumping))[0]
    np.testing.assert_array_equal(drawn[:, 1], [0.5, 0.1, 0.1, 0.05, 0.05])
    drawn = lines(figures.convergence(result))[0]
    np.testing.assert_array_equal(drawn, [[1, 0.5], [2, 0.1], [3, 1e-3], [4, 1e-6]])
