"""The paper's own pipeline: Algorithm 1, its parameters, its lemmas, and the algorithm it simplifies."""

from netlearn.paper.algorithm import SubspaceEstimate, find_subspace, netlearn
from netlearn.paper.bruteforce import brute_force
from netlearn.paper.clusters import Clusters, clusters
from netlearn.paper.directions import anticoncentration, is_good_direction
from netlearn.paper.nets import direction_net
from netlearn.paper.polynomial import (
    cluster_polynomial,
    cluster_polynomial_bound,
    evaluate_cluster_polynomial,
    sufficient_orders,
)
from netlearn.paper.predecessor import multi_stage, top_singular_span
from netlearn.paper.schedule import Schedule
from netlearn.paper.search import search_subspace
from netlearn.paper.validation import certification_rows, root_validation_rows, validation_rows

__all__ = [
    "Clusters",
    "Schedule",
    "SubspaceEstimate",
    "anticoncentration",
    "brute_force",
    "certification_rows",
    "cluster_polynomial",
    "cluster_polynomial_bound",
    "clusters",
    "direction_net",
    "evaluate_cluster_polynomial",
    "find_subspace",
    "is_good_direction",
    "multi_stage",
    "netlearn",
    "root_validation_rows",
    "search_subspace",
    "sufficient_orders",
    "top_singular_span",
    "validation_rows",
]
