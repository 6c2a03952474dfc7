"""The network's file, and files in general: safetensors with format, version and checksum in the header.

safetensors holds numbers and text only: reading one runs no code. A network is five float64 tensors. The result of
a run is the same five with more tensors beside them, under the prefix "result.", and a text in the header: whoever
wants the network alone reads it from either. Checksums cover names, shapes and bytes, so that a file that was cut,
mixed up or edited is told from one that was left as written.
"""

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from netlearn.backend.paths import path_text
from netlearn.errors import InputError

NAMES = ("linear", "coefficients", "units", "biases", "intercept")

_NETWORK = "netlearn.ShallowNetwork"
_RESULT = "netlearn.LearnResult"
_PREFIX = "result."
_VERSION = "1"

Tensors = dict[str, NDArray[np.float64]]


def write(path: str | os.PathLike, arrays: Mapping[str, ArrayLike]) -> None:
    """Write the arrays named `NAMES` to `path`."""
    tensors = _float64({name: arrays[name] for name in NAMES})
    write_whole(path, save(tensors, metadata=_header(_NETWORK, tensors)))


def read(path: str | os.PathLike) -> Tensors:
    """Read the arrays named `NAMES` from what `write` or `write_result` wrote; refuse anything else."""
    with _opened(path, (_NETWORK, _RESULT), "network") as (opened, metadata):
        names = set(opened.keys())
        if not names.issuperset(NAMES):
            raise InputError(f"{path} holds the result of a run that found no network.")
        if metadata["format"] == _NETWORK and len(names) != len(NAMES):
            raise InputError(f"{path} is damaged: it holds more than the five tensors of a network.")
        tensors = {name: opened.get_tensor(name) for name in NAMES}
    _check(path, tensors, metadata.get("sha256"))
    return tensors


def write_result(
    path: str | os.PathLike,
    network: Mapping[str, ArrayLike] | None,
    others: Mapping[str, ArrayLike],
    text: str,
) -> None:
    """Write a network, if there is one, with the other arrays and the text that belong to its result."""
    own = {} if network is None else _float64({name: network[name] for name in NAMES})
    rest = _float64({_PREFIX + name: others[name] for name in sorted(others)})
    header = _header(_RESULT, own) | {"result": text, "result_sha256": checksum(rest, text)}
    write_whole(path, save(own | rest, metadata=header))


def read_result(path: str | os.PathLike) -> tuple[Tensors | None, Tensors, str]:
    """Read network, other arrays and text from what `write_result` wrote; refuse anything else."""
    with _opened(path, (_RESULT,), "result") as (opened, metadata):
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}
    own = {name: tensors[name] for name in NAMES if name in tensors}
    rest = {name: tensors[name] for name in sorted(tensors.keys() - own.keys())}
    text = metadata.get("result", "")
    _check(path, own, metadata.get("sha256"))
    _check(path, rest, metadata.get("result_sha256"), text)
    return own or None, {name.removeprefix(_PREFIX): tensor for name, tensor in rest.items()}, text


def write_whole(path: str | os.PathLike, data: bytes) -> None:
    """Write `data` beside `path` first, and rename it into place when all of it is there.

    Whatever goes wrong, `path` holds either its former contents or all of the new ones, and no other file is
    left behind.
    """
    target = Path(path_text("A file to write", path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"Cannot write {target}: the folder {target.parent} does not exist.")
    if target.is_dir():
        raise IsADirectoryError(f"Cannot write {target}: it is a folder.")
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(beside, "xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise cannot_write(path, error) from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def cannot_write(path: str | os.PathLike, error: OSError) -> OSError:
    """Return the same fault of the system, told of the file that was to be written."""
    sentence = f"Cannot write {path}: {error.strerror or error}"
    return OSError(sentence) if error.errno is None else OSError(error.errno, sentence)


@contextmanager
def _opened(path: str | os.PathLike, formats: tuple[str, ...], wanted: str) -> Iterator[tuple]:
    """Open a file of one of the `formats`: the header is judged before any tensor of a large file is read."""
    if not Path(path_text("A model", path)).is_file():
        raise FileNotFoundError(f"Cannot read {path}: there is no such file.")
    with whole_tensors(f"{path} is not a whole safetensors file"):
        with safe_open(path, framework="numpy") as opened:
            metadata = opened.metadata() or {}
            if metadata.get("format") not in formats:
                alone = metadata.get("format") == _NETWORK
                hint = ": it holds a network alone, which ShallowNetwork.load reads" if alone else ""
                raise InputError(
                    f"{path} is a safetensors file, but not one that holds a netlearn {wanted}{hint}."
                )
            if metadata.get("version") != _VERSION:
                raise InputError(
                    f"{path} has format version {metadata.get('version')}, but this netlearn reads version "
                    f"{_VERSION} only."
                )
            yield opened, metadata


@contextmanager
def whole_tensors(sentence: str) -> Iterator[None]:
    """Turn what is wrong with a safetensors file into one sentence, of which the beginning is given."""
    try:
        yield
    except InputError:
        raise
    # NumPy raises the last three, for types and shapes of tensors that it does not have.
    except (SafetensorError, AttributeError, TypeError, ValueError) as error:
        raise InputError(f"{sentence} ({str(error).rstrip('.')}).") from error


def _float64(arrays: Mapping[str, ArrayLike]) -> Tensors:
    return {name: np.asarray(array, dtype="<f8", order="C") for name, array in arrays.items()}


def _header(kind: str, tensors: Tensors) -> dict[str, str]:
    return {"format": kind, "version": _VERSION, "sha256": checksum(tensors)}


def _check(path: str | os.PathLike, tensors: Tensors, written: str | None, text: str = "") -> None:
    if any(tensor.dtype != np.float64 for tensor in tensors.values()):
        raise InputError(f"{path} is damaged: its tensors must be float64.")
    if checksum(tensors, text) != written:
        raise InputError(
            f"{path} was altered after it was written: its checksum does not match its contents."
        )


def checksum(tensors: Mapping[str, NDArray], text: str = "") -> str:
    """Return a hash of names, shapes, bytes and text."""
    digest = hashlib.sha256()
    for name, tensor in tensors.items():
        digest.update(f"{name}{tensor.shape}".encode())
        digest.update(np.ascontiguousarray(tensor).data)
    digest.update(text.encode())
    return digest.hexdigest()
