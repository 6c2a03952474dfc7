"""The network itself: parameters in canonical form, evaluation, and the algebra of affine maps and sums."""

from __future__ import annotations

import os
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj
from numpy.typing import ArrayLike, NDArray

from netlearn.backend import refuse_masked
from netlearn.errors import InputError
from netlearn.network import distance, files, npz_form, onnx_form, relu, sensitivity, sklearn_form, torch_form
from netlearn.network.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch
    from sklearn.neural_network import MLPRegressor

# Entries of the (rows, n_hidden) block that is alive during evaluation: 2 MB in float64, within cache.
_BLOCK_ENTRIES = 2**18


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ShallowNetwork:
    r"""One hidden layer of absolute values, which is one hidden layer of ReLUs ([CN24]_, Lemma 2.1).

        f(x) = c + <w, x> + sum_i lambda_i |<u_i, x> + b_i|.

    The constructor takes any parameters and stores the canonical ones: rows u_i of length 1 (their length
    moves into lambda_i and b_i; a zero row becomes part of the intercept), the entry of u_i of largest
    magnitude positive (the first on ties), equal units merged, zero coefficients dropped, units sorted by
    decreasing norm of their coefficient. Hence `n_hidden` can be smaller than the number of rows given.
    The stored arrays are float64 copies and read-only.

    With m outputs the hidden layer is shared and c, w, lambda_i gain an output axis.

    Parameters
    ----------
    linear : array of shape (d,) or (m, d)
        w.
    coefficients : array of shape (k,) or (k, m)
        lambda.
    units : array of shape (k, d)
        u, one row per hidden unit.
    biases : array of shape (k,), optional
        b; zero when left out.
    intercept : float or array of shape (m,), optional
        c; a single number serves all outputs.

    References
    ----------
    .. [CN24] key in docs/references.bib
    """

    linear: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    units: NDArray[np.float64]
    biases: NDArray[np.float64]
    intercept: float | NDArray[np.float64]

    # NumPy scalars then leave `scale * network` to __rmul__.
    __array_ufunc__ = None

    def __init__(
        self,
        linear: ArrayLike,
        coefficients: ArrayLike,
        units: ArrayLike,
        biases: ArrayLike | None = None,
        intercept: ArrayLike = 0.0,
    ):
        w, lam = _finite("linear", linear), _finite("coefficients", coefficients)
        U, c = _finite("units", units), _finite("intercept", intercept)
        if w.ndim not in (1, 2) or w.size == 0:
            raise InputError(f'"linear" must have shape (d,) or (m, d) with d, m >= 1, got {w.shape}.')
        outputs, d = w.shape[:-1], w.shape[-1]
        k = len(U) if U.ndim else 0
        b = np.zeros(k) if biases is None else _finite("biases", biases)
        if c.ndim == 0:
            c = np.broadcast_to(c, outputs)
        for name, array, shape in (
            ("units", U, (k, d)),
            ("coefficients", lam, (k, *outputs)),
            ("biases", b, (k,)),
            ("intercept", c, outputs),
        ):
            if array.shape != shape:
                raise InputError(
                    f'"{name}" must have shape {shape} to go with linear of shape {w.shape} '
                    f"and {k} units, got {array.shape}."
                )
        m = outputs[0] if outputs else 1
        w, lam, U, b, c = canonical(w.reshape(m, d), lam.reshape(k, m), U, b, c.reshape(m))
        for name, array in (
            ("linear", w.reshape(*outputs, d)),
            ("coefficients", lam.reshape(len(U), *outputs)),
            ("units", U),
            ("biases", b),
            ("intercept", c),
        ):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if not outputs:
            object.__setattr__(self, "intercept", float(c[0]))

    @classmethod
    def from_relu(
        cls,
        weights: ArrayLike,
        output_weights: ArrayLike,
        biases: ArrayLike | None = None,
        intercept: ArrayLike = 0.0,
    ) -> ShallowNetwork:
        r"""Build the network sum_i mu_i relu(<v_i, x> + b_i) + c, through relu(z) = (z + |z|) / 2.

        Parameters
        ----------
        weights : array of shape (k, d)
            v, rows of any length.
        output_weights : array of shape (k,) or (k, m)
            mu.
        biases : array of shape (k,), optional
            b; zero when left out.
        intercept : float or array of shape (m,), optional
            c.

        Returns
        -------
        ShallowNetwork
        """
        V, mu = _finite("weights", weights), _finite("output_weights", output_weights)
        if V.ndim != 2 or mu.ndim not in (1, 2) or len(mu) != len(V):
            raise InputError(
                '"weights" and "output_weights" must have shapes (k, d) and (k,) or (k, m), '
                f"got {V.shape} and {mu.shape}."
            )
        b = np.zeros(len(V)) if biases is None else _finite("biases", biases)
        if b.shape != (len(V),):
            raise InputError(f'"biases" must have shape ({len(V)},), one per row of weights, got {b.shape}.')
        half = mu / 2
        return cls(half.T @ V, half, V, b, _finite("intercept", intercept) + half.T @ b)

    @property
    def n_hidden(self) -> int:
        """Number of hidden units k, after merging and dropping."""
        return self.units.shape[0]

    @property
    def n_features(self) -> int:
        """Input dimension d."""
        return self.units.shape[1]

    @property
    def n_outputs(self) -> int:
        """Number of outputs m; 1 for a scalar network."""
        return self.linear.shape[0] if self.linear.ndim == 2 else 1

    def __call__(self, X: Any) -> Any:
        """Evaluate the network at the rows of `X`.

        Computed with the array library, on the device and in the floating dtype of `X` (integers and
        lists: float64). Not a number in a row of `X` gives not a number in that row.
        Cost: O(n k d) time; O(n m) memory for the answer and one block beside it.

        Parameters
        ----------
        X : array of shape (n, d) or (d,)
            NumPy array, torch tensor or another array of the array API standard.

        Returns
        -------
        array of shape (n,) or (n, m); without the axis n for a single vector
        """
        X = X if is_array_api_obj(X) else _real("X", X)
        refuse_masked('"X"', X)
        xp = array_namespace(X)
        if X.ndim not in (1, 2) or X.shape[-1] != self.n_features:
            raise InputError(
                f'"X" must have shape (n, {self.n_features}) or ({self.n_features},) for a network of '
                f"{self.n_features} features, got {tuple(X.shape)}."
            )
        if xp.isdtype(X.dtype, "complex floating"):
            raise InputError(f'"X" must hold real numbers, got elements of type {X.dtype}.')
        if not xp.isdtype(X.dtype, "real floating"):
            X = xp.astype(X, xp.float64)
        if X.ndim == 1:
            return self(X[None, :])[0, ...]

        def like(array: ArrayLike) -> Any:
            # A copy, because torch warns about NumPy arrays that are read-only.
            return xp.asarray(np.array(array), dtype=X.dtype, device=device(X))

        U, w, lam = like(self.units.T), like(self.linear.T), like(self.coefficients)
        b, c = like(self.biases), like(self.intercept)
        rows = max(1, _BLOCK_ENTRIES // max(self.n_hidden, 1))
        blocks = []
        n = X.shape[0]
        for start in range(0, max(n, 1), rows):
            x = X[start : min(start + rows, n), :]
            blocks.append(x @ w + xp.abs(x @ U + b) @ lam + c)
        return blocks[0] if len(blocks) == 1 else xp.concat(blocks, axis=0)

    def precompose(self, matrix: ArrayLike, offset: ArrayLike | None = None) -> ShallowNetwork:
        """Give the network x -> f(matrix @ x + offset): the same function in other coordinates.

        Parameters
        ----------
        matrix : array of shape (d, p)
        offset : array of shape (d,), optional
            Zero when left out.

        Returns
        -------
        ShallowNetwork
            With p features.
        """
        A = _finite("matrix", matrix)
        t = np.zeros(self.n_features) if offset is None else _finite("offset", offset)
        if A.ndim != 2 or len(A) != self.n_features or t.shape != (self.n_features,):
            raise InputError(
                f'"matrix" and "offset" must have shapes ({self.n_features}, p) and ({self.n_features},) '
                f"for a network of {self.n_features} features, got {A.shape} and {t.shape}."
            )
        w, U = self.linear, self.units
        return ShallowNetwork(w @ A, self.coefficients, U @ A, self.biases + U @ t, self.intercept + w @ t)

    def mean(self) -> float | NDArray[np.float64]:
        """Return E f(x) for x ~ N(0, I), one value per output, in closed form."""
        return self._per_output(distance.mean(self))

    def variance(self) -> float | NDArray[np.float64]:
        """Return Var f(x) for x ~ N(0, I), one value per output, in closed form."""
        return self._per_output(distance.variance(self))

    def norm(self) -> float:
        """Return ||f|| = sqrt(E |f(x)|^2) for x ~ N(0, I), in closed form; squares are summed over outputs.

        norm()**2 == mean()**2 + variance(), up to rounding, with both summed over outputs. Cost: O(k^2 d).
        """
        return distance.norm(self)

    def distance(self, other: ShallowNetwork) -> float:
        """Return ||f - g|| = sqrt(E |f(x) - g(x)|^2) for x ~ N(0, I), in closed form.

        Squares are summed over outputs. Keeps its digits for networks that nearly agree, however their units
        are ordered, split or merged: the relative error is at rounding level for most, and about 1e-5 where
        units are split at angles of 1e-3. Cost: O((k + k')^2 d).

        Parameters
        ----------
        other : ShallowNetwork
            With the same number of features and outputs.

        Returns
        -------
        float
        """
        self._check_same_shape(other)
        return distance.distance(self, other)

    def sobol(self) -> sensitivity.SobolIndices:
        """Return the Sobol indices of each input (first order and total) for x ~ N(0, I), in closed form.

        With several outputs their variances are summed; `per_output` has the indices of each.
        """
        return sensitivity.sobol(self)

    def to_relu(self) -> relu.ReluForm:
        """Return (weights, output_weights, biases, intercept) of the function in as few ReLUs as it allows.

        For one output that is `n_hidden`, `n_hidden` + 1 or `n_hidden` + 2 ReLUs; with m outputs `n_hidden`
        if the function allows it, and at most `n_hidden` + 2 min(m, d). A rest of the linear part below 1e-11
        of |w| + sum |lambda_i| counts as rounding. `from_relu` takes the four back.
        """
        return relu.to_relu(self)

    def save(self, path: str | os.PathLike) -> None:
        """Write the network to `path` as safetensors; an existing file is replaced once all is written."""
        files.write(path, dict(zip(files.NAMES, self._parameters, strict=True)))

    @classmethod
    def load(cls, path: str | os.PathLike) -> ShallowNetwork:
        """Read a network that `save` wrote; any other, damaged or altered file is refused in one sentence."""
        arrays = files.read(path)
        try:
            return cls(**arrays)
        except InputError as error:
            raise InputError(f"{os.fspath(path)} does not hold a usable network: {error}") from error

    def to_onnx(self, path: str | os.PathLike, *, dtype: str = "float64") -> None:
        """Write the ReLU form to `path` as an ONNX graph: MatMul, Add, Relu, MatMul, Add.

        Input "X" of shape (n, d) with n free, output "y" of shape (n,) or (n, m), as calling the network gives.
        An existing file is replaced once all is written.

        Parameters
        ----------
        path : str or path
        dtype : {"float64", "float32"}
            Of weights and arithmetic.
        """
        onnx_form.to_onnx(self, path, dtype)

    @classmethod
    def from_onnx(cls, path: str | os.PathLike) -> ShallowNetwork:
        """Read an ONNX graph of one hidden layer of ReLUs.

        Affine maps may be written as Gemm, or as MatMul and Add, as the exporters of torch and scikit-learn do. Any
        other graph is refused in one sentence. A single output makes a network of one number per row.
        """
        return cls.from_relu(*onnx_form.from_onnx(path))

    def to_torch(self, *, dtype: str | torch.dtype = "float64") -> torch.nn.Sequential:
        """Return the ReLU form as ``torch.nn.Sequential(Linear, ReLU, Linear)``, on the CPU and ready to train.

        Its answers have shape (n, m), one output included.

        Parameters
        ----------
        dtype : {"float64", "float32"} or torch.dtype

        Returns
        -------
        torch.nn.Sequential
        """
        return torch_form.to_torch(self, dtype)

    @classmethod
    def from_torch(cls, model: torch.nn.Module | Mapping[str, torch.Tensor]) -> ShallowNetwork:
        """Read a torch model that computes Linear, ReLU, Linear.

        Parameters
        ----------
        model : torch.nn.Module or state_dict
            A module of any class; a float64 copy of it is run, and refused if it does not answer as its two Linear
            layers with a ReLU between. A state_dict cannot tell its activation, and is taken to have ReLUs.

        Returns
        -------
        ShallowNetwork
            A single output makes a network of one number per row.
        """
        return cls.from_relu(*torch_form.from_torch(model))

    def to_sklearn(self) -> MLPRegressor:
        """Return the ReLU form as a fitted ``sklearn.neural_network.MLPRegressor``, without a fit."""
        return sklearn_form.to_sklearn(self)

    @classmethod
    def from_sklearn(cls, model: MLPRegressor) -> ShallowNetwork:
        """Read a fitted ``MLPRegressor`` with one hidden layer and activation "relu"."""
        return cls.from_relu(*sklearn_form.from_sklearn(model))

    def to_npz(self, path: str | os.PathLike) -> None:
        """Write the ReLU form to `path` as NumPy arrays, which ``np.load(path, allow_pickle=False)`` reads.

        ``y = np.maximum(X @ weights_0 + biases_0, 0) @ weights_1 + biases_1``, with these four names. An existing
        file is replaced once all is written.
        """
        npz_form.to_npz(self, path)

    @classmethod
    def from_npz(cls, path: str | os.PathLike) -> ShallowNetwork:
        """Read the arrays that `to_npz` writes; any other file is refused in one sentence."""
        return cls.from_relu(*npz_form.from_npz(path))

    def __add__(self, other: ShallowNetwork) -> ShallowNetwork:
        if not isinstance(other, ShallowNetwork):
            return NotImplemented
        self._check_same_shape(other)
        return ShallowNetwork(
            self.linear + other.linear,
            np.concatenate([self.coefficients, other.coefficients]),
            np.concatenate([self.units, other.units]),
            np.concatenate([self.biases, other.biases]),
            self.intercept + other.intercept,
        )

    def __mul__(self, scale: float) -> ShallowNetwork:
        if not isinstance(scale, Real):
            return NotImplemented
        return ShallowNetwork(
            scale * self.linear, scale * self.coefficients, self.units, self.biases, scale * self.intercept
        )

    __rmul__ = __mul__

    def __neg__(self) -> ShallowNetwork:
        return -1.0 * self

    def __sub__(self, other: ShallowNetwork) -> ShallowNetwork:
        return self + (-other) if isinstance(other, ShallowNetwork) else NotImplemented

    def __eq__(self, other: object) -> bool:
        """Equality of the canonical parameters, bit by bit; `distance` compares the functions."""
        if not isinstance(other, ShallowNetwork):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self._parameters, other._parameters, strict=True))

    __hash__ = None  # type: ignore[assignment]  # Python's way to say that there is none

    def __repr__(self) -> str:
        outputs = "" if self.linear.ndim == 1 else f", n_outputs={self.n_outputs}"
        biases = ", biases" if np.any(self.biases) else ""
        return f"<ShallowNetwork: n_hidden={self.n_hidden}, n_features={self.n_features}{outputs}{biases}>"

    def _per_output(self, values: NDArray[np.float64]) -> float | NDArray[np.float64]:
        return values if self.linear.ndim == 2 else float(values[0])

    def _check_same_shape(self, other: ShallowNetwork) -> None:
        if not isinstance(other, ShallowNetwork):
            raise InputError(f'"other" must be a ShallowNetwork, got a {type(other).__name__}.')
        if other.linear.shape != self.linear.shape:
            raise InputError(
                f'"other" must be a network with linear part of shape {self.linear.shape}, '
                f"got one of shape {other.linear.shape}."
            )

    @property
    def _parameters(self) -> tuple:
        return self.linear, self.coefficients, self.units, self.biases, self.intercept


def _finite(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Convert to a float64 array, or say what `name` holds instead of finite numbers."""
    array = _real(name, value)
    if not np.isfinite(array).all():
        count = int(array.size - np.isfinite(array).sum())
        raise InputError(f'"{name}" must hold finite numbers, got {count} of {array.size} not finite.')
    return array


def _real(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Convert to a float64 array, or say that `name` holds no real numbers."""
    refuse_masked(f'"{name}"', value)
    try:
        if np.iscomplexobj(value):  # NumPy would drop the imaginary part
            raise TypeError("complex numbers")
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f'"{name}" must be an array of real numbers, got {type(value).__name__}.') from error
