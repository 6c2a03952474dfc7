"""Lines 4 and 5 of Algorithm 1, and the statements of section 4.3 that they rest on."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from netlearn.errors import InputError
from netlearn.subspace import eigenprojector, joint_span, sine

D, K = 8, 3
ORDERS = (2, 4, 6, 8)
seeds = st.integers(0, 2**32 - 1)
# Eigendecompositions warm up on the first call: no deadline.
laws = settings(max_examples=30, deadline=None, derandomize=True)


def symmetric(rng, d, norm):
    """Random symmetric matrix of the given operator norm."""
    A = rng.standard_normal((d, d))
    A = A + A.T
    return norm * A / np.linalg.norm(A, 2)


def planted(seed, eta):
    """Population matrices M_ell of a random network, and estimates at operator distance eta from them."""
    rng = np.random.default_rng(seed)
    units = rng.standard_normal((K, D))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    g = rng.standard_normal(D)
    g /= np.linalg.norm(g)
    lam = rng.choice([-1, 1], K) * rng.uniform(0.5, 1.5, K)
    M = [(units.T * (lam * (units @ g) ** (ell - 2))) @ units for ell in ORDERS]
    return lam, np.linalg.qr(units.T)[0], M, [M_ell + symmetric(rng, D, eta) for M_ell in M]


def outside(U, basis):
    """Tr(Pi_U^perp Pi) of the projector Pi on the span of `basis`."""
    return np.linalg.norm(basis - U @ (U.T @ basis)) ** 2


@laws
@given(seeds, st.floats(1e-6, 0.05), st.floats(0.05, 0.5))
def test_lemma_4_3_and_corollary_4_4(seed, eta, eta_prime):
    _, U, _, estimates = planted(seed, eta)
    for M_ell_hat in estimates:
        U_ell = eigenprojector(M_ell_hat, eta_prime)
        distances = np.linalg.norm(U_ell - U @ (U.T @ U_ell), axis=0)
        assert np.all(distances <= eta / eta_prime * (1 + 1e-9) + 1e-14)
        assert outside(U, U_ell) <= D * (eta / eta_prime) ** 2 + 1e-14


def test_lemma_4_3_is_attained():
    # Random noise is an order of magnitude away from the lemma's bound. Noise that tilts the one eigenvector, whose
    # eigenvalue is just above the cut, uses up 99.5 % of it.
    eta, eta_prime = 0.01, 0.1
    M = np.diag([eta_prime - eta**2 / eta_prime, 0.0])
    (u, away), E = np.eye(2), eta * np.array([[0.0, 1.0], [1.0, 0.0]])
    (vector,) = eigenprojector(M + E, eta_prime * (1 - 1e-9)).T
    assert 0.99 * eta / eta_prime <= abs(vector @ away) <= eta / eta_prime
    assert abs(vector @ u) > 0.99


def test_proposition_4_5_and_lemma_4_6_are_attained():
    # One projector on a line at an angle to U, and nu = 1: V is that line, and all of the bound is used up. A line
    # orthogonal to U makes dim V exceed dim U by one, as the bound says.
    U = np.eye(3)[:, :1]
    for angle in (0.1, np.pi / 2):
        line = np.array([[np.cos(angle)], [np.sin(angle)], [0.0]])
        V, _ = joint_span([line], nu=1 - 1e-12)
        assert outside(U, V) == pytest.approx(outside(U, line))
    V, _ = joint_span([U, np.eye(3)[:, 1:2]], nu=1 - 1e-12)
    assert V.shape[1] == U.shape[1] + 1


def test_lemma_4_7_is_attained():
    # Every eigenvalue just below the cut: nothing is kept, and the whole trace, d eta', is left outside.
    eta, eta_prime, nu = 1e-6, 0.1, 1e-6
    M = (eta_prime - 2 * eta) * np.eye(D)
    V, _ = joint_span([eigenprojector(M, eta_prime)], nu)
    bound = D * ((1.0 + eta) * nu + eta + eta_prime)
    assert V.shape == (D, 0)
    assert 0.99 * bound <= np.trace(M) <= bound


@laws
@given(seeds, st.floats(1e-6, 0.05), st.floats(0.02, 0.3), st.floats(1e-3, 1.5))
def test_proposition_4_5_and_lemma_4_6(seed, eta, eta_prime, nu):
    _, U, _, estimates = planted(seed, eta)
    bases = [eigenprojector(M_ell_hat, eta_prime) for M_ell_hat in estimates]
    V, _ = joint_span(bases, nu)
    bound = sum(outside(U, U_ell) for U_ell in bases) / nu
    assert outside(U, V) <= bound + 1e-12
    assert bound <= len(ORDERS) * D * (eta / eta_prime) ** 2 / nu + 1e-12
    assert V.shape[1] <= K + bound + 1e-12


@laws
@given(seeds, st.floats(1e-6, 0.05), st.floats(0.05, 0.3), st.floats(1e-3, 1.5))
def test_lemma_4_7(seed, eta, eta_prime, nu):
    # The proof's own constants: |Tr(Pi_V^perp M_ell)| <= (|lambda|_1 + eta) d nu + d (eta + eta').
    lam, _, M, estimates = planted(seed, eta)
    V, _ = joint_span([eigenprojector(M_ell_hat, eta_prime) for M_ell_hat in estimates], nu)
    for M_ell in M:
        trace = np.trace(M_ell) - np.trace(V.T @ M_ell @ V)
        assert abs(trace) <= D * ((np.sum(np.abs(lam)) + eta) * nu + eta + eta_prime)


@laws
@given(seeds, st.floats(1e-8, 0.1))
def test_angle_of_the_eigenspace_obeys_davis_kahan(seed, eta):
    # M_2 has rank K; its smallest nonzero |eigenvalue| is the gap to the rest, whose population value is 0.
    # The empirical rest stays below eta (Weyl), so sin <= eta / (gap - eta).
    _, U, M, estimates = planted(seed, eta)
    gap = np.sort(np.abs(np.linalg.eigvalsh(M[0])))[-K]
    assume(gap > 2 * eta)
    U_2 = eigenprojector(estimates[0], gap / 2)
    assert U_2.shape == (D, K)
    assert sine(U_2, U) <= eta / (gap - eta) + 1e-12


@laws
@given(seeds)
def test_joint_span_is_that_of_the_summed_projectors(seed):
    rng = np.random.default_rng(seed)
    bases = [np.linalg.qr(rng.standard_normal((D, r)))[0] for r in (2, 0, 1, 3)]
    V, kappa = joint_span(bases, nu=0.7)
    rho, vectors = np.linalg.eigh(sum(basis @ basis.T for basis in bases))
    np.testing.assert_allclose(kappa, rho[::-1][:6], atol=1e-12)
    kept = vectors[:, rho >= 0.7]
    np.testing.assert_allclose(V @ V.T, kept @ kept.T, atol=1e-10)


@laws
@given(seeds)
def test_joint_span_ignores_order_signs_and_choice_of_bases(seed):
    rng = np.random.default_rng(seed)
    bases = [np.linalg.qr(rng.standard_normal((D, r)))[0] for r in (2, 1, 3)]
    rotations = [np.linalg.qr(rng.standard_normal((r, r)))[0] for r in (2, 1, 3)]
    changed = [bases[i] @ rotations[i] for i in rng.permutation(3)]
    V, kappa = joint_span(bases, nu=0.7)
    V_changed, kappa_changed = joint_span(changed, nu=0.7)
    np.testing.assert_allclose(kappa, kappa_changed, atol=1e-12)
    np.testing.assert_allclose(V @ V.T, V_changed @ V_changed.T, atol=1e-10)


def test_kappa_far_below_rounding_of_the_summed_projectors_is_seen():
    # Two lines at angle t: kappa = 1 +- cos t, the smaller t^2/2 = 5e-21.
    t = 1e-10
    bases = [np.array([[1.0], [0.0]]), np.array([[np.cos(t)], [np.sin(t)]])]
    _, kappa = joint_span(bases, nu=1e-30)
    assert kappa[1] == pytest.approx(t**2 / 2, rel=1e-4)


def test_eigenprojector_keeps_both_signs_and_the_boundary():
    U = eigenprojector(np.diag([0.5, -2.0, 0.1, 1.0]), eta_prime=0.5)
    np.testing.assert_allclose(np.abs(U), np.eye(4)[:, [1, 3, 0]], atol=1e-15)


def test_nothing_above_the_cut_gives_an_empty_span():
    U = eigenprojector(np.diag([0.1, -0.2]), eta_prime=1.0)
    V, kappa = joint_span([U, U], nu=0.5)
    assert U.shape == V.shape == (2, 0)
    assert kappa.shape == (0,)


def test_torch_gives_the_same_projectors():
    _, _, _, estimates = planted(0, 0.01)
    bases = [eigenprojector(M, 0.1) for M in estimates]
    tensors = [eigenprojector(torch.asarray(M), 0.1) for M in estimates]
    V, _ = joint_span(bases, 0.5)
    V_torch, _ = joint_span(tensors, 0.5)
    assert isinstance(V_torch, torch.Tensor)
    np.testing.assert_allclose(V @ V.T, (V_torch @ V_torch.T).numpy(), atol=1e-10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: eigenprojector(np.eye(3)[:2], 1.0), r"M must be square; got shape \(2, 3\)"),
        (lambda: eigenprojector(np.eye(3), 0.0), "eta_prime must be positive; got 0.0"),
        (lambda: eigenprojector(np.eye(3) * np.nan, 1.0), "M must be finite"),
        (lambda: joint_span([np.eye(3)], -1.0), "nu must be positive; got -1.0"),
        (lambda: joint_span([], 1.0), "one or more arrays"),
        (lambda: joint_span([np.eye(3), np.eye(2)], 1.0), r"row counts \[2, 3\]"),
        (lambda: joint_span([np.eye(3), torch.eye(3)], 1.0), "one array library"),
    ],
)
def test_bad_input_gets_one_sentence(call, message):
    with pytest.raises(InputError, match=message):
        call()
