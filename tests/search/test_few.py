"""Many starts on few rows: the best of them is kept, whatever ends them."""

import numpy as np
import pytest

from netlearn import teachers
from netlearn.fit import Fit, Params
from netlearn.search import few
from netlearn.search.few import many_starts
from tests.search.searches import search_on


def starts_that_leave(monkeypatch, offsets, stop=None):
    """Replace wide fits by constants that are off by so much, and what follows them by nothing; count them."""
    made = []

    def leap(problem, width, rng, **limits):
        made.append(width)
        offset = offsets[(len(made) - 1) % len(offsets)]
        if stop is not None and len(made) == len(offsets):
            stop.append(True)
        return Fit(Params.affine_only(np.array([[0.0] * problem.rows.n_features + [offset]])), offset**2)

    monkeypatch.setattr(few, "leap", leap)
    monkeypatch.setattr(few, "narrowed_and_settled", lambda start, wide, at_most, route: wide)
    return made


def test_the_first_start_and_the_best_one_give_an_answer(monkeypatch):
    made = starts_that_leave(monkeypatch, [3.0, 1.0, 2.0])
    search, _ = search_on(teachers.random(8, 10, 0), 130, False)
    found = [fit.loss for fit in many_starts(search, 8, 3)]
    assert len(made) > 3
    assert found == [9.0, 1.0]
    assert search.limited


def test_what_time_cuts_short_gives_an_answer_too(monkeypatch):
    stop = []
    made = starts_that_leave(monkeypatch, [3.0, 1.0, 2.0], stop)
    search, _ = search_on(teachers.random(8, 10, 0), 130, False, deadline=lambda: bool(stop))
    assert [fit.loss for fit in many_starts(search, 8, 64)] == [9.0, 1.0]
    assert len(made) == 3


@pytest.mark.parametrize("at_most", [8, None])
def test_a_start_that_explains_the_labels_is_given_at_once(monkeypatch, at_most):
    starts_that_leave(monkeypatch, [3.0, 0.001])
    search, _ = search_on(teachers.random(8, 10, 0), 130, False)
    fits = many_starts(search, at_most, 64)
    assert next(fit.loss for fit in fits if fit.loss < 1e-4) == pytest.approx(1e-6)
