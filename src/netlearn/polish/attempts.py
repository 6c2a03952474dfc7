"""From a subspace to a network: attempts by different routes, judged on rows they have not seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from netlearn.polish.gauss_newton import Deadline, finish, never
from netlearn.polish.iterate import Iterate
from netlearn.polish.tilt import fit_in_subspace, inside, lift
from netlearn.polish.wide import CANDIDATE_GAIN, EXACT, enough_rows, n_unknowns, reduce_to, wide_fit
from netlearn.source import ArraySource
from netlearn.subspace.look import look

# Widths of the wide starts in units of n_hidden, in the order tried.
_SURPLUS = (1.25, 1.5, 1.25, 2.0, 1.5, 1.25, 2.0, 3.0)
# Mean square below which a candidate deserves all rows.
_NEAR = 1e-4
# Two attempts whose held-out errors agree this closely have found the same thing: what is left is noise.
_AGREEMENT = 0.02


@dataclass(frozen=True)
class Candidate:
    """A network with its mean squares on the rows it was fitted to and on the rows that judge it."""

    iterate: Iterate
    loss: float
    score: float
    trace: tuple[float, ...] = ()
    route: str = ""

    def residual(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return y minus the network's values."""
        return y - self.iterate.linearise(X)[0]

    @property
    def exact(self) -> bool:
        """Whether unseen labels are reproduced to rounding."""
        return self.score < EXACT


