r"""Lemma 2.5 with explicit constants: the mean square of a Lipschitz function from its empirical mean.

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

**Upper tail.** The logarithmic Sobolev inequality gives d/dp ||F||_p^2 <= L^2, so for integers q >= 2

    E F^(2q) <= (mu + (2q - 2) L^2)^q <= (q b)^q <= (q!/2) v c^(q-2),
    b = mu/2 + 2 L^2,  c = e b,  v = e^2 b^2 / sqrt(pi),                                                 (3)

the last step by q^q <= q! e^q / sqrt(2 pi q). Bernstein's inequality, which needs only these uncentred
moments from above (Boucheron, Lugosi and Massart 2013, Theorem 2.10), then gives, outside another such
event,

    m <= mu + sqrt(2 v t / n) + c t / n.                                                                 (4)
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


def certification_rows(
    epsilon: float, lipschitz: float, failure_prob: float, *, mean_square: float | None = None
) -> int:
    """Rows with which an empirical mean square of at most `mean_square` certifies ||F|| <= epsilon.

    Putting mu = epsilon^2 into (2):

        n = ceil( 2 t (epsilon^4 + 4 L^2 epsilon^2) / (epsilon^2 - m)^2 ),   t = log(1/failure_prob).

    By default m = epsilon^2 / 2, the acceptance threshold of Algorithm 1, which leaves upsilon^2 =
    epsilon^2 / 2 for the deviation and gives n = ceil(8 t (1 + 4 L^2 / epsilon^2)). The rows grow like
    (L/epsilon)^2, where Lemma 2.5 has (R/upsilon)^4: it asks for both tails and an absolute deviation.
    """
    _check_failure_prob(failure_prob)
    m = epsilon**2 / 2.0 if mean_square is None else mean_square
    if not m < epsilon**2:
        raise InputError(f'"mean_square" must be below epsilon^2 = {epsilon**2:.3g}, got {m:.3g}.')
    t = math.log(1.0 / failure_prob)
    return math.ceil(2.0 * t * (epsilon**4 + 4.0 * lipschitz**2 * epsilon**2) / (epsilon**2 - m) ** 2)


def log10_validation_rows(
    k: int, R: float, upsilon: float, failure_prob: float, *, log10_candidates: float = 0.0
) -> float:
    """Decimal logarithm of `validation_rows`, with a union bound over 10**log10_candidates functions F."""
    _check_failure_prob(failure_prob)
    L, t = 2.0 * R, math.log(2.0 / failure_prob) + log10_candidates * math.log(10.0)
    b = (k + 2.0) * L**2
    c, v = math.e * b, (math.e * b) ** 2 / math.sqrt(math.pi)
    # c s^2 + sqrt(2 v) s = upsilon^2 for s = sqrt(t / n), solved for s without cancellation.
    s = 2.0 * upsilon**2 / (math.sqrt(2.0 * v) + math.sqrt(2.0 * v + 4.0 * c * upsilon**2))
    return math.log10(t) - 2.0 * math.log10(s)


def validation_rows(k: int, R: float, upsilon: float, failure_prob: float) -> int:
    """Rows that make |E F^2 - m| <= upsilon^2: Lemma 2.5 as printed, with its constant.

    F is 2R-Lipschitz, made of at most 2k ReLUs, and F(0) = 0. It depends on 2k coordinates only, so mu <=
    L^2 E|Px|^2 <= 2 k L^2 with L = 2R, and b <= (k + 2) L^2 in (3). The lower tail (2) is implied by the
    upper one, as mu^2 + 4 L^2 mu <= v. With t = log(2/failure_prob) for the two tails, (4) is at most
    upsilon^2 from

        n = ceil( t ((sqrt(2 v) + sqrt(2 v + 4 c upsilon^2)) / (2 upsilon^2))^2 ),

    which for upsilon^2 <= 4 R^2 k, the lemma's range, is below 212 (k + 2)^2 (R/upsilon)^4 t.
    """
    return math.ceil(10.0 ** log10_validation_rows(k, R, upsilon, failure_prob))
