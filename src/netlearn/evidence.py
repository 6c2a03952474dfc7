"""Numbers that tell how a run ended: gathered from its rows here, weighed in `outcome`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from netlearn.backend import to_numpy
from netlearn.certify import Certificate, Score, linear_signal
from netlearn.certify.rounding import rounding_of_labels
from netlearn.fit import Fit
from netlearn.inputs import Standardiser
from netlearn.inputs.duplicates import Duplicates
from netlearn.network import ShallowNetwork
from netlearn.outcome import Evidence
from netlearn.run import Options
from netlearn.search.search import Search
from netlearn.search.trimmed import pairs_apart
from netlearn.source import Source
from netlearn.source.blocks import block_slices, over_blocks
from netlearn.source.stream import Streamed

# Times the rounding of typical labels by which a single one may be off.
_SINGLE_ROW = 10.0
# Mean square on fresh rows, in units of what noise would leave there, from which the fit knows only its own rows; and
# standard errors by which it must be more.
_OVERFITTED, _STANDARD_ERRORS = 2.0, 3.0


@dataclass(frozen=True)
class FreshErrors:
    """Labels of the fresh rows, and what the network leaves of them; shapes (n, m)."""

    y: np.ndarray
    errors: np.ndarray

    @classmethod
    def of(cls, network: ShallowNetwork, *rows: Source) -> FreshErrors:
        """Compute them in blocks."""
        blocks = [map(to_numpy, block) for source in rows for block in source.blocks(network.n_hidden)]
        pairs = [(y, y - network(X)) for X, y in blocks]
        return cls(
            *(np.concatenate(part).reshape(-1, network.n_outputs) for part in zip(*pairs, strict=True))
        )

    def n_off(self, inputs: Standardiser, rounding: float, wrong_share: float) -> int:
        """Return how many rows, but for a share of wrong ones, are not met to what rounding leaves of them.

        Larger labels are rounded by more, in proportion to their size.
        """
        size = np.maximum(np.abs(self.y - inputs.centre) / inputs.scale, 1.0)
        off = np.max(np.abs(self.errors) / inputs.scale / size, axis=1)
        n_right = len(off) - math.ceil(wrong_share * len(off))
        return int(np.sum(np.sort(off)[:n_right] >= _SINGLE_ROW * math.sqrt(rounding)))

    def rounded(self) -> tuple[str, float]:
        """Say how labels were rounded, and by how much at most, where that explains all errors."""
        return rounding_of_labels(self.y, self.errors)


@dataclass(frozen=True)
class Fitted:
    """What a run has found, and what it was found with."""

    search: Search
    found: Fit
    inputs: Standardiser
    options: Options
    rows: Source | Streamed  # that the network was fitted to
    twins: Duplicates

    @property
    def exact(self) -> bool:
        """Whether rows that were learned from are met to rounding."""
        return self.found.loss <= self.search.problem.zero_loss

    @property
    def unknowns(self) -> float:
        """The number of unknowns, for each output the same share of them."""
        if self.found.freedom is not None:
            return self.found.freedom
        shape = self.found.params.shape(self.search.problem.biases)
        return shape.n_unknowns / shape.n_outputs

    def rarely_active(self) -> tuple[int, ...]:
        """Rows on which units switch, or differ from another, where these are too few to determine them.

        A unit can fit as many rows as it has parameters, so more are required; and three to check it where it switches
        by itself.
        """
        # A unit that is active on enough of the held rows needs no pass over the others.
        rows = self.search.train if isinstance(self.rows, Streamed) else self.rows
        d, k = self.rows.n_features, self.found.params.n_hidden
        wanted = np.full(k + 1, d + int(self.search.problem.biases) + 1)
        wanted[0] = d + 4
        apart = pairs_apart(rows, self.found.params, self.twins.first[: rows.n_rows], wanted.max())
        few = apart < wanted
        return tuple(np.min(np.where(few, apart, np.inf), axis=1)[np.any(few, axis=1)].astype(int).tolist())

    def weighed(self, score: Score) -> Score:
        """Ask rows that were learned from, too, whether labels depend on the inputs: few held-out ones may not tell."""
        affine, rows = self.search.affine(), self.search.pilot
        seen = (score.r2 or 0.0) > 0.0 and linear_signal(affine.loss, rows.n_rows, rows.n_features)
        return replace(score, beats_mean=score.beats_mean or seen)

    def noise_level(self) -> float | None:
        """Return the residual's standard deviation with the degrees of freedom of the fit taken off."""
        n = self.rows.n_rows
        if self.exact or n <= self.unknowns:
            return None
        return self._residual() * math.sqrt(n / (n - self.unknowns))

    def excess_error(self) -> float | None:
        """Return sigma sqrt(P / N), the error that least squares with P unknowns leaves in N noisy rows."""
        noise = self.noise_level()
        return None if noise is None else noise * math.sqrt(self.unknowns / self.rows.n_rows)

    def overfitted(self, score: Score) -> bool:
        """Whether fresh rows show larger errors than noise would make of what the fit leaves on its own rows.

        Noise of variance s^2 leaves s^2 (1 - P / N) there, and s^2 (1 + P / N) on fresh rows.
        """
        noise, excess = self.noise_level(), self.excess_error()
        if noise is None or excess is None:
            return False
        surely = max(score.rmse - _STANDARD_ERRORS * score.rmse_error, 0.0)
        return surely**2 > _OVERFITTED * (noise**2 + excess**2)

    def _residual(self) -> float:
        """Return the root mean square residual in the units of the labels, squares summed over outputs."""
        if self.found.params.n_outputs == 1:
            return float(self.inputs.scale) * math.sqrt(self.found.loss)

        def squares(block, weight):
            residual = self.inputs.scale * to_numpy(self.found.params.residual(*block))
            return weight @ np.sum(residual**2, axis=1)

        # Of a stream the held rows tell it well enough, and cost no pass.
        rows = self.rows.head(self.rows.n_rows) if isinstance(self.rows, Streamed) else self.rows
        weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
        weights = (weight[part] for part in block_slices(rows.n_rows, rows.n_features, like=rows.like))
        return math.sqrt(sum(over_blocks(squares, rows, beside=weights)) / rows.n_rows)

    def evidence(
        self,
        certificate: Certificate,
        score: Score,
        *,
        n_off: int,
        rounded: str,
        more_units_help: bool | None,
        timed_out: bool,
        repeats: bool,
        departure: float,
    ) -> Evidence:
        """Put all numbers together."""
        options, found = self.options, self.found
        smallest = self.search.problem.shape(1 if options.n_hidden == "auto" else options.n_hidden)
        return Evidence(
            n_features=self.rows.n_features,
            n_hidden=found.params.n_hidden,
            asked=options.n_hidden,
            n_rows=self.rows.n_rows,
            n_distinct=self.twins.n_distinct,
            n_train=self.search.train.n_rows,
            unknowns=self.unknowns,
            least_unknowns=smallest.n_unknowns / smallest.per_row,
            loss=found.loss,
            exact=self.exact,
            n_off=n_off,
            n_fresh=certificate.n_val,
            share=certificate.share,
            tolerance=certificate.tolerance,
            failure_prob=options.failure_prob,
            error_bound=certificate.error_bound,
            beats_mean=score.beats_mean,
            overfitted=self.overfitted(score),
            rounded=rounded,
            single_precision=self.inputs.rounding,
            n_copies=self.twins.n_held_out,
            why_no_bound=certificate.why_no_bound,
            epsilon=options.epsilon,
            active=self.rarely_active(),
            contradicted=found.left_out,
            robust=options.robust,
            more_units_help=more_units_help,
            repeats=repeats,
            timed_out=timed_out,
            freedom=found.freedom,
            constant=self.inputs.constant,
            departure=departure,
        )
