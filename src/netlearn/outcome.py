"""What to say of a run: its numbers go in, status, message, notes and advice come out; nothing is computed on rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from netlearn.certify import LARGEST_SHARE, rows_for_share
from netlearn.fit.problem import ALMOST_EXACT
from netlearn.inputs.outliers import listed
from netlearn.result import Status
from netlearn.search import budget
from netlearn.words import missed_epsilon, percent_up, rounded_up

# Rows on the rarer side of a unit, in units of its d + 1 parameters, that determine it beyond doubt.
ENOUGH_ACTIVE = 4
# Held-out rows from which it means something that these are predicted no better than by their mean.
_TELLS_SIGNAL = 5
# Standard errors of skewness or kurtosis beyond which a reader is told that the inputs are not Gaussian.
GAUSSIAN = 6.0
# Share of the error on new rows that must go with more rows before a reader is advised to give them.
SMALL_GAIN = 0.03


@dataclass(frozen=True)
class Evidence:
    """The numbers of a run that decide how it ended.

    Attributes
    ----------
    n_features, n_hidden : int
        Of the network that was found.
    asked : int or "auto"
        Units that were asked for.
    n_rows : int
        Rows that the network was fitted to.
    n_distinct : int
        How many of them differ.
    n_train : int
        Rows that units were looked for in.
    unknowns : float
        Free parameters of the network, shared among its outputs.
    least_unknowns : float
        Free parameters of the smallest network that was asked for, for each equation that a row gives.
    loss : float
        Mean square residual in units of the labels' variance.
    exact : bool
        Whether that is what rounding leaves.
    n_off : int
        Fresh rows that are not reproduced to rounding, those that may be wrong left out.
    rounded : str
        How labels were rounded, in words, where that explains all that is left of them; else empty.
    single_precision : float
        Rounding of labels that are numbers of single precision, in units of their spread; 0 for others.
    n_fresh : int
        Fresh rows.
    n_copies : int
        Fresh rows that are copies of rows learned from.
    share, tolerance : float
        Of the certificate.
    failure_prob : float
    error_bound : float
    why_no_bound : str
    epsilon : float or None
    beats_mean : bool
        Whether fresh rows are predicted better than by the mean: clearly, or at all where rows learned from leave no
        doubt that labels depend on the inputs.
    overfitted : bool
        Whether fresh rows show larger errors than noise would make of what the fit leaves on its own rows.
    active : tuple of int
        For each unit that too few rows determine, the number of rows on its rarer side, or between it and another.
    contradicted : tuple of int
        Rows that a network which is exact on all others contradicts.
    robust : bool
        Whether these may be taken to be wrong.
    more_units_help : bool or None
        Whether a wider network does clearly better on other rows; None where rows are too few to ask.
    repeats : bool
        Whether labels are known to be a fixed function of the inputs.
    timed_out : bool
    freedom : float or None
        Unknowns that a ridge leaves free, where there is one.
    constant : bool
        Whether the inputs do not vary.
    departure : float
        How far the inputs are from Gaussian, in standard errors.
    """

    n_features: int
    n_hidden: int
    asked: int | str
    n_rows: int
    n_distinct: int
    n_train: int
    unknowns: float
    least_unknowns: float
    loss: float
    exact: bool
    n_off: int
    n_fresh: int
    share: float
    tolerance: float
    failure_prob: float
    error_bound: float
    beats_mean: bool
    overfitted: bool = False
    rounded: str = ""
    single_precision: float = 0.0
    n_copies: int = 0
    why_no_bound: str = ""
    epsilon: float | None = None
    active: tuple[int, ...] = ()
    contradicted: tuple[int, ...] = ()
    robust: bool = False
    more_units_help: bool | None = False
    repeats: bool = False
    timed_out: bool = False
    freedom: float | None = None
    constant: bool = False
    departure: float = 0.0

    @property
    def reproduced(self) -> bool:
        """Whether every fresh row is reproduced to rounding."""
        return self.n_off == 0

    @property
    def undetermined(self) -> bool:
        """Whether some unit, in the network or missing from it, is active on too few rows to be determined."""
        missing = bool(self.contradicted) and not self.robust
        return missing or (bool(self.active) and self.freedom is None)

    @property
    def is_misfit(self) -> bool:
        """Whether labels known to be exact are missed nearly everywhere, by a network that its rows determine."""
        is_determined = self.n_train >= budget.LEARN * self.unknowns
        return self.repeats and is_determined and 2 * self.n_off > self.n_fresh and not self.contradicted

    @property
    def many_copies(self) -> bool:
        """Whether more than a few of the fresh rows took part in learning, as copies."""
        return self.n_copies > 0.1 * self.n_fresh


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes
    ----------
    status : Status
    message : str
        The status in words, with the numbers of this run.
    notes : tuple of str
        What else a reader should know.
    advice : str
        What to do next; empty where nothing is left to do.
    """

    status: Status
    message: str
    notes: tuple[str, ...]
    advice: str


