"""Claims held to account: each check states how often correct code fails it, and meets a planted bug that it must see.

Seeds are fixed; FALSE_ALARM_RATE, one in a million, is the probability over seeds that correct code fails a check. The
runs are those of benchmarks/certificates.py. A quick form is part of `make test`; `make soak` has 600 planted
networks and 1,000 targets that are no network, for each learner.
"""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import certificates
from netlearn import corridor, learn, teachers
from netlearn.certify import certificate as certifying
from netlearn.certify.bernstein import bernstein_bound
from netlearn.moments import MomentSum, contraction
from netlearn.moments.polynomials import noise_gain
from netlearn.source.samples import split
from netlearn.subspace import noise_floor
from tests import statistics
from tests.reference import population

pytestmark = pytest.mark.statistical


# Coverage of the certificate, on noisy rows where least squares fit a third of the noise.


N_FEATURES, N_ROWS, SIGMA, FAILURE_PROB = 60, 200, 0.5, 0.1


def n_exceeded(n_runs):
    """Count the runs whose true prediction error is above the certified one; both in closed form."""
    exceeded = 0
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        w = rng.standard_normal(N_FEATURES)
        X = rng.standard_normal((N_ROWS, N_FEATURES))
        y = X @ w + SIGMA * rng.standard_normal(N_ROWS)
        result = learn(X, y, n_hidden=0, failure_prob=FAILURE_PROB, rng=seed)
        own = np.hypot(np.linalg.norm(result.network.linear - w), result.network.intercept)
        exceeded += np.hypot(own, SIGMA) > result.certificate.error_bound
    return exceeded


def most_exceeded(n_runs):
    return statistics.binomial_range(n_runs, FAILURE_PROB)[1]


def subtracted(squares, failure_prob):
    """The bound with the sign of its deviations dropped."""
    mean = float(np.mean(squares))
    return max(2 * mean - bernstein_bound(squares, failure_prob), 0.0)


def reused(*arguments):
    """Divide rows as `split` does, but certify on those that were learned from."""
    samples = split(*arguments)
    learned = samples.rows.in_memory()
    return replace(samples, X_val=learned.X, y_val=learned.y)


def test_certificates_cover_and_two_planted_bugs_do_not(monkeypatch):
    n_runs = 30
    assert n_exceeded(n_runs) <= most_exceeded(n_runs)
    with monkeypatch.context() as planted:
        planted.setattr(corridor, "split", reused)
        assert n_exceeded(n_runs) > most_exceeded(n_runs)
    with monkeypatch.context() as planted:
        planted.setattr(certifying, "bernstein_bound", subtracted)
        assert n_exceeded(n_runs) > most_exceeded(n_runs)


def check_planted(runs):
    """Certificates of planted networks hold as often as they say, and nothing Gaussian is said of other rows.

    Of units that bend on hardly any row the rows say nothing, and networks that have such are left out.
    """
    runs = [run for run in runs if not run.asleep]
    most = certificates.allowed(len(runs), certificates.FAILURE_PROB, statistics.FALSE_ALARM_RATE)
    assert sum(run.exceeded for run in runs) <= most
    assert not any(run.falsely_recovered for run in runs)
    others = [run for run in runs if run.inputs not in certificates.GAUSSIAN]
    assert others
    assert not any(run.quotes_gaussian for run in others)
    # The same question finds what it looks for where rows are standard and labels exact.
    assert any(run.quotes_gaussian for run in runs if run.inputs == "standard")
    # Negative control: what was seen on the held-out rows, without a certificate, is too small more often than that.
    assert sum(run.empirical_too_small for run in runs) > most


def test_planted_networks_of_all_kinds():
    check_planted([certificates.planted(seed) for seed in range(0, 90, 5)])


@pytest.mark.soak
def test_planted_networks_of_all_kinds_600_times():
    check_planted([certificates.planted(seed) for seed in range(600)])


# Success where there is none to be had: RECOVERED for what is no network, CERTIFIED for an error that is larger.


def false_claims(learner, seeds):
    return [claim for claim in map(learner, seeds) if claim.false]


