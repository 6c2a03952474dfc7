"""The corridor: one call per room, in the paper's order."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial

import numpy as np

from netlearn.asking import Asking
from netlearn.backend import to_numpy
from netlearn.backend.grain import grain
from netlearn.backend.memory import with_smaller_blocks
from netlearn.backend.threads import block_threads
from netlearn.certify import (
    LARGEST_SHARE,
    Basis,
    Certificate,
    certify_rows,
    moved_by,
    recognised,
    rows_for_share,
    scored,
    without_bound,
)
from netlearn.certify.law import STANDARD
from netlearn.certify.rounding import may_be_rounding
from netlearn.errors import InputError
from netlearn.evidence import Fitted, FreshErrors
from netlearn.moments.inputs import Standardiser, standardise
from netlearn.network import ShallowNetwork
from netlearn.outcome import ALMOST_EXACT, outcome
from netlearn.polish import Iterate, finish
from netlearn.polish.attempts import MOST_ATTEMPTS, Candidate, Search
from netlearn.polish.outputs import ATTEMPTS_AT_MIXTURE, Outputs
from netlearn.polish.ridge import Regularised, regularised
from netlearn.polish.select import choose_biases, choose_width
from netlearn.polish.shared import SharedIterate
from netlearn.polish.smooth import smooth
from netlearn.polish.stream import finish_on_stream
from netlearn.polish.surplus import without_surplus
from netlearn.polish.trimmed import LARGEST_SHARE as LARGEST_WRONG_SHARE
from netlearn.polish.trimmed import finish_trimmed
from netlearn.polish.wide import EXACT, wide_fit
from netlearn.result import Diagnostics, HeldOut, LearnResult, Probe
from netlearn.run import Clock, Options, Progress, checked_options
from netlearn.source import FileSource, Oracle, Source
from netlearn.source.arrays import HOST, SelectedRows, weighted
from netlearn.source.checkpoint import Checkpoint, fingerprint
from netlearn.source.dask import DaskSource, is_collection
from netlearn.source.device import OnDevice, moved
from netlearn.source.outlying import far_rows, named
from netlearn.source.reading import column_means, read
from netlearn.source.samples import HoldOut, Samples, checked_rows, checked_weight, hold, split
from netlearn.source.stream import Streamed
from netlearn.source.twins import Twins, bottom_keys
from netlearn.subspace.look import look

# Rows that measure mean, covariance and affine part; more change nothing that matters.
_PILOT_PER_FEATURE, _SMALLEST_PILOT = 20, 20_000
# Entries of a file that are held in memory: units are looked for among these rows, and polished on all.
_LARGE_FILE = 2**25
# Rows that tell the law of the inputs.
_LOOKED_AT = 5_000


def learn(
    X,
    y=None,
    *,
    n_hidden: int | str = "auto",
    biases: bool | str = "auto",
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
        exact; with noisy labels a fiftieth, a tenth of few rows.
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
    like = HOST
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
    held_out = partial(_held_out, n_features=X.shape[1], options=options)
    samples = split(X, y, rng, held_out, weight, list(far) if options.robust else ())
    if far:
        what = "far outside all others, left out" if options.robust else "far outside all others"
        advice = "" if options.robust else "; the option robust leaves such rows out"
        samples.notes.append(f"rows {what}: {named(far)}{advice}")
    return samples


def _held_out(n_rows: int, n_features: int, options: Options) -> HoldOut:
    return HoldOut.of(
        n_rows,
        n_features,
        n_hidden=options.n_hidden,
        n_enough=rows_for_share(LARGEST_SHARE, options.failure_prob),
        share=options.holdout,
    )


def _checkpoint(folder, data, options: Options, rng) -> Checkpoint | None:
    if folder is None:
        return None
    asked = {name: value for name, value in asdict(options).items() if name != "time_limit"}
    return Checkpoint(folder, {"data": data, "options": asked, "rng": rng.bit_generator.state})


def _learn_from_samples(
    samples: Samples, options: Options, rng, clock: Clock, *others, **attempts
) -> LearnResult:
    """Walk through the rooms; where memory runs out, anew and with smaller blocks."""
    begin = copy.deepcopy(rng)

    def smaller(factor: int) -> None:
        nonlocal rng
        rng = copy.deepcopy(begin)
        note = f"memory ran out, so blocks of rows were {factor:,} times as small as usual"
        samples.notes[:] = [note, *(said for said in samples.notes if not said.startswith("memory ran out"))]
        clock.tell(note)

    return with_smaller_blocks(
        lambda: _through_rooms(samples, options, rng, clock, *others, **attempts), smaller
    )


def _through_rooms(
    samples: Samples,
    options: Options,
    rng,
    clock: Clock,
    checkpoint: Checkpoint | None = None,
    attempts: int = MOST_ATTEMPTS,
) -> LearnResult:
    # Each room draws from its own stream: a draw more in one shifts no other.
    rng_moments, rng_search = rng.spawn(2)

    clock.enter("moments", "mean, covariance and affine part")
    n_pilot = max(_SMALLEST_PILOT, _PILOT_PER_FEATURE * samples.n_features)
    inputs = standardise(samples.rows.head(min(n_pilot, samples.n_train)), rng_moments)

    like = samples.rows.like

    def change(block):  # holds little, as it travels to the workers where rows are on a cluster
        X, y = (moved(part, like) for part in block)
        return inputs.rows(X), inputs.labels(y)

    rows = samples.rows.changed(change, inputs.is_cheap)
    n_train, n_judge = samples.n_train, samples.n_judge
    judge = rows.between(n_train, n_train + n_judge).in_memory()
    everything = rows.in_place() if _is_large(rows) else rows.in_memory()
    train = everything.head(n_train)
    outputs = None
    if judge.y.ndim == 2:  # units are looked for in a mixture of the outputs
        outputs = Outputs.mixed_at_random(train, judge, *rng.spawn(1))
        train, judge = outputs.mixed(train), outputs.mixed(judge)
    search = Search(
        train,
        train.head(min(n_pilot, train.n_rows)),
        judge,
        np.zeros((train.n_features, 0)),
        options.biases is not False,
        rng_search,
        max(EXACT, inputs.rounding**2),
        clock.out_of_time,
        clock.tell,
    )
    attempts = attempts if outputs is None else min(attempts, ATTEMPTS_AT_MIXTURE)
    found, probes, more_help = _found(search, inputs, options, attempts, rng_moments, clock, checkpoint)
    clock.enter("polish", "fitting all rows")
    if outputs is not None:
        at_most = None if options.n_hidden == "auto" else options.n_hidden
        found = _fitted(outputs, found, search, 0 if inputs.constant else at_most, clock, checkpoint)
    before = found.iterate
    # Where labels turn out exact, the rows of the reserve stay fresh; noisy ones are worth more to the last fit.
    reserve = ()
    if samples.beyond is None:
        labels = to_numpy(samples.rows.between(n_train, n_train + n_judge).labels())

        def is_met(loss):
            return loss < search.rounding or may_be_rounding(loss, labels, inputs.scale)

        weight = samples.weight
        most = weighted(
            everything.head(n_train + n_judge), None if weight is None else weight[: n_train + n_judge]
        )
        everything = weighted(everything, weight)
        state, fit = search.rng.bit_generator.state, found
        if is_met(found.loss) or options.robust:
            fit = _on_everything(search, found, most, clock, options.robust)
        if is_met(fit.loss):
            found, everything, reserve = fit, most, (samples.reserve,)
        else:
            search.rng.bit_generator.state = state  # what was tried in vain leaves no trace
            found = _on_everything(search, found, everything, clock, options.robust)
        found = replace(found, aside=tuple(sorted(samples.rows.numbers(found.aside))))
    else:
        everything = samples.beyond.changed(everything, change)
        held = train if outputs is None else outputs.train
        found = _on_stream(search, found, everything, held, clock, checkpoint)
    few_rows = _with_few_rows(search, found, everything, inputs, options, clock)
    if few_rows is not None:
        found = replace(found, iterate=few_rows.iterate, loss=few_rows.loss)

    clock.enter("certify", "checking on rows that took no part in learning")
    fresh = (*(rows for rows in reserve if rows.n_rows), samples.fresh)
    learned = samples.rows.head(everything.n_rows) if samples.beyond is None else samples.rows
    twins = Twins.between(learned, *fresh)
    fitted = Fitted(search, found, inputs, options, everything, few_rows, twins)
    network = inputs.network(found.iterate.to_network())
    errors = FreshErrors.of(network, *fresh)
    rounded, step = errors.rounded()
    wrong_share = LARGEST_WRONG_SHARE if options.robust and found.aside else 0.0
    basis = _basis(samples, inputs, options, noisy=not fitted.exact and not rounded)
    basis = replace(basis, rounding=step, wrong_share=wrong_share)
    certificate = certify_rows(network, *fresh, failure_prob=options.failure_prob, basis=basis)
    if basis.law == STANDARD and not reserve and samples.n_reserve and basis.noisy:
        certificate = _certified_before(certificate, inputs.network(before.to_network()), network, samples)
    if twins.many_held_out:
        certificate = without_bound(
            certificate, "most held-out rows are copies of rows that were learned from"
        )
    linear = inputs.network(_linear(search, outputs, n_pilot).to_network())
    score = fitted.weighed(scored(network, linear, inputs.centre, *fresh))
    departure = inputs.departure if samples.law is None else 0.0  # of a known law there is none
    seen = fitted.evidence(
        certificate,
        score,
        n_off=0 if rounded else errors.n_off(inputs, search.rounding, wrong_share),
        rounded=rounded,
        more_units_help=more_help,
        timed_out=clock.timed_out,
        repeats=samples.repeats,
        departure=departure,
    )
    ended = outcome(seen)
    clock.enter("")
    return LearnResult(
        network,
        certificate,
        ended.status,
        _subspace(network),
        None,
        Diagnostics(
            probes=probes,
            rows=_rows(samples, everything, certificate),
            seconds=clock.seconds,
            trace=found.trace,
            noise_level=fitted.noise_level(),
            excess_error=fitted.excess_error(),
            departure=inputs.departure,
            notes=tuple(samples.notes) + inputs.notes + ended.notes,
            advice=ended.advice,
        ),
        HeldOut.first(*fresh),
        message=ended.message,
        score=score,
        taught=bottom_keys(learned),
    )


def _basis(samples: Samples, inputs: Standardiser, options: Options, *, noisy: bool) -> Basis:
    """Return what an L2 bound may rest on: the law of the inputs, where rows do not contradict it."""
    law = samples.law
    if law is None:
        some = [
            rows.head(min(_LOOKED_AT, rows.n_rows)).in_memory().X for rows in (samples.rows, samples.fresh)
        ]
        law = recognised(np.concatenate([to_numpy(X) for X in some]), standard=inputs.W is None)
    return Basis(law, options.target_lipschitz, noisy)


def _certified_before(
    certificate: Certificate, before: ShallowNetwork, network: ShallowNetwork, samples: Samples
) -> Certificate:
    """Bound the error by that of the network before the last fit, on the reserve too, and the distance between both.

    The reserve took part in the last fit only, so the network before it knows none of these rows. Which of the two
    bounds is given does not depend on their values: the smaller of both would hold with less confidence than either.
    """
    failure_prob = 1.0 - certificate.confidence
    rows = (samples.reserve, samples.fresh)
    earlier = certify_rows(before, *rows, failure_prob=failure_prob, basis=certificate.basis)
    moved = moved_by(earlier, network.distance(before))
    each = tuple(
        replace(own, error_bound=then.error_bound + moved.moved, n_bound=then.n_bound, moved=moved.moved)
        for own, then in zip(certificate.per_output, earlier.per_output, strict=True)
    )
    return replace(
        certificate, error_bound=moved.error_bound, n_bound=moved.n_bound, moved=moved.moved, per_output=each
    )


def _linear(search: Search, outputs: Outputs | None, n_rows: int) -> Iterate | SharedIterate:
    """Return the linear fit to rows that were learned from."""
    if outputs is None:
        return search.affine().iterate
    some = outputs.train.head(min(n_rows, outputs.train.n_rows))
    return SharedIterate.from_planes(np.zeros((0, some.n_features + 1)), some)


def _found(
    search: Search,
    inputs: Standardiser,
    options: Options,
    attempts: int,
    rng,
    clock: Clock,
    checkpoint: Checkpoint | None,
) -> tuple[Candidate, tuple[Probe, ...], bool | None]:
    """Look for the subspace and the units in it, or take both from the checkpoint.

    The last value says whether still more units would help; None where rows are too few to ask.
    """
    saved = None if checkpoint is None else checkpoint.load("search")
    if saved is not None:
        return _restored(search, *saved)
    affine = search.affine()
    if affine.exact or inputs.constant:
        return affine, (), False
    if options.n_hidden == 0:
        return affine, (), search.more_units_help(affine, options.n_hidden)[1]
    clock.enter("subspace", "looking for the units' span")
    wanted = search.train.n_features if options.n_hidden == "auto" else options.n_hidden
    search.V, spectra = look(search.train, affine.residual, rng, wanted=wanted)
    probes = tuple(
        Probe(s.order, None, s.eigenvalues, s.noise_floor, s.name, s.basis.shape[1]) for s in spectra
    )
    clock.enter("search", "looking for units")
    if options.n_hidden == "auto":
        found = choose_width(search)
    else:
        found = search.of_width(options.n_hidden, attempts=attempts)
    if options.biases == "auto" and inputs.W is None:
        found = choose_biases(search, found)
    found, more_help = search.more_units_help(found, options.n_hidden)
    if checkpoint is not None and not clock.timed_out:
        checkpoint.save(
            "search",
            {"a": found.iterate.a, "sigma": found.iterate.sigma, "V": search.V}
            | {f"probe{i}": probe.eigenvalues for i, probe in enumerate(probes)},
            candidate=_packed(found),
            probes=[[p.order, p.noise_floor, p.name, p.n_kept] for p in probes],
            rng=search.rng.bit_generator.state,
            more_help=more_help,
        )
    return found, probes, more_help


def _restored(search: Search, tensors: dict, text: dict) -> tuple[Candidate, tuple[Probe, ...], bool | None]:
    search.tell("going on from the checkpoint, after the search")
    search.V, search.rng.bit_generator.state = tensors["V"], text["rng"]
    iterate = Iterate(tensors["a"], tensors["sigma"])
    probes = tuple(
        Probe(order, None, tensors[f"probe{i}"], floor, name, n_kept)
        for i, (order, floor, name, n_kept) in enumerate(text["probes"])
    )
    return _unpacked(iterate, text["candidate"]), probes, text["more_help"]


def _fitted(
    outputs: Outputs,
    found: Candidate,
    search: Search,
    at_most: int | None,
    clock: Clock,
    checkpoint: Checkpoint | None,
) -> Candidate:
    """Fit the units of the mixture to all outputs, or take the fit from the checkpoint."""
    saved = None if checkpoint is None else checkpoint.load("outputs")
    if saved is not None:
        tensors, text = saved
        return _unpacked(SharedIterate(**tensors), text["candidate"])
    found = outputs.fitted(found, search, at_most)
    if checkpoint is not None and not clock.timed_out:
        checkpoint.save("outputs", vars(found.iterate), candidate=_packed(found))
    return found


def _packed(found: Candidate) -> list:
    """Return all but the iterate as JSON can hold it."""
    return [found.loss, found.score, found.fitted, found.exact, found.trace, found.route]


def _unpacked(iterate: Iterate | SharedIterate, packed: list) -> Candidate:
    loss, score, fitted, exact, trace, route = packed
    return Candidate(iterate, loss, score, fitted, exact, tuple(trace), route)


def _rows(samples: Samples, everything: Source, certificate: Certificate) -> dict[str, int]:
    """Count the rows of each step; of the last fit those that no earlier step has seen."""
    counts = {"train": samples.n_train, "judge": samples.n_judge}
    if samples.beyond is not None:
        counts["polish"] = everything.n_rows
    elif everything.n_rows > samples.n_train + samples.n_judge:
        counts["last fit"] = everything.n_rows - samples.n_train - samples.n_judge
    return {**counts, "certify": certificate.n_val}


def _is_large(rows: SelectedRows) -> bool:
    """Whether copies of the rows would cost more memory than gathering them anew in each pass is worth."""
    return 8 * rows.n_rows * rows.n_features > grain(rows.like).kept_bytes


def _on_everything(
    search: Search, found: Candidate, everything: Source, clock: Clock, robust: bool
) -> Candidate:
    """Polish on the judging rows too, now that they have judged."""
    biases = search.biases and found.iterate.has_biases
    final = finish(everything, found.iterate, biases=biases, deadline=clock.out_of_time)
    needed = partial(
        without_surplus, everything, exact=search.rounding, biases=biases, deadline=clock.out_of_time
    )
    if isinstance(final.iterate, SharedIterate):
        final = needed(final) if final.loss <= search.rounding else final
        return replace(found, iterate=final.iterate, loss=final.loss, trace=found.trace + final.trace)
    # Labels fitted exactly on some rows but not on all: a unit that bends where only the judging rows are.
    for _ in range(3):
        if not (found.loss < search.rounding < final.loss) or clock.out_of_time():
            break
        again = wide_fit(
            everything,
            found.iterate.n_hidden,
            search.rng,
            biases=biases,
            known=final.iterate,
            exact=search.rounding,
            deadline=clock.out_of_time,
        )
        if again.loss < final.loss:
            final = finish(everything, again.iterate, biases=biases, deadline=clock.out_of_time)
    if search.rounding < final.loss < (np.inf if robust else ALMOST_EXACT):
        trimmed = finish_trimmed(
            everything,
            final,
            exact=search.rounding,
            biases=biases,
            robust=robust,
            deadline=clock.out_of_time,
        )
        if trimmed is not None:
            fit, aside = trimmed
            return replace(found, iterate=fit.iterate, loss=fit.loss, trace=fit.trace, aside=tuple(aside))
    trace = found.trace + final.trace
    if final.loss > search.rounding:
        final = smooth(everything, final, search.rng, biases=biases, deadline=clock.out_of_time)
    else:
        final = needed(final)
    return replace(found, iterate=final.iterate, loss=final.loss, trace=trace)


def _on_stream(
    search: Search,
    found: Candidate,
    everything: Streamed,
    held: Source,
    clock: Clock,
    checkpoint: Checkpoint | None,
) -> Candidate:
    """Polish on all rows of a source that is too large to be read often."""
    clock.tell(f"polishing on {everything.n_rows:,} rows")
    biases = search.biases and found.iterate.has_biases
    final = finish_on_stream(
        everything,
        held,
        found.iterate,
        biases=biases,
        checkpoint=checkpoint,
        deadline=clock.out_of_time,
    )
    return replace(found, iterate=final.iterate, loss=final.loss, trace=found.trace + final.trace)


def _with_few_rows(
    search: Search,
    found: Candidate,
    everything: Source,
    inputs: Standardiser,
    options: Options,
    clock: Clock,
) -> Regularised | None:
    """Ask for a fit with a ridge where labels are not explained exactly, or by as many unknowns as there are rows."""
    explained = found.loss <= search.rounding and everything.n_rows > search.n_unknowns(
        found.iterate.n_hidden
    )
    several = isinstance(found.iterate, SharedIterate)  # for which there is no such fit
    if explained or several or options.n_hidden == 0 or inputs.constant or isinstance(everything, Streamed):
        return None
    return regularised(
        everything,
        found.iterate,
        options.n_hidden,
        search.rng,
        biases=search.biases,
        whitening=inputs.W,
        deadline=clock.out_of_time,
    )


def _subspace(network: ShallowNetwork) -> np.ndarray:
    """Return an orthonormal basis of the units' span."""
    if network.n_hidden == 0:
        return np.zeros((network.n_features, 0))
    U, s, _ = np.linalg.svd(network.units.T, full_matrices=False)
    return U[:, s > 1e-9 * s[0]]


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
    n_held = max(_LARGE_FILE // source.n_features, _SMALLEST_PILOT)
    if isinstance(source, DaskSource) or source.n_rows > 2 * n_held:
        _refuse_robust(source, options)
        samples = hold(source, n_held, _held_out(source.n_rows, source.n_features, options), rng, checkpoint)
    else:
        samples = _divided(*checked_rows(*source.arrays()), options, rng)
    samples.notes.extend(source.notes)
    result = _learn_from_samples(samples.on(like), options, rng, clock, checkpoint)
    recipe = None if source.recipe is None else source.recipe.with_means(column_means(samples.rows))
    return replace(result, names=source.feature_names or (), target=source.target or "", recipe=recipe)
