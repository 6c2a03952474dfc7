"""What to say of a run: its status, the noise it met, and what would help."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from netlearn.certify import Certificate
from netlearn.moments.inputs import Standardiser
from netlearn.polish import Iterate
from netlearn.polish.attempts import Candidate, Search
from netlearn.polish.ridge import Regularised
from netlearn.polish.wide import n_unknowns
from netlearn.result import Status
from netlearn.run import Clock, Options
from netlearn.source import Source
from netlearn.source.arrays import over_blocks
from netlearn.source.stream import Streamed

# Beyond this many standard errors of skewness or kurtosis, Gaussian-only statements are withheld: the largest
# of 256 normal variables passes it once in a million.
GAUSSIAN = 6.0
# Mean square, of labels with unit variance, that is no noise anyone would add.
_ALMOST = 1e-4


@dataclass(frozen=True)
class Verdict:
    """What to say of the run."""

    search: Search
    found: Candidate
    before: Iterate  # the last polish, on the judging rows too
    inputs: Standardiser
    certificate: Certificate
    options: Options
    clock: Clock
    everything: Source
    few_rows: Regularised | None

    @property
    def n_rows(self) -> int:
        """Rows that the network was fitted to."""
        return self.everything.n_rows

    @cached_property
    def rarely_bent(self) -> np.ndarray:
        """Rows on the rarer side of each unit that has fewer there than its d + 1 parameters and three to check."""
        iterate = self.found.iterate
        positive = np.zeros(iterate.n_hidden)

        def counts(block):
            return (iterate.linearise(block[0])[1][:, 1:] > 0).sum(axis=0)

        # A unit that enough of the held rows have bent needs no pass over the others.
        rows = self.search.train if isinstance(self.everything, Streamed) else self.everything
        for count in over_blocks(counts, rows, iterate.n_hidden):
            positive += count
        rarer = np.minimum(positive, rows.n_rows - positive)
        return rarer[rarer < self.everything.n_features + 4]

    @property
    def exact(self) -> bool:
        """Whether rows that no other room has seen are met to their own rounding."""
        return self.certificate.empirical_error / self.inputs.scale < math.sqrt(self.search.rounding)

    def _unknowns(self) -> float:
        if self.few_rows is not None:
            return self.few_rows.freedom
        return n_unknowns(self.found.iterate.n_hidden, self.search.train.n_features, self.search.biases)

    def noise_level(self) -> float | None:
        """Return the residual's standard deviation with the degrees of freedom of the fit taken off."""
        if self.exact or self.n_rows <= self._unknowns():
            return None
        return self.inputs.scale * math.sqrt(self.found.loss * self.n_rows / (self.n_rows - self._unknowns()))

    def excess_error(self) -> float | None:
        """Return sigma sqrt(P / N), the error that least squares with P unknowns leaves in N noisy rows."""
        noise = self.noise_level()
        return None if noise is None else noise * math.sqrt(self._unknowns() / self.n_rows)

    def status(self) -> Status:
        """Return how the run ended."""
        if self.exact and not len(self.rarely_bent):
            return Status.RECOVERED
        if len(self.rarely_bent) and self.found.loss < _ALMOST:
            return Status.TOO_FEW_ROWS  # what is missing is a unit that hardly any row has bent
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
        if self.options.epsilon is not None and self.certificate.error_bound <= self.options.epsilon:
            return Status.CERTIFIED
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
        larger = self.search.of_width(wider, attempts=1)
        if larger.exact:
            return True
        gain = self.search.squares(self.before) - self.search.squares(larger.iterate)
        return bool(np.mean(gain) > 4.0 * np.std(gain) / math.sqrt(len(gain)))

    def notes(self) -> tuple[str, ...]:
        """Return what else a reader should know, in sentences."""
        notes = []
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
        if self.few_rows is not None:
            notes.append(
                f"the rows are few: a ridge, chosen by cross-validation, leaves {self._unknowns():.1f} "
                f"of the unknowns free, and the network is a fit to {self.n_rows:,} rows and no recovery"
            )
        if len(self.rarely_bent) and self.few_rows is None:
            per_row = max(int(self.rarely_bent.min()), 1) / self.n_rows
            rows = math.ceil(4 * (self.everything.n_features + 1) / per_row)
            notes.append(
                f"{len(self.rarely_bent)} of the units bend on so few rows (the rarest on {self.rarely_bent.min()}) "
                f"that these do not determine them; about {rows:,} rows would"
            )
        if self.search.train.n_rows < 1.05 * self._least_unknowns():
            # Rows for judge and certificate come on top: a tenth, and at least 20 each.
            rows = math.ceil(1.5 * self._least_unknowns() / 0.9) + 40
            notes.append(f"{rows:,} rows would do for this many units")
        return tuple(notes)
