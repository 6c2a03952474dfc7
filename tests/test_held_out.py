"""Rows that certify: which they are, that they took no part in what they certify, and what moves the bound."""

from dataclasses import replace

import numpy as np
import pytest

from netlearn import Status, fresh_rows, learn, teachers
from netlearn.certify import certify
from netlearn.errors import InputError
from tests import statistics
from tests.fit.several import network as several

TARGET = teachers.random(2, 4, 0, biases=0.5)
N = 2000


def rows(noise=0.0, target=TARGET, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, target.n_features))
    y = target(X)
    return X, y + noise * rng.standard_normal(y.shape)


@pytest.fixture
def before(monkeypatch):
    """The networks before the last fit, with the divisions of their rows, run by run."""
    seen, certified_before = [], fresh_rows._certified_before

    def watched(certificate, before, network, samples):
        seen.append((before, samples))
        return certified_before(certificate, before, network, samples)

    monkeypatch.setattr(fresh_rows, "_certified_before", watched)
    return seen


def arrays(*sources):
    parts = [(part.X, part.y) for part in (source.in_memory() for source in sources)]
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def places(X, some):
    """Where rows are in X."""
    return [int(np.flatnonzero(np.all(X == row, axis=1))[0]) for row in some]


def test_exact_labels_leave_a_quarter_of_the_rows_fresh(before):
    result = learn(*rows(), n_hidden=2, rng=0)
    assert result.status is Status.RECOVERED
    assert result.diagnostics.rows == {"train": 1400, "judge": 100, "certify": 500}
    own = result.certificate
    assert (own.n_val, own.n_bound, own.moved, len(result.held_out.y)) == (500, 500, 0.0, 500)
    assert before == []


@pytest.mark.parametrize("target", [TARGET, several(2, 4, 2, 0)], ids=["one output", "two outputs"])
def test_noisy_labels_get_the_reserve_back_for_the_last_fit(before, target):
    result = learn(*rows(0.1, target), n_hidden=2, rng=0)
    assert result.status is Status.NOISE_LIMITED
    assert result.diagnostics.rows == {"train": 1400, "judge": 100, "last fit": 400, "certify": 100}
    own = result.certificate
    assert (own.n_val, own.n_bound, result.score.n_rows, len(result.held_out.y)) == (100, 500, 100, 100)
    # Slow twin: the network before, on the rows of the reserve and the fresh ones, and its distance by sampling.
    ((network, samples),) = before
    held = arrays(samples.reserve, samples.fresh)
    earlier = certify(network, *held, failure_prob=0.01, basis=own.basis)
    assert own.basis.noisy
    assert own.error_bound == pytest.approx(earlier.error_bound + own.moved, rel=1e-12)
    Z = np.random.default_rng(0).standard_normal((200_000, 4))
    squares = ((result.network(Z) - network(Z)) ** 2).reshape(len(Z), -1).sum(axis=1)
    width = statistics.student_width(1, len(Z) - 1) * squares.std() / np.sqrt(len(Z))
    assert abs(own.moved**2 - squares.mean()) <= width < 0.1 * squares.mean()
    for part, then in zip(own.per_output, earlier.per_output, strict=True):
        assert part.error_bound == pytest.approx(then.error_bound + own.moved, rel=1e-12)
        assert part.n_bound == 500
    # The other statement is about the network itself, on rows that it does not know.
    alone = certify(result.network, *arrays(samples.fresh), failure_prob=0.01)
    assert (own.share, own.tolerance, own.empirical_error) == (
        alone.share,
        alone.tolerance,
        alone.empirical_error,
    )
    assert "from 500 held-out rows, 400 of which joined the last fit afterwards" in result.summary()


def test_no_row_that_certifies_had_a_say(before):
    # Other labels on the reserve and on the fresh rows: the network before the last fit is the same to the last bit,
    # and so is the one after it but for the reserve.
    X, y = rows(0.1)
    noise = np.random.default_rng(2)
    first = learn(X, y, n_hidden=2, rng=0)
    ((network, samples),) = before
    reserve, fresh = (places(X, part.in_memory().X) for part in (samples.reserve, samples.fresh))
    assert len({*reserve, *fresh}) == 500
    for place, same in ((reserve, False), (fresh, True)):
        other = y.copy()
        other[place] += 0.1 * noise.standard_normal(len(place))
        result = learn(X, other, n_hidden=2, rng=0)
        assert before[-1][0] == network
        assert (result.network == first.network) == same
        assert result.certificate != first.certificate


def test_no_row_that_certifies_exact_labels_had_a_say():
    X, y = rows()
    first = learn(X, y, n_hidden=2, rng=0)
    other = y.copy()
    other[places(X, first.held_out.X)] += 0.5
    result = learn(X, other, n_hidden=2, rng=0)
    assert result.network == first.network
    assert result.status is not Status.RECOVERED
    assert result.certificate.tolerance == pytest.approx(0.5)


@pytest.mark.parametrize("law", ["normal", "box", "none"])
def test_only_of_standard_inputs_the_distance_is_known(before, law):
    X = np.random.default_rng(1).standard_normal((N, 4))
    X = {"normal": 3.0 * X + 1.0, "box": np.random.default_rng(1).uniform(-1, 1, X.shape), "none": X**3}[law]
    y = TARGET(X) + 0.1 * np.random.default_rng(2).standard_normal(N)
    own = learn(X, y, n_hidden=2, rng=0).certificate
    assert before == []
    assert own.moved == 0.0
    assert own.n_bound == (0 if law == "none" else own.n_val)
    assert np.isfinite(own.error_bound) == (law != "none") == (own.why_no_bound == "")


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_share_that_is_asked_for_is_held_out_whatever_the_labels(before, noise):
    result = learn(*rows(noise), n_hidden=2, holdout=0.3, rng=0)
    own = result.certificate
    assert (own.n_val, own.n_bound, own.moved) == (600, 600, 0.0)
    assert result.diagnostics.rows == {"train": 1300, "judge": 100, "certify": 600}
    assert before == []


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_rows_that_taught_are_told_from_those_that_did_not(noise):
    X, y = rows(noise)
    result = learn(X[:900], y[:900], n_hidden=2, rng=0)
    held_out = places(X, result.held_out.X)
    taught = np.setdiff1d(np.arange(900), held_out)
    assert len(taught) == 900 - result.certificate.n_val == len(result.taught)
    for n in (1, 10, len(taught)):
        with pytest.raises(InputError, match=f"but {n:,} of the {n + 50:,} given took part"):
            result.recheck(*(np.concatenate([part[taught[:n]], part[900:950]]) for part in (X, y)))
    assert result.recheck(X[held_out], y[held_out]).tolerance == result.certificate.tolerance
    assert result.recheck(X[900:], y[900:]).n_val == N - 900


def test_a_slope_that_is_given_is_the_one_assumed():
    X, y = rows()
    steep, flat = (
        learn(X, y, n_hidden=2, target_lipschitz=slope, rng=0).certificate for slope in (50.0, 0.5)
    )
    assert any("no steeper than 50" in words for words in steep.assumptions)
    assert flat.error_bound < steep.error_bound
    assert replace(flat.basis, target_lipschitz=50.0) == steep.basis
    assert any("at most 2 times as steep" in words for words in learn(X, y, rng=0).certificate.assumptions)
