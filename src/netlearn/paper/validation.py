r"""Lemma 2.5: how many rows show the error of a candidate. The printed form, and a sharper one.

F = f - f_hat is L-Lipschitz, x ~ N(0, I), and F_n = (mean of F(x_i)^2)^{1/2} over n independent rows.

**The root concentrates.** As a function of all n rows together F_n is L/sqrt(n)-Lipschitz: its gradient has the
squared length sum_i F_i^2 |grad F_i|^2 / (n^2 F_n^2) <= L^2/n. With sigma = L/sqrt(n), t = log(1/failure_prob),
||F|| = (E F^2)^{1/2} and Gaussian concentration around the mean,

    F_n <= ||F|| + sigma sqrt(2 t),    F_n >= (||F||^2 - sigma^2)^{1/2} - sigma sqrt(2 t),              (1), (2)

each outside an event of probability failure_prob. E F_n <= ||F|| gives (1); Var(F_n) <= sigma^2 (Poincaré), that is
(E F_n)^2 >= ||F||^2 - sigma^2, gives (2). Neither L^2 nor k enters: the deviation is relative to epsilon, not to R.

**Both tails for all candidates.** Algorithm 1 accepts at F_n^2 <= epsilon^2/2. Let

    sigma sqrt(2 t) = epsilon (1/sqrt(2) - 1/2),   so   n = 46.6 t (L/epsilon)^2,   46.6 = 2/(1/sqrt(2) - 1/2)^2,

with t = log(2 candidates / share). Then a candidate within epsilon/2 passes by (1). One that passes has
||F||^2 <= (0.9142 epsilon)^2 + sigma^2 by (2), which is below epsilon^2. Where Lemma 2.5 prints k^2 (R/upsilon)^4,
(R/epsilon)^2 is left.

**Weights from least squares.** They depend on the rows, so the union runs over a net of weights that only the
analysis sees: (1 + 64 R/epsilon)^m points of the ball |lambda|_1 <= R are within epsilon/32 of all others in
|.|_1. Two such weights give functions that differ by epsilon/32 at most in L2(gamma) and by 1.11 epsilon/32 on the
rows, because an atom |<u, x>| is 1-Lipschitz with norm 1 and (1) holds for it too. So a candidate that passes has
||F|| <= ((0.9142 + 0.0347)^2 epsilon^2 + sigma^2)^{1/2} + epsilon/32 < epsilon. `log10_weight_cells` counts the net.

**One candidate on rows of its own** has a bound without the detour over the mean: the quantiles of F_n are
sigma-Lipschitz in the normal scale (Borell; Sudakov and Tsirelson), so with z = Phi^{-1}(1 - failure_prob)

    ||F||^2 <= F_n^2 + 2 F_n sigma m1(z) + sigma^2 m2(z),
    m1(z) = z Phi(z) + phi(z),  m2(z) = (1 + z^2) Phi(z) + z phi(z).
"""

import math

from netlearn.errors import InputError

DEVIATION = 1.0 / math.sqrt(2.0) - 0.5
"""In units of epsilon: what the root of an empirical mean may be off, between epsilon/2 and epsilon/sqrt(2)."""

_CELLS_PER_RADIUS = 64.0
"""2 / (epsilon/32) in units of R: the net of weights in the analysis."""


def _check_failure_prob(failure_prob: float) -> None:
    if not 0.0 < failure_prob < 1.0:
        raise InputError(f'"failure_prob" must be in (0, 1), got {failure_prob}.')


def log10_weight_cells(n_hidden: int, R: float, epsilon: float) -> float:
    """Decimal logarithm of the size of the analysis' net of weights, (1 + 64 R / epsilon)^n_hidden.

    A maximal set of points of {|lambda|_1 <= R} that are epsilon/32 apart in |.|_1 is a net; the balls of half that
    radius around them are disjoint and lie in the ball of radius R + epsilon/64.
    """
    return n_hidden * math.log10(1.0 + _CELLS_PER_RADIUS * R / epsilon)


