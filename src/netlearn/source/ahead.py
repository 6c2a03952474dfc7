"""Reading ahead: the next block is fetched while the last one is being used."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

T = TypeVar("T")
_END = object()


def one_ahead(items: Generator[T]) -> Iterator[T]:
    """Yield what `items` yields, fetched by a thread that is always one item ahead.

    What goes wrong in the thread is raised here, in its place. The thread ends with the iteration, also where
    that is left early: then after the item under way.
    """
    with closing(items), ThreadPoolExecutor(1, thread_name_prefix="netlearn-read") as reader:
        following = reader.submit(next, items, _END)
        while (item := following.result()) is not _END:
            following = reader.submit(next, items, _END)
            yield item
            del item  # before the next one is waited for: two blocks in memory, not three
