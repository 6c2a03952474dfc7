import math
from dataclasses import fields

import numpy as np
import pytest

from netlearn.errors import InputError
from netlearn.moments import abs_hermite_coefficient, hermite
from netlearn.network import ShallowNetwork
from netlearn.paper import Schedule
from netlearn.paper.polynomial import log10_cluster_polynomial_bound
from netlearn.paper.schedule import ESTIMATION_ERROR, C, log10_moment_noise

SIZES = [(6, 1, 0.25, 2.0), (6, 2, 0.25, 2.0), (10, 2, 0.1, 1.0), (50, 6, 0.01, 3.0), (300, 20, 0.1, 1.0)]


@pytest.mark.parametrize("size", SIZES)
def test_theory_satisfies_what_its_lemmas_ask(size):
    d, k, epsilon, R = size
    s = Schedule.from_theory(*size)
    # Order assumed throughout section 4.
    assert s.log10_eta <= s.log10_eta_prime == s.log10_nu <= s.log10_Delta
    assert s.log10_Delta <= s.log10_xi
    assert s.tau <= epsilon <= 1
    # Lemma 4.2: the best candidate is within epsilon/4.
    assert R * (8 * k**3 * math.sqrt(d) * s.Delta + s.xi) + k * (s.xi + s.tau) <= epsilon / 4
    # Corollary 4.9: the squared distance to V is at most (xi/4)^2.
    log10_A = max(log10_cluster_polynomial_bound(k, n, 2 * s.log10_Delta) for n in range(1, k + 1))
    first = 10 ** (log10_A + s.log10_nu) * d * (R + 2)
    second = 16 * R * k**3 * d**1.5 * s.Delta
    assert (first + second) / s.tau <= (s.xi / 4) ** 2
    # Lemma 4.6: dim V < k + 1, over all orders and draws.
    assert len(s.orders) * s.n_directions * d * s.eta_prime < 1
    assert s.orders == tuple(range(2, 2 * k**2 + 3, 2))
    assert 5.0**-s.n_directions <= s.shares.directions < 5.0 ** (1 - s.n_directions)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", [Schedule.from_theory, Schedule.practical])
def test_logarithms_are_finite_and_agree_with_the_values(size, make):
    s = make(*size)
    for field in fields(s):
        if field.name.startswith("log10_"):
            logarithm, value = getattr(s, field.name), getattr(s, field.name.removeprefix("log10_"))
            assert math.isfinite(logarithm)
            if abs(logarithm) < 300:
                assert value == pytest.approx(10.0**logarithm)
    for name in (
        "directions",
        "sets",
        "net_directions",
        "net_weights",
        "candidates",
        "N_val_printed",
        "operations",
    ):
        name = f"log10_{name}"
        assert 0.0 <= getattr(s, name) < math.inf


def test_theory_leaves_float64_where_its_logarithms_do_not():
    s = Schedule.from_theory(50, 6, 0.01, 3.0)
    assert (s.N, s.eta) == (math.inf, 0.0)
    assert s.log10_N > 308


def test_printed_formulas():
    s = Schedule.from_theory(6, 2, 0.25, 2.0)
    assert s.tau == pytest.approx(C * 0.25 / 2)
    assert s.xi == pytest.approx(C * 0.25 / 4)
    # Without abs=0, approx would let any number below 1e-12 pass.
    assert s.Delta == pytest.approx(
        C**2 * s.xi**2 * s.tau * 0.25 / (2 * 2**4 * 6**1.5 * 2.0), rel=1e-9, abs=0
    )
    assert s.log10_eta == pytest.approx(2 * s.log10_eta_prime)
    assert s.threshold == 0.25**2 / 2
    assert s.origin == "theory"


