r"""The mean square of a Lipschitz function from its empirical mean: the lower tail of Lemma 2.5.

F is L-Lipschitz, x ~ N(0, I), mu = E F^2, m = mean of F(x_i)^2 over n independent rows, t =
log(1/failure_prob).

**Fourth moment.** The Poincaré inequality Var(G) <= E|grad G|^2 for G = F^2, grad G = 2 F grad F, gives
Var(F^2) <= 4 L^2 E F^2, that is

    E F^4 <= mu^2 + 4 L^2 mu.                                                                            (1)

**Lower tail.** From exp(-s) <= 1 - s + s^2/2 for s >= 0, independent non-negative Z_i satisfy
P(mean <= E Z - a) <= exp(-n a^2 / (2 E Z^2)) (Maurer 2003). With Z = F^2 and (1), outside an event of
probability failure_prob

    mu - sqrt(2 (t/n) (mu^2 + 4 L^2 mu)) <= m.                                                           (2)

The left side is convex in mu and 0 at mu = 0, so the mu that satisfy (2) form an interval, whose right end is
an upper confidence bound for mu: the larger root of (mu - m)^2 = 2 (t/n)(mu^2 + 4 L^2 mu). Nothing but L is
assumed of F, and the bound is relative: it shrinks like L sqrt(mu t / n), not like L^2 sqrt(t / n).
"""

import math

from netlearn.errors import InputError


def _check_failure_prob(failure_prob: float) -> None:
    if not 0.0 < failure_prob < 1.0:
        raise InputError(f'"failure_prob" must be in (0, 1), got {failure_prob}.')


def mean_square_bound(mean_square: float, n_rows: int, lipschitz: float, failure_prob: float) -> float:
    """Upper confidence bound for E F^2: the right end of (2), in closed form.

    With a = log(1/failure_prob) / n it is the larger root of

        (1 - 2 a) mu^2 - 2 (m + 4 a L^2) mu + m^2 = 0,

    and infinity while 2 a >= 1: so few rows exclude nothing.

    Parameters
    ----------
    mean_square : float
        The empirical mean m of F^2.
    n_rows : int
        Number of independent rows behind it.
    lipschitz : float
        A Lipschitz constant L of F.
    failure_prob : float
        Probability with which E F^2 may exceed the bound.
    """
    _check_failure_prob(failure_prob)
    a = math.log(1.0 / failure_prob) / n_rows
    if 2.0 * a >= 1.0:
        return math.inf
    half = mean_square + 4.0 * a * lipschitz**2
    return (half + math.sqrt(half**2 - (1.0 - 2.0 * a) * mean_square**2)) / (1.0 - 2.0 * a)
