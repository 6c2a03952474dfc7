"""Rows are checked, divided once, and left as they were."""

import numpy as np
import pytest
import torch

from netlearn import learn
from netlearn.errors import InputError
from netlearn.source import Oracle
from netlearn.source.samples import HoldOut, Samples, checked_rows, split

X5 = np.random.default_rng(0).standard_normal((5, 2))
Y5 = np.arange(5.0)


def numbered(n, d=3):
    """Rows that carry their own number, in X and in y."""
    X = np.tile(np.arange(float(n))[:, None], (1, d))
    return X, np.arange(float(n))


def of(n_features=3, **options):
    """The division `learn` makes of rows with so many features, as a function of their number."""
    options = {"n_hidden": 1, "n_enough": 90, "per_unknown": 5.0, **options}
    return lambda n: HoldOut.of(n, n_features, **options)


def fresh_labels(samples):
    return samples.fresh.in_memory().y


@pytest.mark.parametrize("n", [4, 5, 17, 100, 101, 5000])
@pytest.mark.parametrize("share", [None, 0.3])
def test_split_is_a_partition(n, share):
    samples = split(*numbered(n), np.random.default_rng(1), of(share=share))
    rows, fresh, reserve = (part.in_memory() for part in (samples.rows, samples.fresh, samples.reserve))
    for part in (rows, fresh, reserve):
        np.testing.assert_array_equal(part.X[:, 0], part.y)  # rows and labels stay together
    assert not set(rows.y) & set(fresh.y)
    np.testing.assert_array_equal(np.sort(np.concatenate([rows.y, fresh.y])), np.arange(float(n)))
    assert min(samples.n_train, samples.n_judge, len(fresh.y)) >= 1
    assert samples.n_train + samples.n_judge + samples.n_reserve == len(rows.y)
    # The reserve comes last, so that rows before it can be fitted alone.
    np.testing.assert_array_equal(reserve.y, rows.y[samples.n_train + samples.n_judge :])
    out = of(share=share)(n)
    assert (out.n_fresh, out.n_reserve) == (len(fresh.y), samples.n_reserve)


def test_a_twentieth_judges_and_a_hundredth_certifies_whatever_the_labels():
    samples = split(*numbered(10_000), np.random.default_rng(1), of())
    assert (samples.fresh.n_rows, samples.n_reserve, samples.n_judge) == (100, 2_400, 500)
    # Never more than 20,000 rows each, but for the reserve, which costs nothing.
    rows = np.zeros((1_500_000, 1)), np.zeros(1_500_000)
    samples = split(*rows, np.random.default_rng(1), of(1))
    assert (samples.fresh.n_rows, samples.n_reserve, samples.n_judge) == (15_000, 360_000, 20_000)


@pytest.mark.parametrize(
    ("n", "d", "n_hidden", "fresh", "reserve"),
    [
        # Ample: a quarter of the rows is held out, of it a hundredth of all to the end; of few rows a tenth, up to 100.
        (10_000, 5, 2, 100, 2_400),
        (2_000, 5, 2, 100, 400),
        (600, 5, 2, 60, 90),
        # More than a quarter where that takes 90 rows, up to half.
        (200, 3, 1, 20, 70),
        (160, 3, 1, 16, 64),
        # What learns keeps five rows for each of (k + 1)(d + 1) unknowns: here 150 of 180, then all.
        (180, 14, 1, 18, 12),
        (150, 14, 1, 15, 0),
        # With fewer than 2.5 rows for each unknown of the width asked for, hardly any are held out.
        (700, 30, 10, 14, 0),
        (900, 30, 10, 20, 0),
        (1_700, 30, 9, 100, 50),
        # Where the number of units is not known, four are expected.
        (700, 30, "auto", 20, 0),
        (1_100, 30, "auto", 100, 175),
        # Of few rows a tenth, but one at least.
        (50, 3, 1, 5, 5),
        (30, 5, "auto", 3, 0),
        (9, 3, 1, 1, 0),
        (4, 3, 1, 1, 0),
    ],
)
def test_how_many_rows_are_held_out(n, d, n_hidden, fresh, reserve):
    out = of(d, n_hidden=n_hidden)(n)
    assert (out.n_fresh, out.n_reserve) == (fresh, reserve)
    few = n_hidden != "auto" and (n_hidden + 1) * (d + 1) < n < 2.5 * (n_hidden + 1) * (d + 1)
    assert out.n_judge == (fresh if few else None)


@pytest.mark.parametrize(
    ("n", "share", "fresh"), [(1_000, 0.4, 400), (1_000, 0.001, 1), (10, 0.01, 1), (4, 0.9, 1), (8, 0.999, 5)]
)
def test_a_share_that_is_asked_for_is_held_out_to_the_end(n, share, fresh):
    assert of(share=share)(n) == HoldOut(fresh, 0)


def test_fewer_rows_are_enough_for_a_lower_confidence():
    assert of(n_enough=45)(140) == HoldOut(14, 31)
    assert of(n_enough=90)(140) == HoldOut(14, 56)  # half of the rows


