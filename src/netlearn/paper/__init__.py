"""The paper's own corridor: Algorithm 1, its parameters, its lemmas, and the algorithm it simplifies."""

from netlearn.paper.algorithm import SubspaceEstimate, find_subspace, netlearn
from netlearn.paper.clusters import Clusters, clusters
from netlearn.paper.polynomial import (
    cluster_polynomial,
    cluster_polynomial_bound,
    evaluate_cluster_polynomial,
    sufficient_orders,
)
from netlearn.paper.predecessor import multi_stage
from netlearn.paper.schedule import Schedule

__all__ = [
    "Clusters",
    "Schedule",
    "SubspaceEstimate",
    "cluster_polynomial",
    "cluster_polynomial_bound",
    "clusters",
    "evaluate_cluster_polynomial",
    "find_subspace",
    "multi_stage",
    "netlearn",
    "sufficient_orders",
]
