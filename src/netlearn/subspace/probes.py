r"""Probes: symmetric matrices whose population value has its range inside span{u_i}, with their noise.

Algorithm 1 joins the eigenspaces of M_ell^g. Nothing in that step needs the matrices to come from (ell, g).
For labels that depend on x only through the units' span U and on noise, E[T(x, r) (x x^T - I)] has its range in
U for *every* filter T of the residual r, and of x through U. Filters that are not linear in the label ask no
correlational statistical query, so the lower bound d^Omega(k) for those does not bind them: for a hard plane,
where every M_ell with ell < k vanishes, the rank of |r| shows the plane at once.

A probe is what turns rows into labels for a second-moment sum. Writing a new one means writing `labels`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from netlearn.backend import Array, as_like, namespace, to_numpy
from netlearn.moments import MomentSum, abs_hermite_coefficient
from netlearn.moments.sums import N_GROUPS
from netlearn.source import Source
from netlearn.subspace.noise import noise_floor
from netlearn.subspace.projectors import joint_span
from netlearn.subspace.sketch import leading_spectrum

# eta' in units of the measured noise floor. The floor is one draw of the noise's operator norm, which fluctuates by a
# share d^(-2/3) (the edge of a random matrix's spectrum); in few dimensions, half as large again is signal except for
# heavy-tailed labels, where a false direction costs little.
_LARGEST_MARGIN, _MARGIN_AT_ONE, _LEAST_MARGIN = 0.5, 5.0, 0.05
# An eigenvector counts for V when the probes that saw it add up to half a projector.
_NU = 0.5


def cut(d: int) -> float:
    """Return the multiple of the noise floor above which an eigenvalue in d dimensions is signal."""
    return 1.0 + max(_LEAST_MARGIN, min(_LARGEST_MARGIN, _MARGIN_AT_ONE * d ** (-2 / 3)))


class Probe(Protocol):
    """Turns rows into labels t; its matrix is E[t (x x^T - I)]."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def labels(self, X: Array, r: Array) -> Array:
        """Return one label per row, of mean about zero, in the library of X and r."""
        ...


@dataclass(frozen=True)
class LabelProbe:
    """The paper's M_2: the residual itself."""

    name: str = "label"

    def labels(self, X: Array, r: Array) -> Array:
        """Return r."""
        return r


@dataclass(frozen=True)
class RankProbe:
    """The centred rank of |r| among the residuals of some pilot rows: bounded, so its noise is light-tailed."""

    pilot: np.ndarray
    name: str = "rank of |label|"

    def labels(self, X: Array, r: Array) -> Array:
        """Return the share of the pilot below |r|, minus one half."""
        xp = namespace(r)
        below = xp.searchsorted(as_like(self.pilot, r), xp.abs(r))
        return xp.astype(below, r.dtype) / len(self.pilot) - 0.5

    @classmethod
    def from_residuals(cls, r: np.ndarray) -> RankProbe:
        """Take the pilot's residuals, in any order."""
        return cls(np.sort(np.abs(r)))


@dataclass(frozen=True)
class TailProbe:
    """The indicator of |r| above a quantile of the pilot's: what only the far side of a few units shows."""

    cut: float
    share: float
    name: str = "tail of |label|"

    def labels(self, X: Array, r: Array) -> Array:
        """Return 1{|r| > cut}, centred."""
        xp = namespace(r)
        return xp.astype(xp.abs(r) > self.cut, r.dtype) - self.share

    @classmethod
    def from_residuals(cls, r: np.ndarray, share: float = 0.1) -> TailProbe:
        """Choose the cut so that `share` of the pilot lies above it."""
        return cls(float(np.quantile(np.abs(r), 1 - share)), share)


@dataclass(frozen=True)
class QuarticProbe:
    r"""Degree 4 contracted with a symmetric matrix B: sum_i lambda_i <u_i, B u_i> u_i u_i^T.

    E[r H_4(x)(B)] = E[r (x^T B x - tr B)(x x^T - I)] - 2 (B M_2 + M_2 B) for residuals with mean zero and no
    linear part; iterating B <- E[r H_4(x)(B)] is power iteration on the d^2 x d^2 unfolding of T_4, which sees
    units that cancel in degree 2. The last two terms lie outside the labels, in `correction`.
    """

    B: np.ndarray
    M_2: np.ndarray
    name: str = "degree 4"

    def labels(self, X: Array, r: Array) -> Array:
        """Return r (x^T B x - tr B)."""
        return r * (namespace(X).vecdot(X @ as_like(self.B, X), X) - float(np.trace(self.B)))

    def correction(self) -> np.ndarray:
        """Return what is to be added to the sum's matrix."""
        return -2.0 * (self.B @ self.M_2 + self.M_2 @ self.B)


