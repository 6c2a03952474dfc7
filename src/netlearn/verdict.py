"""What to say of a run: its status, the noise it met, and what would help."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from netlearn.backend import to_numpy
from netlearn.certify import Certificate
from netlearn.moments.inputs import Standardiser
from netlearn.polish import Iterate
from netlearn.polish.attempts import Candidate, Search
from netlearn.polish.ridge import Regularised
from netlearn.polish.shared import SharedIterate
from netlearn.polish.shared_system import free_shared
from netlearn.polish.trimmed import ENOUGH_BENT, pairs_apart
from netlearn.polish.wide import n_unknowns
from netlearn.result import Status
from netlearn.run import Clock, Options
from netlearn.source import Source
from netlearn.source.arrays import block_slices, over_blocks
from netlearn.source.outlying import listed
from netlearn.source.stream import Streamed
from netlearn.source.twins import Twins

# Beyond this many standard errors of skewness or kurtosis, Gaussian-only statements are withheld: the largest
# of 256 normal variables passes it once in a million.
GAUSSIAN = 6.0
# Share of the held-out labels that must be right where a few others were wrong.
_RIGHT = 0.9
# Mean square, of labels with unit variance, that is no noise anyone would add.
ALMOST_EXACT = 1e-4


@dataclass(frozen=True)
class Verdict:
    """What to say of the run."""

    search: Search
    found: Candidate
    before: Iterate  # the last polish, on the judging rows too
    inputs: Standardiser
    certificate: Certificate
    held_out: np.ndarray  # labels less the network's values, on the rows of the certificate
    rounded: str | None  # how labels were rounded, where that explains all that is left of them
    options: Options
    clock: Clock
    everything: Source
    few_rows: Regularised | None
    twins: Twins

    @property
    def n_rows(self) -> int:
        """Rows that the network was fitted to."""
        return self.everything.n_rows

    @cached_property
    def rarely_bent(self) -> np.ndarray:
        """Rows on which units bend, or bend apart from another, where these are too few to determine them.

        They must be more than the parameters of a unit: as many are met by any unit. Where it bends by itself, three
        are to check it.
        """
        # A unit that enough of the held rows have bent needs no pass over the others.
        rows = self.search.train if isinstance(self.everything, Streamed) else self.everything
        d, k = self.everything.n_features, self.found.iterate.n_hidden
        wanted = np.full(k + 1, d + int(self.search.biases) + 1)
        wanted[0] = d + 4
        apart = pairs_apart(rows, self.found.iterate, self.twins.first[: rows.n_rows], wanted.max())
        return np.min(np.where(apart < wanted, apart, np.inf), axis=1)[np.any(apart < wanted, axis=1)]

    @property
    def exact(self) -> bool:
        """Whether rows that no other room has seen are met to their own rounding."""
        if self._some_are_wrong:
            sizes = np.quantile(np.abs(self.held_out) / self.inputs.scale, _RIGHT, axis=0)
            return bool(np.all(sizes < math.sqrt(self.search.rounding)))
        each = self.certificate.per_output or (self.certificate,)
        errors = np.array([own.empirical_error for own in each])
        return bool(np.all(errors / self.inputs.scale < math.sqrt(self.search.rounding)))

    @property
    def _some_are_wrong(self) -> bool:
        """Whether labels that the others contradict are taken to be wrong; else a unit bends there."""
        return self.options.robust and len(self.found.aside) > 0

    @property
    def _is_determined(self) -> bool:
        """Whether rows that differ are more than the unknowns, where held-out copies cannot tell."""
        return self.twins.n_distinct > self._unknowns() or not self.twins.many_held_out

    def _unknowns(self) -> float:
        """Return the number of unknowns, for each output the same share of them."""
        if self.few_rows is not None:
            return self.few_rows.freedom
        k, d, biases = self.found.iterate.n_hidden, self.search.train.n_features, self.search.biases
        if isinstance(self.found.iterate, SharedIterate):
            m = self.found.iterate.n_outputs
            return free_shared(m, k, d, biases).sum() / m
        return n_unknowns(k, d, biases)

    def noise_level(self) -> float | None:
        """Return the residual's standard deviation with the degrees of freedom of the fit taken off."""
        if self.exact or self.n_rows <= self._unknowns():
            return None
        return self._residual() * math.sqrt(self.n_rows / (self.n_rows - self._unknowns()))

    def _residual(self) -> float:
        """Return the root mean square residual in the units of the labels, squares summed over outputs."""
        if not isinstance(self.found.iterate, SharedIterate):
            return self.inputs.scale * math.sqrt(self.found.loss)

        def squares(block, weight):
            residual = self.inputs.scale * to_numpy(self.found.residual(*block))
            return weight @ np.sum(residual**2, axis=1)

        # Of a stream the held rows tell it well enough, and cost no pass.
        rows = self.everything.head(self.n_rows) if isinstance(self.everything, Streamed) else self.everything
        weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
        weights = (weight[part] for part in block_slices(rows.n_rows, rows.n_features, like=rows.like))
        return math.sqrt(sum(over_blocks(squares, rows, beside=weights)) / rows.n_rows)

    def excess_error(self) -> float | None:
        """Return sigma sqrt(P / N), the error that least squares with P unknowns leaves in N noisy rows."""
        noise = self.noise_level()
        return None if noise is None else noise * math.sqrt(self._unknowns() / self.n_rows)

    @property
    def undetermined(self) -> bool:
        """Whether there is a unit that hardly any row has bent, in the network or missing from it."""
        if self.found.aside:
            return not self._some_are_wrong
        return len(self.rarely_bent) > 0 and self.few_rows is None

    def bounded(self) -> Certificate:
        """Return the certificate, without a bound where a unit is undetermined.

        Held-out rows miss where it bends as all others do: of what happens there, the errors seen say nothing.
        """
        if not self.undetermined:
            return self.certificate
        each = tuple(replace(own, error_bound=math.inf) for own in self.certificate.per_output)
        return replace(self.certificate, error_bound=math.inf, per_output=each)

    def status(self) -> Status:
        """Return how the run ended."""
        if (self.undetermined or len(self.rarely_bent)) and self.found.loss < ALMOST_EXACT:
            return Status.TOO_FEW_ROWS  # what is missing is a unit that hardly any row has bent
        if (self.exact or self.rounded is not None) and not len(self.rarely_bent):
            return Status.RECOVERED if self._is_determined else Status.TOO_FEW_ROWS
        if self.clock.timed_out:
            return Status.OUT_OF_TIME
        needed = 1.05 * self._least_unknowns()
        if self.search.train.n_rows < needed:
            return Status.TOO_FEW_ROWS
        more_help = self._more_units_help()
        if more_help is None:
            return Status.TOO_FEW_ROWS
        if more_help:
            return Status.NOT_A_SMALL_NETWORK
        if self.options.epsilon is not None and self.bounded().error_bound <= self.options.epsilon:
            return Status.TOO_FEW_ROWS if self.twins.many_held_out else Status.CERTIFIED
        return Status.NOISE_LIMITED

    def _least_unknowns(self) -> int:
        k = 1 if self.options.n_hidden == "auto" else self.options.n_hidden
        return n_unknowns(k, self.search.train.n_features, self.search.biases)

    def _more_units_help(self) -> bool | None:
        """Whether a wider network does better on the judging rows, beyond doubt; None if the rows cannot tell."""
        k, d = self.found.iterate.n_hidden, self.search.train.n_features
        if self.inputs.constant:
            return False
        wider = min(2 * k + 4, int(self.search.train.n_rows / 1.5 / (d + 1)) - 1)
        if wider <= k:
            return None
        # The judging rows have been polished on by now, so it is the network before that which is compared.
        self.clock.tell("asking whether more units would help")
        return any(self._is_better(larger) for larger in self.search.wider(self.before, wider))

    def _is_better(self, larger: Candidate) -> bool:
        gain = self.search.squares(self.before) - self.search.squares(larger.iterate)
        return larger.exact or bool(np.mean(gain) > 4.0 * np.std(gain) / math.sqrt(len(gain)))

    def _unseen(self) -> Iterator[str]:
        """Say which units the rows do not show."""
        found, asked = self.found.iterate.n_hidden, self.options.n_hidden
        n_aside = len(self.found.aside)
        if self._some_are_wrong:
            yield (
                f"{n_aside} rows set aside, whose labels the fit that is exact on all others contradicts: "
                f"{listed(self.found.aside)}; held-out labels may be wrong as often, and count in the certificate"
            )
        elif n_aside:
            rows = math.ceil(ENOUGH_BENT * (self.everything.n_features + 1) * self.n_rows / n_aside)
            yield (
                f"{n_aside} rows contradict the {found} units that all others determine to rounding: what "
                f"bends on these alone is unseen; at least {rows:,} rows would show it"
            )
        elif asked != "auto" and found < asked and self.exact:
            yield (
                f"{asked - found} of the {asked} units asked for are unseen: they bend on none of the rows, or "
                "double another one"
            )

    def notes(self) -> tuple[str, ...]:
        """Return what else a reader should know, in sentences."""
        notes = list(self.twins.notes)
        if self.inputs.departure > GAUSSIAN:
            notes.append(
                f"the inputs depart from Gaussian by {self.inputs.departure:.0f} standard errors of skewness or "
                "kurtosis: the fit and its held-out error stand, moments and L2(gamma) statements do not"
            )
        if self.inputs.rounding and self.exact:
            notes.append(
                "the labels are numbers of single precision: they and the network agree to its rounding, about "
                f"{self.inputs.rounding:.0e} of their spread"
            )
        if self.rounded is not None and not self.exact:
            notes.append(
                f"the labels are {self.rounded}: they and the network agree to that rounding on every held-out row"
            )
        notes.extend(self._unseen())
        if self.undetermined:
            notes.append(
                "the error has no bound: held-out rows may all miss where it is, as those learned from do"
            )
        if self.few_rows is not None:
            notes.append(
                f"the rows are few: a ridge, chosen by cross-validation, leaves {self._unknowns():.1f} "
                f"of the unknowns free, and the network is a fit to {self.n_rows:,} rows and no recovery"
            )
        if len(self.rarely_bent) and self.few_rows is None:
            per_row = max(int(self.rarely_bent.min()), 1) / self.twins.n_distinct
            rows = math.ceil(4 * (self.everything.n_features + 1) / per_row)
            notes.append(
                f"{len(self.rarely_bent)} of the units bend on so few rows, or apart from another unit (the rarest on "
                f"{self.rarely_bent.min():.0f}), that these do not determine them; about {rows:,} rows would"
            )
        if self.search.train.n_rows < 1.05 * self._least_unknowns():
            # Rows for judge and certificate come on top: a tenth, and at least 20 each.
            rows = math.ceil(1.5 * self._least_unknowns() / 0.9) + 40
            notes.append(f"{rows:,} rows would do for this many units")
        return tuple(notes)
