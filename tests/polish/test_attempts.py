"""When attempts agree, when their agreement says nothing, and what completes a fit that is nearly exact."""

from dataclasses import replace

import numpy as np
import pytest

from netlearn import teachers
from netlearn.network import ShallowNetwork
from netlearn.polish import Iterate, finish
from netlearn.polish.attempts import Candidate, Search
from tests.polish.twins import planted


@pytest.fixture
def search():
    rows = planted(teachers.random(2, 5, 0), 1000, seed=1)
    return Search(rows, rows, rows.head(100), np.eye(5)[:, :1], True, np.random.default_rng(0))


def candidate(route, loss):
    iterate = Iterate.from_network(teachers.random(2, 5, 3))
    return Candidate(iterate, loss, loss, False, False, (), route)


@pytest.mark.parametrize(
    ("routes", "agree"),
    [
        (("subspace",), False),
        (("subspace", "net"), False),  # both lack what V lacks
        (("subspace", "subspace", "net"), False),
        (("subspace", "wide"), True),
        (("net", "wide"), True),
        (("wide", "wide"), True),
        (("affine", "regrown"), False),
    ],
)
def test_attempts_through_one_subspace_count_as_one(search, routes, agree):
    found = [candidate(route, 0.1) for route in routes]
    assert search.agree(found) == agree
    # One that is ten times better leaves no two that agree.
    assert not search.agree([*found[:-1], replace(found[-1], loss=0.01, score=0.01)])


def lacking_a_weak_unit(weight):
    """A search for five units of which one has this weight, and the best fit without it."""
    strong = teachers.random(4, 5, 0, biases=0.5)
    weak = ShallowNetwork(np.zeros(5), [weight], teachers.random(1, 5, 7).units, [0.3], 0.0)
    rows = planted(strong, 1500, seed=1)
    rows.y = (rows.y + weak(rows.X)) / np.std(rows.y)
    search = Search(rows, rows, rows.head(200), np.zeros((5, 0)), True, np.random.default_rng(0))
    a = Iterate.from_network(strong).a / np.std(strong(rows.X))
    return search, Iterate(a, Iterate.from_network(strong).sigma)


@pytest.mark.parametrize("weight", [1e-2, 1e-4, 1e-6])
def test_a_unit_much_weaker_than_others_is_found_in_what_they_leave(weight):
    search, start = lacking_a_weak_unit(weight)
    found = finish(search.train, start, biases=True)
    assert search.rounding < found.loss < 1e-4
    completed = search.completed(search.candidate(found.iterate, found.loss, (), "wide"), 5)
    assert completed.exact
    assert completed.iterate.n_hidden == 5


def test_a_unit_that_no_row_bends_does_not_stand_in_the_way():
    search, start = lacking_a_weak_unit(1e-4)
    far = ShallowNetwork(np.zeros(5), [1.0], [[1.0, 0.0, 0.0, 0.0, 0.0]], [-9.0], 0.0)
    start = start.joined(Iterate.from_network(far))
    found = finish(search.train, start, biases=True, max_rounds=5)
    completed = search.completed(search.candidate(found.iterate, found.loss, (), "wide"), 5)
    assert completed.exact
    assert (
        np.abs(completed.iterate.a[1:, -1] / np.linalg.norm(completed.iterate.a[1:, :-1], axis=1)).max() < 4
    )
