"""Results in words, tables and JSON; shared by every command that learns."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from netlearn.certify import Certificate, Score
from netlearn.cli.output import card, table
from netlearn.network import ShallowNetwork
from netlearn.result import LearnResult, MomentSpectrum
from netlearn.subspace import sine
from netlearn.words import bound_sentence, percent_up, rounded_up, share_sentence, step_name

if TYPE_CHECKING:
    from netlearn.run import Progress

_SHOWN_EIGENVALUES = 6
"""As many as an 80-column terminal holds."""
_SHOWN_OUTPUTS = 12
_LIMITS = ("largest", "bound")


@dataclass(frozen=True)
class Comparison:
    """A result beside the truth, where that is known.

    Attributes
    ----------
    sine : float or None
        Of the largest angle between the subspace and the span of the true units; None if either is empty.
    error : float or None
        Exact distance in L2(gamma); None if there is no network.
    relative_error : float or None
        The same in units of the truth's norm.
    """

    sine: float | None
    error: float | None
    relative_error: float | None


def compare(result: LearnResult, target: ShallowNetwork) -> Comparison:
    """Compare a result with the network its labels came from."""
    angle = error = None
    if result.subspace is not None and result.subspace.shape[1] and target.n_hidden:
        basis, strengths, _ = np.linalg.svd(target.units.T, full_matrices=False)
        angle = sine(basis[:, strengths > 1e-9 * strengths[0]], result.subspace)
    if result.has_network:
        error = target.distance(result.network)
    norm = target.norm()
    return Comparison(angle, error, None if error is None or norm == 0.0 else error / norm)


# JSON


def network_data(network: ShallowNetwork) -> dict[str, Any]:
    """Give the parameters of f(x) = c + <w, x> + sum_i lambda_i |<u_i, x> + b_i| as lists."""
    return {
        "linear": network.linear.tolist(),
        "coefficients": network.coefficients.tolist(),
        "units": network.units.tolist(),
        "biases": network.biases.tolist(),
        "intercept": np.asarray(network.intercept).tolist(),
    }


def certificate_data(certificate: Certificate) -> dict[str, Any]:
    """Give the certificate with its assumptions and all that `recheck` needs."""
    return {
        "share": certificate.share,
        "tolerance": certificate.tolerance,
        # JSON knows no infinity, which is the bound where nothing proves one.
        "error_bound": certificate.error_bound if math.isfinite(certificate.error_bound) else None,
        "why_no_bound": certificate.why_no_bound,
        "confidence": certificate.confidence,
        "n_val": certificate.n_val,
        "n_bound": certificate.n_bound,
        "moved": certificate.moved,
        "empirical_error": certificate.empirical_error,
        "assumptions": list(certificate.assumptions),
        "basis": asdict(certificate.basis),
        "per_output": [certificate_data(own) for own in certificate.per_output],
    }


def result_data(result: LearnResult, *, cut: float | None = None) -> dict[str, Any]:
    """Give everything in a result; `cut` as in `n_kept`."""
    seen = result.diagnostics
    return {
        "status": result.status.name,
        "message": result.message,
        "success": result.success,
        "score": None if result.score is None else score_data(result.score),
        "network": network_data(result.network) if result.has_network else None,
        "certificate": None if result.certificate is None else certificate_data(result.certificate),
        "subspace": None if result.subspace is None else result.subspace.tolist(),
        "subspace_dimension": None if result.subspace is None else result.subspace.shape[1],
        "spectra": [spectrum_data(spectrum, cut=cut) for spectrum in seen.spectra],
        "n_candidates": seen.n_candidates,
        "n_tried": seen.n_tried,
        "trace": list(seen.trace),
        "noise_level": seen.noise_level,
        "excess_error": seen.excess_error,
        "departure": seen.departure,
        "rows": seen.rows,
        "seconds": seen.seconds,
        "notes": list(seen.notes),
        "advice": seen.advice,
    }


def score_data(score: Score) -> dict[str, Any]:
    """Give the estimates from held-out rows."""
    data = asdict(score)
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in data.items()
    }


def spectrum_data(spectrum: MomentSpectrum, *, cut: float | None = None) -> dict[str, Any]:
    """Give the eigenvalues of a moment matrix, its noise floor and how many were kept."""
    return {
        "name": spectrum_name(spectrum),
        "order": spectrum.order,
        "direction": spectrum.direction,
        "eigenvalues": spectrum.eigenvalues.tolist(),
        "noise_floor": spectrum.noise_floor,
        "n_kept": n_kept(spectrum, cut=cut),
    }


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """Give the angle and the errors against the truth."""
    return {
        "sine_to_planted": comparison.sine,
        "exact_error": comparison.error,
        "relative_error": comparison.relative_error,
    }


# Words


def progress_sentence(progress: "Progress") -> str:
    """Say in one line where a run is."""
    return f"{step_name(progress.step)}: {progress.message} ({progress.seconds:.0f} s)"


def certificate_sentences(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Say what fresh rows prove, and what that assumes."""
    yield "share", share_sentence(certificate)
    yield "bound", bound_sentence(certificate)
    yield "assumed", "; ".join(certificate.assumptions)


