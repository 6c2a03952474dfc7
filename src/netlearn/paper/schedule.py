r"""The parameters of Algorithm 1, lines 1 and 2, with every hidden constant chosen.

R bounds both sum |lambda_i| and |w|; a network of ReLUs has |w| <= sum |lambda_i| (Lemma 2.1). All other
constants follow from these six steps, which retrace section 4 with numbers.

1. *Anti-concentration* (Lemma 2.4). <v, g> has density at most sqrt(d / (2 pi)), so for each of the k^2
   vectors v = u_i + sigma u_j, normalised, |<v, g>| <= c / (k^2 sqrt(d)) has probability at most 0.8 c / k^2.
   With c = 1/8 the lower side of the lemma fails with probability at most 1/10 < 1/5, and neurons of one
   cluster are at most 8 k^3 sqrt(d) Delta apart.
2. *Nets* (Lemma 4.2). E(|<u,x>| - |<u',x>|)^2 <= |u - u'|^2 and E<u,x>^2 = 1: Proposition 2.2 has constant 1.
   So the best candidate errs by at most R (8 k^3 sqrt(d) Delta + xi) + k (xi + tau), which for C = 1/16 is
   below epsilon/4. With w_hat, off by eta at most, it stays below epsilon/2.
3. *Distance to V* (Corollary 4.9). With A the bound on sum |p_ell|, its square is at most

       (A d (R nu + 2 eta') + 16 R k^3 d^{3/2} Delta) / tau <= (3 C^2 + 8 C^2) xi^2 < xi^2 / 16.

4. *The exponent O(k^2)*. The nodes <u_i, g>^2 have gaps Delta^2, so A = max_s (1 + (2/Delta^2)^s)^(k - s)
   (`cluster_polynomial_bound`), and the printed Delta^{O(k^2)} is 1/A: about 2 floor(k^2/4) powers of Delta.
5. *Moments* (Lemma 2.3). Each entry of the contracted tensor has variance at most ell!, fourth moment at most
   9^ell (ell!)^2 (hypercontractivity), and E y^4 <= 3 (2R)^4. Hence

       E ||M_hat - M||_F^2 <= 4 sqrt(3) R^2 d^2 3^ell ell! / (c_ell^2 N),

   and Chebyshev with a union bound over all (ell, g) gives N. Only d^2, not the printed d^{2 ell}: the
   contracted matrix is estimated directly.
6. *Validation* (Lemma 2.5). Once all empirical means are accurate to upsilon^2 = epsilon^2/4, a candidate
   within epsilon/2 passes the test at epsilon^2/2, and one that passes is within epsilon. N_val is
   `validation_rows` with a union bound over the candidates. The printed 2R is too small a Lipschitz constant
   for f - f_hat: f has 2R, and f_hat, with k weights of up to R each, (k + 2) R.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from netlearn.certify import certification_rows, log10_validation_rows
from netlearn.errors import InputError
from netlearn.moments.polynomials import noise_gain
from netlearn.paper.polynomial import log10_cluster_polynomial_bound, sufficient_orders
from netlearn.search import (
    interval_net_size,
    log10_count_candidates,
    log10_sphere_net_size,
)

C = 1.0 / 16.0
"""The paper's "small constant C" (steps 2 and 3 of the module docstring)."""

NOISE_CUT = 4.0
"""eta'/eta of a practical schedule: an eigenvector at the cut is within 1/4 of the span (Lemma 4.3)."""

LEAST_DRAWS = 8
"""Draws of g in a practical schedule. A matrix just above its cut may be off by 1/4, and all projectors count
alike: V is as accurate as their average. Few draws also risk that none has a large component in the span."""


def _from_log10(name: str, doc: str) -> property:
    """Make a property 10**field: 0.0 or infinity where float64 ends."""

    def value(self: "Schedule") -> float:
        exponent = getattr(self, name)
        return 10.0**exponent if exponent < 308.0 else math.inf

    return property(value, doc=doc)


