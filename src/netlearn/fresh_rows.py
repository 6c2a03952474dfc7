"""What rows that took no part in learning say of a network: its certificate and its score."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from netlearn.backend import to_numpy
from netlearn.certify import Basis, Certificate, certify_rows, moved_by, recognised, scored, without_bound
from netlearn.certify.law import STANDARD
from netlearn.certify.score import Score
from netlearn.evidence import Fitted, FreshErrors
from netlearn.inputs import Standardiser
from netlearn.network import ShallowNetwork
from netlearn.run import Options
from netlearn.search.trimmed import LARGEST_SHARE as LARGEST_WRONG_SHARE
from netlearn.source import Source
from netlearn.source.samples import Samples

# Rows that tell the law of the inputs.
_LOOKED_AT = 5_000


@dataclass(frozen=True)
class Checked:
    """What fresh rows say of a network."""

    certificate: Certificate
    score: Score
    n_off: int
    rounded: str


def checked(
    samples: Samples,
    fitted: Fitted,
    network: ShallowNetwork,
    before: ShallowNetwork,
    fresh: tuple[Source, ...],
) -> Checked:
    """Certify the network on fresh rows; where the reserve joined the last fit, through the one before it."""
    inputs, options, search = fitted.inputs, fitted.options, fitted.search
    errors = FreshErrors.of(network, *fresh)
    rounded, step = errors.rounded()
    wrong_share = LARGEST_WRONG_SHARE if options.robust and fitted.found.left_out else 0.0
    basis = _basis(samples, inputs, options, noisy=not fitted.exact and not rounded)
    basis = replace(basis, rounding=step, wrong_share=wrong_share)
    certificate = certify_rows(network, *fresh, failure_prob=options.failure_prob, basis=basis)
    if basis.law == STANDARD and len(fresh) == 1 and samples.n_reserve and basis.noisy:
        certificate = _certified_before(certificate, before, network, samples)
    if fitted.twins.many_held_out:
        certificate = without_bound(
            certificate, "most held-out rows are copies of rows that were learned from"
        )
    linear = inputs.network(search.affine().params.to_network())
    score = fitted.weighed(scored(network, linear, inputs.centre, *fresh))
    n_off = 0 if rounded else errors.n_off(inputs, search.problem.zero_loss, wrong_share)
    return Checked(certificate, score, n_off, rounded)


def _basis(samples: Samples, inputs: Standardiser, options: Options, *, noisy: bool) -> Basis:
    """Return what an L2 bound may rest on: the law of the inputs, where rows do not contradict it."""
    law = samples.law
    if law is None:
        some = [
            rows.head(min(_LOOKED_AT, rows.n_rows)).in_memory().X for rows in (samples.rows, samples.fresh)
        ]
        law = recognised(np.concatenate([to_numpy(X) for X in some]), standard=inputs.W is None)
    return Basis(law, options.target_lipschitz, noisy)


def _certified_before(
    certificate: Certificate, before: ShallowNetwork, network: ShallowNetwork, samples: Samples
) -> Certificate:
    """Bound the error by that of the network before the last fit, on the reserve too, and the distance between both.

    The reserve took part in the last fit only, so the network before it knows none of these rows. Which of the two
    bounds is given does not depend on their values: the smaller of both would hold with less confidence than either.
    """
    failure_prob = 1.0 - certificate.confidence
    rows = (samples.reserve, samples.fresh)
    earlier = certify_rows(before, *rows, failure_prob=failure_prob, basis=certificate.basis)
    moved = moved_by(earlier, network.distance(before))
    each = tuple(
        replace(own, error_bound=then.error_bound + moved.moved, n_bound=then.n_bound, moved=moved.moved)
        for own, then in zip(certificate.per_output, earlier.per_output, strict=True)
    )
    return replace(
        certificate, error_bound=moved.error_bound, n_bound=moved.n_bound, moved=moved.moved, per_output=each
    )
