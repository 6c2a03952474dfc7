"""Black boxes by name: a Python function, or a model in a file, as a function of rows."""

from __future__ import annotations

import copy
import importlib
import os
import sys
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netlearn.backend.extras import need
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from netlearn.network.layers import Layer
from netlearn.network.torch_form import linear_chain
from netlearn.source.oracle import as_numbers

# What joblib, pickle and those who use them call their files.
_PICKLES = (".joblib", ".pickle", ".pkl", ".sav", ".dill")
_NO_PICKLE = (
    "is a pickle, and reading a pickle runs whatever code is in it, so netlearn reads none. Where the model was "
    "trained, save it in a form that holds numbers only, in one line: of scikit-learn "
    "netlearn.ShallowNetwork.from_sklearn(model).save('model.safetensors'), of torch "
    "torch.save(model.state_dict(), 'model.pt'), of any arrays np.savez('model.npz', weights_0=W0, biases_0=b0, "
    "weights_1=W1, biases_1=b1); or export it to ONNX; or give module:function, a Python function of yours that "
    "loads the model and predicts."
)

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class BlackBox:
    """A function that can be asked, and what its origin tells about it.

    Attributes
    ----------
    f : callable
        Takes float64 rows X of shape (n, d), returns float64 values of shape (n,), or (n, m) for m > 1 outputs.
    n_features : int or None
        d; None where it is not known.
    dtype : str or None
        What it computes in, "float32" or "float64"; None where it is not known.
    description : str
        What it is, in a few words.
    """

    f: Function
    n_features: int | None
    dtype: str | None
    description: str


def load_blackbox(spec: str | os.PathLike, n_features: int | None = None) -> BlackBox:
    """Find the function that `spec` names.

    Parameters
    ----------
    spec : str or path
        One of

        - ``package.module:function``, imported with the current folder in front of the path; attributes of
          attributes may follow, as in ``module:model.predict``;
        - an ``.onnx`` file;
        - a ``.pt`` or ``.pth`` file with a TorchScript module, or with a state_dict, which is read as Linear
          layers in the order of its keys with a ReLU between each and the next;
        - a ``.safetensors`` file that netlearn wrote;
        - an ``.npz`` file with the arrays weights_0, biases_0, weights_1 and biases_1 of one hidden layer of ReLUs.

        A pickle, such as a ``.joblib`` file, is refused: reading one runs whatever code is in it.
    n_features : int, optional
        Number of inputs, where the origin does not tell.

    Returns
    -------
    BlackBox
    """
    spec = os.fspath(spec)
    readers = {
        ".onnx": _from_onnx,
        ".pt": _from_torch,
        ".pth": _from_torch,
        ".safetensors": _from_netlearn,
        ".npz": _from_npz,
    }
    suffix = Path(spec).suffix.lower()
    if suffix in _PICKLES and ":" not in spec:
        raise InputError(f"{spec} {_NO_PICKLE}")
    reader = readers.get(suffix)
    if reader is not None:
        if not Path(spec).is_file():
            raise FileNotFoundError(f"Cannot read {spec}: there is no such file.")
        return reader(spec, n_features)
    if ":" in spec:
        return _from_python(spec, n_features)
    raise InputError(
        f"A black box must be package.module:function, or a file ending in {', '.join(readers)}; got {spec!r}."
    )


def _from_python(spec: str, n_features: int | None) -> BlackBox:
    module_name, _, names = spec.partition(":")
    # As `python -m` does, and for good: the function may import its neighbours when it is called.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # the module's own code may raise anything, and exit
        raise InputError(
            f"{spec}: importing {module_name!r} failed ({type(error).__name__}: {error})."
        ) from error
    try:
        found = reduce(getattr, names.split("."), found)
    except AttributeError as error:
        raise InputError(f"{spec}: there is no such function ({error}).") from error
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(found, torch.nn.Module):
        return _of_module(copy.deepcopy(found).eval(), spec, n_features, f"torch module {spec}")
    if not callable(found):
        kind = type(found).__name__
        hint = f"; try {spec}.predict" if hasattr(found, "predict") else ""
        raise InputError(f"{spec} must be something that can be called with rows, got a {kind}{hint}.")
    return BlackBox(_rows(found), n_features, None, f"Python function {spec}")


def _from_netlearn(path: str, n_features: int | None) -> BlackBox:
    network = ShallowNetwork.load(path)
    d = _agreed(path, network.n_features, n_features)
    return BlackBox(_rows(network), d, "float64", f"netlearn network {path}, {network.n_hidden} units")


def _from_npz(path: str, n_features: int | None) -> BlackBox:
    network = ShallowNetwork.from_npz(path)
    d = _agreed(path, network.n_features, n_features)
    return BlackBox(_rows(network), d, "float64", f"layers in {path}, {network.n_hidden} units")


