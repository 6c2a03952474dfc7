"""Rows are checked, divided once, and left as they were."""

import numpy as np
import pytest
import torch

from netlearn import learn
from netlearn.errors import InputError
from netlearn.source import Oracle
from netlearn.source.samples import Samples, checked_rows, split

X5 = np.random.default_rng(0).standard_normal((5, 2))
Y5 = np.arange(5.0)


def numbered(n, d=3):
    """Rows that carry their own number, in X and in y."""
    X = np.tile(np.arange(float(n))[:, None], (1, d))
    return X, np.arange(float(n))


@pytest.mark.parametrize("n", [4, 5, 17, 100, 101, 5000])
def test_split_is_a_partition(n):
    samples = split(*numbered(n), np.random.default_rng(1))
    rows = samples.rows.in_memory()
    for X, y in ((rows.X, rows.y), (samples.X_val, samples.y_val)):
        np.testing.assert_array_equal(X[:, 0], y)  # rows and labels stay together
    assert not set(rows.y) & set(samples.y_val)
    np.testing.assert_array_equal(np.sort(np.concatenate([rows.y, samples.y_val])), np.arange(float(n)))
    assert 1 <= samples.n_train < samples.n_train + samples.n_judge == len(rows.y)
    assert len(samples.y_val) >= 1


def test_shares_are_a_twentieth_and_a_fiftieth():
    samples = split(*numbered(10_000), np.random.default_rng(1))
    assert (len(samples.y_val), samples.n_judge) == (200, 500)
    # Never more than 20,000 rows each.
    samples = split(np.zeros((1_500_000, 1)), np.zeros(1_500_000), np.random.default_rng(1))
    assert (len(samples.y_val), samples.n_judge) == (20_000, 20_000)


def test_the_division_is_a_function_of_rng_alone():
    first, second, other = (split(*numbered(500), np.random.default_rng(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.rows.in_memory().y, second.rows.in_memory().y)
    np.testing.assert_array_equal(first.y_val, second.y_val)
    assert not np.array_equal(first.y_val, other.y_val)


@pytest.mark.statistical
def test_every_row_is_as_likely_to_certify():
    # 2000 divisions of 100 rows, 20 of which certify: a row's count is binomial, and the largest deviation
    # over 100 rows exceeds 6 standard deviations with probability below 1e-6 (normal tail, union bound).
    counts = np.zeros(100)
    for seed in range(2000):
        counts[split(*numbered(100), np.random.default_rng(seed)).y_val.astype(int)] += 1
    width = 6 * np.sqrt(2000 * 0.2 * 0.8)
    assert np.max(np.abs(counts - 400)) <= width
    # Negative control: a division that takes the first rows is seen.
    assert 2000 - 400 > width


def test_from_parts_shuffles_what_learns_and_leaves_the_certificate_rows():
    X, y = numbered(200)
    samples = Samples.from_parts(X[:150], y[:150], X[150:], y[150:], np.random.default_rng(0))
    rows = samples.rows.in_memory()
    np.testing.assert_array_equal(np.sort(rows.y), y[:150])
    assert not np.array_equal(rows.y, y[:150])
    np.testing.assert_array_equal(rows.X[:, 0], rows.y)
    np.testing.assert_array_equal(samples.y_val, y[150:])
    assert samples.n_features == 3


def test_notes_of_one_division_are_not_those_of_another():
    first, second = (split(*numbered(10), np.random.default_rng(0)) for _ in range(2))
    first.notes.append("seen")
    assert second.notes == []


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint16, np.int64])
def test_any_real_type_becomes_float64_in_the_division(dtype):
    X, y = numbered(20)
    samples = split(*checked_rows(X.astype(dtype), y.astype(dtype)), np.random.default_rng(0))
    rows = samples.rows.in_memory()
    assert rows.X.dtype == rows.y.dtype == samples.X_val.dtype == samples.y_val.dtype == np.float64
    np.testing.assert_array_equal(np.sort(np.concatenate([rows.y, samples.y_val])), y)


@pytest.mark.parametrize(
    "convert",
    [
        lambda X, y: (X.tolist(), y.tolist()),
        lambda X, y: (X, y[:, None]),
        lambda X, y: (np.asfortranarray(X), y[::-1][::-1]),
        lambda X, y: (torch.asarray(X), torch.asarray(y)),
        lambda X, y: (torch.asarray(X), y),
    ],
    ids=["lists", "column y", "Fortran and strides", "torch", "torch and numpy"],
)
def test_whatever_holds_the_same_rows_gives_the_same_arrays(convert):
    X, y = numbered(10)
    X_checked, y_checked = checked_rows(*convert(X, y))
    np.testing.assert_array_equal(X_checked, X)
    np.testing.assert_array_equal(y_checked, y)


def bad(place, value):
    """X5 with one entry replaced."""
    X = X5.copy()
    X[place] = value
    return X


