"""Room 4, SEARCH: nets of directions and weights inside V, and the search over them."""

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