def _from_onnx(path: str, n_features: int | None) -> BlackBox:
    onnxruntime = need("onnxruntime", extra="onnx", purpose="Running an ONNX model")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # a refusal is our sentence, not lines on stderr
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has an exception of its own for each of its error codes
        raise InputError(
            f"{path} is not a model that onnxruntime can run ({str(error).splitlines()[0]})."
        ) from error
    inputs, outputs = session.get_inputs(), session.get_outputs()
    dtypes = {"tensor(float)": np.float32, "tensor(double)": np.float64}
    if len(inputs) != 1 or len(outputs) != 1 or len(inputs[0].shape) != 2 or inputs[0].type not in dtypes:
        signature = ", ".join(f"{value.name} {value.type} {value.shape}" for value in inputs)
        raise InputError(
            f"{path} must take one float32 or float64 matrix of rows and give one output, got {len(outputs)} "
            f"outputs for {signature}."
        )
    name, dtype, (batch, own) = inputs[0].name, dtypes[inputs[0].type], inputs[0].shape
    d = _agreed(path, own if isinstance(own, int) else None, n_features)

    def run(X: NDArray[np.float64]) -> NDArray:
        X = X.astype(dtype)
        if not isinstance(batch, int):
            return session.run(None, {name: X})[0]
        # The model takes no other number of rows than this one: the last piece is filled up.
        pieces = np.vstack([X, np.zeros((-len(X) % batch, X.shape[1]), dtype)]).reshape(-1, batch, X.shape[1])
        answers = [session.run(None, {name: piece})[0].reshape(batch, -1) for piece in pieces]
        return np.vstack(answers)[: len(X)]

    label = np.dtype(dtype).name
    return BlackBox(_rows(run), d, label, f"ONNX model {path}, {label}")


def _from_torch(path: str, n_features: int | None) -> BlackBox:
    torch = need("torch", extra="torch", purpose="Running a torch model")
    with warnings.catch_warnings():
        # torch announces that TorchScript will go, and wonders at foreign files: neither is the user's business.
        warnings.simplefilter("ignore")
        try:
            if _is_torchscript(path):
                held = torch.jit.load(path, map_location="cpu")
            else:
                held = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # on damaged files nearly everything is raised
            if type(error).__name__ == "UnpicklingError" and "unsupported" in str(error).lower():
                raise InputError(
                    f"{path} holds Python objects, which run code when they are read: save the model's state_dict "
                    "or its TorchScript form instead."
                ) from error
            raise InputError(f"{path} is not a whole torch file.") from error
    if isinstance(held, torch.nn.Module):
        return _of_module(held.eval(), path, n_features, f"TorchScript module {path}")
    if not isinstance(held, Mapping):
        raise InputError(
            f"{path} must hold a state_dict or a TorchScript module, got a {type(held).__name__}."
        )
    return _of_state(torch, held, path, n_features)


def _is_torchscript(path: str) -> bool:
    """Whether the archive holds compiled code; a state_dict is an archive too."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


def _of_state(torch: Any, state: Mapping[str, Any], path: str, n_features: int | None) -> BlackBox:
    layers = linear_chain(state, path)
    d = _agreed(path, len(layers[0].weights), n_features)
    label = "float64" if any(value.dtype == torch.float64 for value in state.values()) else "float32"
    *hidden, last = [Layer(W.astype(label), b.astype(label)) for W, b in layers]

    def run(X: NDArray[np.float64]) -> NDArray:
        values = X.astype(label)
        for W, b in hidden:
            values = np.maximum(values @ W + b, 0)
        return values @ last.weights + last.biases

    return BlackBox(_rows(run), d, label, f"state_dict {path}, {len(layers)} Linear layers, {label}")


def _of_module(module: Any, origin: str, n_features: int | None, description: str) -> BlackBox:
    """Wrap a torch module; how many numbers it takes, and in what precision, is settled by asking for one row."""
    torch = need("torch", extra="torch", purpose="Running a torch model")
    parameters = list(module.parameters())
    own = next((value.shape[1] for value in parameters if value.ndim == 2), None)
    d = own if n_features is None else n_features
    if d is None:
        raise InputError(f'{origin} does not tell how many inputs it takes: "n_features" must be given.')

    def run(X: NDArray[np.float64], dtype: Any) -> NDArray:
        with torch.no_grad():
            return module(torch.tensor(X, dtype=dtype)).double().numpy()

    # A frozen module has no parameters to tell its precision.
    known = {value.dtype for value in parameters}
    for dtype in (torch.float64, torch.float32):
        if known and dtype not in known:
            continue
        try:
            run(np.zeros((1, d)), dtype)
        except Exception:  # whatever the module's own code may raise
            continue
        label = str(dtype).removeprefix("torch.")
        return BlackBox(_rows(partial(run, dtype=dtype)), d, label, f"{description}, {label}")
    hint = "" if own in (None, d) else f"; its first matrix takes {own}"
    raise InputError(f'"n_features" must be what {origin} takes, but it cannot be run on rows of {d}{hint}.')


def _agreed(origin: str, own: int | None, given: int | None) -> int | None:
    """Return the number of inputs, if the origin and the caller do not contradict each other."""
    if None not in (own, given) and own != given:
        raise InputError(
            f'"n_features" must be {own} or left out, as {origin} takes {own} inputs, got {given}.'
        )
    return given if own is None else own


def _rows(f: Callable) -> Function:
    """Make `f` answer in float64, one output as one axis."""

    def asked(X: NDArray[np.float64]) -> NDArray[np.float64]:
        values = as_numbers(f(X))
        return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values

    return asked
