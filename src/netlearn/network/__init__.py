"""The network as a mathematical object: evaluation, exact Gaussian geometry, its ReLU form, its file."""

from netlearn.network.model import ShallowNetwork

__all__ = ["ShallowNetwork"]