def neurons(network: ShallowNetwork) -> str:
    """Say how many there are."""
    k = network.n_hidden
    return f"{k} neuron{'' if k == 1 else 's'}"


def shape(network: ShallowNetwork) -> str:
    """Say how many neurons, features and outputs there are; a single output is not mentioned."""
    d, m = network.n_features, network.n_outputs
    outputs = f", {m} outputs" if m > 1 else ""
    return f"{neurons(network)} on {d} feature{'' if d == 1 else 's'}{outputs}"


def spectrum_name(spectrum: MomentSpectrum) -> str:
    """Name the matrix: by what was done to the labels, or by the paper's symbol."""
    if spectrum.name:
        return spectrum.name
    # M_2 is the one matrix that does not depend on g.
    if spectrum.order == 2 or spectrum.direction is None:
        return f"M_{spectrum.order}"
    return f"M_{spectrum.order}, g_{spectrum.direction + 1}"


def n_kept(spectrum: MomentSpectrum, *, cut: float | None = None) -> int:
    """Count the eigenvectors that were kept.

    Where the learner did not decide matrix by matrix, those whose eigenvalue reaches `cut` times the noise
    floor.
    """
    if spectrum.n_kept is not None or cut is None:
        return spectrum.n_kept or 0
    return int((abs(spectrum.eigenvalues) >= cut * spectrum.noise_floor).sum())


def result_card(result: LearnResult, comparison: Comparison | None = None) -> Table:
    """Tell a result as labelled sentences: subspace, network, search, errors, certificate, status, cost, notes."""
    lines = card()
    for label, sentence in _sentences(result, comparison):
        lines.add_row(label, Text(sentence))
    return lines


def _sentences(result: LearnResult, comparison: Comparison | None) -> Iterator[tuple[str, str]]:
    seen = result.diagnostics
    if result.subspace is not None:
        d, r = result.subspace.shape
        beside = ""
        if comparison is not None and comparison.sine is not None:
            beside = f"; sine of its angle to the planted one {comparison.sine:.2g}"
        yield "subspace", f"dimension {r} of {d}{beside}"
    if result.has_network:
        yield "network", neurons(result.network)
    if seen.n_candidates:
        yield "search", f"ended at candidate {seen.n_tried:,} of {seen.n_candidates:,}"
    if comparison is not None and comparison.error is not None:
        share = comparison.relative_error
        relative = "" if share is None else f", {share:.2g} of the planted network's norm"
        yield "error", f"{comparison.error:.2g}{relative}; exact, not sampled"
    if result.certificate is not None:
        yield from certificate_sentences(result.certificate)
    if seen.noise_level is not None:
        own = "" if seen.excess_error is None else f"; the network's own error about {seen.excess_error:.2g}"
        yield "noise", f"standard deviation {seen.noise_level:.3g}{own}"
    yield "status", f"{result.status.name}: {result.message}"
    yield "cost", f"{sum(seen.rows.values()):,} rows, {sum(seen.seconds.values()):.1f} seconds"
    for note in seen.notes:
        yield "note", note


def outputs_table(names: Sequence[str], columns: Mapping[str, Sequence[float]], title: str = "") -> Table:
    """List numbers of each output: of many outputs only of those with the largest in the first column.

    Numbers of columns that limit an error are rounded up.
    """
    order = list(range(len(names)))
    if len(names) > _SHOWN_OUTPUTS:
        first = np.asarray(next(iter(columns.values())))
        order = np.argsort(-first, kind="stable")[:_SHOWN_OUTPUTS].tolist()
    rows = table(title, "output", *columns)
    for index in order:
        values = (
            rounded_up(column[index]) if heading in _LIMITS else f"{column[index]:.3g}"
            for heading, column in columns.items()
        )
        rows.add_row(Text(names[index]), *values)
    if len(order) < len(names):
        rows.add_row(f"and {len(names) - len(order):,} more")
    return rows


def certificates_table(names: Sequence[str], certificate: Certificate, deviations: Sequence[float]) -> Table:
    """List the certificates of several outputs, beside the standard deviations of their labels."""
    each = certificate.per_output
    columns = {
        "error": [own.empirical_error for own in each],
        "largest": [own.tolerance for own in each],
        "bound": [own.error_bound for own in each],
        "labels' deviation": deviations,
    }
    share = percent_up(max(own.share for own in each))
    title = f"At most {share} of new rows exceed the largest errors, all with confidence {certificate.confidence:g}"
    return outputs_table(names, columns, title)


def spectra_table(title: str, spectra: Sequence[MomentSpectrum], *, cut: float | None = None) -> Table:
    """Show the leading eigenvalues of each moment matrix against its noise floor; those that were kept are bold."""
    rows = table(title, "", "eigenvalues, largest first", "noise", "kept", text_columns=2)
    for spectrum in spectra:
        kept = n_kept(spectrum, cut=cut)
        eigenvalues = Text()
        for index, rho in enumerate(spectrum.eigenvalues[:_SHOWN_EIGENVALUES]):
            eigenvalues.append(f"{rho:7.3f}", style="bold green" if index < kept else "dim")
        rows.add_row(spectrum_name(spectrum), eigenvalues, f"{spectrum.noise_floor:.3f}", str(kept))
    return rows
