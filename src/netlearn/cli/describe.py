"""Results in words, tables and JSON; shared by every command that learns."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from netlearn.certify import Certificate
from netlearn.cli.output import table
from netlearn.network import ShallowNetwork
from netlearn.result import LearnResult, Probe

_SHOWN_EIGENVALUES = 6
"""As many as an 80-column terminal holds."""


def network_data(network: ShallowNetwork) -> dict[str, Any]:
    """Give the parameters of f(x) = c + <w, x> + sum_i lambda_i |<u_i, x> + b_i| as lists."""
    return {
        "linear": network.linear.tolist(),
        "coefficients": network.coefficients.tolist(),
        "units": network.units.tolist(),
        "biases": network.biases.tolist(),
        "intercept": np.asarray(network.intercept).tolist(),
    }


def certificate_data(certificate: Certificate) -> dict[str, Any]:
    """Give the certificate with its assumptions and all that `recheck` needs."""
    return {
        # JSON knows no infinity, which is the bound where the rows were too few.
        "error_bound": certificate.error_bound if math.isfinite(certificate.error_bound) else None,
        "confidence": certificate.confidence,
        "n_val": certificate.n_val,
        "empirical_error": certificate.empirical_error,
        "method": certificate.method,
        "assumptions": list(certificate.assumptions),
        "constants": certificate.constants,
    }


def result_data(result: LearnResult) -> dict[str, Any]:
    """Give everything in a result but the spectra."""
    seen = result.diagnostics
    return {
        "status": result.status.name,
        "message": result.status.value,
        "success": result.success,
        "network": None if result.network is None else network_data(result.network),
        "certificate": None if result.certificate is None else certificate_data(result.certificate),
        "subspace_dimension": None if result.subspace is None else result.subspace.shape[1],
        "n_candidates": seen.n_candidates,
        "n_tried": seen.n_tried,
        "rows": seen.rows,
        "seconds": seen.seconds,
    }


def certificate_sentence(certificate: Certificate) -> str:
    """Say what is certified, from what, and under which assumptions."""
    return (
        f"error at most {certificate.error_bound:.4g} with confidence {certificate.confidence:g}, from "
        f"{certificate.n_val:,} fresh rows; it assumes that {'; '.join(certificate.assumptions)}"
    )


def n_standing_out(probe: Probe, cut: float) -> int:
    """Count the eigenvalues that reach `cut` times the noise floor."""
    return int((abs(probe.eigenvalues) >= cut * probe.noise_floor).sum())


def spectra_data(probes: Sequence[Probe], cut: float) -> list[dict[str, Any]]:
    """Give each moment matrix's eigenvalues, noise floor and how many stand out."""
    return [
        {
            "order": probe.order,
            "direction": probe.direction,
            "eigenvalues": probe.eigenvalues.tolist(),
            "noise_floor": probe.noise_floor,
            "n_standing_out": n_standing_out(probe, cut),
        }
        for probe in probes
    ]


def spectra_table(probes: Sequence[Probe], cut: float) -> Table:
    """Show the leading eigenvalues of each moment matrix; those that stand out of the noise are bold."""
    rows = table(
        f"Moment matrices: an eigenvalue stands out at {cut:g} times the noise floor",
        "",
        "eigenvalues, largest first",
        "noise",
        "stand out",
        text_columns=2,
    )
    for probe in probes:
        kept = n_standing_out(probe, cut)
        eigenvalues = Text()
        for index, rho in enumerate(probe.eigenvalues[:_SHOWN_EIGENVALUES]):
            eigenvalues.append(f"{rho:7.3f}", style="bold green" if index < kept else "dim")
        # M_2 is the one matrix that does not depend on g.
        name = f"M_{probe.order}" if probe.order == 2 else f"M_{probe.order}, g_{probe.direction + 1}"
        rows.add_row(name, eigenvalues, f"{probe.noise_floor:.3f}", str(kept))
    return rows
