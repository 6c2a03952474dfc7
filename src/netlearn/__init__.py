"""netlearn: one-hidden-layer ReLU networks, learned from examples, with a statement of how sure it is."""

from netlearn import paper, teachers
from netlearn.certify import Certificate
from netlearn.network import ShallowNetwork
from netlearn.result import LearnResult, Status

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "LearnResult",
    "ShallowNetwork",
    "Status",
    "__version__",
    "paper",
    "teachers",
]
