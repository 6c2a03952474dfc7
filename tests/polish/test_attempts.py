"""When attempts agree, and when their agreement says nothing."""

from dataclasses import replace

import numpy as np
import pytest

from netlearn import teachers
from netlearn.polish import Iterate
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
