"""A fingerprint of rows: those that are used again are counted, or their number is estimated."""

import numpy as np
import pytest

from netlearn.inputs.duplicates import bottom_keys, n_known
from netlearn.source import ArraySource
from tests import statistics

KEPT = 1024


def rows(n, seed=0, outputs=()):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)), rng.standard_normal((n, *outputs))


def source(*parts):
    """One source with the rows of all parts."""
    X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
    return ArraySource(X, y)


@pytest.mark.parametrize("outputs", [(), (2,)])
def test_few_rows_are_counted(outputs):
    X, y = rows(KEPT - 1, outputs=outputs)
    kept = bottom_keys(ArraySource(X, y))
    assert len(kept) == KEPT - 1
    assert n_known(kept, ArraySource(X, y))[0] == KEPT - 1
    assert n_known(kept, ArraySource(X[:1], y[:1]))[0] == 1
    fresh = rows(500, seed=1, outputs=outputs)
    assert n_known(kept, ArraySource(*fresh))[0] == 0
    assert n_known(kept, source(fresh, (X[200:217], y[200:217])))[0] == 17
    # Order and blocks do not matter, and a copy of a copy is known too.
    backwards = ArraySource(X[::-1], y[::-1])
    np.testing.assert_array_equal(bottom_keys(backwards), kept)
    assert n_known(kept, source((X[:3], y[:3]), (X[:3], y[:3])))[0] == 6


def test_a_row_is_known_with_all_its_digits_and_its_label_alone():
    X, y = rows(50)
    kept = bottom_keys(ArraySource(X, y))
    other = X.copy()
    other[:, 1] = np.nextafter(other[:, 1], np.inf)
    assert n_known(kept, ArraySource(other, y))[0] == 0
    assert n_known(kept, ArraySource(X, np.nextafter(y, np.inf)))[0] == 0
    zeros = np.zeros((2, 3)), np.zeros(2)
    assert n_known(bottom_keys(ArraySource(*zeros)), ArraySource(-zeros[0], -zeros[1]))[0] == 2


def test_a_model_without_rows_knows_none():
    assert n_known(np.zeros(0), ArraySource(*rows(10)))[0] == 0


def test_eight_kilobytes_are_kept_of_any_number_of_rows():
    kept = bottom_keys(ArraySource(*rows(30_000)))
    assert kept.shape == (KEPT,)
    assert kept.nbytes == 2**13
    assert np.all(np.diff(kept) > 0)
    assert np.all((0 <= kept) & (kept < 2.0**52) & (kept == np.floor(kept)))


@pytest.mark.statistical
@pytest.mark.parametrize("n_again", [20_000, 4_000, 0])
def test_of_many_rows_those_used_again_are_estimated(n_again):
    # The share of keys that are kept is that of the 1024th smallest of n uniform numbers; of rows used again, as many
    # keys as in a binomial draw are among them.
    n = 20_000
    X, y = rows(n)
    kept = bottom_keys(ArraySource(X, y))
    share = kept[-1] / 2.0**52
    low, high = statistics.binomial_range(n, share, 4)
    assert low <= KEPT <= high
    mixed = source((X[:n_again], y[:n_again]), rows(3_000, seed=1))
    low, high = statistics.binomial_range(n_again, share, 4)
    assert low / share - 1 <= n_known(kept, mixed)[0] <= high / share + 1
    assert n_known(kept, mixed)[0] <= mixed.n_rows
    assert n_known(kept, mixed)[1]  # an estimate
    assert (n_known(kept, mixed)[0] > 0) == (n_again > 0)


@pytest.mark.statistical
def test_keys_are_as_good_as_random():
    # Whole numbers, the least random rows there are. Keys of 4096 in 16 equal parts: multinomial counts.
    X = np.stack(np.meshgrid(*3 * [np.arange(16.0)]), axis=-1).reshape(-1, 3)
    own = bottom_keys(ArraySource(X, X.sum(axis=1)))
    # The largest key that is kept is the 1024th of 4096 uniform numbers.
    low, high = statistics.binomial_range(len(X), own[-1] / 2.0**52)
    assert low <= KEPT <= high
    counts = np.histogram(own, 16, (0.0, own[-1] + 1))[0]
    low, high = statistics.binomial_range(KEPT, 1 / 16, 16)
    assert np.all((low <= counts) & (counts <= high))