def log10_root_validation_rows(
    epsilon: float, lipschitz: float, failure_prob: float, *, log10_candidates: float = 0.0
) -> float:
    """Decimal logarithm of `root_validation_rows`, for unions that leave float64."""
    _check_failure_prob(failure_prob)
    t = math.log(2.0 / failure_prob) + log10_candidates * math.log(10.0)
    return math.log10(2.0 / DEVIATION**2 * t) + 2.0 * math.log10(lipschitz / epsilon)


def root_validation_rows(
    epsilon: float, lipschitz: float, failure_prob: float, *, log10_candidates: float = 0.0
) -> int:
    """Rows that tell candidates within epsilon/2 from those beyond epsilon: Lemma 2.5 with both tails of the root.

        n = ceil( 46.6 log(2 candidates / failure_prob) (L / epsilon)^2 ).

    Parameters
    ----------
    epsilon : float
        Target error; the test is F_n^2 <= epsilon^2/2.
    lipschitz : float
        A Lipschitz constant L of every f - f_hat.
    failure_prob : float
        Probability with which some candidate within epsilon/2 may fail, or one beyond epsilon pass.
    log10_candidates : float
        Decimal logarithm of their number.

    Examples
    --------
    >>> root_validation_rows(0.1, 2.0, 0.01)
    98819
    """
    return math.ceil(
        10.0
        ** log10_root_validation_rows(epsilon, lipschitz, failure_prob, log10_candidates=log10_candidates)
    )


def passing_rows(lipschitz: float, deviation: float, failure_prob: float) -> int:
    """Rows on which one given F has F_n <= ||F|| + deviation: the upper tail (1), n = ceil(2 t (L / deviation)^2)."""
    _check_failure_prob(failure_prob)
    return math.ceil(2.0 * math.log(1.0 / failure_prob) * (lipschitz / deviation) ** 2)


def certification_rows(
    epsilon: float, lipschitz: float, failure_prob: float, *, mean_square: float | None = None
) -> int:
    """Rows with which an empirical mean square of at most `mean_square` certifies ||F|| <= epsilon.

    For mu = E F^2 and the empirical mean m of F^2 over n rows, E F^4 <= mu^2 + 4 L^2 mu (Poincaré) and Maurer's
    inequality for means of non-negative variables give mu - sqrt(2 (t/n) (mu^2 + 4 L^2 mu)) <= m. At mu = epsilon^2:

        n = ceil( 2 t (epsilon^4 + 4 L^2 epsilon^2) / (epsilon^2 - m)^2 ),   t = log(1/failure_prob).

    By default m = epsilon^2 / 2, the acceptance threshold of Algorithm 1, which leaves upsilon^2 =
    epsilon^2 / 2 for the deviation and gives n = ceil(8 t (1 + 4 L^2 / epsilon^2)).
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
    r"""Rows that make |E F^2 - m| <= upsilon^2: Lemma 2.5 as printed, with its constant.

    F is 2R-Lipschitz, made of at most 2k ReLUs, and F(0) = 0; mu = E F^2 and m is its empirical mean. F depends on 2k
    coordinates only, so mu <= L^2 E|Px|^2 <= 2 k L^2 with L = 2R. The logarithmic Sobolev inequality gives
    d/dp ||F||_p^2 <= L^2, so for integers q >= 2

        E F^(2q) <= (mu + (2q - 2) L^2)^q <= (q b)^q <= (q!/2) v c^(q-2),
        b = mu/2 + 2 L^2 <= (k + 2) L^2,  c = e b,  v = e^2 b^2 / sqrt(pi),

    the last step by q^q <= q! e^q / sqrt(2 pi q). Bernstein's inequality, which needs only these uncentred moments
    from above (Boucheron, Lugosi and Massart 2013, Theorem 2.10), gives m <= mu + sqrt(2 v t / n) + c t / n; the
    lower tail (`certification_rows`) is implied, as mu^2 + 4 L^2 mu <= v. With t = log(2/failure_prob) for
    the two tails, the deviation is at most upsilon^2 from

        n = ceil( t ((sqrt(2 v) + sqrt(2 v + 4 c upsilon^2)) / (2 upsilon^2))^2 ),

    which for upsilon^2 <= 4 R^2 k, the lemma's range, is below 212 (k + 2)^2 (R/upsilon)^4 t.
    """
    return math.ceil(10.0 ** log10_validation_rows(k, R, upsilon, failure_prob))
