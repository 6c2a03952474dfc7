"""From a subspace to a network: attempts by different routes, judged on rows they have not seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from netlearn.backend import to_numpy
from netlearn.polish.gauss_newton import NEAR, Deadline, Polished, explore, finish, never
from netlearn.polish.iterate import Iterate
from netlearn.polish.solve import conjugate_gradients
from netlearn.polish.system import ModulatedSystem
from netlearn.polish.tilt import fit_in_subspace, inside, lift
from netlearn.polish.trimmed import n_bent
from netlearn.polish.wide import (
    CANDIDATE_GAIN,
    EXACT,
    enough_rows,
    few_rows,
    n_unknowns,
    reduce_to,
    rough,
    wide_fit,
)
from netlearn.search.sparse import MOST_DIMENSIONS, MOST_UNITS, sparse_atoms
from netlearn.source import ArraySource, Source
from netlearn.source.arrays import over_blocks
from netlearn.subspace.look import look

# Widths of the wide starts in units of n_hidden, in the order tried.
_SURPLUS = (1.25, 1.5, 1.25, 2.0, 1.5, 1.25, 2.0, 3.0)
MOST_ATTEMPTS = len(_SURPLUS)
# Unknowns that a fit in full dimension finds in less time than V takes.
_QUICK = 128
# Tilts of V between fits inside it.
_MOST_TILTS = 11
# Mean square at which units are near enough to their places for the surplus to show as such.
_IN_PLACE = 2e-2
# Rows for reducing a fit inside V to fewer units, and for regression on a net of it.
_INSIDE, _ON_NET = 20_000, 5_000
# Rows that rank candidates; more would cost time and tell no more basins apart.
_RANKING_ROWS, _RANKING_PER_UNKNOWN = 50_000, 100
# Units looked for in what a nearly exact fit leaves, and how often.
_NEW_UNITS, _COMPLETIONS = 2, 3
# Rows per unknown that a wider network needs to show whether it helps.
_ROWS_PER_WIDER = 1.5
# Two attempts whose held-out errors agree this closely have found the same thing: what is left is noise.
_AGREEMENT = 0.02


@dataclass(frozen=True)
class Candidate:
    """A network with its mean squares on the rows it was fitted to and on the rows that judge it.

    `fitted` and `exact` say that these are what rounding leaves of them. With several outputs they are means over
    outputs too. `aside` are the rows that it was fitted without, as the others contradict them.
    """

    iterate: Iterate
    loss: float
    score: float
    fitted: bool
    exact: bool
    trace: tuple[float, ...] = ()
    route: str = ""
    aside: tuple[int, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether nothing is left to look for."""
        return self.exact or self.fitted

    def residual(self, X, y):
        """Return y minus the network's values."""
        return y - self.iterate.linearise(X)[0]

    def sum_of_squares(self, rows: Source) -> float:
        """Return the sum of the squared residuals."""
        return sum(float(e @ e) for e in over_blocks(lambda block: self.residual(*block), rows))


