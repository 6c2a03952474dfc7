"""Rows on a cluster: each pass is one task per partition, run where the rows are, and only sums come back."""

from __future__ import annotations

import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import islice, pairwise
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from netlearn.backend import Array
from netlearn.backend.extras import need
from netlearn.errors import InputError
from netlearn.source.arrays import ArraySource
from netlearn.source.blocks import Block, ReadHere, marks_between
from netlearn.source.files import FileSource
from netlearn.source.recipe import Recipe

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from distributed import Client, Future

# What a worker reads of a file for one task: enough for a disk and for the scheduler.
_PARTITION_ENTRIES = 2**22
# Tasks go out together, at least so many and one for each thread of the cluster; so many of these batches are under
# way. Then no thread waits for the client, and results do not pile up.
_LEAST_BATCH, _BATCHES = 8, 3


def is_collection(X) -> bool:
    """Whether `X` is a Dask array or frame; asks without importing Dask."""
    return hasattr(type(X), "__dask_graph__")


@dataclass(frozen=True, eq=False)
class DaskSource:
    """Rows in partitions that stay where they are; made by `from_collections` or `from_files`.

    Tasks go to the client given, else to the one that is current, else to the threads of this process. A partition that
    is lost with its worker is computed again; nothing is persisted that was not so before.

    Attributes
    ----------
    opened : callable
        Gives the rows of a partition as opened(*partition), on the worker, where Dask objects have become what they
        stand for.
    partitions : list of tuple
    sizes : sequence of int, or None
        Rows of each partition; None where only the partitions tell.
    n_features : int
    feature_names : tuple of str
        Empty where there are no names.
    target : str or tuple of str
        Name of y, several names for several outputs; empty where it has none.
    token : str or list
        What tells these rows from others.
    client : distributed.Client or None
    recipe : Recipe or None
        What is done to the columns of files.
    notes : sequence of str
        What was done to them, in sentences.
    """

    opened: Callable
    partitions: list[tuple]
    sizes: Sequence[int] | None
    n_features: int
    feature_names: tuple[str, ...]
    target: str | tuple[str, ...]
    token: Any
    client: Client | None
    recipe: Recipe | None = None
    notes: Sequence[str] = ()

    @classmethod
    def from_collections(cls, X, y, client: Client | None = None) -> DaskSource:
        """Take a Dask array or frame of shape (n, d), and an array, series or frame of labels, (n,) or (n, m)."""
        from dask.base import tokenize
        from dask.core import flatten
        from dask.delayed import Delayed
        from dask.optimization import cull

        if not is_collection(y):
            raise InputError(
                f'"y" of learn must be a Dask array, series or frame beside a Dask X, got {type(y).__name__}.'
            )
        token = tokenize(X, y)
        feature_names = tuple(map(str, X.columns)) if _is_frame(X) else ()
        target = _names(y)
        X, y = _aligned(_whole_rows("X", "(n, d)", _as_array("X", X)), _labels(_as_array("y", y)))
        graph = {**X.__dask_graph__(), **y.__dask_graph__()}
        keys = zip(flatten(X.__dask_keys__()), flatten(y.__dask_keys__()), strict=True)
        partitions = []
        for number, pair in enumerate(keys):
            own, _ = cull(graph, list(pair))  # else every task would be sent with the graph of all
            partitions.append((*(Delayed(key, own) for key in pair), number))
        return cls(
            partial(_checked, {"X": feature_names, "y": target}),
            partitions,
            X.chunks[0] if _is_known(X) and _is_known(y) else None,
            X.shape[1],
            feature_names,
            target,
            token,
            client or _current_client(),
        )

    @classmethod
    def from_files(cls, source: FileSource, client: Client | None = None) -> DaskSource:
        """Take the rows of files that the workers can reach under the same path, and read themselves.

        They are divided where reading can begin; a file that can only be read from its start is one partition.
        """
        need("dask", extra="dask", purpose="Learning on a cluster")
        starts = source.starts(_PARTITION_ENTRIES)
        sizes = None if source.n_rows_if_known is None else np.diff([*starts, source.n_rows]).tolist()
        return cls(
            partial(_FileRows, source),
            list(zip(starts, sizes or [None], strict=True)),
            sizes,
            source.n_features,
            source.feature_names or (),
            source.target or "",
            source.identity(),
            client or _current_client(),
            source.recipe,
            source.notes,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows; where only the partitions tell, they are asked once."""
        return self._bounds[-1]

    def identity(self) -> Any:
        """Return the token, under the name that a FileSource has for it."""
        return self.token

    @cached_property
    def _bounds(self) -> list[int]:
        """Rows before each partition and, last, all of them."""
        sizes = self.sizes
        if sizes is None:
            sizes = list(self._each(partial(_counted, self.opened), ((part,) for part in self.partitions)))
        return [0, *np.cumsum(sizes, dtype=int).tolist()]

    def over_rows(self, term: Callable, marked: np.ndarray, width: int = 0, start: int = 0) -> Generator:
        """Yield the sum of term(X, y, here) over each partition in turn; see `Stored`."""
        return self._each(partial(_summed, self.opened, term, width), self._tasks(marked, start))

    def _tasks(self, marked: np.ndarray, start: int) -> Iterator[tuple]:
        for partition, (first, last) in zip(self.partitions, pairwise(self._bounds), strict=True):
            if max(first, start) < last:
                yield partition, max(start - first, 0), marks_between(marked, first, last)

    def _each(self, function: Callable, arguments: Iterable[tuple]) -> Generator:
        """Yield function(*these) for each of `arguments`, in order; a few are computed ahead."""
        from dask.base import compute
        from dask.system import CPU_COUNT

        if self.client is not None:
            yield from _on_cluster(self.client, function, arguments)
            return
        for tasks in _batches(function, arguments, 2 * CPU_COUNT):
            yield from compute(*tasks)


def _batches(function: Callable | Future, arguments: Iterable[tuple], size: int) -> Iterator[list[Delayed]]:
    from dask.delayed import delayed

    tasks = (delayed(_called, pure=False)(function, *these) for these in arguments)
    while batch := list(islice(tasks, size)):
        yield batch


def _on_cluster(client: Any, function: Callable, arguments: Iterable[tuple]) -> Iterator:
    waiting: deque[list[Future]] = deque()
    with _loss_in_one_sentence():
        try:
            with warnings.catch_warnings():
                # It may hold a whitening matrix. It is sent once, as a task of its own: then it outlives its worker.
                warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
                shared = client.submit(_given, function, pure=False)
            size = max(_LEAST_BATCH, sum(client.nthreads().values()))
            for tasks in _batches(shared, arguments, size):
                waiting.append(client.compute(tasks, optimize_graph=False))
                if len(waiting) == _BATCHES:
                    yield from client.gather(waiting.popleft())
            while waiting:
                yield from client.gather(waiting.popleft())
        finally:
            client.cancel([future for batch in waiting for future in batch])


@contextmanager
def _loss_in_one_sentence() -> Iterator[None]:
    from distributed import KilledWorker
    from distributed.client import ClosedClientError
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise ConnectionError(
            f"A partition was given up, as {error.allowed_failures + 1} workers died over it, most likely for lack of "
            "memory: make the partitions smaller."
        ) from error
    except (CancelledError, ClosedClientError, CommClosedError) as error:
        raise ConnectionError(
            "The Dask cluster was lost: with a checkpoint, the same run on another one goes on from there."
        ) from error


def _current_client() -> Client | None:
    """Return the client that Dask itself would use, if there is one."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def _is_frame(collection) -> bool:
    return hasattr(type(collection), "to_dask_array")  # of its type, as a Delayed has every attribute


def _as_array(name: str, collection) -> Array:
    """Return a Dask array of real numbers; a column of a frame that holds something else is named."""
    if not _is_frame(collection) and not hasattr(type(collection), "chunks"):
        raise InputError(f"{name} must be a Dask array, frame or series, got {type(collection).__name__}.")
    one = collection.ndim == 1
    kinds = collection.dtypes.items() if _is_frame(collection) and not one else [(None, collection.dtype)]
    for column, kind in kinds:
        if kind.kind not in "biuf":
            where = "" if column is None else f' in column "{column}"'
            raise InputError(
                f"{name} must hold numbers, got values of type {kind}{where}: encode them, or leave them out."
            )
    if not _is_frame(collection):
        return collection
    meta = np.empty((0,) if one else (0, len(collection.columns)))
    return collection.map_partitions(_frame_numbers, meta=meta)


def _frame_numbers(part) -> np.ndarray:
    return part.to_numpy(dtype=float, na_value=np.nan)


def _names(y) -> str | tuple[str, ...]:
    """Return the name of a series, the names of the columns of a frame, one as for a series; empty where none is."""
    if not _is_frame(y):
        return ""
    if y.ndim == 1:
        return "" if y.name is None else str(y.name)
    names = tuple(map(str, y.columns))
    return names[0] if len(names) == 1 else names


def _whole_rows(name: str, shape: str, array: Array) -> Array:
    if array.ndim != 2 or not array.shape[1] >= 1:
        raise InputError(f"{name} must have shape {shape}, with a column at least, got {array.shape}.")
    return array if array.numblocks[1] == 1 else array.rechunk({1: -1})


def _labels(y: Array) -> Array:
    """Return labels of shape (n,), or (n, m) with m > 1."""
    if y.ndim == 1:
        return y
    y = _whole_rows("y", "(n,) or (n, m)", y)
    return y[:, 0] if y.shape[1] == 1 else y


def _is_known(array: Array) -> bool:
    return not np.isnan(array.shape[0])


def _aligned(X: Array, y: Array) -> tuple[Array, Array]:
    """Bring the labels into the partitions of the rows; where sizes are not known, a worker sees whether they are."""
    if not (_is_known(X) and _is_known(y)):
        if X.numblocks[0] != y.numblocks[0]:
            raise InputError(
                "X and y must have the same partitions where Dask does not know their sizes, got "
                f"{X.numblocks[0]} and {y.numblocks[0]} of them."
            )
    elif len(y) != len(X):
        raise InputError(f"y must have one entry per row of X; got {len(y)} entries and {len(X)} rows.")
    elif y.chunks[0] != X.chunks[0]:
        y = y.rechunk({0: X.chunks[0]})
    return X, y


# What follows runs on the workers.


class _FileRows(ReadHere):
    """Some rows of a file, from row `first` on; all where their number is not known."""

    def __init__(self, source: FileSource, first: int, n_rows: int | None):
        self._source, self._first, self._n_rows = source, first, n_rows

    def blocks(self, width: int = 0, n_cached: int = 1, start: int = 0) -> Generator[Block]:
        """Yield pairs (X, y) from row `start` of these on."""
        left = sys.maxsize if self._n_rows is None else self._n_rows - start
        with closing(self._source.blocks(width, n_cached, self._first + start)) as blocks:
            for X, y in blocks:
                yield X[:left], y[:left]
                left -= len(y)
                if left <= 0:
                    return


def _checked(columns: dict[str, Sequence[str]], X: np.ndarray, y: np.ndarray, number: int) -> ArraySource:
    """Return the rows of a partition in double precision, or one sentence on why that cannot be."""
    where = f"partition {number}, counted from 0"
    if len(X) != len(y):
        raise InputError(f"X and y must have as many rows, got {len(X):,} and {len(y):,} in {where}.")
    for name, values in (("X", X), ("y", y)):
        if values.dtype.kind not in "biuf":
            raise InputError(f"{name} must hold numbers, got values of type {values.dtype} in {where}.")
        with np.errstate(over="ignore", invalid="ignore"):
            total = values.sum(dtype=float)  # one entry that is not finite makes it so
        if not np.isfinite(total) and not np.isfinite(values).all():
            raise InputError(f"{name} must be finite, got {_first_fault(values, columns[name])} of {where}.")
    return ArraySource(np.asarray(X, dtype=float), np.asarray(y, dtype=float))


def _first_fault(values: np.ndarray, columns: Sequence[str]) -> str:
    place = tuple(np.argwhere(~np.isfinite(values))[0].tolist())
    what = "NaN or a missing value" if np.isnan(values[place]) else "infinity"
    if len(place) == 1:
        return f"{what} in row {place[0]:,}"
    column = f'"{columns[place[1]]}"' if columns else place[1]
    return f"{what} in column {column}, row {place[0]:,}"


def _counted(opened: Callable, partition: tuple) -> int:
    return sum(len(y) for _, y in opened(*partition).blocks())


def _summed(opened: Callable, term: Callable, width: int, partition: tuple, start: int, marked: np.ndarray):
    return reduce(add, opened(*partition).over_rows(term, marked, width, start))


def _given(function: Callable) -> Callable:
    return function


def _called(function: Callable, *arguments):
    return function(*arguments)
