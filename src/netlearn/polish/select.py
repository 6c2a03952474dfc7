"""How many units, and whether they have biases: the smallest network that unseen rows find no fault with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from netlearn.polish.attempts import Candidate, Search
from netlearn.polish.gauss_newton import finish
from netlearn.polish.iterate import Iterate
from netlearn.polish.prune import drop_weakest, kink_strengths, merge
from netlearn.polish.wide import enough_rows, n_unknowns, settle

# Widths grow by doubling; rows per unknown below which a width is not tried.
_FIRST_WIDTH, _LEAST_RATIO = 4, 2.0
# Wider networks are learned when their width is given.
_MOST_UNITS = 128
# A doubled width must lower the held-out error by this share to be worth another doubling.
_WORTHWHILE = 0.05
# Pairs closer than this, in turn, are tried as one unit when looking for a smaller network.
_MERGE_ANGLE = 0.2


def choose_width(search: Search) -> Candidate:
    """Grow until held-out rows stop gaining, then shrink while they do not mind."""
    best = search.affine()
    width = _FIRST_WIDTH
    n, d = search.train.n_rows, search.train.n_features
    widest = min(_MOST_UNITS, int(n / _LEAST_RATIO / n_unknowns(0, d, search.biases)) - 1)
    while not best.settled and not search.deadline():
        width = min(width, widest)
        if width <= best.iterate.n_hidden:
            break
        candidate = search.of_width(width, attempts=2 if best.iterate.n_hidden else 3)
        gained = candidate.score < (1 - _WORTHWHILE) * best.score
        if candidate.score < best.score:
            best = candidate
        if width == widest or (not gained and width > _FIRST_WIDTH):
            break
        width *= 2
    return shrink(search, best)


def shrink(search: Search, largest: Candidate) -> Candidate:
    """Remove units one at a time while held-out rows see no loss against the largest network.

    Each time the weakest unit is dropped, or the closest pair merged where that comes out better.
    """
    best = largest
    unit = n_unknowns(1, search.train.n_features, search.biases) - n_unknowns(
        0, search.train.n_features, search.biases
    )
    while best.iterate.n_hidden > 0 and not search.deadline():
        trials = [_refit(search, start) for start in _one_fewer(best.iterate)]
        smaller = min(trials, key=lambda candidate: candidate.score)
        n_fewer = (largest.iterate.n_hidden - smaller.iterate.n_hidden) * unit
        if not search.without_worse(smaller, largest, n_fewer):
            break
        best = smaller
    return best


def _one_fewer(iterate: Iterate) -> list[Iterate]:
    k = iterate.n_hidden - 1
    starts = [drop_weakest(iterate, k)]
    merged = merge(iterate, _MERGE_ANGLE, at_least=k)
    if merged.n_hidden == k:
        starts.append(merged)
    return starts


def _refit(search: Search, start: Iterate) -> Candidate:
    if not np.any(kink_strengths(start)):
        affine = search.affine()
        return search.judged(affine.iterate, affine.loss, affine.trace, affine.route)
    # `judged` goes on to all rows where these are ample; a first polish needs no more than this.
    fit = finish(
        enough_rows(search.train, start.n_hidden, search.biases),
        start,
        biases=search.biases,
        max_rounds=25,
        least_gain=1e-4,
        deadline=search.deadline,
    )
    return search.judged(fit.iterate, fit.loss, fit.trace, "pruned")


def choose_biases(search: Search, found: Candidate) -> Candidate:
    """Return the network without biases where held-out rows see no loss in it."""
    start = found.iterate
    if not search.biases or start.n_hidden == 0:
        return found
    a = start.a.copy()
    a[1:, -1] = 0.0
    without = Iterate(a, start.sigma)
    if found.exact:
        # Biases at rounding level: nothing to fit again.
        homogeneous = replace(found, iterate=without, score=float(np.mean(search.squares(without))))
        if homogeneous.score < search.rounding:
            return homogeneous
    fit = settle(search.train, without, biases=False, exact=search.rounding, deadline=search.deadline)
    homogeneous = replace(search, biases=False).judged(
        fit.iterate, fit.loss, found.trace + fit.trace, found.route
    )
    return homogeneous if search.without_worse(homogeneous, found, start.n_hidden) else found