def outcome(seen: Evidence) -> Outcome:
    """Return how a run ended, and what to say of it."""
    status = _status(seen)
    advice = _advice(status, seen)
    return Outcome(status, _message(status, seen), tuple(_notes(status, seen)), advice)


def _status(seen: Evidence) -> Status:
    if seen.reproduced and (seen.exact or seen.rounded) and not seen.undetermined:
        if seen.n_distinct <= seen.unknowns:
            return Status.TOO_FEW_ROWS
        return Status.RECOVERED if seen.share <= LARGEST_SHARE else Status.REPRODUCED
    if seen.epsilon is not None and seen.error_bound <= seen.epsilon and not seen.many_copies:
        return Status.CERTIFIED
    if seen.exact or (seen.undetermined and seen.loss < ALMOST_EXACT and not seen.is_misfit):
        return Status.TOO_FEW_ROWS
    if seen.timed_out:
        return Status.OUT_OF_TIME
    if seen.n_train < 1.05 * seen.least_unknowns:
        return Status.TOO_FEW_ROWS
    if seen.more_units_help or seen.is_misfit:
        return Status.NOT_A_SMALL_NETWORK
    if not seen.beats_mean:
        return Status.NO_SIGNAL if seen.n_fresh >= _TELLS_SIGNAL else Status.TOO_FEW_ROWS
    if seen.more_units_help is None or seen.overfitted:
        return Status.TOO_FEW_ROWS
    return Status.NOT_A_SMALL_NETWORK if seen.repeats else Status.NOISE_LIMITED


def _message(status: Status, seen: Evidence) -> str:
    confidence = f"{100 * (1 - seen.failure_prob):.6g} %"
    share = f"With confidence {confidence}, at most {percent_up(seen.share)} of new rows"
    if status in (Status.RECOVERED, Status.REPRODUCED):
        tolerance, n = rounded_up(seen.tolerance), f"{seen.n_fresh:,} held-out rows"
        return f"{status.value} {share} differ by more than {tolerance} ({n})."
    if status is Status.CERTIFIED:
        return (
            f"{status.value} The bound is {rounded_up(seen.error_bound)}, epsilon {seen.epsilon:g}, the confidence "
            f"{confidence}."
        )
    return status.value


def _advice(status: Status, seen: Evidence) -> str:
    """Say what would help most."""
    if status is Status.REPRODUCED:
        enough = rows_for_share(LARGEST_SHARE, seen.failure_prob)
        rows = math.ceil(max(2 * enough, enough + budget.LEARN * seen.unknowns))
        return (
            f"give about {rows:,} rows, or hold out {enough} with holdout=: then it can be called recovered"
        )
    if status is Status.TOO_FEW_ROWS:
        enough = ENOUGH_ACTIVE * (seen.n_features + 1)
        if seen.contradicted and not seen.robust:
            return f"give {math.ceil(enough * seen.n_rows / len(seen.contradicted)):,} rows or more"
        if seen.exact and 0 < seen.n_off < seen.n_fresh / 10:
            return f"give about {math.ceil(enough * seen.n_fresh / seen.n_off):,} rows"
        if seen.active:
            return f"give about {math.ceil(enough * seen.n_distinct / max(min(seen.active), 1)):,} rows"
        unknowns = max(seen.least_unknowns, seen.unknowns if seen.exact else 0.0)
        enough = budget.least(unknowns)
        return f"give about {max(enough, 2 * seen.n_rows) if seen.overfitted else enough:,} rows"
    if status is Status.NOISE_LIMITED:
        return _more_rows(seen)
    return {
        Status.NO_SIGNAL: "check that the columns have to do with what is to be predicted, or give more rows",
        Status.NOT_A_SMALL_NETWORK: "allow more units with n_hidden=, or use the network as an approximation",
        Status.OUT_OF_TIME: "allow more time, or say how many units there are with n_hidden=",
    }.get(status, "")


