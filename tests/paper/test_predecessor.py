import math
from dataclasses import replace

import numpy as np
import pytest

from netlearn import teachers
from netlearn.paper import Schedule, multi_stage
from netlearn.result import Status

d, epsilon, R = 6, 0.25, 2.0


def rows_of(f, rng):
    def sample(n):
        X = rng.standard_normal((n, d))
        return X, f(X)

    return sample


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("teacher", [teachers.random, teachers.hard_plane])
def test_it_learns_and_certifies(teacher, k):
    rng = np.random.default_rng(20)
    target = teacher(k, d, rng, radius=R)
    result = multi_stage(rows_of(target, rng), d, k, epsilon, R, rng=rng)
    assert result.status is Status.CERTIFIED
    assert target.distance(result.network) <= result.certificate.error_bound <= epsilon


def test_a_second_stage_mends_what_a_coarse_first_one_leaves():
    rng = np.random.default_rng(21)
    target = teachers.hard_plane(2, d, rng, radius=R)
    coarse = replace(Schedule.practical(d, 2, epsilon, R), log10_xi=math.log10(0.45))
    result = multi_stage(rows_of(target, rng), d, 2, epsilon, R, schedule=coarse, rng=rng)
    assert result.success
    assert target.distance(result.network) <= epsilon
    assert result.diagnostics.notes != ("stages: 1",)
    assert result.diagnostics.rows["moments"] >= 2 * round(coarse.N)


def test_a_target_outside_the_class_fails():
    rng = np.random.default_rng(22)
    schedule = Schedule.practical(d, 2, epsilon, R, n_rows=50_000, n_val=20_000)
    sample = rows_of(lambda X: np.sin(5.0 * X[:, 0]), rng)
    assert multi_stage(sample, d, 2, epsilon, R, schedule=schedule, rng=rng).status is Status.FAILED