def test_the_exponent_is_quadratic_in_k():
    # log10 N is about 4 * 2 floor(k^2/4) powers of 1/Delta: within the printed (d k R / epsilon)^{O(k^2)}.
    for k in (2, 4, 8):
        s = Schedule.from_theory(10, k, 0.1, 1.0)
        assert s.log10_N <= 4 * (2 * (k**2 // 4) + 4) * -s.log10_Delta + 2 * k**2 + 40


@pytest.mark.parametrize("size", SIZES[:4])
def test_rows_for_the_moments_from_the_formula_of_its_docstring(size):
    # Lemma 2.3 by Chebyshev: N = 4 sqrt(3) R^2 d^2 3^ell ell! / c_ell^2 * (number of matrices) / (share eta^2), where
    # the largest order decides; the linear part asks for less.
    d, k, _, R = size
    s = Schedule.from_theory(*size)
    ell = 2 * k**2 + 2
    log10_c = math.log10(math.sqrt(2 / math.pi)) + sum(math.log10(j) for j in range(3, ell - 2, 2))
    log10_factorial = math.lgamma(ell + 1) / math.log(10)
    log10_noise = (
        math.log10(4 * math.sqrt(3) * R**2 * d**2) + ell * math.log10(3) + log10_factorial - 2 * log10_c
    )
    n_matrices = (k**2 + 1) * s.n_directions
    assert s.log10_N == pytest.approx(
        log10_noise + math.log10(n_matrices / (0.01 / 7)) - 2 * s.log10_eta, abs=1e-9
    )
    assert s.log10_N > math.log10((d + 2) * (2 * R) ** 2 / (0.01 / 7)) - 2 * s.log10_eta


@pytest.mark.statistical
@pytest.mark.parametrize("ell", [2, 4])
def test_the_noise_of_a_moment_matrix_is_below_its_bound_and_within_what_is_said_of_it(ell):
    # y = 2R |x_1|-like labels: R |<u, x>| + R <w, x> with w = u. The bound is 20 and 136 times the truth here, which
    # the test says, so that a factor 3^ell = 9, 81 or d^2 = 9 lost would turn it red.
    d, R, n = 3, 2.0, 400_000
    rng = np.random.default_rng(3)
    u = np.array([1.0, 0.0, 0.0])
    network = ShallowNetwork(R * u, np.array([R]), u[None])
    X = rng.standard_normal((n, d))
    rows = network(X)[:, None, None] * contracted(X, u, ell) / abs_hermite_coefficient(ell)
    truth = np.var(rows, axis=0).sum()
    ratio = 10.0 ** log10_moment_noise(d, R, ell) / truth
    assert {2: 15, 4: 100}[ell] < ratio < {2: 26, 4: 180}[ell]


def contracted(X, g, ell):
    """H_ell(x)(g, ..., g, :, :) row by row, from its three terms."""
    s, m, eye = X @ g, ell - 2, np.eye(X.shape[1])
    outer = np.einsum("ni,nj->nij", X, X) - eye
    cross = np.einsum("ni,j->nij", X, g)
    lower = hermite(m - 1, s) if m else 0 * s
    lowest = hermite(m - 2, s) if m > 1 else 0 * s
    return (
        hermite(m, s)[:, None, None] * outer
        - m * lower[:, None, None] * (cross + np.swapaxes(cross, 1, 2))
        + m * (m - 1) * lowest[:, None, None] * np.outer(g, g)
    )


def test_rows_for_the_validation_of_the_theory():
    d, k, epsilon, R = 10, 2, 0.1, 1.0
    s = Schedule.from_theory(d, k, epsilon, R)
    # 46.6 ln(2 candidates / share) (L / epsilon)^2 with L = 2R + eta; candidates are sets of directions times cells
    # of weights, and as many again for the proposal.
    n = math.ceil(math.pi / (4 * math.asin(s.xi / 4)))
    sets = 1 + n + n**2 / 2
    t = math.log(2 * 2 * sets * (1 + 64 * R / epsilon) ** 2 / (0.01 / 7))
    assert s.N_val == pytest.approx(2 / (1 / math.sqrt(2) - 0.5) ** 2 * t * (2 * R / epsilon) ** 2, rel=1e-6)
    assert s.N_val < 1e6
    assert s.lipschitz == pytest.approx(2 * R)


def test_rows_for_the_validation_as_printed():
    # Lemma 2.5 with upsilon = epsilon/2, the Lipschitz constant (k + 4) R of f - f_hat, and a union over the loop.
    d, k, epsilon, R = 10, 2, 0.1, 1.0
    s = Schedule.from_theory(d, k, epsilon, R)
    log10_pairs = s.log10_net_directions + s.log10_net_weights
    t = math.log(2 / (0.01 / 7)) + math.log(1 + 10**log10_pairs + 10 ** (2 * log10_pairs))
    L = (k + 4) * R
    b = (k + 2) * L**2
    v, c = (math.e * b) ** 2 / math.sqrt(math.pi), math.e * b
    n = 10**s.log10_N_val_printed
    assert math.sqrt(2 * v * t / n) + c * t / n == pytest.approx((epsilon / 2) ** 2, rel=1e-6)
    assert 11.9 < s.log10_N_val_printed < 12.1


def test_shares_add_up_to_the_failure_probability():
    for make in (Schedule.from_theory, Schedule.practical):
        shares = make(6, 2, 0.25, 2.0, failure_prob=0.03).shares
        parts = [getattr(shares, part.name) for part in fields(shares)]
        assert len(parts) == 7
        assert sum(parts) == pytest.approx(0.03)
        assert shares.total == pytest.approx(0.03)


def test_running_time_of_the_theorem():
    # Rows times d^2 times matrices, and the printed loop times its rows; the moments dominate.
    s = Schedule.from_theory(10, 3, 0.1, 1.0)
    moments = s.log10_N + math.log10(100 * len(s.orders) * s.n_directions)
    loop = s.log10_candidates + s.log10_N_val
    assert s.log10_operations == pytest.approx(max(moments, loop), abs=1e-9)
    # (d k R / epsilon)^{O(k^2)}: the exponent over k^2 stays bounded while k grows, and over k it does not.
    exponents = {
        k: Schedule.from_theory(10, k, 0.1, 1.0).log10_operations / math.log10(10 * k / 0.1)
        for k in (2, 4, 8, 16)
    }
    over_squares = [exponents[k] / k**2 for k in exponents]
    assert max(over_squares[1:]) <= over_squares[0]
    assert exponents[16] / 16 > 3 * exponents[2] / 2
    # In 1/epsilon and in d it is a power law: equal steps of the logarithm, equal steps.
    for change in (lambda t: (10, 2, 0.1 / 10**t, 1.0), lambda t: (10 ** (1 + t), 2, 0.1, 1.0)):
        steps = [Schedule.from_theory(*change(t)).log10_operations for t in (0, 1, 2)]
        assert steps[2] - steps[1] == pytest.approx(steps[1] - steps[0], rel=0.02)


def test_remark_4_10_makes_the_exponent_linear_in_k():
    # Clusters of one: orders up to 2k, and about 8 (k - 1) powers of 1/Delta in N in place of 8 floor(k^2/4).
    for k in (4, 8, 16):
        capped, whole = (Schedule.from_theory(10, k, 0.1, 1.0, max_cluster=cap) for cap in (1, None))
        assert capped.orders[-1] == 2 * k
        powers = (capped.log10_N - 2 * math.log10(10)) / -capped.log10_Delta
        assert 8 * (k - 1) <= powers <= 8 * (k - 1) + 8
        assert whole.log10_N / -whole.log10_Delta >= 8 * (k**2 // 4)
        assert capped.N_val == pytest.approx(whole.N_val, rel=1e-6)


def test_practical_leaves_room_for_every_error():
    d, k, epsilon, R = 6, 2, 0.25, 2.0
    s = Schedule.practical(d, k, epsilon, R)
    linear = math.sqrt((d + 2) * (2 * R) ** 2 / s.N)
    assert linear <= epsilon / 16 <= ESTIMATION_ERROR * epsilon
    # The search: net, what is off V and w_hat, and the fluctuation of one candidate; just below the test's root.
    share = 0.01 / 7 / 9
    fluctuation = (2 * R + ESTIMATION_ERROR * epsilon) * math.sqrt(2 * math.log(1 / share) / s.N_val)
    assert fluctuation == pytest.approx(s.fluctuation, rel=1e-4)
    used = R * s.net_radius + ESTIMATION_ERROR * epsilon + fluctuation
    assert 0.98 * math.sqrt(s.threshold) < used < math.sqrt(s.threshold)
    # The printed loop has a net of weights too.
    assert R * s.xi / 2 + k * s.xi == pytest.approx(epsilon / 2)
    assert s.lipschitz == 2 * R + ESTIMATION_ERROR * epsilon
    assert s.origin == "practical"


def test_what_the_final_rows_are_to_certify():
    theory, practical = Schedule.from_theory(6, 2, 0.2, 2.0), Schedule.practical(6, 2, 0.2, 2.0)
    assert practical.certified_mean_square(0.1) == pytest.approx(0.15**2)
    worst = 0.2 / math.sqrt(2)
    assert theory.certified_mean_square(worst) == pytest.approx(
        ((worst + 0.2 / math.sqrt(2) - 0.1 + 0.2) / 2) ** 2
    )
    assert practical.certified_mean_square(5.0) < 0.2**2


def test_practical_takes_given_rows_and_measured_noise():
    s = Schedule.practical(6, 2, 0.25, 2.0, n_rows=1000, n_val=500)
    assert (round(s.N), round(s.N_val)) == (1000, 500)
    measured = s.with_noise_floors([0.3, 0.02, 0.1])
    assert measured.eta == pytest.approx(0.02)
    assert measured.eta_prime / measured.eta == pytest.approx(s.eta_prime / s.eta)


@pytest.mark.parametrize(
    ("size", "name"),
    [
        ((0, 1, 0.1, 1.0), "n_features"),
        ((2, 0, 0.1, 1.0), "n_hidden"),
        ((2, 1, 0.0, 1.0), "epsilon"),
        ((2, 1, 0.1, 0.5), "R"),
    ],
)
@pytest.mark.parametrize("make", [Schedule.from_theory, Schedule.practical])
def test_bad_sizes_are_refused(size, name, make):
    with pytest.raises(InputError, match=f'"{name}" of a schedule must be'):
        make(*size)
