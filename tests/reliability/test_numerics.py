"""Numbers of every size, kind and layout, rows that repeat, columns that say nothing, rows that are wrong.

Each case ends with the right network, its error in closed form, or with the right status, or is refused in a sentence.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from netlearn import NetLearnRegressor, Oracle, ShallowNetwork, Status, learn, teachers
from netlearn.cli import app
from netlearn.errors import InputError
from netlearn.evidence import Fitted
from netlearn.fit import Params
from netlearn.inputs.duplicates import Duplicates, keys
from netlearn.inputs.outliers import far_rows
from netlearn.search.trimmed import n_apart, pairs_apart
from netlearn.source import ArraySource

NETWORK = teachers.random(2, 4, 0, biases=0.5)
N = 600
X = np.random.default_rng(1).standard_normal((N, 4))
Y = NETWORK(X)


def relative_error(found, labels_scale=1.0, matrix=None, offset=None):
    """Distance in L2(gamma) to the planted network, as a share of its norm.

    `found` is of rows ``matrix @ z + offset`` with z from N(0, I), and of labels times `labels_scale`.
    """
    if matrix is not None:
        found = found.precompose(matrix, offset)
    own = ShallowNetwork(
        found.linear / labels_scale,
        found.coefficients / labels_scale,
        found.units,
        found.biases,
        found.intercept / labels_scale,
    )
    return own.distance(NETWORK) / NETWORK.norm()


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-75, 1e-8, -1.0, 1e8, 1e75, 1e150, 1e299])
def test_labels_of_any_size(scale):
    result = learn(X, scale * Y, n_hidden=2, rng=0)
    assert result.status is Status.RECOVERED
    assert relative_error(result.network, labels_scale=scale) < 1e-12
    assert result.certificate.tolerance < 1e-9 * abs(scale)
    assert result.certificate.error_bound < abs(scale)


@pytest.mark.parametrize("scale", [1e-150, 1e-75, 1e-8, 1e8, 1e75, 1e149])
def test_inputs_of_any_size_that_has_a_square(scale):
    result = learn(scale * X, Y, n_hidden=2, rng=0)
    assert result.status is Status.RECOVERED
    assert relative_error(result.network, matrix=scale * np.eye(4)) < 1e-12


@pytest.mark.parametrize(
    ("rows", "labels", "words"),
    [
        (1e160 * X, Y, "column 0 goes from"),
        (1e-160 * X, Y, "constant or vary by 1e-150 at least"),
        (np.hstack([X, np.full((N, 1), 1e200)]), Y, r"up to 1e\+150 in size"),
        (5e-324 * np.rint(9 * X), Y, "so that they can be squared"),
        (X * [1.0, 1.0, 1.7e308 / np.abs(X[:, 2]).max(), 1.0], Y, "column 2 goes from"),
        (X, 1e301 * Y, r"y must hold numbers up to 1e\+300"),
    ],
    ids=[
        "too large",
        "too small",
        "constant and too large",
        "subnormal",
        "one column at the end of the range",
        "labels",
    ],
)
def test_what_has_no_square_is_refused(rows, labels, words):
    with pytest.raises(InputError, match=words):
        learn(rows, labels, n_hidden=2, rng=0)


def test_subnormal_labels_are_noisy_by_their_rounding():
    # Numbers of 1e-320 have three digits.
    result = learn(X, 1e-320 * Y, n_hidden=2, rng=0)
    assert result.status is Status.NOISE_LIMITED
    assert relative_error(1e300 * result.network, labels_scale=1e-20) < 1e-3


@pytest.mark.parametrize(
    ("matrix", "offset", "tolerance"),
    [
        (np.diag([1.0, 1.0, 1.0, 1e6]), 0.0, 1e-12),
        (np.diag([1e-12, 1.0, 1e12, 1e100]), 0.0, 1e-12),
        # A mean takes digits off the rows: 1e6 of them leaves 1e-10.
        (np.eye(4), 1e6, 1e-9),
    ],
    ids=["a column in another unit", "each in its own", "a large mean"],
)
def test_units_and_means(matrix, offset, tolerance):
    result = learn(X @ matrix + offset, Y, n_hidden=2, rng=0)
    assert result.status is Status.RECOVERED
    assert relative_error(result.network, matrix=matrix, offset=np.full(4, offset)) < tolerance


@pytest.mark.parametrize("constant", [0.0, 1.0, -1e12])
def test_repeated_and_constant_columns(constant):
    def wide(z):
        return np.hstack([z, z[:, :1], np.full((len(z), 1), constant), -2.0 * z[:, 1:2]])

    result = learn(wide(X), Y, n_hidden=2, rng=0)
    assert result.status is Status.RECOVERED
    # wide(z) = matrix @ z + offset, so the distance in the coordinates z is in closed form.
    matrix = wide(np.eye(4)).T - wide(np.zeros((1, 4))).T
    assert relative_error(result.network, matrix=matrix, offset=wide(np.zeros((1, 4)))[0]) < 1e-12


@dataclass(frozen=True)
class Kept:
    """Rows in another form, the status they end in, and the error that form allows."""

    X: Any
    y: Any
    tolerance: float = 1e-12
    options: dict = field(default_factory=dict)


def strided():
    """Every second row and column of larger arrays that hold something else in between."""
    around, labels = np.full((2 * N, 8), np.nan), np.full(2 * N, np.nan)
    around[::2, ::2], labels[::2] = X, Y
    return Kept(around[::2, ::2], labels[::2])


def read_only():
    rows, labels = X.copy(), Y.copy()
    rows.flags.writeable = labels.flags.writeable = False
    return Kept(rows, labels)


def rounded(dtype):
    return X.astype(dtype), NETWORK(X.astype(dtype).astype(float))


FORMS = {
    "Fortran order": lambda: Kept(np.asfortranarray(X), Y),
    "strided": strided,
    "read-only": read_only,
    "other byte order": lambda: Kept(X.astype(">f8"), Y.astype(">f8")),
    "backwards": lambda: Kept(X[::-1], Y[::-1]),
    "lists": lambda: Kept(X.tolist(), Y.tolist()),
    "float32 rows": lambda: Kept(*rounded(np.float32)),
    "float16 rows": lambda: Kept(*rounded(np.float16)),
    "float32 labels": lambda: Kept(X, Y.astype(np.float32), 1e-6),
    "float16 labels": lambda: Kept(X, Y.astype(np.float16), 1e-3),
    "integer rows": lambda: Kept(np.rint(3 * X).astype(int), NETWORK(np.rint(3 * X))),
    "each row twice": lambda: Kept(np.repeat(X, 2, axis=0), np.repeat(Y, 2)),
    "200 rows, ten times": lambda: Kept(np.tile(X[:200], (10, 1)), np.tile(Y[:200], 10)),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_the_rows_does_not_matter(form):
    kept = FORMS[form]()
    before = [np.array(part, copy=True) for part in (kept.X, kept.y)]
    result = learn(kept.X, kept.y, n_hidden=2, rng=0)
    assert result.status is Status.RECOVERED
    assert relative_error(result.network) < kept.tolerance
    np.testing.assert_array_equal(np.asarray(kept.X), before[0])
    np.testing.assert_array_equal(np.asarray(kept.y), before[1])


@pytest.mark.parametrize("n_hidden", [1, 3, "auto"])
def test_one_dimension(n_hidden):
    network = teachers.random(1 if n_hidden == 1 else 3, 1, 6, biases=0.5)
    rows = X[:, :1]
    result = learn(rows, network(rows), n_hidden=n_hidden, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.distance(network) < 1e-12 * network.norm()


def test_units_that_are_equal_are_one():
    u = np.array([1.0, -2.0, 0.5, 1.0])
    rows_of_three = sum(np.maximum(X @ u + 0.3, 0.0) for _ in range(3))
    one = ShallowNetwork.from_relu(u[None, :], [3.0], [0.3])
    for n_hidden in (3, "auto"):
        result = learn(X, rows_of_three, n_hidden=n_hidden, rng=0)
        assert result.status is Status.RECOVERED
        assert result.network.n_hidden == 1
        assert result.network.distance(one) < 1e-12 * one.norm()


def test_units_that_cancel_leave_an_affine_function():
    # relu(z) - relu(-z) = z, written so that the labels are not computed as an affine function.
    u = np.array([1.0, -2.0, 0.5, 1.0])
    labels = np.maximum(X @ u + 0.3, 0.0) - np.maximum(-(X @ u + 0.3), 0.0)
    affine = ShallowNetwork(u, np.zeros(0), np.zeros((0, 4)), intercept=0.3)
    for n_hidden in (2, "auto"):
        result = learn(X, labels, n_hidden=n_hidden, rng=0)
        assert result.status is Status.RECOVERED
        assert result.network.n_hidden == 0
        assert result.network.distance(affine) < 1e-12 * affine.norm()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_fewer_rows_than_can_be_divided_are_refused(n):
    with pytest.raises(InputError, match=f"X has {n} rows; at least 4"):
        learn(X[:n], Y[:n], n_hidden=2, rng=0)


@pytest.mark.parametrize("n_hidden", [2, 50, "auto"])
@pytest.mark.parametrize("n", [4, 5, 13])
def test_fewer_rows_than_unknowns_are_too_few(n, n_hidden):
    result = learn(X[:n], Y[:n], n_hidden=n_hidden, rng=0)
    assert result.status is Status.TOO_FEW_ROWS
    assert not result.success


@pytest.mark.parametrize(("n", "seed"), [(20, 1), (20, 2), (24, 8), (30, 4)])
def test_a_width_that_few_rows_allow_is_tried_once(n, seed):
    # Fewer than the four units that a search begins with, and none of them explains noise.
    rng = np.random.default_rng(seed)
    heard = []

    def told(progress):
        heard.append(progress)
        assert len(heard) < 100

    learn(rng.standard_normal((n, 2)), rng.standard_normal(n), rng=0, progress=told)


def test_copies_of_a_few_rows_are_a_few_rows():
    # Twelve rows with fifteen unknowns: all labels are met to rounding, held-out copies among them.
    result = learn(np.tile(X[:12], (50, 1)), np.tile(Y[:12], 50), n_hidden=2, biases=True, rng=0)
    assert result.certificate.empirical_error < 1e-9
    assert relative_error(result.network) > 0.1
    assert result.status is Status.TOO_FEW_ROWS
    assert any("only 12 of 450 rows differ, and 150 of the 150 held-out" in note for note in notes(result))


@pytest.mark.parametrize("n_hidden", [0, "auto"])
def test_copies_of_a_few_rows_do_not_make_an_affine_function(n_hidden):
    # Any labels of four rows are an affine function of them.
    labels = np.random.default_rng(0).standard_normal(4)
    result = learn(np.tile(X[:4], (50, 1)), np.tile(labels, 50), n_hidden=n_hidden, rng=0)
    assert result.certificate.empirical_error < 1e-9
    assert result.status is Status.TOO_FEW_ROWS


def test_copies_certify_nothing():
    # Each row twice: nearly all rows of the certificate have been learned from.
    y = Y + 0.2 * np.random.default_rng(2).standard_normal(N)
    fresh = learn(X, y, n_hidden=2, epsilon=10.0, rng=0)
    copied = learn(np.repeat(X, 2, axis=0), np.repeat(y, 2), n_hidden=2, epsilon=10.0, rng=0)
    assert fresh.certificate.error_bound < 10.0
    assert fresh.status is Status.CERTIFIED
    assert copied.certificate.error_bound == np.inf
    assert "copies" in copied.certificate.why_no_bound
    assert not copied.success


def test_twins_are_found_wherever_they_are_and_nothing_else_is():
    rng = np.random.default_rng(0)
    # Whole numbers have few bits, and differ in few.
    rows = rng.integers(-2, 3, (2000, 4)).astype(float)
    rows[rows == 0] *= -1.0  # negative zeros are zeros
    y = np.rint(rows[:, 0])
    y[1000:] = 0.0
    pairs = np.column_stack([rows, y]) + 0.0
    assert len(np.unique(keys(ArraySource(rows, y)))) == len(np.unique(pairs, axis=0))
    held_out = np.array([[0.0, 1.0, 2.0, -2.0], [9.0, 0.0, 0.0, 0.0]])
    twins = Duplicates.between(ArraySource(rows, y), ArraySource(held_out, np.zeros(2)))
    there = any(np.array_equal(pair, [*held_out[0], 0.0]) for pair in pairs)
    assert (twins.n_distinct, twins.n_held_out) == (len(np.unique(pairs, axis=0)), int(there))


def test_a_step_is_no_pair_of_units():
    # A steep ramp between two rows meets every label, those of held-out rows too, and says nothing of its slope.
    labels = np.sign(X[:, 0] + X[:, 1] - 0.3)
    result = learn(X, labels, n_hidden=2, rng=0)
    assert result.status is Status.TOO_FEW_ROWS


def test_rows_apart_are_counted_against_the_affine_part_and_each_other_unit():
    line = ArraySource(np.arange(10.0)[:, None], np.zeros(10))
    units = Params.from_network(ShallowNetwork(np.zeros(1), np.ones(3), np.ones((3, 1)), [-2.5, -3.5, -7.5]))
    # Kinks at 2.5, 3.5 and 7.5: one row between the first two, two beyond the last.
    kinks = np.argsort([2.5, 3.5, 7.5])[np.argsort(np.argsort(-units.planes[:, -1] / units.planes[:, 0]))]
    apart = pairs_apart(line, units, np.ones(10, dtype=bool), enough=10)
    expected = np.array([[3, np.inf, 1, 5], [4, 1, np.inf, 4], [2, 5, 4, np.inf]])
    columns = [0, *(1 + kinks)]
    np.testing.assert_array_equal(apart, expected[kinks][:, columns])
    without_3 = n_apart(line, units, np.arange(10) != 3, enough=10)
    np.testing.assert_array_equal(without_3, np.array([0, 0, 2])[kinks])


def test_rows_beyond_enough_are_not_read():
    class Counted(ArraySource):
        n_read = 0

        def blocks(self, width=0, n_cached=1):
            for block in super().blocks(width, n_cached):
                self.n_read += len(block[1])
                yield block

    rows = Counted(np.random.default_rng(0).standard_normal((40_000, 4)), np.zeros(40_000))
    units = Params.from_network(teachers.random(3, 4, 0))
    counted = np.ones(40_000, dtype=bool)
    some, n_some = n_apart(rows, units, counted, enough=20), rows.n_read
    every = n_apart(rows, units, counted, enough=40_000)
    assert n_some < 40_000 < n_some + 40_000 <= rows.n_read
    assert np.all((some >= 20) & (some < every))


def notes(result):
    return result.diagnostics.notes


def one_wrong(where, value, *, consistent=False):
    """Rows of which number 17 is off in one entry, in column `where` of X or in y."""
    rows, labels = X.copy(), Y.copy()
    if where == "y":
        labels[17] = value
    else:
        rows[17, where] = value
        if consistent:
            labels[17] = NETWORK(rows[17])
    return rows, labels


OUTLIERS = {
    "label": (one_wrong("y", 1e12), "17 (y)"),
    "negative label": (one_wrong("y", -1e12), "17 (y)"),
    "input": (one_wrong(1, 1e12), "17 (column 1 of X)"),
    "input with its own label": (one_wrong(1, 1e12, consistent=True), "17 (column 1 of X)"),
    "forty times the others": (one_wrong("y", 40.0), "17 (y)"),
}


@pytest.mark.parametrize("outlier", OUTLIERS)
def test_a_row_far_outside_is_named_and_nothing_false_is_claimed(outlier):
    rows, words = OUTLIERS[outlier]
    result = learn(*rows, n_hidden=2, rng=0)
    assert any(words in note and "robust leaves" in note for note in notes(result))
    if relative_error(result.network) > 1e-6:
        assert not result.success


@pytest.mark.parametrize("n_hidden", [2, "auto"])
@pytest.mark.parametrize("outlier", OUTLIERS)
def test_robust_sets_a_row_far_outside_aside(outlier, n_hidden):
    rows, words = OUTLIERS[outlier]
    result = learn(*rows, n_hidden=n_hidden, robust=True, rng=0)
    assert result.status is Status.RECOVERED
    assert relative_error(result.network) < 1e-12
    assert any(words in note and "left out" in note for note in notes(result))
    assert sum(result.diagnostics.rows.values()) == N - 1


@pytest.mark.parametrize("share", [0.0015, 0.01])
def test_robust_sets_wrong_labels_aside_that_look_like_others(share):
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((4000, 4))
    y = NETWORK(rows)
    wrong = np.sort(rng.choice(4000, int(share * 4000), replace=False))
    y[wrong] = rng.permutation(y)[: len(wrong)] + 0.5
    assert not learn(rows, y, n_hidden=2, rng=0).success
    result = learn(rows, y, n_hidden=2, robust=True, rng=0)
    assert result.status is Status.RECOVERED
    assert relative_error(result.network) < 1e-12
    (note,) = [note for note in notes(result) if "contradicts" in note]
    # A quarter of the rows is held out; wrong labels among these are met by none.
    assert len(wrong) / 4 <= int(note.split()[0]) <= len(wrong)
    named = [int(word) for word in note.split(": ")[1].split(" and ")[0].split(";")[0].split(", ")]
    assert set(named) <= set(wrong)


def test_robust_leaves_good_rows_alone():
    # Noise is not a matter of a few rows, and normal or exponential columns have none that is far.
    rng = np.random.default_rng(4)
    noisy = Y + 0.1 * rng.standard_normal(N)
    plain, robust = (learn(X, noisy, n_hidden=2, robust=robust, rng=0) for robust in (False, True))
    assert robust.status is plain.status is Status.NOISE_LIMITED
    assert robust.network == plain.network
    assert not far_rows(rng.exponential(size=(5000, 5)), rng.standard_normal(5000))


def test_far_rows_are_found_in_any_kind_of_array():
    rows = X.copy()
    rows[[3, 500], [1, 2]] = 300.0, -300.0
    labels = np.column_stack([Y, Y])
    labels[9, 1] = 1e4
    found = {3: "column 1 of X", 9: "column 1 of y", 500: "column 2 of X"}
    torch = pytest.importorskip("torch")
    assert far_rows(rows, labels) == found
    assert far_rows(rows.astype(np.float32), labels.astype(np.float32)) == found
    assert far_rows(torch.from_numpy(rows), torch.from_numpy(labels)) == found
    # Of a column that is the same on nearly all rows, any other value is as good as the next.
    sparse = np.zeros((600, 1))
    sparse[:20] = np.geomspace(1, 1e9, 20)[:, None]
    assert not far_rows(sparse, Y)


def test_the_estimator_is_as_robust():
    rows, _ = OUTLIERS["label"]
    model = NetLearnRegressor(n_hidden=2, robust=True, random_state=0).fit(*rows)
    assert model.status_ is Status.RECOVERED
    assert relative_error(model.network_) < 1e-12


def test_the_command_line_is_as_robust(tmp_path):
    rows, words = OUTLIERS["label"]
    np.save(tmp_path / "rows.npy", np.column_stack(rows))
    command = ["learn", str(tmp_path / "rows.npy"), "--n-hidden", "2", "--json"]
    plain, robust = (CliRunner().invoke(app, [*command, *more]) for more in ([], ["--robust"]))
    assert (plain.exit_code, robust.exit_code) == (0, 0)
    assert "left out: " + words in robust.stdout


def test_robust_is_for_rows_in_memory():
    with pytest.raises(InputError, match='"robust" of learn is for rows that are held in memory'):
        learn(Oracle(NETWORK, n_features=4), n_hidden=2, robust=True, rng=0)
    with pytest.raises(InputError, match='"robust" of learn must be True or False, got 1'):
        learn(X, Y, robust=1)


@pytest.mark.parametrize(
    ("n_between", "biases", "determined"),
    [(2, True, False), (3, True, True), (2, False, True), (1, False, False)],
)
def test_rows_between_two_units_must_be_more_than_the_parameters_of_one(n_between, biases, determined):
    # As many rows as parameters are met by any unit. In one dimension these are a slope and, if allowed, a bias.
    line = ArraySource(np.arange(40.0)[:, None], np.zeros(40))
    kinks = np.array([9.5, 9.5 + n_between])
    pair = Params.from_network(ShallowNetwork(np.zeros(1), np.ones(2), np.ones((2, 1)), -kinks))
    run = SimpleNamespace(
        search=SimpleNamespace(train=line, problem=SimpleNamespace(biases=biases)),
        rows=line,
        found=SimpleNamespace(params=pair),
        twins=Duplicates(np.ones(40, dtype=bool), 0, 0),
    )
    assert (len(Fitted.rarely_active(run)) == 0) == determined