@dataclass(frozen=True)
class Schedule:
    """Parameters of Algorithm 1, held as decimal logarithms: the theory's values leave float64 at k = 3.

    Attributes
    ----------
    n_features, n_hidden : int
        d and k.
    epsilon, R, failure_prob : float
        Target error, bound on sum |lambda_i| and on |w|, allowed probability of failure.
    origin : {"theory", "practical"}
        Which recipe made it.
    orders : tuple of int
        The even degrees ell whose moment matrices are estimated.
    n_directions : int
        Number of draws of g; each is good with probability 4/5 (Lemma 2.4), and one good draw is enough.
    log10_tau, log10_xi, log10_Delta, log10_eta_prime, log10_nu, log10_eta, log10_N, log10_N_val : float
        The parameters; tau, xi, ... without the prefix are their values, 0.0 or infinity where float64 ends.
    """

    n_features: int
    n_hidden: int
    epsilon: float
    R: float
    failure_prob: float
    origin: Literal["theory", "practical"]
    orders: tuple[int, ...]
    n_directions: int
    log10_tau: float
    log10_xi: float
    log10_Delta: float  # noqa: N815  the paper's letter
    log10_eta_prime: float
    log10_nu: float
    log10_eta: float
    log10_N: float  # noqa: N815
    log10_N_val: float  # noqa: N815

    tau = _from_log10("log10_tau", "Smallest cluster weight that must be learned.")
    xi = _from_log10("log10_xi", "Net resolution: xi/2 for directions, xi for weights.")
    Delta = _from_log10("log10_Delta", "Clustering scale of the <u_i, g>; used by the analysis only.")
    eta_prime = _from_log10(
        "log10_eta_prime", "Eigenvalue cut on the moment matrices; if practical, on the quietest of them."
    )
    nu = _from_log10("log10_nu", "Eigenvalue cut on the sum of projectors.")
    eta = _from_log10("log10_eta", "Accuracy of the moment matrices; if practical, of the quietest of them.")
    N = _from_log10("log10_N", "Rows for the moments.")
    N_val = _from_log10("log10_N_val", "Rows for the validation of the candidates.")

    @property
    def threshold(self) -> float:
        """Acceptance threshold on the empirical mean square: epsilon^2 / 2."""
        return self.epsilon**2 / 2.0

    @property
    def log10_net_directions(self) -> float:
        """Size of N_u when dim V = k, its upper bound (Lemma 4.6)."""
        return log10_sphere_net_size(self.n_hidden, self.xi / 2.0, self.failure_prob / 3.0)

    @property
    def log10_net_weights(self) -> float:
        """Size of N_lambda."""
        return math.log10(interval_net_size(self.R, self.xi))

    @property
    def log10_candidates(self) -> float:
        """Length of the printed loop over both nets when dim V = k."""
        return log10_count_candidates(self.log10_net_directions, self.log10_net_weights, self.n_hidden)

    @classmethod
    def from_theory(
        cls, n_features: int, n_hidden: int, epsilon: float, R: float, *, failure_prob: float = 0.01
    ) -> "Schedule":
        """Build the schedule of section 4.5, with the constants derived in the module docstring.

        The failure probability is shared equally by the draws of g, the moments, and the nets with their
        validation.
        """
        _check(n_features, n_hidden, epsilon, R, failure_prob)
        d, k, share = n_features, n_hidden, failure_prob / 3.0
        tau = C * epsilon / k
        xi = C * epsilon / (k * R)
        log10_Delta = math.log10(C**2 * xi**2 * tau * epsilon / (2.0 * k**4 * d**1.5 * R))
        log10_A = max(log10_cluster_polynomial_bound(k, s, 2.0 * log10_Delta) for s in range(1, k + 1))
        # For k = 1 there is nothing to isolate and A = 1; one power of Delta keeps the order nu <= Delta.
        log10_nu = math.log10(C**2 * xi**2 * tau / (d * R)) - max(log10_A, -log10_Delta)
        log10_eta = 2.0 * log10_nu
        orders = tuple(range(2, 2 * k**2 + 3, 2))
        n_directions = math.ceil(math.log(1.0 / share) / math.log(5.0))
        n_probes = len(orders) * n_directions
        log10_N = (
            max(_log10_moment_noise(d, R, ell) for ell in orders)
            + math.log10(n_probes / share)
            - 2.0 * log10_eta
        )
        schedule = cls(
            d,
            k,
            epsilon,
            R,
            failure_prob,
            "theory",
            orders,
            n_directions,
            log10_tau=math.log10(tau),
            log10_xi=math.log10(xi),
            log10_Delta=log10_Delta,
            log10_eta_prime=log10_nu,
            log10_nu=log10_nu,
            log10_eta=log10_eta,
            log10_N=log10_N,
            log10_N_val=math.nan,
        )
        # The union bound of step 6 needs the nets, whose sizes follow from the rest of the schedule.
        log10_N_val = log10_validation_rows(
            k, (k + 4) * R / 2.0, epsilon / 2.0, share, log10_candidates=schedule.log10_candidates
        )
        return replace(schedule, log10_N_val=log10_N_val)

    @classmethod
    def practical(
        cls,
        n_features: int,
        n_hidden: int,
        epsilon: float,
        R: float,
        *,
        failure_prob: float = 0.01,
        n_rows: int | None = None,
        n_val: int | None = None,
    ) -> "Schedule":
        """Build a schedule that runs: the same steps, with errors budgeted instead of bounded at every step.

        The validation test passes candidates within epsilon / sqrt(2) = 0.707 epsilon. Of that

        * the nets get epsilon/2: the nearest candidate errs by at most R xi/2 + k xi (step 2 of the module
          docstring, for directions in V), so xi = (epsilon/2) / (k + R/2);
        * w_hat gets epsilon/16: E|w_hat - w|^2 <= (d + 2) (2R)^2 / N, so N = 1024 (d + 2) (R/epsilon)^2;
        * the tilt of V gets epsilon/16, and the rest is room for the fluctuation of the empirical means.

        eta is measured: `with_noise_floors`. Until then it is the predicted root mean square of M_2's
        error. Each matrix is cut at `NOISE_CUT` times its own noise floor, and nu = 1/2: V keeps what one
        matrix shows. The orders are those of clusters of one (Remark 4.10): neurons that cannot be told
        apart at scale xi are one neuron to the nets. A practical schedule proves nothing by itself; the
        certificate does, on fresh rows.

        Parameters
        ----------
        n_features, n_hidden, epsilon, R, failure_prob
            As in the class.
        n_rows, n_val : int, optional
            Rows for the moments and for the validation, where they are given.
        """
        _check(n_features, n_hidden, epsilon, R, failure_prob)
        d, k = n_features, n_hidden
        xi = epsilon / (2.0 * k + R)
        N = math.ceil(1024 * (d + 2) * (R / epsilon) ** 2) if n_rows is None else n_rows
        # The certificate's formula, for f and f_hat that are both 2R-Lipschitz, serves the search as well.
        N_val = certification_rows(epsilon, 4.0 * R, failure_prob) if n_val is None else n_val
        # The root of E y^2 E ||x x^T - I||_F^2 / (c_2^2 N), as if label and matrix were independent.
        eta = R * math.sqrt(d * (d + 1) / N) * noise_gain(2)
        return cls(
            d,
            k,
            epsilon,
            R,
            failure_prob,
            "practical",
            sufficient_orders(k, max_cluster=1),
            max(LEAST_DRAWS, math.ceil(math.log(1.0 / failure_prob) / math.log(5.0))),
            log10_tau=math.log10(xi),  # the nets cannot tell a smaller cluster from none
            log10_xi=math.log10(xi),
            log10_Delta=math.log10(xi / math.sqrt(d)),  # what a distance xi becomes along a random g
            log10_eta_prime=math.log10(NOISE_CUT * eta),
            log10_nu=math.log10(0.5),
            log10_eta=math.log10(eta),
            log10_N=math.log10(N),
            log10_N_val=math.log10(N_val),
        )

    def with_noise_floors(self, noise_floors: Sequence[float]) -> "Schedule":
        """Replace the predicted eta by the least measured noise floor, and eta' with it."""
        eta = min(noise_floors)
        return replace(self, log10_eta=math.log10(eta), log10_eta_prime=math.log10(NOISE_CUT * eta))


