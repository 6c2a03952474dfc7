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
6. *Validation* (Lemma 2.5). A candidate within epsilon/2 passes the test at epsilon^2/2, and one that passes is
   within epsilon, once N_val is `root_validation_rows` with a union bound over the candidates: sets of directions
   times cells of weights. Candidates have sum |lambda_hat_i| <= R, so f - f_hat is (2R + |w - w_hat|)-Lipschitz, the
   printed 2R up to eta. The printed loop lets each of k weights reach R; then f_hat has (k + 2) R, f - f_hat has
   (k + 4) R, and with the printed form of the lemma (`validation_rows`, upsilon^2 = epsilon^2/4) that is
   `Schedule.log10_N_val_printed`.

**Probabilities** (`Shares`). Seven events may go wrong, each with a seventh of failure_prob: no draw of g is good; a
matrix is off by more than eta; w_hat is, for which E |w_hat - w|^2 <= (d + 2) (2R)^2 / N and Markov's inequality ask
for N >= (d + 2) (2R)^2 / (eta^2 share); a random net does not cover; the screening passes over the best set; validation
misleads; the final fresh rows do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from netlearn.errors import InputError
from netlearn.moments.polynomials import noise_gain
from netlearn.paper.bruteforce import log10_count_candidates
from netlearn.paper.failure import Shares
from netlearn.paper.nets import log10_direction_net_size
from netlearn.paper.polynomial import log10_cluster_polynomial_bound, sufficient_orders
from netlearn.paper.sets import log10_count_sets
from netlearn.paper.validation import (
    DEVIATION,
    log10_root_validation_rows,
    log10_validation_rows,
    log10_weight_cells,
    passing_rows,
)
from netlearn.search import interval_net_size, log10_sphere_net_size

C = 1.0 / 16.0
"""The paper's "small constant C" (steps 2 and 3 of the module docstring)."""

NOISE_CUT = 4.0
"""eta'/eta of a practical schedule: an eigenvector at the cut is within 1/4 of the span (Lemma 4.3)."""

ESTIMATION_ERROR = 0.1
"""In units of epsilon, for a practical schedule: |w_hat - w| and the tilt of V, sum |lambda_i| |u_i - Pi_V u_i|,
together. A target that keeps to it is found but for the share of validation; no more is proved of Fail."""

FLUCTUATION = 0.1
"""In units of epsilon, for a practical schedule: by how much the empirical error of the best candidate may exceed its
true one. With epsilon/2 for the net, 0.7 in all, below the test's 1/sqrt(2)."""