@dataclass(frozen=True)
class Spectrum:
    """A probe's matrix, read off.

    Attributes
    ----------
    name : str
        Of the probe.
    order : int
        Hermite degree of its matrix.
    eigenvalues : array of shape (d,), or shorter where only the leading ones were computed
        By decreasing magnitude.
    noise_floor : float
        Operator norm of the noise, from two halves of the rows.
    basis : array of shape (d, r)
        Eigenvectors whose eigenvalue stands out of the noise (Algorithm 1, line 4).
    """

    name: str
    order: int
    eigenvalues: np.ndarray
    noise_floor: float
    basis: np.ndarray


@dataclass(frozen=True)
class FullSpectrum(Spectrum):
    """The spectrum with the matrix that it is of, shape (d, d)."""

    matrix: np.ndarray


def measure(rows: Source, residual: Callable, probes: Sequence[Probe]) -> list[FullSpectrum]:
    """Measure all probes in one pass over the rows.

    Cost: 3/2 N d**2 operations for each probe, and 64 d**2 bytes.

    Parameters
    ----------
    rows : Source
        Whitened.
    residual : callable
        Takes (X, y), returns the labels of mean zero without linear part, in units of their spread.
    probes : list of Probe
    """
    d = rows.n_features
    totals = [MomentSum(as_like(np.eye(1, d), rows.like), orders=(2,)) for _ in probes]
    for X, y in rows.blocks(n_cached=N_GROUPS):
        r = residual(X, y)
        for probe, total in zip(probes, totals, strict=True):
            total.add(X, probe.labels(X, r))
    return [_read(probe, total) for probe, total in zip(probes, totals, strict=True)]


def _read(probe: Probe, total: MomentSum) -> FullSpectrum:
    moments = total.finalize()
    M = to_numpy(moments.matrices[0, 0, ...])
    floor = float(noise_floor(*(moments.halves[half, 0, 0, ...] for half in (0, 1))))
    degree = 2
    if isinstance(probe, QuarticProbe):
        M, degree = M + probe.correction(), 4
    rho, vectors = np.linalg.eigh(M)
    order = np.argsort(-np.abs(rho), kind="stable")
    made = _spectrum(probe, degree, rho[order], vectors[:, order], floor)
    return FullSpectrum(made.name, made.order, made.eigenvalues, made.noise_floor, made.basis, M)


def measure_leading(
    rows: Source, residual: Callable, probe: Probe, rng: np.random.Generator, *, wanted: int | None = None
) -> Spectrum:
    """Measure one probe without its matrix, which takes more passes but no d**2 anywhere.

    Parameters
    ----------
    rows, residual, probe
        As in `measure`.
    rng : numpy.random.Generator
        Draws the vectors to start from.
    wanted : int, optional
        Number of directions beyond which there is nothing more to see. Default: as many as there are.
    """
    rho, vectors, floor = leading_spectrum(rows, residual, probe, rng, wanted)
    c_2 = abs_hermite_coefficient(2)  # M_2 is in units of the lambda_i
    spectrum = _spectrum(probe, 2, rho / c_2, vectors, floor / c_2)
    return replace(spectrum, basis=spectrum.basis[:, :wanted])


def _spectrum(probe: Probe, degree: int, rho: np.ndarray, vectors: np.ndarray, floor: float) -> Spectrum:
    n_kept = int(np.sum(np.abs(rho) > cut(len(vectors)) * floor))
    return Spectrum(probe.name, degree, rho, floor, vectors[:, :n_kept])


def span(spectra: Sequence[Spectrum]) -> np.ndarray:
    """Return V, the joint span of what the probes have seen (Algorithm 1, line 5), shape (d, r)."""
    return np.asarray(joint_span([spectrum.basis for spectrum in spectra], _NU)[0])
