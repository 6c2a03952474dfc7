"""Search: where units may lie, fits that start there, and which of the networks is better."""

from netlearn.search.nets import (
    interval_net,
    interval_net_size,
    log10_sphere_net_size,
    sphere_net,
    sphere_net_size,
)

__all__ = [
    "interval_net",
    "interval_net_size",
    "log10_sphere_net_size",
    "sphere_net",
    "sphere_net_size",
]
