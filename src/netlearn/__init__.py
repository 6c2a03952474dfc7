"""netlearn: one-hidden-layer ReLU networks, learned from examples, with a statement of how sure it is."""

__version__ = "0.1.0"

__all__ = ["__version__"]
