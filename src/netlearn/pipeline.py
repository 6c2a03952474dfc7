"""The steps of a run in their order: standardise, look for the subspace, search for units, fit all rows, certify."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from netlearn.backend import to_numpy
from netlearn.backend.grain import grain
from netlearn.certify import (
    Certificate,
)
from netlearn.certify.rounding import may_be_rounding
from netlearn.evidence import Fitted
from netlearn.fit import EXACT, Fit, Params, Problem
from netlearn.fit.stream import finish_on_stream
from netlearn.fresh_rows import checked
from netlearn.inputs import Standardiser, standardise
from netlearn.inputs.duplicates import Duplicates, bottom_keys
from netlearn.network import ShallowNetwork
from netlearn.outcome import outcome
from netlearn.result import Diagnostics, HeldOut, LearnResult, MomentSpectrum
from netlearn.run import Clock, Options
from netlearn.search.refine import on_all_rows, with_few_rows
from netlearn.search.search import Search
from netlearn.search.units import MOST_ATTEMPTS, choose_biases, find_units
from netlearn.source import Source
from netlearn.source.arrays import ArraySource, SelectedRows, weighted
from netlearn.source.checkpoint import Checkpoint
from netlearn.source.device import moved
from netlearn.source.samples import Samples
from netlearn.source.stream import Streamed
from netlearn.subspace.look import look

# Rows that measure mean, covariance and affine part, for each feature; more change nothing that matters.
PILOT_PER_FEATURE = 20
SMALLEST_PILOT = 20_000


def pilot_rows(n_features: int) -> int:
    """Return how many rows measure mean, covariance and affine part."""
    return max(SMALLEST_PILOT, PILOT_PER_FEATURE * n_features)


def run_steps(
    samples: Samples,
    options: Options,
    rng,
    clock: Clock,
    checkpoint: Checkpoint | None = None,
    attempts: int = MOST_ATTEMPTS,
) -> LearnResult:
    """Take all steps on rows that have been divided."""
    # Each step draws from its own stream: a draw more in one shifts no other.
    rng_moments, rng_search = rng.spawn(2)

    clock.enter("moments", "mean, covariance and affine part")
    data = _standardised(samples, rng_moments)
    inputs, train, judging = data.inputs, data.train, data.judging
    zero_loss = max(EXACT, inputs.rounding**2)
    n_outputs = 1 if judging.y.ndim == 1 else judging.y.shape[1]
    problem = Problem(train, options.biases is not False, zero_loss, clock.out_of_time, n_outputs)
    pilot = train.head(min(pilot_rows(train.n_features), train.n_rows))
    search = Search.on(problem, pilot, judging, rng_search, clock.tell)
    search.has_reserve = samples.n_reserve > 0
    found, spectra, more_help = _found(search, inputs, options, attempts, rng_moments, clock, checkpoint)

    if (
        search.limited
        and samples.n_reserve
        and not search.judge.is_settled(found)
        and not clock.out_of_time()
    ):
        clock.tell("more rows are needed to find units than to certify them")
        clock.repeat()
        return run_steps(samples.with_reserve(), options, rng, clock, checkpoint, attempts)

    clock.enter("fit", "fitting all rows")
    before = found.params
    found, everything, reserve = _last_fit(data, samples, search, found, options, clock, checkpoint)

    clock.enter("certify", "checking on rows that took no part in learning")
    network = inputs.network(found.params.to_network())
    fresh = (*(rows for rows in reserve if rows.n_rows), samples.fresh)
    learned = samples.rows.head(everything.n_rows) if samples.beyond is None else samples.rows
    fitted = Fitted(search, found, inputs, options, everything, Duplicates.between(learned, *fresh))
    said = checked(samples, fitted, network, inputs.network(before.to_network()), fresh)
    seen = fitted.evidence(
        said.certificate,
        said.score,
        n_off=said.n_off,
        rounded=said.rounded,
        more_units_help=more_help,
        timed_out=clock.timed_out,
        repeats=samples.repeats,
        departure=inputs.departure if samples.law is None else 0.0,  # of a known law there is none
    )
    ended = outcome(seen)
    clock.enter("")
    return LearnResult(
        network,
        said.certificate,
        ended.status,
        _subspace(network),
        None,
        Diagnostics(
            spectra=spectra,
            rows=_rows(samples, everything, said.certificate),
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
        score=said.score,
        taught=bottom_keys(learned),
    )


@dataclass(frozen=True)
class _Data:
    """The rows of a run, whitened and with labels of unit variance."""

    inputs: Standardiser
    change: Callable  # a block of rows as given to one of rows as learned from
    everything: Source  # in memory: what learns, what judges, and the reserve
    train: Source
    judging: ArraySource


def _standardised(samples: Samples, rng: np.random.Generator) -> _Data:
    """Measure the inputs, and give all rows in the coordinates in which they are learned from."""
    n_train, n_judge, like = samples.n_train, samples.n_judge, samples.rows.like
    inputs = standardise(samples.rows.head(min(pilot_rows(samples.n_features), n_train)), rng)

    def change(block):  # holds little, as it travels to the workers where rows are on a cluster
        X, y = (moved(part, like) for part in block)
        return inputs.rows(X), inputs.labels(y)

    rows = samples.rows.changed(change, inputs.is_cheap)
    judging = rows.between(n_train, n_train + n_judge).in_memory()
    everything = rows.in_place() if _is_large(rows) else rows.in_memory()
    return _Data(inputs, change, everything, everything.head(n_train), judging)


def _is_large(rows: SelectedRows) -> bool:
    """Whether copies of the rows would cost more memory than gathering them anew in each pass is worth."""
    return 8 * rows.n_rows * rows.n_features > grain(rows.like).kept_bytes


def _found(
    search: Search,
    inputs: Standardiser,
    options: Options,
    attempts: int,
    rng,
    clock: Clock,
    checkpoint: Checkpoint | None,
) -> tuple[Fit, tuple[MomentSpectrum, ...], bool | None]:
    """Look for the subspace and the units in it, or take both from the checkpoint.

    The last value says whether still more units would help; None where rows are too few to ask.
    """
    saved = None if checkpoint is None else checkpoint.load("search")
    if saved is not None:
        return _restored(search, *saved)
    affine = search.affine()
    if search.judge.is_exact(affine) or inputs.constant:
        return affine, (), False
    if options.n_hidden == 0:
        return affine, (), find_units(search, 0)[1]
    clock.enter("subspace", "looking for the units' span")
    wanted = search.train.n_features if options.n_hidden == "auto" else options.n_hidden
    search.V, seen = look(search.single().rows, search.single_affine().residual, rng, wanted=wanted)
    spectra = tuple(
        MomentSpectrum(s.order, None, s.eigenvalues, s.noise_floor, s.name, s.basis.shape[1]) for s in seen
    )
    clock.enter("search", "looking for units")
    found, more_help = find_units(search, options.n_hidden, attempts)
    if options.biases == "auto" and inputs.W is None:
        found = choose_biases(search, found)
    if checkpoint is not None and not clock.timed_out:
        checkpoint.save(
            "search",
            vars(found.params)
            | {"V": search.V}
            | {f"spectrum{i}": spectrum.eigenvalues for i, spectrum in enumerate(spectra)},
            candidate=_packed(found),
            spectra=[[s.order, s.noise_floor, s.name, s.n_kept] for s in spectra],
            rng=search.rng.bit_generator.state,
            more_help=more_help,
        )
    return found, spectra, more_help


def _restored(
    search: Search, tensors: dict, text: dict
) -> tuple[Fit, tuple[MomentSpectrum, ...], bool | None]:
    search.tell("going on from the checkpoint, after the search")
    search.V, search.rng.bit_generator.state = tensors["V"], text["rng"]
    params = Params(*(tensors[name] for name in ("affine", "planes", "C")))
    spectra = tuple(
        MomentSpectrum(order, None, tensors[f"spectrum{i}"], floor, name, n_kept)
        for i, (order, floor, name, n_kept) in enumerate(text["spectra"])
    )
    return _unpacked(params, text["candidate"]), spectra, text["more_help"]


def _packed(found: Fit) -> list:
    """Return all but the network as JSON can hold it."""
    return [found.loss, found.score, found.trace, found.route]


def _unpacked(params: Params, packed: list) -> Fit:
    loss, score, trace, route = packed
    return Fit(params, loss, tuple(trace), score=score, route=route)


def _last_fit(
    data: _Data,
    samples: Samples,
    search: Search,
    found: Fit,
    options: Options,
    clock: Clock,
    checkpoint: Checkpoint | None,
) -> tuple[Fit, Source | Streamed, tuple[Source, ...]]:
    """Fit all rows that may be learned from; return these, and the reserve where it stays fresh.

    Where labels turn out exact, the rows of the reserve stay fresh; noisy ones are worth more to the last fit.
    """
    inputs, everything = data.inputs, data.everything
    reserve: tuple[Source, ...] = ()
    if samples.beyond is not None:
        streamed = samples.beyond.changed(everything, data.change)
        clock.tell(f"refining on {streamed.n_rows:,} rows")
        biases = search.problem.biases and found.params.has_biases
        problem = replace(search.problem, rows=data.train, biases=biases)
        final = finish_on_stream(problem, streamed, found.params, checkpoint=checkpoint)
        found = replace(found, params=final.params, loss=final.loss, trace=found.trace + final.trace)
        return found, streamed, reserve
    n_most, weight = samples.n_train + samples.n_judge, samples.weight
    at_most = None if options.n_hidden == "auto" else options.n_hidden
    labels = to_numpy(samples.rows.between(samples.n_train, n_most).labels())

    def is_met(loss):
        return loss < search.problem.zero_loss or may_be_rounding(loss, labels, inputs.scale)

    def fitted(rows):
        return on_all_rows(search.problem.on(rows), found, search.rng, at_most=at_most, robust=options.robust)

    most = weighted(everything.head(n_most), None if weight is None else weight[:n_most])
    everything = weighted(everything, weight)
    state, fit = search.rng.bit_generator.state, found
    if is_met(found.loss) or options.robust:
        fit = fitted(most)
    if is_met(fit.loss):
        found, everything, reserve = fit, most, (samples.reserve,)
    else:
        search.rng.bit_generator.state = state  # what was tried in vain leaves no trace
        found = fitted(everything)
    found = replace(found, left_out=tuple(sorted(samples.rows.numbers(found.left_out))))
    if not inputs.constant:
        problem = search.problem.on(everything)
        found = with_few_rows(problem, found, options.n_hidden, search.rng, inputs.W)
    return found, everything, reserve


def _rows(samples: Samples, everything: Source | Streamed, certificate: Certificate) -> dict[str, int]:
    """Count the rows of each step; of the last fit those that no earlier step has seen."""
    counts = {"train": samples.n_train, "judge": samples.n_judge}
    if samples.beyond is not None:
        counts["fit"] = everything.n_rows
    elif everything.n_rows > samples.n_train + samples.n_judge:
        counts["last fit"] = everything.n_rows - samples.n_train - samples.n_judge
    return {**counts, "certify": certificate.n_val}


def _subspace(network: ShallowNetwork) -> np.ndarray:
    """Return an orthonormal basis of the units' span."""
    if network.n_hidden == 0:
        return np.zeros((network.n_features, 0))
    U, s, _ = np.linalg.svd(network.units.T, full_matrices=False)
    return U[:, s > 1e-9 * s[0]]
