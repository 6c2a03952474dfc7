"""Blocks side by side: the same results in the same order, however many threads there are."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from netlearn import learn, teachers
from netlearn.backend.threads import block_threads, in_order
from netlearn.backend.threads import n_threads as n_side_by_side


def blas_threads():
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


@pytest.fixture(params=[1, 2, 4])
def n_threads(request):
    with threadpool_limits(request.param, user_api="blas"):
        yield request.param


@pytest.mark.parametrize("n_items", [0, 1, 2, 3, 50])
def test_results_come_in_order(n_threads, n_items):
    with block_threads():
        assert list(in_order(lambda i: i * i, range(n_items))) == [i * i for i in range(n_items)]


def test_blocks_run_side_by_side_on_a_blas_of_one_thread_each():
    with threadpool_limits(2, user_api="blas"):
        with block_threads():
            assert blas_threads() == 1
            # Each of two items waits for the other to have begun: one thread alone would wait in vain.
            meeting = threading.Barrier(2, timeout=30)
            list(in_order(lambda _: meeting.wait(), range(2)))
        assert blas_threads() == 2


def test_one_thread_is_the_caller():
    with threadpool_limits(1, user_api="blas"), block_threads():
        assert set(in_order(lambda _: threading.get_ident(), range(5))) == {threading.get_ident()}


def test_the_number_of_threads_is_known_inside(n_threads):
    assert n_side_by_side() == 1
    with block_threads():
        assert n_side_by_side() == n_threads


def test_no_more_items_are_taken_than_a_few_ahead(n_threads):
    taken = []

    def items():
        for i in range(100):
            taken.append(i)
            yield i

    with block_threads():
        results = in_order(lambda i: i, items())
        for i in range(10):
            assert next(results) == i
            assert len(taken) <= i + 2 + n_threads
        results.close()


def test_an_error_reaches_the_caller(n_threads):
    def fails(i):
        if i == 3:
            raise ZeroDivisionError("the fourth")
        return i

    with block_threads(), pytest.raises(ZeroDivisionError, match="the fourth"):
        list(in_order(fails, range(20)))
    assert blas_threads() == n_threads


@pytest.mark.slow
def test_the_network_does_not_depend_on_the_number_of_threads():
    teacher = teachers.random(3, 40, 0)
    X = np.random.default_rng(1).standard_normal((20_000, 40))
    y = teacher(X) + 0.1 * np.random.default_rng(2).standard_normal(20_000)
    found = []
    for n in (1, 2, 3):
        with threadpool_limits(n, user_api="blas"):
            found.append(learn(X, y, n_hidden=3, rng=0).network)
    assert found[0].distance(found[1]) <= 1e-9 * found[0].norm()
    np.testing.assert_array_equal(found[1].units, found[2].units)