def _more_rows(seen: Evidence) -> str:
    """Say whether more rows would help where noise is left.

    With P unknowns fitted to N rows, the mean square error on new rows is 1 + P/N times the noise's variance; with ever
    more rows its root falls by the factor 1 / sqrt(1 + P/N).
    """
    if seen.freedom is not None:  # a ridge holds the fit back by more than that
        return "give more rows if you can: they lower the network's own error, the noise in the labels stays"
    gain = 1.0 - 1.0 / math.sqrt(1.0 + seen.unknowns / seen.n_distinct)
    if gain < SMALL_GAIN:
        return "use it as it is: nearly all that is left is noise in the labels, which more rows do not lower"
    return (
        f"give more rows if you can: with very many, the error on new rows would fall by about {100 * gain:.0f} %, the "
        "rest is noise in the labels"
    )


def _notes(status: Status, seen: Evidence) -> Iterator[str]:
    if seen.epsilon is not None and status is not Status.CERTIFIED and not seen.error_bound <= seen.epsilon:
        yield missed_epsilon(seen.epsilon, seen.error_bound, seen.why_no_bound)
    if seen.n_hidden == 0 and not seen.constant and status is not Status.NO_SIGNAL:
        yield "the network has no units: a linear model is enough"
    if seen.n_distinct < 0.9 * seen.n_rows or seen.many_copies:
        yield (
            f"only {seen.n_distinct:,} of {seen.n_rows:,} rows differ, and {seen.n_copies:,} of the {seen.n_fresh:,} "
            "held-out rows are copies of rows that were learned from: if they stem from one observation, they prove "
            "nothing"
        )
    if seen.departure > GAUSSIAN:
        yield (
            f"the inputs are not Gaussian: a skewness or kurtosis is {seen.departure:.0f} standard errors off. The fit "
            "and its held-out error stand; moments and sensitivities under N(0, I) do not describe these rows"
        )
    if seen.single_precision and seen.exact:
        yield (
            "the labels are numbers of single precision: the network agrees with them to its rounding, about "
            f"{seen.single_precision:.0e} of their spread"
        )
    if seen.rounded and not seen.exact:
        yield f"the labels are {seen.rounded}: the network agrees with them to that rounding on every held-out row"
    yield from _about_units(seen)
    if seen.freedom is not None:
        yield (
            f"the rows are few: a ridge, chosen by cross-validation, leaves {seen.freedom:.1f} of the unknowns free, "
            f"and the network is a fit to {seen.n_rows:,} rows, not a recovery"
        )


def _about_units(seen: Evidence) -> Iterator[str]:
    """Say which units the rows do not show."""
    n = len(seen.contradicted)
    if n and seen.robust:
        yield (
            f"{n} rows were left out, whose labels a fit that is exact on all others contradicts: "
            f"{listed(seen.contradicted)}; held-out labels may be wrong as often"
        )
    elif n:
        yield (
            f"{n} rows contradict the {seen.n_hidden} units that all others determine to rounding: a unit that is "
            "active on these rows alone is missing"
        )
    elif seen.exact and seen.n_off:
        yield (
            f"{seen.n_off:,} of the {seen.n_fresh:,} held-out rows are not reproduced, though all rows learned from "
            "are: either these were too few, or a unit that is active on hardly any row is missing"
        )
    elif seen.asked != "auto" and seen.n_hidden < int(seen.asked) and seen.exact:
        yield (
            f"{int(seen.asked) - seen.n_hidden} of the {seen.asked} units asked for are not seen: they switch on no "
            "row, or double another one"
        )
    if seen.active and seen.freedom is None:
        yield (
            f"{len(seen.active)} of the units switch on so few rows, or differ from another unit on so few (the rarest "
            f"on {min(seen.active)}), that these do not determine them"
        )
