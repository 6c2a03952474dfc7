r"""The eigenprojectors Pi_ell and the joint span V (Algorithm 1, lines 4 and 5).

A projector is kept as an orthonormal basis of its range, Pi_ell = U_ell U_ell^T, never as a d x d matrix.
"""

from netlearn.backend import namespace, real_array
from netlearn.errors import InputError


def eigenprojector(M, eta_prime):
    r"""Orthonormal basis U_ell of the eigenvectors of `M` with |eigenvalue| >= eta' (Algorithm 1, line 4).

    If |M - M_ell|_op <= eta, every column lies within eta/eta' of span{u_i} (Lemma 4.3), so that
    Tr(Pi_U^perp Pi_ell) <= r (eta/eta')^2 with r <= d the number of columns (Corollary 4.4).
    Cost: O(d**3), one symmetric eigendecomposition.

    Parameters
    ----------
    M : array of shape (d, d)
        Symmetric, such as an estimate M_ell_hat; only its lower triangle is read.
    eta_prime : float
        The cut eta', positive: below it an eigenvector cannot be told from noise.

    Returns
    -------
    U_ell : array of shape (d, r)
        Columns in descending order of |eigenvalue|.
    """
    M = real_array("M", M, ndim=2)
    if M.shape[0] != M.shape[1]:
        raise InputError(f"M must be square; got shape {tuple(M.shape)}.")
    if not eta_prime > 0:
        raise InputError(f"eta_prime must be positive; got {eta_prime}.")
    xp = namespace(M)
    rho, eigenvectors = xp.linalg.eigh(M)
    descending = xp.argsort(xp.abs(rho), descending=True)
    r = int(xp.sum(xp.astype(xp.abs(rho) >= eta_prime, xp.int64)))
    return xp.take(eigenvectors, descending[:r], axis=1)


def joint_span(bases, nu):
    r"""V, the span of the eigenvectors of sum_ell Pi_ell with eigenvalue kappa >= nu (Algorithm 1, line 5).

    nu Pi_V <= sum_ell Pi_ell, hence Tr(Pi_U^perp Pi_V) <= Tr(Pi_U^perp sum_ell Pi_ell) / nu for every
    subspace U (Proposition 4.5), and dim V exceeds dim U by no more than that (Lemma 4.6).

    Departs from the paper in computation only: with A = [U_2 U_4 ...] the sum is A A^T, so V and kappa are
    the left singular vectors and the squared singular values of A. That costs O(d R min(d, R)), R the
    number of columns in all, and keeps small kappa: squared singular values resolve it down to eps**2,
    eigenvalues of the formed sum to eps only, and the theory's nu is smaller.

    Parameters
    ----------
    bases : sequence of arrays of shape (d, r_ell)
        Orthonormal bases of the ranges of the Pi_ell; r_ell may be 0.
    nu : float
        The cut nu, positive.

    Returns
    -------
    V : array of shape (d, r)
        Orthonormal columns, in descending order of kappa.
    kappa : array of shape (min(d, R),)
        Eigenvalues of sum_ell Pi_ell, descending; those left out are 0.
    """
    if not nu > 0:
        raise InputError(f"nu must be positive; got {nu}.")
    bases = [real_array("Each basis", basis, ndim=2) for basis in bases]
    dimensions = {basis.shape[0] for basis in bases}
    if len(dimensions) != 1:
        raise InputError(
            f"bases must be one or more arrays with as many rows each; got row counts {sorted(dimensions)}."
        )
    xp = namespace(*bases)
    A = xp.concat(bases, axis=1)
    if A.shape[1] == 0:
        return A, A[0, :]
    left, singular, _ = xp.linalg.svd(A, full_matrices=False)
    kappa = singular**2
    r = int(xp.sum(xp.astype(kappa >= nu, xp.int64)))
    return left[:, :r], kappa