TABLE = {
    "NaN in X": (bad((1, 1), np.nan), Y5, {}, "X must be finite; got NaN or infinity"),
    "inf in X": (bad((1, 1), np.inf), Y5, {}, "X must be finite"),
    "NaN in y": (X5, np.where(Y5 == 2, np.nan, Y5), {}, "y must be finite"),
    "-inf in y": (X5, np.where(Y5 == 2, -np.inf, Y5), {}, "y must be finite"),
    "1-d X": (Y5, Y5, {}, r"X must have 2 axes; got an array of shape \(5,\)"),
    "3-d X": (X5[None], Y5, {}, "X must have 2 axes"),
    "number X": (3.0, Y5, {}, "X must have 2 axes"),
    "3-d y": (X5, Y5[:, None, None], {}, r"y must have 1 axes; got an array of shape \(5, 1, 1\)"),
    "y without columns": (X5, X5[:, :0], {}, "y must have at least one column"),
    "number y": (X5, 3.0, {}, "y must have 1 axes"),
    "string X": ("rows.csv", Y5, {}, '"y" of learn must name the column of labels'),
    "strings in X": (np.full((5, 2), "a"), Y5, {}, "X must hold real numbers"),
    "string y": (X5, "target", {}, "y must hold real numbers"),
    "objects": (X5.astype(object), Y5, {}, "X must hold real numbers"),
    "complex y": (X5, Y5 + 1j, {}, "y must hold real numbers; got elements of type complex128"),
    "Boolean y": (X5, Y5 > 1, {}, "y must hold real numbers"),
    "ragged X": ([[1.0], [1.0, 2.0]], Y5, {}, "X must be an array of numbers; got a list"),
    "lengths": (X5, Y5[:4], {}, "one entry per row of X; got 4 entries and 5 rows"),
    "few rows": (X5[:3], Y5[:3], {}, "X has 3 rows; at least 4 are needed"),
    "no rows": (X5[:0], Y5[:0], {}, "X has 0 rows; at least 4 are needed"),
    "no columns": (X5[:, :0], Y5, {}, "X must have at least one column"),
    "no y": (X5, None, {}, '"y" of learn must be given with an array X'),
    "n_hidden -1": (
        X5,
        Y5,
        {"n_hidden": -1},
        '"n_hidden" of learn must be "auto" or an integer >= 0, got -1',
    ),
    "n_hidden 2.0": (X5, Y5, {"n_hidden": 2.0}, '"n_hidden" of learn .* got 2.0'),
    "n_hidden True": (X5, Y5, {"n_hidden": True}, '"n_hidden" of learn .* got True'),
    "n_hidden all": (X5, Y5, {"n_hidden": "all"}, "\"n_hidden\" of learn .* got 'all'"),
    "n_hidden None": (X5, Y5, {"n_hidden": None}, '"n_hidden" of learn .* got None'),
    "biases 1": (X5, Y5, {"biases": 1}, '"biases" of learn must be "auto", True or False, got 1'),
    "biases yes": (X5, Y5, {"biases": "yes"}, "\"biases\" of learn .* got 'yes'"),
    "biases None": (X5, Y5, {"biases": None}, '"biases" of learn .* got None'),
    "epsilon 0": (X5, Y5, {"epsilon": 0.0}, '"epsilon" of learn must be None or a positive number, got 0.0'),
    "epsilon -1": (X5, Y5, {"epsilon": -1}, '"epsilon" of learn .* got -1'),
    "epsilon NaN": (X5, Y5, {"epsilon": np.nan}, '"epsilon" of learn .* got nan'),
    "epsilon inf": (X5, Y5, {"epsilon": np.inf}, '"epsilon" of learn .* got inf'),
    "epsilon text": (X5, Y5, {"epsilon": "small"}, "\"epsilon\" of learn .* got 'small'"),
    "failure_prob 0": (
        X5,
        Y5,
        {"failure_prob": 0.0},
        r'"failure_prob" of learn must be in \(0, 1\), got 0.0',
    ),
    "failure_prob 1": (X5, Y5, {"failure_prob": 1}, '"failure_prob" of learn .* got 1'),
    "failure_prob NaN": (X5, Y5, {"failure_prob": np.nan}, '"failure_prob" of learn .* got nan'),
    "failure_prob None": (X5, Y5, {"failure_prob": None}, '"failure_prob" of learn .* got None'),
    "time_limit 0": (
        X5,
        Y5,
        {"time_limit": 0},
        '"time_limit" of learn must be None or a positive number, got 0',
    ),
    "time_limit NaN": (X5, Y5, {"time_limit": np.nan}, '"time_limit" of learn .* got nan'),
    "time_limit text": (X5, Y5, {"time_limit": "1 min"}, "\"time_limit\" of learn .* got '1 min'"),
    "y with Oracle": (Oracle(lambda X: X[:, 0], n_features=2), Y5, {}, '"y" of learn must be left out'),
}


@pytest.mark.parametrize("case", TABLE)
def test_bad_input_gets_one_sentence(case):
    X, y, options, message = TABLE[case]
    with pytest.raises(InputError, match=message) as caught:
        learn(X, y, **options)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert len(text) < 200


def test_the_same_rows_without_the_fault_are_accepted():
    # The negative control of the table: it is the fault that is refused, not these rows.
    assert learn(X5, Y5, rng=0).network is not None


def test_inputs_are_never_modified():
    X, y = np.random.default_rng(0).standard_normal((300, 3)), np.arange(300.0)
    X_before, y_before = X.copy(), y.copy()
    learn(2 * X + 1, y, n_hidden=1, rng=0)
    for array in (X, y):
        array.setflags(write=False)
    learn(X, y, n_hidden=1, rng=0)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)
