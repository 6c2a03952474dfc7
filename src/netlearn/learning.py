"""`learn`: from whatever holds rows to a network with its certificate."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Literal

import numpy as np

from netlearn import pipeline
from netlearn.asking import Asking
from netlearn.backend import Array, to_numpy
from netlearn.backend.memory import with_smaller_blocks
from netlearn.backend.threads import block_threads
from netlearn.certify import LARGEST_SHARE, rows_for_share
from netlearn.errors import InputError
from netlearn.inputs.outliers import far_rows, named
from netlearn.result import LearnResult
from netlearn.run import Clock, Options, Progress, checked_options
from netlearn.search import budget
from netlearn.source import FileSource, Oracle
from netlearn.source.blocks import HOST
from netlearn.source.checkpoint import Checkpoint, fingerprint
from netlearn.source.dask import DaskSource, is_collection
from netlearn.source.device import OnDevice
from netlearn.source.reading import column_means, read
from netlearn.source.samples import HoldOut, Samples, checked_rows, checked_weight, hold, split

# Entries of a file that are held in memory: units are looked for among these rows, and fitted to all.
LARGE_FILE = 2**25


def learn(
    X,
    y=None,
    *,
    n_hidden: int | Literal["auto"] = "auto",
    biases: bool | Literal["auto"] = "auto",
    epsilon: float | None = None,
    failure_prob: float = 0.01,
    rng=None,
    sample_weight=None,
    target_lipschitz: float | None = None,
    holdout: float | None = None,
    robust: bool = False,
    progress: Callable[[Progress], None] | None = None,
    time_limit: float | None = None,
    checkpoint: str | os.PathLike | None = None,
) -> LearnResult:
    """Learn a one-hidden-layer ReLU network from examples, and say how sure.

    Parameters
    ----------
    X : array or frame of shape (n, d), path, Dask array or frame, FileSource, DaskSource, Oracle or OnDevice
        Inputs, best from a Gaussian distribution; or a file to read; or a black box to ask. Columns of a frame or file
        keep their names; a path is read as ``FileSource(path, target=y)``. What is in Dask stays
        where it is: each pass over the rows is one task per partition. A torch tensor is computed with on its own
        device, a file or black box in `OnDevice` on the device named there.
    y : array, series or frame of shape (n,) or (n, m), name or names of columns, Dask array or series
        Labels, or the columns of a path or frame X that hold them; left out when X is a FileSource, a DaskSource or an
        Oracle. Several outputs share the hidden units, and the network then has one coefficient per unit and output.
    n_hidden : int or "auto"
        Number of hidden units; "auto" picks the smallest network whose held-out error no larger one clearly beats.
    biases : bool or "auto"
        Whether the units have biases.
    epsilon : float, optional
        Error to certify, in the units of y.
    failure_prob : float
        Probability with which each statement of the certificate may be wrong.
    rng : None, int or numpy.random.Generator
        Same data, same rng, same machine: same network.
    sample_weight : array of shape (n,), optional
        How many rows each row counts for in the last least squares. Rows of weight zero are left out; in the search for
        units and in the certificate all others count alike.
    target_lipschitz : float, optional
        A Lipschitz constant of the function behind the labels: how much it changes at most, per unit of distance
        between two inputs. The bound on the root mean square error rests on it; left out, the function is assumed to be
        at most twice as steep as the network.
    holdout : float, optional
        Share of the rows to hold out for the certificate. By default a quarter where rows are ample and labels turn out
        exact; with noisy labels a hundredth, a tenth of few rows.
    robust : bool
        Whether to leave out rows that are wrong: those more than ten times as far from the median in some column, or in
        y, as 95 % of the rows; and those whose labels a fit that is exact on all others contradicts, up to 2 % of all.
        The notes name them, and name rows far outside in any case. For rows in memory.
    progress : callable, optional
        Told a `Progress` now and then.
    time_limit : float, optional
        Seconds after which the best network so far is returned.
    checkpoint : path, optional
        A folder to save to on the way. A run that was cut off goes on from there when it is started again with the
        same data, options and `rng`, and comes to the same network. Needs an `rng`; it may be removed afterwards.

    Returns
    -------
    LearnResult
    """
    options = checked_options(
        n_hidden, biases, epsilon, failure_prob, time_limit, robust, target_lipschitz, holdout
    )
    if checkpoint is not None and rng is None:
        raise InputError(
            '"checkpoint" of learn needs an "rng", such as 0: only a run that can be repeated can be continued.'
        )
    if progress is not None and not callable(progress):
        raise InputError(f'"progress" of learn must be callable, got {progress!r:.100}.')
    rng = _generator(rng)
    clock = Clock(time_limit, progress)
    clock.enter("samples", "reading and checking rows")
    with block_threads():
        return _learn(X, y, sample_weight, options, rng, clock, checkpoint)


def _generator(rng) -> np.random.Generator:
    """Return a generator that others can be spawned from, which those of RandomState cannot."""
    try:
        made = np.random.default_rng(rng)
        if hasattr(made.bit_generator.seed_seq, "spawn"):
            return made
    except (TypeError, ValueError):
        pass
    raise InputError(
        f'"rng" of learn must be None, a non-negative integer or a Generator of default_rng, got {rng!r}.'
    )


def _learn(X, y, sample_weight, options: Options, rng, clock: Clock, folder) -> LearnResult:
    like: Array = HOST
    if isinstance(X, OnDevice):
        X, like = X.rows, X.like
    if is_collection(X):
        X, y = DaskSource.from_collections(X, y), None
    X, y, named_columns = read(X, y)
    if isinstance(X, Oracle | FileSource | DaskSource) and sample_weight is not None:
        raise InputError(
            f'"sample_weight" of learn is for rows in arrays and must be left out with a {type(X).__name__}.'
        )
    if isinstance(X, Oracle | DaskSource):
        _refuse_robust(X, options)
    if isinstance(X, Oracle):
        if y is not None:
            raise InputError('"y" of learn must be left out when X is an Oracle, which gives its own labels.')
        if folder is not None:
            raise InputError(
                '"checkpoint" of learn must be left out when X is an Oracle: what it answered is in Oracle.bought.'
            )
        return Asking(X, options, rng, clock, _learn_from_samples, like).run()
    if isinstance(X, FileSource | DaskSource):
        checkpoint = _checkpoint(folder, X.identity(), options, rng)
        return _learn_from_file(X, y, like, options, rng, clock, checkpoint)
    X, y = checked_rows(X, y)
    weight = None if sample_weight is None else checked_weight(sample_weight, X)
    data = None
    if folder is not None:
        data = [
            fingerprint(to_numpy(X), to_numpy(y)),
            weight is not None and fingerprint(weight, weight),
        ]
    checkpoint = _checkpoint(folder, data, options, rng)
    result = _learn_from_samples(_divided(X, y, options, rng, weight), options, rng, clock, checkpoint)
    return replace(result, **named_columns)


def _refuse_robust(X, options: Options) -> None:
    if options.robust:
        raise InputError(
            f'"robust" of learn is for rows that are held in memory and must be left out with this {type(X).__name__}.'
        )


def _divided(X, y, options: Options, rng, weight: np.ndarray | None = None) -> Samples:
    """Divide the rows, and say which of them lie far outside all others."""
    far = far_rows(X, y)
    n_outputs = 1 if y.ndim == 1 else y.shape[1]
    held_out = partial(_held_out, n_features=X.shape[1], options=options, n_outputs=n_outputs)
    samples = split(X, y, rng, held_out, weight, list(far) if options.robust else ())
    if far:
        what = "far outside all others, left out" if options.robust else "far outside all others"
        advice = "" if options.robust else "; the option robust leaves such rows out"
        samples.notes.append(f"rows {what}: {named(far)}{advice}")
    return samples


def _held_out(n_rows: int, n_features: int, options: Options, n_outputs: int = 1) -> HoldOut:
    return HoldOut.of(
        n_rows,
        n_features,
        n_hidden=options.n_hidden,
        n_enough=rows_for_share(LARGEST_SHARE, options.failure_prob),
        per_unknown=budget.LEARN,
        share=options.holdout,
        n_outputs=n_outputs,
    )


def _checkpoint(folder, data, options: Options, rng) -> Checkpoint | None:
    if folder is None:
        return None
    asked = {name: value for name, value in asdict(options).items() if name != "time_limit"}
    return Checkpoint(folder, {"data": data, "options": asked, "rng": rng.bit_generator.state})


def _learn_from_samples(
    samples: Samples, options: Options, rng, clock: Clock, *others, **attempts
) -> LearnResult:
    """Take all steps; where memory runs out, anew and with smaller blocks."""
    begin = copy.deepcopy(rng)

    def smaller(factor: int) -> None:
        nonlocal rng
        rng = copy.deepcopy(begin)
        note = f"memory ran out, so blocks of rows were {factor:,} times as small as usual"
        samples.notes[:] = [note, *(said for said in samples.notes if not said.startswith("memory ran out"))]
        clock.tell(note)

    return with_smaller_blocks(
        lambda: pipeline.run_steps(samples, options, rng, clock, *others, **attempts), smaller
    )


def _learn_from_file(
    source: FileSource | DaskSource,
    y,
    like,
    options: Options,
    rng,
    clock: Clock,
    checkpoint: Checkpoint | None,
) -> LearnResult:
    if y is not None:
        raise InputError(
            f'"y" of learn must be left out when X is a {type(source).__name__}, which has its own labels.'
        )
    n_held = max(LARGE_FILE // source.n_features, pipeline.SMALLEST_PILOT)
    if isinstance(source, DaskSource) or source.n_rows > 2 * n_held:
        _refuse_robust(source, options)
        samples = hold(source, n_held, _held_out(source.n_rows, source.n_features, options), rng, checkpoint)
    else:
        samples = _divided(*checked_rows(*source.arrays()), options, rng)
    samples.notes.extend(source.notes)
    result = _learn_from_samples(samples.on(like), options, rng, clock, checkpoint)
    recipe = None if source.recipe is None else source.recipe.with_means(column_means(samples.rows))
    return replace(result, names=source.feature_names or (), target=source.target or "", recipe=recipe)
