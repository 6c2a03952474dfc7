"""Reading ahead: the next block is fetched while the last one is being used, and its bytes before that."""

import os
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

T = TypeVar("T")
_END = object()
# Of a longer piece the system would fetch the beginning alone.
_PIECE_BYTES = 2**19


def one_ahead(items: Generator[T]) -> Generator[T]:
    """Yield what `items` yields, fetched by a thread that is always one item ahead.

    What goes wrong in the thread is raised here, in its place. The thread ends with the iteration, also where
    that is left early: then after the item under way.
    """
    with closing(items), ThreadPoolExecutor(1, thread_name_prefix="netlearn-read") as reader:

        def following() -> Future[Any]:  # of the next item, or of the mark that there is none
            return reader.submit(next, items, _END)

        fetched = following()
        while (item := fetched.result()) is not _END:
            fetched = following()
            yield item
            del item  # before the next one is waited for: two blocks in memory, not three


class FetchedAhead:
    """Bytes of a file that the system is asked to fetch while others are decoded, so that disk and processor both work.

    The bytes go into the page cache and take no memory of this process. Where the system takes no such wishes, nothing
    happens.

    Parameters
    ----------
    descriptor : int
        Of the open file.
    groups : iterable of (int, list of (int, int))
        For each group of rows in the order of reading: their number, and (start, stop) of the bytes that hold them.
    """

    def __init__(self, descriptor: int, groups: Iterable[tuple[int, list[tuple[int, int]]]]):
        self._descriptor = descriptor
        self._due: deque[tuple[float, int, int]] = deque()  # row at which to ask, start and length
        row = 0
        for n_rows, ranges in groups:
            pieces = [
                (start, min(_PIECE_BYTES, stop - start))
                for first, stop in ranges
                for start in range(first, stop, _PIECE_BYTES)
            ]
            # All of a group may be needed at its first row, so it is asked for, evenly, in as many rows before that.
            self._due.extend((row - n_rows * (1 - i / len(pieces)), *piece) for i, piece in enumerate(pieces))
            row += n_rows

    def reached(self, row: int) -> None:
        """Ask for what is due when so many rows have been read."""
        while self._due and self._due[0][0] <= row:
            _, start, length = self._due.popleft()
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(self._descriptor, start, length, os.POSIX_FADV_WILLNEED)