def test_no_false_success():
    # Every kind of target once. A learner that claims one in a hundred falsely passes here more often than not, and the
    # long form once in 20,000 times.
    assert not false_claims(certificates.foreign, range(8, 16))
    assert not false_claims(certificates.foreign_to_paper, range(16))


def test_a_false_success_is_seen(monkeypatch):
    # Steep ramps through steps meet every label: it is the rows on which units bend apart that tell them from units.
    def never_too_few(rows, iterate, counted, enough):
        return np.full((iterate.n_hidden, iterate.n_hidden + 1), np.inf)

    steps = (69, 133)
    assert not false_claims(certificates.foreign, steps)
    monkeypatch.setattr("netlearn.verdict.pairs_apart", never_too_few)
    assert false_claims(certificates.foreign, steps)


@pytest.mark.soak
@pytest.mark.parametrize("learner", [certificates.foreign, certificates.foreign_to_paper])
def test_no_false_success_in_1000_runs(learner):
    assert not false_claims(learner, range(1000))


# The moments have the expectation that Lemma 2.3 says, whichever the order.

ORDERS = (2, 4)


def worst_moment(n_rows=300_000):
    """Largest deviation of the moment matrices from the population's, in standard errors."""
    rng = np.random.default_rng(0)
    network = teachers.random(2, 3, rng)
    g = population.random_direction(rng, 3)
    total = MomentSum(g[None, :], ORDERS)
    X = rng.standard_normal((n_rows, 3))
    total.add(X, network(X))
    moments = total.finalize()
    M = np.stack([population.moment_matrix(network, g, ell) for ell in ORDERS])
    return np.max(np.abs(moments.matrices[0] - M) / moments.standard_errors[0])


@pytest.mark.parametrize(
    "bug",
    [lambda ell: 1.25 * noise_gain(ell), lambda ell: abs(noise_gain(ell))],
    ids=["wrong c_ell", "dropped sign"],
)
def test_moments_have_their_expectation_and_a_planted_bug_has_not(bug, monkeypatch):
    # Six entries on and above the diagonal for each order; 16 groups of rows, so 15 degrees of freedom.
    width = statistics.student_width(6 * len(ORDERS), degrees_of_freedom=15)
    assert worst_moment() <= width
    monkeypatch.setattr(contraction, "noise_gain", bug)
    assert worst_moment() > width


def test_the_noise_floor_is_the_noise_and_half_of_it_is_not():
    # For labels that are noise of a symmetric law the errors E_1, E_2 of the two halves are independent and E_2 has the
    # law of -E_2, so that |E_1 + E_2| and |E_1 - E_2| are exchangeable: the estimate is above its floor in half of all
    # samples, exactly.
    n_samples, n_rows, d = 100, 400, 4
    norms, floors = [], []
    for seed in range(n_samples):
        rng = np.random.default_rng(seed)
        total = MomentSum(np.eye(d)[:1], (2,))
        total.add(rng.standard_normal((n_rows, d)), rng.standard_normal(n_rows))
        first, second = total.finalize().halves[:, 0, 0]
        norms.append(np.linalg.norm((first + second) / 2, 2))
        floors.append(noise_floor(first, second))
    low, high = statistics.binomial_range(n_samples, 0.5)
    assert low <= np.sum(np.greater(norms, floors)) <= high
    assert np.sum(np.greater(norms, np.array(floors) / 2)) > high


def test_gaussian_statements_are_withheld_and_would_be_seen(monkeypatch):
    # Standard deviation 1 and mean 0, and yet not normal: only skewness and kurtosis tell.
    rng = np.random.default_rng(0)
    target = teachers.random(2, 3, rng)
    X = np.sqrt(3) * rng.uniform(-1, 1, (3000, 3))

    def quoted():
        return any(
            "Lemma 2.5 bounds" in note for note in learn(X, target(X), n_hidden=2, rng=0).diagnostics.notes
        )

    assert not quoted()
    monkeypatch.setattr(corridor, "GAUSSIAN", np.inf)
    assert quoted()