@dataclass
class Search:
    """The rows, the judge and the limits that all attempts share.

    Attributes
    ----------
    train, judge : ArraySource
        Whitened rows with labels of unit variance.
    V : array of shape (d, r)
        What the probes have seen; r = 0 and r = d mean that there is nothing to use.
    biases : bool
    rng : numpy.random.Generator
    deadline : callable
    tell : callable
        Told in words what is being tried.
    """

    train: ArraySource
    judge: ArraySource
    V: np.ndarray
    biases: bool
    rng: np.random.Generator
    deadline: Deadline = never
    tell: Callable[[str], None] = field(default=lambda message: None)
    _affine: Candidate | None = field(default=None, init=False, repr=False)

    def squares(self, iterate: Iterate) -> np.ndarray:
        """Return the squared errors on the judging rows."""
        return (self.judge.y - iterate.linearise(self.judge.X)[0]) ** 2

    def judged(
        self, iterate: Iterate, loss: float, trace: tuple[float, ...] = (), route: str = ""
    ) -> Candidate:
        """Return the candidate with its score, polished on all rows first where it is near."""
        exact = np.mean(self.squares(iterate)) <= EXACT
        if not exact and (loss < _NEAR or self.ample(iterate.n_hidden)):
            # Some rows may leave a gap between two near units that all rows close; and losses can be compared.
            fit = finish(
                self.train, iterate, biases=self.biases, least_gain=CANDIDATE_GAIN, deadline=self.deadline
            )
            iterate, loss, trace = fit.iterate, fit.loss, trace + fit.trace
        return Candidate(iterate, loss, float(np.mean(self.squares(iterate))), trace, route)

    def ample(self, n_hidden: int) -> bool:
        """Whether the rows that learn are so many that their own mean square ranks fits of one width."""
        return self.train.n_rows >= 10 * n_unknowns(n_hidden, self.train.n_features, self.biases)

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
        """Return the best network without units; every width starts its list of candidates with it."""
        if self._affine is None:
            start = Iterate(np.zeros((1, self.train.n_features + 1)), np.zeros(0))
            fit = finish(self.train, start, biases=False)
            self._affine = self.judged(fit.iterate, fit.loss, fit.trace, "affine")
        return self._affine

    def in_subspace(self, n_hidden: int) -> Candidate | None:
        """Attempt through V: wide fits and tilts inside it, then the polish in full dimension."""
        r = self.V.shape[1]
        if not 0 < r <= self.train.n_features / 3 or 4 * n_hidden > self.train.n_rows:
            return None  # nothing seen, or so much that the full space is hardly larger, or hardly any rows
        self.tell(f"{n_hidden} units inside the {r}-dimensional subspace")
        width = 2 * n_hidden + 2 if r <= 2 else max(min(3 * n_hidden, 64), math.ceil(1.25 * n_hidden))
        fit, V = fit_in_subspace(
            self.train, self.V, width, self.rng, biases=self.biases, deadline=self.deadline
        )
        reduced = reduce_to(
            inside(self.train, V, 20_000), fit, n_hidden, biases=self.biases, deadline=self.deadline
        )
        start = lift(reduced.iterate, V)
        fit = finish(
            enough_rows(self.train, n_hidden, self.biases),
            start,
            biases=self.biases,
            least_gain=CANDIDATE_GAIN,
            deadline=self.deadline,
        )
        return self.judged(fit.iterate, fit.loss, reduced.trace + fit.trace, "subspace")

    def with_residual_moments(self, found: Candidate, n_hidden: int) -> Candidate | None:
        """Attempt through V again, with the directions that the moments of the residual add to it.

        With exact labels the noise of the residual's moments is in proportion to the residual: units too weak
        to show at first stand out once the strong ones are subtracted.
        """
        more, _ = look(self.train, found.residual, wanted=n_hidden)
        new = more - self.V @ (self.V.T @ more)
        Q, s, _ = np.linalg.svd(new, full_matrices=False)
        if not np.any(s > 0.5):
            return None
        self.V = np.hstack([self.V, Q[:, s > 0.5]])
        return self.in_subspace(n_hidden)

    def of_width(self, n_hidden: int, *, attempts: int = len(_SURPLUS)) -> Candidate:
        """Return the best network of `n_hidden` units that a few attempts find."""
        if n_hidden == 0:
            return self.affine()
        found = [self.affine()]
        through_V = self.in_subspace(n_hidden)
        if through_V is not None:
            found.append(through_V)
        n, d = self.train.n_rows, self.train.n_features
        attempt = 0
        while attempt < attempts:
            best = self.best_of(found)
            too_few = n < 1.05 * n_unknowns(n_hidden, d, self.biases)
            if best.exact or too_few or self.agree(found) or self.deadline():
                break
            if attempt == 1 and through_V is not None:
                again = self.with_residual_moments(best, n_hidden)
                # Nothing left in the residual that moments can see: most likely noise, so two more tries will do.
                attempts = min(attempts, 3) if again is None else attempts
                if again is not None:
                    found.append(again)
                    best = self.best_of(found)
                    if best.exact:
                        break
            # A fit that has some of the units right is worth completing; every other time start anew.
            useful = best.iterate.n_hidden > 0 and best.score < 0.5 and attempt % 2 == (through_V is None)
            self.tell(f"{n_hidden} units, attempt {attempt + 1}")
            fit = wide_fit(
                self.train,
                n_hidden,
                self.rng,
                biases=self.biases,
                surplus=_SURPLUS[attempt],
                known=best.iterate if useful else None,
                deadline=self.deadline,
            )
            found.append(self.judged(fit.iterate, fit.loss, fit.trace, "regrown" if useful else "wide"))
            attempt += 1
        return self.best_of(found)

    def agree(self, found: list[Candidate]) -> bool:
        """Whether the two best independent attempts came to one error, which then is noise."""
        rivals = [candidate for candidate in found if candidate.route in ("wide", "subspace")]
        if len(rivals) < 2:
            return False
        k = rivals[0].iterate.n_hidden
        if self.ample(k):
            # Fits in one basin differ by much less than the share P / N of the noise that P unknowns absorb.
            share = n_unknowns(k, self.train.n_features, self.biases) / self.train.n_rows
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
        if larger.exact:
            return smaller.exact
        difference = self.squares(smaller.iterate) - self.squares(larger.iterate)
        if np.mean(difference) > 4.0 * np.std(difference) / math.sqrt(len(difference)):
            return False
        n = self.train.n_rows
        losses = [
            np.mean(candidate.residual(self.train.X, self.train.y) ** 2) for candidate in (smaller, larger)
        ]
        return bool(n * np.log(losses[0] / losses[1]) <= n_fewer * math.log(n))
