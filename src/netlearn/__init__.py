"""netlearn: one-hidden-layer ReLU networks, learned from examples, with a statement of how sure it is.

Public names load on first use: the command line then answers `--help` without waiting for NumPy and SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what __getattr__ does, written so that type checkers and editors see it
    from netlearn import paper, teachers
    from netlearn.certify import Certificate
    from netlearn.estimator import NetLearnRegressor
    from netlearn.learning import learn
    from netlearn.network import ShallowNetwork
    from netlearn.result import LearnResult, Status
    from netlearn.run import Progress
    from netlearn.source import FileSource, Oracle

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "FileSource",
    "LearnResult",
    "NetLearnRegressor",
    "Oracle",
    "Progress",
    "ShallowNetwork",
    "Status",
    "__version__",
    "learn",
    "paper",
    "teachers",
]

_MODULES = ("paper", "teachers")
_HOMES = {
    "Certificate": "netlearn.certify",
    "FileSource": "netlearn.source",
    "LearnResult": "netlearn.result",
    "NetLearnRegressor": "netlearn.estimator",
    "Oracle": "netlearn.source",
    "Progress": "netlearn.run",
    "ShallowNetwork": "netlearn.network",
    "Status": "netlearn.result",
    "learn": "netlearn.learning",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"netlearn.{name}")
    if name in _HOMES:
        globals()[name] = getattr(import_module(_HOMES[name]), name)  # the next access finds it at once
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