@dataclass
class Search:
    """The rows, the judge and the limits that all attempts share.

    Attributes
    ----------
    train, pilot : Source
        Whitened rows with labels of unit variance; and the first of them, enough for their affine part.
    judge : ArraySource
        Others, of the same kind.
    V : array of shape (d, r)
        What the probes have seen; r = 0 and r = d mean that there is nothing to use.
    biases : bool
    rng : numpy.random.Generator
    rounding : float
        Mean square that counts as none: what the precision of the labels leaves of them.
    deadline : callable
    tell : callable
        Told in words what is being tried.
    """

    train: Source
    pilot: Source
    judge: ArraySource
    V: np.ndarray
    biases: bool
    rng: np.random.Generator
    rounding: float = EXACT
    deadline: Deadline = never
    tell: Callable[[str], None] = field(default=lambda message: None)
    _affine: Candidate | None = field(default=None, init=False, repr=False)

    @property
    def _limits(self) -> dict:
        return {"biases": self.biases, "deadline": self.deadline}

    def squares(self, iterate: Iterate) -> np.ndarray:
        """Return the squared errors on the judging rows."""
        return to_numpy(self.judge.y - iterate.linearise(self.judge.X)[0]) ** 2

    def judged(
        self, iterate: Iterate, loss: float, trace: tuple[float, ...] = (), route: str = ""
    ) -> Candidate:
        """Return the candidate with its score, polished on all rows first where it is near."""
        exact = np.mean(self.squares(iterate)) <= self.rounding
        if not exact and (loss < NEAR or self.ample(iterate.n_hidden)):
            # Some rows may leave a gap between two near units that all rows close; and losses can be compared.
            fit = finish(
                self._ranking_rows(iterate.n_hidden), iterate, least_gain=CANDIDATE_GAIN, **self._limits
            )
            iterate, loss, trace = fit.iterate, fit.loss, trace + fit.trace
        return self.candidate(iterate, loss, trace, route)

    def _ranking_rows(self, n_hidden: int) -> Source:
        """Return the rows whose mean square ranks fits of one width: all, up to many per unknown."""
        n_rows = max(_RANKING_ROWS, _RANKING_PER_UNKNOWN * self.n_unknowns(n_hidden))
        return self.train.head(min(self.train.n_rows, n_rows))

    def candidate(self, iterate: Iterate, loss: float, trace: tuple[float, ...], route: str) -> Candidate:
        """Return the candidate with its score as it is."""
        score = float(np.mean(self.squares(iterate)))
        enough = self.train.n_rows >= _SURPLUS[0] * self.n_unknowns(iterate.n_hidden)
        return Candidate(
            iterate, loss, score, enough and loss < self.rounding, score < self.rounding, trace, route
        )

    def n_unknowns(self, n_hidden: int) -> int:
        """Return the number of unknowns of a network of this width."""
        return n_unknowns(n_hidden, self.train.n_features, self.biases)

    def ample(self, n_hidden: int) -> bool:
        """Whether the rows that learn are so many that their own mean square ranks fits of one width."""
        return self.train.n_rows >= 10 * self.n_unknowns(n_hidden)

    def best_of(self, found: list[Candidate]) -> Candidate:
        """Return the best of some candidates of one width: by held-out rows, or by all rows where these are ample.

        With noise a thousand held-out rows tell two fits of one width apart only when they differ by several per
        cent; the rows that learned see far less, and favour none of them when the number of unknowns is the same.
        """
        widest = max(candidate.iterate.n_hidden for candidate in found)
        rivals = [candidate for candidate in found if candidate.iterate.n_hidden == widest]
        if self.ample(widest) and not any(candidate.exact for candidate in found):
            return min(rivals, key=lambda candidate: candidate.loss)
        return min(found, key=lambda candidate: candidate.score)

    def affine(self) -> Candidate:
        """Return the best network without units on the pilot's rows; what it leaves is what probes see."""
        if self._affine is None:
            start = Iterate(np.zeros((1, self.train.n_features + 1)), np.zeros(0))
            system = ModulatedSystem(self.pilot, start.linearise, np.ones(start.a.shape))
            # To the last digit: what a loose solution leaves is a linear trend in the residual, and probes see trends.
            step, _ = conjugate_gradients(system, 0.0, tolerance=1e-6, max_steps=50, single=system.is_large)
            # Labels that are affine themselves are fitted to rounding; else a thousandth of their spread is nothing.
            rounds = 60 if float(np.mean(self.squares(start.moved(step)))) < NEAR else 0
            fit = finish(self.pilot, start.moved(step), biases=False, max_rounds=rounds)
            self._affine = self.candidate(fit.iterate, fit.loss, fit.trace, "affine")
        return self._affine

    def in_subspace(self, n_hidden: int, max_tilts: int = _MOST_TILTS) -> Candidate | None:
        """Attempt through V: wide fits and tilts inside it, then the polish in full dimension."""
        r = self.V.shape[1]
        if not 0 < r <= self.train.n_features / 3 or 4 * n_hidden > self.train.n_rows:
            return None  # nothing seen, or so much that the full space is hardly larger, or hardly any rows
        self.tell(f"{n_hidden} units inside the {r}-dimensional subspace")
        if r < n_hidden:
            start = self._crowded(n_hidden, max_tilts)
        else:
            start = self._spacious(n_hidden)
        fit = reduce_to(self.train, start, n_hidden, exact=self.rounding, **self._limits)
        return self.judged(fit.iterate, fit.loss, fit.trace, "subspace")

    def _crowded(self, n_hidden: int, max_tilts: int) -> Polished:
        """Fit inside V where it has fewer dimensions than there are units: wide, tilting V until the fit is good."""
        r = self.V.shape[1]
        width = 2 * n_hidden + 2 if r <= 2 else max(min(3 * n_hidden, 64), math.ceil(1.25 * n_hidden))
        fit, self.V = fit_in_subspace(
            self.train, self.V, width, self.rng, max_tilts=max_tilts, **self._limits
        )
        reduced = reduce_to(inside(self.train, self.V, _INSIDE), fit, n_hidden, **self._limits)
        return replace(reduced, iterate=lift(reduced.iterate, self.V))

    def on_net(self, n_hidden: int) -> Candidate | None:
        """Attempt through V by sparse regression on a net of it, polished inside V and then in full dimension."""
        r = self.V.shape[1]
        if n_hidden > MOST_UNITS or not 0 < r <= min(
            MOST_DIMENSIONS, n_hidden - 1, self.train.n_features / 3
        ):
            return None
        self.tell(f"{n_hidden} units by sparse regression on a net of the {r}-dimensional subspace")
        rows = inside(self.train, self.V, _INSIDE)
        some = rows.head(_ON_NET)
        planes, weights = sparse_atoms(
            to_numpy(some.X), to_numpy(some.y), n_hidden, self.rng, biases=self.biases
        )
        if len(weights) < n_hidden:
            return None
        fit = explore(rows, Iterate.from_atoms(planes, weights), max_rounds=30, patience=10, **self._limits)
        reduced = reduce_to(rows, fit, n_hidden, **self._limits)
        start = replace(reduced, iterate=lift(reduced.iterate, self.V))
        fit = reduce_to(self.train, start, n_hidden, exact=self.rounding, **self._limits)
        return self.judged(fit.iterate, fit.loss, fit.trace, "net")

    def _spacious(self, n_hidden: int) -> Polished:
        """Fit inside V where it has a dimension for each unit: tilting V is no easier then than moving the units.

        What V misses of the units is noise to a fit inside it, which then cannot tell a unit from a surplus one:
        some of the surplus is kept until the units are near their places.
        """
        fit, V = fit_in_subspace(self.train, self.V, 2 * n_hidden + 2, self.rng, max_tilts=0, **self._limits)
        width = math.ceil(_SURPLUS[0] * n_hidden)
        reduced = reduce_to(inside(self.train, V, _INSIDE), fit, width, **self._limits)
        fit = finish(
            rough(few_rows(self.train, n_hidden, self.biases)),
            lift(reduced.iterate, V),
            least_gain=CANDIDATE_GAIN,
            until=_IN_PLACE,
            **self._limits,
        )
        return replace(fit, trace=reduced.trace + fit.trace)

    def with_residual_moments(self, found: Candidate, n_hidden: int) -> Candidate | None:
        """Attempt through V again, with the directions that the moments of the residual add to it.

        With exact labels the noise of the residual's moments is in proportion to the residual: units too weak
        to show at first stand out once the strong ones are subtracted.
        """
        more, _ = look(self.train, found.residual, self.rng, wanted=n_hidden)
        new = more - self.V @ (self.V.T @ more)
        Q, s, _ = np.linalg.svd(new, full_matrices=False)
        if not np.any(s > 0.5):
            return None
        self.V = np.hstack([self.V, Q[:, s > 0.5]])
        return self.in_subspace(n_hidden)

    def completed(self, found: Candidate, n_hidden: int) -> Candidate:
        """Attempt to add what a fit that is nearly exact lacks: units that its residual shows.

        A unit a thousand times weaker than others is nothing to a fit of all, and all there is in what that fit leaves.
        """
        self.tell(f"{n_hidden} units, and what they leave")
        # A unit that hardly any row has bent serves the few it has, and hides what is missing there.
        determined = found.iterate.keep(n_bent(self.train, found.iterate) >= self.train.n_features + 4)
        if determined.n_hidden < found.iterate.n_hidden:
            rows = self._ranking_rows(n_hidden)
            fit = finish(rows, determined, least_gain=CANDIDATE_GAIN, **self._limits)
            found = replace(found, iterate=fit.iterate, loss=fit.loss, trace=found.trace + fit.trace)
        spread = math.sqrt(found.loss)
        more = wide_fit(
            self.train.relabelled(lambda X, y: found.residual(X, y) / spread),
            _NEW_UNITS,
            self.rng,
            exact=self.rounding / found.loss,
            **self._limits,
        ).iterate
        start = found.iterate.joined(Iterate(spread * more.a, more.sigma))
        some = enough_rows(self.train, start.n_hidden, self.biases)
        wide = finish(some, start, least_gain=CANDIDATE_GAIN, **self._limits)
        fit = reduce_to(self.train, wide, n_hidden, exact=self.rounding, **self._limits)
        return self.judged(fit.iterate, fit.loss, found.trace + fit.trace, "completed")

    def of_width(self, n_hidden: int, *, attempts: int = MOST_ATTEMPTS) -> Candidate:
        """Return the best network of `n_hidden` units that a few attempts find."""
        if n_hidden == 0:
            return self.affine()
        found = [self.affine()]
        attempt = 0
        too_few = self.train.n_rows < 1.05 * self.n_unknowns(n_hidden)
        part = self.V.shape[1] < n_hidden and not self.ample(n_hidden)
        if not too_few and (part or self.n_unknowns(n_hidden) <= _QUICK):
            # Few rows show moments a part of V at most; and it saves no time where there is little to find in all.
            found.append(self._wide(n_hidden, attempt))
            attempt += 1
        through_V = None if found[-1].settled else self.in_subspace(n_hidden)
        if through_V is not None:
            found.append(through_V)
        if through_V is not None and not through_V.settled:
            second = self.on_net(n_hidden)
            if second is None and self.V.shape[1] < n_hidden:
                second = self.in_subspace(n_hidden)  # from another start, in a V that is better by now
            if second is not None:
                found.append(second)
        while attempt < attempts:
            best = self.best_of(found)
            if best.settled or too_few or self.agree(found) or self.deadline():
                break
            if attempt == 1 and through_V is not None:
                again = self.with_residual_moments(best, n_hidden)
                # Nothing left in the residual that moments can see: most likely noise, so two more tries will do.
                attempts = min(attempts, 3) if again is None else attempts
                if again is not None:
                    found.append(again)
                    best = self.best_of(found)
                    if best.settled:
                        break
            # A fit that has some of the units right is worth completing; every other time start anew.
            useful = best.iterate.n_hidden > 0 and best.score < 0.5 and attempt % 2 == (through_V is None)
            found.append(self._wide(n_hidden, attempt, best.iterate if useful else None))
            attempt += 1
        best = self.best_of(found)
        for _ in range(_COMPLETIONS):
            if best.exact or not 0 < best.loss < NEAR or best.iterate.n_hidden == 0 or self.deadline():
                break
            found.append(self.completed(best, n_hidden))
            best = self.best_of(found)
        return best

    def _wide(self, n_hidden: int, attempt: int, known: Iterate | None = None) -> Candidate:
        """Attempt a wide fit in full dimension, from random units and those of an earlier fit if there is one."""
        self.tell(f"{n_hidden} units, attempt {attempt + 1}")
        fit = wide_fit(
            self.train,
            n_hidden,
            self.rng,
            surplus=_SURPLUS[attempt],
            known=known,
            exact=self.rounding,
            **self._limits,
        )
        return self.judged(fit.iterate, fit.loss, fit.trace, "wide" if known is None else "regrown")

    def wider(self, known: Iterate, n_hidden: int) -> Iterator[Candidate]:
        """Attempt to go on from a fit to a wider one: with further units anywhere, then anew, and through V."""
        yield self._wide(n_hidden, 0, known)
        yield self._wide(n_hidden, 0)
        through_V = self.in_subspace(n_hidden, max_tilts=1)
        if through_V is not None:
            yield through_V

    def more_units_help(self, found: Candidate, asked: int | str) -> tuple[Candidate, bool | None]:
        """Ask whether a wider network does better on the judging rows, beyond doubt; None if the rows cannot tell.

        Where the width was not given, the wider network is taken, and the question asked again.
        """
        while not found.settled:
            k, d = found.iterate.n_hidden, self.train.n_features
            wider = min(2 * k + 4, int(self.train.n_rows / _ROWS_PER_WIDER / (d + 1)) - 1)
            if wider <= k:
                return found, None
            if self.deadline():
                break
            self.tell("asking whether more units would help")
            better = next(
                (larger for larger in self.wider(found.iterate, wider) if self.is_better(larger, found)), None
            )
            if better is None:
                break
            if asked != "auto":
                return found, True
            found = replace(better, trace=found.trace + better.trace)
        return found, False

    def is_better(self, larger: Candidate, found: Candidate) -> bool:
        """Whether the judging rows prefer the larger network by more than four standard errors."""
        gain = self.squares(found.iterate) - self.squares(larger.iterate)
        return larger.exact or bool(np.mean(gain) > 4.0 * np.std(gain) / math.sqrt(len(gain)))

    def agree(self, found: list[Candidate]) -> bool:
        """Whether the two best independent attempts came to one error, which then is noise."""
        # Attempts through one V share what it lacks: the best of them counts as one.
        through_V = [candidate for candidate in found if candidate.route in ("subspace", "net")]
        rivals = [candidate for candidate in found if candidate.route == "wide"]
        if through_V:
            rivals.append(self.best_of(through_V))
        if len(rivals) < 2:
            return False
        k = rivals[0].iterate.n_hidden
        if self.ample(k):
            # Fits in one basin differ by much less than the share P / N of the noise that P unknowns absorb.
            share = self.n_unknowns(k) / self._ranking_rows(k).n_rows
            first, second = sorted(candidate.loss for candidate in rivals)[:2]
            return second <= (1 + share / 4) * first
        first, second = sorted(candidate.score for candidate in rivals)[:2]
        return second <= (1 + _AGREEMENT) * first

    def without_worse(self, smaller: Candidate, larger: Candidate, n_fewer: int) -> bool:
        """Whether the smaller network, with `n_fewer` unknowns less, loses nothing that rows can show.

        Held-out rows decide by a paired test, at 4 standard errors because the larger network was chosen for its
        held-out error among several. Where they are few they see little, so the rows that learned must agree:
        by Schwarz's criterion, N log(loss / loss) <= n_fewer log N.
        """
        if larger.settled:
            return smaller.exact >= larger.exact and smaller.fitted >= larger.fitted
        difference = self.squares(smaller.iterate) - self.squares(larger.iterate)
        if np.mean(difference) > 4.0 * np.std(difference) / math.sqrt(len(difference)):
            return False
        rows = self._ranking_rows(larger.iterate.n_hidden)
        n = rows.n_rows
        losses = [candidate.sum_of_squares(rows) for candidate in (smaller, larger)]
        return bool(n * math.log(losses[0] / losses[1]) <= n_fewer * math.log(n))
