"""Which probes to send, in which order, and what V comes of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netlearn.backend import to_numpy
from netlearn.source import Source
from netlearn.source.blocks import over_blocks
from netlearn.subspace.probes import (
    FullSpectrum,
    LabelProbe,
    Probe,
    QuarticProbe,
    RankProbe,
    Spectrum,
    TailProbe,
    measure,
    measure_leading,
    span,
)

# Rows whose residuals fix the filters' quantiles.
_PILOT = 20_000
# Each probe costs as much as two Gram matrices of the rows: beyond this dimension leading eigenvectors alone are
# computed, of one probe after the other, until enough directions have been seen.
MANY_FEATURES = 400

Residual = Callable[[np.ndarray, np.ndarray], np.ndarray]


def look(
    rows: Source, residual: Residual, rng: np.random.Generator, *, wanted: int
) -> tuple[np.ndarray, list[Spectrum]]:
    """Send the probes and join what they see.

    First the label-filtered second moments. Where they show fewer directions than there may be units, degree
    4 follows by power iteration, started at what has been seen: units that cancel in degree 2 show there.

    Parameters
    ----------
    rows : Source
        Whitened.
    residual : callable
        Takes (X, y), returns labels without affine part.
    rng : numpy.random.Generator
        Draws the vectors that a sketch starts from, in many dimensions.
    wanted : int
        Number of directions beyond which there is nothing more to see.

    Returns
    -------
    V : array of shape (d, r)
    spectra : list of Spectrum
    """
    many_features = rows.n_features > MANY_FEATURES
    # The rounding of single precision is far below the noise of a mean. A copy that is made once saves gathering the
    # rows in each pass, and a fit can go on with it.
    if many_features and rows.can_be_single:
        rows = rows.single()
    head = rows.head(min(rows.n_rows, _PILOT))
    r = np.concatenate(list(over_blocks(lambda block: to_numpy(residual(*block)), head)))
    spread = float(np.std(r))
    if spread == 0.0:
        return np.zeros((rows.n_features, 0)), []

    def scaled(X, y):
        return residual(X, y) / spread

    probes: list[Probe] = [LabelProbe(), RankProbe.from_residuals(r / spread)]
    if many_features:
        return _one_by_one(rows, scaled, probes, rng, wanted)
    measured = measure(rows, scaled, [*probes, TailProbe.from_residuals(r / spread)])
    spectra: list[Spectrum] = [*measured]
    V = span(spectra)
    if 0 < V.shape[1] < min(wanted, rows.n_features):
        spectra.append(_quartic(rows, scaled, measured[0].matrix, V))
        V = span(spectra)
    return V, spectra


def _one_by_one(rows: Source, residual: Residual, probes: list[Probe], rng, wanted: int):
    spectra: list[Spectrum] = []
    V = np.zeros((rows.n_features, 0))
    for probe in probes:
        spectra.append(measure_leading(rows, residual, probe, rng, wanted=wanted))
        V = span(spectra)
        if V.shape[1] >= wanted:
            break
    return V, spectra


def _quartic(rows: Source, residual: Residual, M_2: np.ndarray, V: np.ndarray) -> Spectrum:
    """Return the spectrum after two steps of power iteration on degree 4, from the projector onto V."""

    def step(B: np.ndarray) -> FullSpectrum:
        (spectrum,) = measure(rows, residual, [QuarticProbe(B / np.linalg.norm(B), M_2)])
        return spectrum

    first = step(V @ V.T)
    return first if first.basis.shape[1] == 0 else step(first.matrix)
