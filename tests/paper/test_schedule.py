import math
from dataclasses import fields

import pytest

from netlearn.errors import InputError
from netlearn.paper import Schedule
from netlearn.paper.polynomial import log10_cluster_polynomial_bound
from netlearn.paper.schedule import C

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
    assert 5.0**-s.n_directions <= s.failure_prob / 3


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
    for name in ("log10_net_directions", "log10_net_weights", "log10_candidates"):
        assert 0.0 <= getattr(s, name) < math.inf


def test_theory_leaves_float64_where_its_logarithms_do_not():
    s = Schedule.from_theory(50, 6, 0.01, 3.0)
    assert (s.N, s.eta) == (math.inf, 0.0)
    assert s.log10_N > 308


def test_printed_formulas():
    s = Schedule.from_theory(6, 2, 0.25, 2.0)
    assert s.tau == pytest.approx(C * 0.25 / 2)
    assert s.xi == pytest.approx(C * 0.25 / 4)
    assert s.Delta == pytest.approx(C**2 * s.xi**2 * s.tau * 0.25 / (2 * 2**4 * 6**1.5 * 2.0))
    assert s.log10_eta == pytest.approx(2 * s.log10_eta_prime)
    assert s.threshold == 0.25**2 / 2
    assert s.origin == "theory"


def test_the_exponent_is_quadratic_in_k():
    # log10 N is about 4 * 2 floor(k^2/4) powers of 1/Delta: within the printed (d k R / epsilon)^{O(k^2)}.
    for k in (2, 4, 8):
        s = Schedule.from_theory(10, k, 0.1, 1.0)
        assert s.log10_N <= 4 * (2 * (k**2 // 4) + 4) * -s.log10_Delta + 2 * k**2 + 40


def test_practical_leaves_room_for_every_error():
    d, k, epsilon, R = 6, 2, 0.25, 2.0
    s = Schedule.practical(d, k, epsilon, R)
    nets = R * s.xi / 2 + k * s.xi
    linear = math.sqrt((d + 2) * (2 * R) ** 2 / s.N)
    assert nets + linear + epsilon / 16 < math.sqrt(s.threshold)
    assert s.log10_candidates < 9
    assert s.origin == "practical"


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