def _check(d: int, k: int, epsilon: float, R: float, failure_prob: float) -> None:
    allowed = {
        "n_features": (d, d >= 1, "at least 1"),
        "n_hidden": (k, 1 <= k <= 100, "in [1, 100], as degrees go up to 2 k^2 + 2"),
        # Beyond these powers not even products of three parameters fit into float64, and no run could use them.
        "epsilon": (epsilon, 1e-30 <= epsilon <= 1.0, "in [1e-30, 1]"),
        "R": (R, 1.0 <= R <= 1e30, "in [1, 1e30]; the paper normalises it to at least 1"),
        "failure_prob": (failure_prob, 0.0 < failure_prob < 1.0, "in (0, 1)"),
    }
    for name, (value, fits, words) in allowed.items():
        if not fits:
            raise InputError(f'"{name}" of a schedule must be {words}, got {value}.')


def _log10_moment_noise(d: int, R: float, ell: int) -> float:
    """log10 of N E ||M_hat - M||_F^2 as bounded in step 5 of the module docstring."""
    return (
        math.log10(4.0 * math.sqrt(3.0) * R**2 * d**2)
        + ell * math.log10(3.0)
        + math.log10(ell * (ell - 1))  # ell! / c_ell^2 = ell (ell - 1) noise_gain(ell)^2
        + 2.0 * math.log10(abs(noise_gain(ell)))
    )
