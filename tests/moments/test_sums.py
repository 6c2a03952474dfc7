"""Laws of the sum over rows: nothing but the rows and their indices matters."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from netlearn.errors import InputError
from netlearn.moments import MomentSum, moment_matrices
from netlearn.moments.sums import N_GROUPS

ORDERS = (2, 4, 8)
FIELDS = ("matrices", "standard_errors", "halves", "linear", "linear_standard_errors")

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 60)
dimensions = st.integers(1, 5)
# Arrays come from a drawn seed and compute for a while on the first call: no deadline.
laws = settings(max_examples=30, deadline=None, derandomize=True)


def sample(seed, n, d, n_directions=2):
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((n_directions, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return rng.standard_normal((n, d)), rng.standard_normal(n), directions


def total_of(X, y, directions, cuts=(), **options):
    total = MomentSum(directions, ORDERS)
    for X_block, y_block in zip(np.split(X, cuts), np.split(y, cuts), strict=True):
        total.add(X_block, y_block, **options)
    return total


def assert_same(first, second, *, fields=FIELDS):
    first, second = first.finalize(), second.finalize()
    assert first.count == second.count
    assert first.mean_y == pytest.approx(second.mean_y, abs=1e-12)
    for field in fields:
        a, b = np.asarray(getattr(first, field)), np.asarray(getattr(second, field))
        # Weights reach y h_6(s), some 1e2 here, and are summed; 1e-11 of the largest entry is rounding.
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * (1 + np.nanmax(np.abs(a), initial=0)))


@laws
@given(seeds, sizes, dimensions, st.lists(st.integers(0, 60), max_size=4))
def test_cutting_rows_into_blocks_changes_rounding_only(seed, n, d, cuts):
    X, y, directions = sample(seed, n, d)
    cuts = sorted(min(cut, n) for cut in cuts)
    assert_same(total_of(X, y, directions), total_of(X, y, directions, cuts))


@laws
@given(seeds, sizes, dimensions)
def test_order_of_rows_changes_the_groups_but_not_the_estimates(seed, n, d):
    X, y, directions = sample(seed, n, d)
    order = np.random.default_rng(seed).permutation(n)
    shuffled = total_of(X[order], y[order], directions)
    assert_same(total_of(X, y, directions), shuffled, fields=("matrices", "linear"))


@laws
@given(seeds, sizes, dimensions)
def test_matrices_are_symmetric_and_linear_in_y(seed, n, d):
    X, y, directions = sample(seed, n, d)
    other = np.random.default_rng(seed + 1).standard_normal(n)
    M_y, M_other, M_both = (
        moment_matrices(X, v, directions[0], ORDERS) for v in (y, other, 2 * y - 3 * other)
    )
    assert np.array_equal(M_y, np.swapaxes(M_y, -1, -2))
    scale = 1 + np.max(np.abs(M_y)) + np.max(np.abs(M_other))
    np.testing.assert_allclose(M_both, 2 * M_y - 3 * M_other, rtol=0, atol=1e-11 * scale)


@laws
@given(seeds, sizes, dimensions)
def test_rotating_the_inputs_rotates_the_matrices(seed, n, d):
    X, y, directions = sample(seed, n, d)
    g = directions[0]
    Q, _ = np.linalg.qr(np.random.default_rng(seed + 1).standard_normal((d, d)))
    M = moment_matrices(X, y, g, ORDERS)
    rotated = moment_matrices(X @ Q, y, Q.T @ g, ORDERS)
    np.testing.assert_allclose(rotated, Q.T @ M @ Q, rtol=0, atol=1e-10 * (1 + np.max(np.abs(M))))


def test_several_directions_in_one_pass_are_the_single_ones():
    X, y, directions = sample(3, 500, 4, n_directions=3)
    together = total_of(X, y, directions).finalize().matrices
    for g, matrices in zip(directions, together, strict=True):
        np.testing.assert_allclose(matrices, moment_matrices(X, y, g, ORDERS), rtol=1e-12, atol=1e-12)


def test_standard_errors_and_halves_are_those_of_the_group_means():
    X, y, directions = sample(4, 101, 3, n_directions=1)
    moments = total_of(X, y, directions).finalize()
    groups = [moment_matrices(X[j::N_GROUPS], y[j::N_GROUPS], directions[0], ORDERS) for j in range(N_GROUPS)]
    n = np.array([len(y[j::N_GROUPS]) for j in range(N_GROUPS)])
    mean = np.tensordot(n, groups, axes=1) / 101
    spread = np.tensordot(n, (groups - mean) ** 2, axes=1)
    np.testing.assert_allclose(moments.matrices[0], mean, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(moments.standard_errors[0], np.sqrt(spread / (15 * 101)), rtol=1e-10)
    for parity in (0, 1):
        half = moment_matrices(X[parity::2], y[parity::2], directions[0], ORDERS)
        np.testing.assert_allclose(moments.halves[parity, 0], half, rtol=1e-11, atol=1e-11)


def test_one_row_has_an_estimate_and_no_error_bar():
    X, y, directions = sample(5, 1, 3)
    moments = total_of(X, y, directions).finalize()
    assert np.all(np.isfinite(moments.matrices))
    assert np.all(np.isnan(moments.standard_errors))
    assert moments.degrees_of_freedom == 0


def test_many_tiles_and_float32_blocks_accumulate_in_float64():
    X, y, directions = sample(6, 50_000, 3)
    X, y = X.astype(np.float32), y.astype(np.float32)
    single = total_of(X, y, directions).finalize()
    double = total_of(X.astype(np.float64), y.astype(np.float64), directions).finalize()
    assert single.matrices.dtype == np.float64
    assert np.array_equal(single.matrices, double.matrices)


def test_torch_gives_the_same_answer_and_stays_torch():
    X, y, directions = sample(7, 1000, 5)
    expected = total_of(X, y, directions).finalize()
    total = MomentSum(torch.asarray(directions), ORDERS)
    total.add(torch.asarray(X), torch.asarray(y))
    total.add(X[:0], y[:0])  # NumPy blocks are moved to where the sum lives
    moments = total.finalize()
    for field in FIELDS:
        assert isinstance(getattr(moments, field), torch.Tensor)
        np.testing.assert_allclose(getattr(moments, field), getattr(expected, field), rtol=1e-10, atol=1e-12)
    assert isinstance(
        moment_matrices(torch.asarray(X), torch.asarray(y), directions[0], ORDERS), torch.Tensor
    )


def test_inputs_are_not_modified_and_may_be_read_only():
    X, y, directions = sample(8, 100, 3)
    copies = X.copy(), y.copy(), directions.copy()
    for array in (X, y, directions):
        array.flags.writeable = False
    total_of(X, y, directions).finalize()
    for array, copy in zip((X, y, directions), copies, strict=True):
        assert np.array_equal(array, copy)


g3 = np.array([1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: moment_matrices(X, y, 2 * g3, (2,)), "length 1; got length 2"),
        (
            lambda X, y: moment_matrices(X, y, g3[:2], (2,)),
            "X has 3 columns, but this MomentSum was started with 2",
        ),
        (lambda X, y: moment_matrices(X, y, g3, (2, 3)), "even integers >= 2; got 3"),
        (lambda X, y: moment_matrices(X, y, g3, ()), "at least one"),
        (lambda X, y: moment_matrices(X, y, g3, (4, 4)), "must not repeat"),
        (lambda X, y: moment_matrices(X, y[:-1], g3, (2,)), "9 entries and 10 rows"),
        (lambda X, y: moment_matrices(X[:0], y[:0], g3, (2,)), "at least 1 row"),
        (lambda X, y: moment_matrices(X, y * np.nan, g3, (2,)), "y must be finite"),
        (lambda X, y: moment_matrices(X + 1j, y, g3, (2,)), "X must hold real numbers"),
        (lambda X, y: moment_matrices(X[0], y, g3, (2,)), "X must have 2 axes"),
        (lambda X, y: moment_matrices([[1.0], [1.0, 2.0]], y, g3, (2,)), "X must be an array of numbers"),
        (lambda X, y: MomentSum(np.zeros((0, 3)), (2,)), "at least one vector"),
    ],
)
def test_bad_input_gets_one_sentence(call, message):
    X, y, _ = sample(0, 10, 3)
    with pytest.raises(InputError, match=message):
        call(X, y)


def test_a_refused_block_leaves_the_sum_as_it_was():
    X, y, directions = sample(1, 40, 3)
    total = total_of(X, y, directions)
    before = total.finalize().matrices
    with pytest.raises(InputError, match="finite"):
        total.add(np.where(X > 1, np.inf, X), y)
    assert np.array_equal(total.finalize().matrices, before)
