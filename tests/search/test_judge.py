"""Which network is better, by rows whose verdict is known beforehand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import Fit, Params, Problem
from netlearn.search import budget
from netlearn.search.judge import WORTH, Judge, Verdict, loses_nothing, paired_gain, sum_of_squares
from netlearn.source import ArraySource
from tests.fit import several, twins

BETTER, SAME, WORSE = Verdict.BETTER, Verdict.SAME, Verdict.WORSE
ZERO = 1e-18


def constant(value, n_outputs=1):
    """The network that says the same everywhere, in one dimension."""
    affine = np.zeros((n_outputs, 2))
    affine[:, -1] = value
    return Fit(Params.affine_only(affine), loss=1.0, score=1.0)


def labels(mean, spread, n=100, n_outputs=None):
    """Rows whose labels have exactly this mean and spread."""
    y = mean + spread * np.resize([1.0, -1.0], n)
    return ArraySource(np.zeros((n, 1)), y if n_outputs is None else np.tile(y[:, None], n_outputs))


def judge(judging, fitted=None):
    fitted = judging if fitted is None else fitted
    return Judge(Problem(fitted, True, ZERO), judging)


def unit(loss=1.0, score=1.0):
    """A fit of one unit in one dimension, which has four unknowns."""
    return Fit(Params.from_network(teachers.random(1, 1, 0, biases=1.0)), loss, score=score)


def with_rows(n):
    return judge(labels(0.0, 1.0, n))


# Rounding.


def test_exact_is_what_judging_rows_say_and_fitted_what_enough_fitted_rows_say():
    own = with_rows(5)  # 1.25 for each of four unknowns
    exact, fitted, neither = unit(score=ZERO / 2), unit(loss=ZERO / 2), unit(ZERO, ZERO)
    assert own.is_exact(exact)
    assert not own.is_fitted(exact)
    assert own.is_fitted(fitted)
    assert not own.is_exact(fitted)
    assert own.is_settled(exact)
    assert own.is_settled(fitted)
    assert not own.is_settled(neither)
    # As many unknowns as rows meet any labels.
    assert not with_rows(4).is_fitted(fitted)
    assert with_rows(4).is_exact(exact)


@pytest.mark.parametrize("kind", ["score", "loss"])
def test_exact_beats_inexact_however_many_unknowns_it_takes(kind):
    # The networks are the same, so neither judging rows nor Schwarz's criterion could tell them apart.
    own, other = with_rows(50), unit()
    exact = replace(other, **{kind: ZERO / 2})
    for n_more in (0, 10**9):
        assert own.compare(exact, other, n_more) is BETTER
        assert own.compare(other, exact, n_more) is WORSE
        assert own.compare(exact, exact, n_more) is SAME
    both = unit(ZERO / 2, ZERO / 2)
    assert own.compare(both, exact, 0) is BETTER
    assert own.compare(exact, both, 0) is WORSE


def test_a_larger_network_that_alone_meets_the_fitted_rows_is_not_given_up():
    assert with_rows(50).compare(unit(loss=ZERO / 2), unit(score=ZERO / 2), 0) is BETTER


# Judging rows: for constants c and 0 the gain of a row is c (2 y - c), so its mean and spread are known.


@pytest.mark.parametrize(("errors", "verdict"), [(4.1, BETTER), (3.9, SAME), (-3.9, SAME), (-4.1, WORSE)])
def test_judging_rows_decide_at_four_standard_errors_both_ways(errors, verdict):
    c, spread, n = 0.3, 2.0, 100
    own = judge(labels(c / 2 + errors * spread / math.sqrt(n), spread, n))
    opposite = {BETTER: WORSE, SAME: SAME, WORSE: BETTER}[verdict]
    one, other = constant(c), constant(0.0)
    assert own.compare(one, other, 10**9) is verdict
    assert own.compare(other, one, 10**9) is opposite
    # Two outputs alike say what one says, as each row counts once.
    own = judge(labels(c / 2 + errors * spread / math.sqrt(n), spread, n, n_outputs=2))
    assert own.compare(constant(c, 2), constant(0.0, 2), 10**9) is verdict


# Fitted rows.


@pytest.mark.parametrize("n_outputs", [None, 2])
def test_schwarz_pays_for_unknowns_where_judging_rows_do_not_tell(n_outputs):
    c, n = 1.0, 1000
    # Judging rows lie in the middle between both; fitted ones are nearer to the first.
    own = judge(labels(c / 2, 2.0, 10, n_outputs), labels(0.8 * c, 1.0, n, n_outputs))
    one, other = (constant(value, n_outputs or 1) for value in (c, 0.0))
    squares = 1 + 0.2**2, 1 + 0.8**2  # spread and distance of the mean
    n_terms = n * (n_outputs or 1)
    paid = n_terms * math.log(squares[1] / squares[0]) / math.log(n_terms)
    assert own.compare(one, other, math.floor(paid)) is BETTER
    assert own.compare(one, other, math.ceil(paid)) is SAME
    # The other way round nothing is gained, so nothing is paid for.
    assert own.compare(other, one, 0) is SAME


def test_judging_rows_that_prefer_need_no_leave_of_the_fitted_ones():
    c = 1.0
    own = judge(labels(c, 0.5, 100), labels(0.0, 1.0, 1000))
    assert own.compare(constant(c), constant(0.0), 10**9) is BETTER


@pytest.mark.parametrize(("errors", "paid"), [(0.6, 4.0), (0.4, None), (-1.6, None)])
def test_with_much_noise_both_kinds_of_rows_agree_at_a_lower_price(errors, paid):
    c, spread, n, n_judge = 0.5, 2.0, 1000, 100
    judging = labels(c / 2 + errors * spread / math.sqrt(n_judge) / 2, spread / 2, n_judge)
    own = judge(judging, labels(0.8 * c, spread, n))
    one, other = constant(c), constant(0.0)
    gain = n * math.log((spread**2 + (0.8 * c) ** 2) / (spread**2 + (0.2 * c) ** 2))
    n_more = math.floor(gain / (paid or math.log(n)))
    assert own.compare(one, other, n_more) is BETTER
    assert own.compare(one, other, n_more + 1) is SAME


# Several fits of one width.


def test_few_rows_leave_the_choice_to_the_score_and_ample_ones_to_the_loss():
    low_loss, low_score = unit(loss=0.5, score=0.9), unit(loss=0.6, score=0.8)
    found = [low_loss, low_score]
    n_ample = int(budget.AMPLE * 4)
    assert with_rows(n_ample - 1).best_of(found) is low_score
    assert with_rows(n_ample).best_of(found) is low_loss
    # One that is exact wins by its score, and fits that are not as wide have no part in what the loss decides.
    exact = unit(loss=0.7, score=ZERO / 2)
    assert with_rows(n_ample).best_of([*found, exact]) is exact
    narrow = replace(constant(0.0), loss=0.1, score=0.1)
    assert with_rows(n_ample).best_of([*found, narrow]) is low_loss
    assert with_rows(n_ample - 1).best_of([*found, narrow]) is narrow


def test_agreement_by_scores_is_within_two_per_cent():
    own = with_rows(39)
    assert not own.agree([unit()])
    assert own.agree([unit(loss=9.0, score=1.02), unit(loss=1.0, score=1.0)])
    assert not own.agree([unit(loss=1.0, score=1.021), unit(loss=1.0, score=1.0)])
    # The two best count.
    assert own.agree([unit(score=5.0), unit(score=1.0), unit(score=1.01)])
    assert not own.agree([unit(score=1.0), unit(score=1.03), unit(score=1.031)])


@pytest.mark.parametrize("n", [40, 400])
def test_agreement_by_losses_is_within_a_quarter_of_what_the_unknowns_absorb(n):
    own, share = with_rows(n), 4 / n
    assert own.agree([unit(loss=1.0, score=9.0), unit(loss=1 + 0.249 * share, score=1.0)])
    assert not own.agree([unit(loss=1.0, score=1.0), unit(loss=1 + 0.251 * share, score=1.0)])


# Sums.


def test_scores_and_sums_are_mean_and_sum_of_squares():
    rows = twins.planted(teachers.random(2, 3, 0), 200, seed=1)
    fit = Fit(Params.from_network(teachers.random(2, 3, 5)), 1.0)
    squares = (rows.y - fit.params.linearise(rows.X)[0]) ** 2
    assert judge(rows).judged(fit).score == pytest.approx(np.mean(squares))
    assert sum_of_squares(rows, fit.params) == pytest.approx(np.sum(squares))
    rows = several.planted(several.network(2, 3, 4, 0), 200, 1)
    fit = Fit(Params.from_network(several.network(2, 3, 4, 5)), 1.0)
    squares = (rows.y - fit.params.linearise(rows.X)[0]) ** 2
    assert judge(rows).judged(fit).score == pytest.approx(np.mean(squares))
    assert sum_of_squares(rows, fit.params) == pytest.approx(np.sum(squares))


def test_an_exact_fit_loses_nothing_down_to_rounding_or_what_schwarz_grants():
    n, n_fewer = 1000, 5
    granted = n ** (n_fewer / n)
    larger = unit(loss=1e-14)  # labels in single precision
    assert loses_nothing(unit(loss=0.999 * granted * 1e-14), larger, n, n_fewer)
    assert not loses_nothing(unit(loss=1.001 * granted * 1e-14), larger, n, n_fewer)
    assert loses_nothing(unit(loss=1e-26), unit(loss=1e-30), n, n_fewer)
    assert not loses_nothing(unit(loss=1.1e-26), unit(loss=1e-30), n, n_fewer)


# Widths.


def test_the_smallest_fit_that_no_larger_one_clearly_beats_is_kept():
    # Labels 1 +- 0.1: zero is off by 1, the constant 1 is right, and so is a network with a unit that does nothing.
    own = judge(labels(1.0, 0.1))
    right = Fit(Params(np.array([[0.0, 1.0]]), np.array([[1e-9, 0.0]]), np.ones((1, 1))), loss=0.01)
    assert own.smallest_unbeaten([constant(0.0), right]) is right
    assert own.smallest_unbeaten([constant(1.0), right]) is not right


def test_a_wider_fit_gains_from_five_per_cent_on():
    own = with_rows(100)
    assert own.gains(unit(score=0.95), unit(score=1.0))
    assert not own.gains(unit(score=0.951), unit(score=1.0))


def test_unknowns_have_a_price_where_rows_are_ample_and_scores_decide_where_they_are_few():
    # Four unknowns and forty rows: ample. The price of four more unknowns than none is a tenth of WORTH.
    ample, few = with_rows(40), with_rows(39)
    price = (1 + WORTH * 4 / 40) / (1 + WORTH * 2 / 40)
    for factor, better in ((1.01, True), (0.99, False)):
        assert ample.predicts_better(unit(loss=1.0 / price / factor), constant(0.0)) is better
    assert few.predicts_better(unit(loss=9.0, score=0.9), unit(loss=1.0, score=1.0))
    assert not few.predicts_better(unit(loss=0.1, score=1.1), unit(loss=1.0, score=1.0))


def test_a_paired_gain_is_the_weighted_mean_and_its_standard_error():
    rng = np.random.default_rng(0)
    squares, others = rng.uniform(size=(2, 50))
    gain, error = paired_gain(squares, others)
    assert gain == pytest.approx(np.mean(others - squares))
    assert error == pytest.approx(np.std(others - squares) / math.sqrt(50))
    # A row of weight two is two rows that say the same, and counts as one of them.
    doubled = paired_gain(squares, others, np.r_[2.0, np.ones(49)])
    assert doubled[0] == pytest.approx(np.mean(np.r_[others - squares, others[0] - squares[0]]))