@pytest.mark.parametrize("d", [1, 7])
@pytest.mark.parametrize("k", [0, 3, "auto"])
def test_something_is_left_to_learn_and_judge(k, d):
    for n in range(4, 400):
        out = of(d, n_hidden=k)(n)
        assert out.n_fresh >= 1
        assert out.n_reserve >= 0
        assert out.n_fresh + out.n_reserve <= n // 2
        samples = split(*numbered(n, d), np.random.default_rng(0), of(d, n_hidden=k))
        assert min(samples.n_train, samples.n_judge) >= 1


@pytest.mark.parametrize(("n", "judge"), [(1_100, 125), (160, 18)])
def test_a_reserve_that_learns_leaves_an_eighth_to_judge(n, judge):
    samples = split(*numbered(n, 5), np.random.default_rng(0), of(5, n_hidden="auto" if n > 1000 else 3))
    assert samples.n_reserve > 0
    joined = samples.with_reserve()
    assert (joined.n_reserve, joined.n_judge) == (0, judge)
    assert joined.n_train + joined.n_judge == samples.n_train + samples.n_judge + samples.n_reserve
    # What learned before learns again, and the same rows judge first.
    before, after = (part.rows.in_memory().y for part in (samples, joined))
    np.testing.assert_array_equal(after[: samples.n_train], before[: samples.n_train])
    np.testing.assert_array_equal(
        after[-samples.n_judge :], before[samples.n_train : samples.n_train + samples.n_judge]
    )


def test_the_division_is_a_function_of_rng_alone():
    first, second, other = (split(*numbered(500), np.random.default_rng(seed), of()) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.rows.in_memory().y, second.rows.in_memory().y)
    np.testing.assert_array_equal(fresh_labels(first), fresh_labels(second))
    assert not np.array_equal(fresh_labels(first), fresh_labels(other))


@pytest.mark.statistical
@pytest.mark.parametrize("part", ["fresh", "reserve"])
def test_every_row_is_as_likely_to_certify(part):
    # 2000 divisions of 160 rows, of which 16 certify and 64 are in the reserve: a row's count is binomial, and the
    # largest deviation over 160 rows exceeds 6 standard deviations with probability below 1e-6 (normal tail, union
    # bound).
    counts = np.zeros(160)
    for seed in range(2000):
        samples = split(*numbered(160), np.random.default_rng(seed), of())
        counts[getattr(samples, part).in_memory().y.astype(int)] += 1
    p = {"fresh": 16, "reserve": 64}[part] / 160
    width = 6 * np.sqrt(2000 * p * (1 - p))
    assert np.max(np.abs(counts - 2000 * p)) <= width
    # Negative control: a division that takes the first rows is seen.
    assert 2000 * (1 - p) > width


def test_from_parts_shuffles_what_learns_and_leaves_the_certificate_rows():
    X, y = numbered(200)
    parts = X[:150], y[:150], X[150:], y[150:]
    samples = Samples.from_parts(*parts, np.random.default_rng(0), law="N(0, I)", repeats=True)
    rows = samples.rows.in_memory()
    np.testing.assert_array_equal(np.sort(rows.y), y[:150])
    assert not np.array_equal(rows.y, y[:150])
    np.testing.assert_array_equal(rows.X[:, 0], rows.y)
    np.testing.assert_array_equal(fresh_labels(samples), y[150:])
    assert samples.n_features == 3
    assert (samples.law, samples.repeats, samples.n_reserve) == ("N(0, I)", True, 0)


def test_notes_of_one_division_are_not_those_of_another():
    first, second = (split(*numbered(10), np.random.default_rng(0), of()) for _ in range(2))
    first.notes.append("seen")
    assert second.notes == []


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint16, np.int64])
def test_any_real_type_becomes_float64_in_the_division(dtype):
    X, y = numbered(20)
    samples = split(*checked_rows(X.astype(dtype), y.astype(dtype)), np.random.default_rng(0), of())
    rows, fresh = samples.rows.in_memory(), samples.fresh.in_memory()
    assert rows.X.dtype == rows.y.dtype == fresh.X.dtype == fresh.y.dtype == np.float64
    np.testing.assert_array_equal(np.sort(np.concatenate([rows.y, fresh.y])), y)


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
    "target_lipschitz -1": (
        X5,
        Y5,
        {"target_lipschitz": -1.0},
        '"target_lipschitz" of learn must be None or a number >= 0, got -1.0',
    ),
    "target_lipschitz inf": (X5, Y5, {"target_lipschitz": np.inf}, '"target_lipschitz" of learn .* got inf'),
    "target_lipschitz text": (X5, Y5, {"target_lipschitz": "1"}, '"target_lipschitz" of learn .* got .1.'),
    "holdout 0": (
        X5,
        Y5,
        {"holdout": 0.0},
        r'"holdout" of learn must be None or a share of the rows in \(0, 1\), got 0.0',
    ),
    "holdout 1": (X5, Y5, {"holdout": 1}, r'"holdout" of learn must be .* got 1'),
    "holdout NaN": (X5, Y5, {"holdout": np.nan}, r'"holdout" of learn must be .* got nan'),
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


def test_rows_of_a_table_stored_by_columns_are_put_together():
    X = np.asfortranarray(np.random.default_rng(0).standard_normal((100, 7)))
    rows, _ = checked_rows(X, X[:, 0])
    assert rows.flags.c_contiguous
    np.testing.assert_array_equal(rows, X)
    together = np.ascontiguousarray(X)
    assert checked_rows(together, X[:, 0])[0] is together  # nothing is copied