SCREENING_EVENTS = 9
"""What may hide the best set from the search: three events for each of three nets (`netlearn.paper.search`)."""

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
    def shares(self) -> Shares:
        """What each step may use of the failure probability."""
        return Shares.equal(self.failure_prob)

    @property
    def net_radius(self) -> float:
        """Covering radius of the net of directions that the search uses.

        The theory's is xi/2, as printed. The practical one is epsilon / (2R): weights are fitted, so the net of
        directions alone makes the candidates err, by R times its radius.
        """
        return (
            self.xi / 2.0 if self.origin == "theory" else min(self.epsilon / (2.0 * self.R), math.sqrt(2.0))
        )

    @property
    def lipschitz(self) -> float:
        """A Lipschitz constant of f - f_hat for candidates with sum |lambda_hat_i| <= R: 2R + |w - w_hat|."""
        return 2.0 * self.R + (self.eta if self.origin == "theory" else ESTIMATION_ERROR * self.epsilon)

    @property
    def fluctuation(self) -> float:
        """By how much the empirical error of one candidate may exceed its true one on N_val rows.

        L sqrt(2 t / N_val) but for one event of the screening: `FLUCTUATION` epsilon for a practical schedule whose
        N_val was not given, and at most (1/sqrt(2) - 1/2) epsilon for the theory's, whose t is that of all candidates.
        """
        t = math.log(SCREENING_EVENTS / self.shares.screening)
        return self.lipschitz * math.sqrt(2.0 * t / self.N_val)

    @property
    def fail_is_a_proof(self) -> bool:
        """Whether the best candidate of a target near V passes validation: not if too small an N_val was given."""
        nearest = self.R * self.net_radius + ESTIMATION_ERROR * self.epsilon
        return nearest + self.fluctuation <= math.sqrt(self.threshold)

    @property
    def log10_directions(self) -> float:
        """Directions in the net of the search when dim V = k, its upper bound (Lemma 4.6)."""
        return log10_direction_net_size(self.n_hidden, self.net_radius, self.shares.net)

    @property
    def log10_sets(self) -> float:
        """Sets of at most k directions that the search tries when dim V = k."""
        return log10_count_sets(self.log10_directions, self.n_hidden)

    @property
    def log10_net_directions(self) -> float:
        """Size of the printed random net N_u when dim V = k, its upper bound (Lemma 4.6)."""
        return log10_sphere_net_size(self.n_hidden, self.xi / 2.0, self.shares.net)

    @property
    def log10_net_weights(self) -> float:
        """Size of N_lambda."""
        return math.log10(interval_net_size(self.R, self.xi))

    @property
    def log10_candidates(self) -> float:
        """Length of the printed loop over both nets when dim V = k."""
        return log10_count_candidates(self.log10_net_directions, self.log10_net_weights, self.n_hidden)

    @property
    def log10_N_val_printed(self) -> float:
        """Rows for the validation by Lemma 2.5 as printed, for the printed loop (step 6 of the module docstring)."""
        k, R = self.n_hidden, self.R
        return log10_validation_rows(
            k,
            (k + 4) * R / 2.0,
            self.epsilon / 2.0,
            self.shares.validation,
            log10_candidates=self.log10_candidates,
        )

    @property
    def log10_operations(self) -> float:
        """Running time of Theorem 1.1, in multiplications: N d^2 for each moment matrix, N_val for each candidate."""
        moments = self.log10_N + math.log10(self.n_features**2 * len(self.orders) * self.n_directions)
        search = self.log10_candidates + self.log10_N_val
        return max(moments, search) + math.log10(1.0 + 10.0 ** -abs(moments - search))

    def certified_mean_square(self, validation_error: float) -> float:
        """Mean square on the final fresh rows up to which the certificate is to succeed.

        Half-way, as a root, between what the validation lets one expect and epsilon. The theory's validation may be
        off by (1/sqrt(2) - 1/2) epsilon for any of its candidates; a practical one's error is taken as it is.
        """
        expected = validation_error + (DEVIATION * self.epsilon if self.origin == "theory" else 0.0)
        expected = min(expected, 0.95 * self.epsilon)  # beyond, no number of rows is likely to help
        return ((expected + self.epsilon) / 2.0) ** 2

    @classmethod
    def from_theory(
        cls,
        n_features: int,
        n_hidden: int,
        epsilon: float,
        R: float,
        *,
        failure_prob: float = 0.01,
        max_cluster: int | None = None,
    ) -> "Schedule":
        """Build the schedule of section 4.5, with the constants derived in the module docstring.

        Its algorithm succeeds with probability 1 - failure_prob: `Shares` says which steps may fail.

        Parameters
        ----------
        n_features, n_hidden, epsilon, R, failure_prob
            As in the class.
        max_cluster : int, optional
            The largest number of neurons in a cluster, where it is known: 1 for neurons that are well separated. Orders
            and coefficients are then those of Remark 4.10, O(k) in place of O(k^2).
        """
        _check(n_features, n_hidden, epsilon, R, failure_prob)
        d, k, shares = n_features, n_hidden, Shares.equal(failure_prob)
        largest = k if max_cluster is None else min(max_cluster, k)
        tau = C * epsilon / k
        xi = C * epsilon / (k * R)
        log10_Delta = math.log10(C**2 * xi**2 * tau * epsilon / (2.0 * k**4 * d**1.5 * R))
        log10_A = max(log10_cluster_polynomial_bound(k, s, 2.0 * log10_Delta) for s in range(1, largest + 1))
        # For k = 1 there is nothing to isolate and A = 1; one power of Delta keeps the order nu <= Delta.
        log10_nu = math.log10(C**2 * xi**2 * tau / (d * R)) - max(log10_A, -log10_Delta)
        log10_eta = 2.0 * log10_nu
        orders = tuple(range(2, 2 * k**2 + 3, 2)) if max_cluster is None else sufficient_orders(k, largest)
        n_directions = draws(shares.directions)
        n_probes = len(orders) * n_directions
        log10_N = -2.0 * log10_eta + max(
            max(log10_moment_noise(d, R, ell) for ell in orders) + math.log10(n_probes / shares.moments),
            math.log10((d + 2) * (2.0 * R) ** 2 / shares.linear),
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
        # The union bound of step 6 needs the net, whose size follows from the rest of the schedule.
        log10_N_val = log10_root_validation_rows(
            epsilon,
            schedule.lipschitz,
            shares.validation,
            # Twice as many, for the proposal, which is a candidate too.
            log10_candidates=schedule.log10_sets + log10_weight_cells(k, R, epsilon) + math.log10(2.0),
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

        * the net of directions gets epsilon/2: the nearest set with its best weights errs by at most R times its
          radius, which is epsilon / (2R). (The printed loop, with a net of weights too, needs R xi/2 + k xi <=
          epsilon/2, so xi = epsilon / (2k + R).)
        * w_hat and the tilt of V get `ESTIMATION_ERROR` epsilon: E|w_hat - w|^2 <= (d + 2) (2R)^2 / N, so
          N = 1024 (d + 2) (R/epsilon)^2 makes w_hat's root mean square error epsilon/16;
        * `FLUCTUATION` epsilon is for the empirical mean of the one candidate that must pass: N_val = `passing_rows`,
          without a union bound, as whatever is accepted is certified on fresh rows.

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
        share = Shares.equal(failure_prob)
        if n_val is None:
            n_val = passing_rows(
                2.0 * R + ESTIMATION_ERROR * epsilon,
                FLUCTUATION * epsilon,
                share.screening / SCREENING_EVENTS,
            )
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
            max(LEAST_DRAWS, draws(share.directions)),
            log10_tau=math.log10(xi),  # the nets cannot tell a smaller cluster from none
            log10_xi=math.log10(xi),
            log10_Delta=math.log10(xi / math.sqrt(d)),  # what a distance xi becomes along a random g
            log10_eta_prime=math.log10(NOISE_CUT * eta),
            log10_nu=math.log10(0.5),
            log10_eta=math.log10(eta),
            log10_N=math.log10(N),
            log10_N_val=math.log10(n_val),
        )

    def with_noise_floors(self, noise_floors: Sequence[float]) -> "Schedule":
        """Replace the predicted eta by the least measured noise floor, and eta' with it."""
        eta = min(noise_floors)
        return replace(self, log10_eta=math.log10(eta), log10_eta_prime=math.log10(NOISE_CUT * eta))


def draws(failure_prob: float) -> int:
    """Draws of g of which one is good, each with probability 4/5 (Lemma 2.4), but for `failure_prob`."""
    return math.ceil(math.log(1.0 / failure_prob) / math.log(5.0))


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


def log10_moment_noise(d: int, R: float, ell: int) -> float:
    """log10 of N E ||M_hat - M||_F^2 as bounded in step 5 of the module docstring."""
    return (
        math.log10(4.0 * math.sqrt(3.0) * R**2 * d**2)
        + ell * math.log10(3.0)
        + math.log10(ell * (ell - 1))  # ell! / c_ell^2 = ell (ell - 1) noise_gain(ell)^2
        + 2.0 * math.log10(abs(noise_gain(ell)))
    )
