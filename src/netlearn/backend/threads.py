"""Threads for passes over rows: whole blocks side by side, each on a single-threaded BLAS.

Products of a block with a few columns are small. A BLAS that splits each of them between its threads has them wait
for one another after every one, and on a busy machine that costs more than it gains. Here a thread takes a whole
block, and only the finished blocks meet, in the order of the rows: sums come out the same with any number of threads.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# The pool, and how many items are computed ahead of the one that is waited for.
_POOL: ContextVar[tuple[ThreadPoolExecutor, int] | None] = ContextVar("netlearn_pool", default=None)
_AHEAD_PER_THREAD = 1


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def block_threads() -> Iterator[None]:
    """Give `in_order` as many threads as BLAS has at this moment, and BLAS one for each of them."""
    n_threads = max((library["num_threads"] for library in _blas().info()), default=1)
    if n_threads == 1 or _POOL.get() is not None:
        yield
        return
    with _blas().limit(limits=1), ThreadPoolExecutor(n_threads, "netlearn") as pool:
        token = _POOL.set((pool, _AHEAD_PER_THREAD * n_threads))
        try:
            yield
        finally:
            _POOL.reset(token)


def n_threads() -> int:
    """Return how many items `in_order` computes side by side."""
    pool_and_ahead = _POOL.get()
    return 1 if pool_and_ahead is None else pool_and_ahead[1] // _AHEAD_PER_THREAD


def in_order(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield function(item) for each item, in order; inside `block_threads` a few are computed ahead."""
    pool_and_ahead = _POOL.get()
    if pool_and_ahead is None:
        yield from map(function, items)
        return
    pool, ahead = pool_and_ahead
    items = iter(items)
    first = list(islice(items, 2))
    if len(first) < 2:
        yield from map(function, first)  # nothing to do side by side
        return
    waiting = deque(pool.submit(function, item) for item in first)
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
