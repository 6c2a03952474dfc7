"""Every method that is installed fits a tiny easy problem as well as it should."""

import pytest

from benchmarks.versus.fit import judged
from benchmarks.versus.methods import METHODS
from benchmarks.versus.objective import Family

EASY = Family("random", 2, 5, 500)
PLANE = Family("hard_plane", 2, 6, 4_000)
NOISY = Family("random", 2, 5, 1_000, noise=0.1)
# sigma sqrt(P / N) with sigma = 0.1 sd(y), P = 17 unknowns: 0.013 of sd(y), which is less than the norm.
CASES = {
    "learn": (EASY, 1e-12),
    "paper.netlearn": (PLANE, 0.25),
    "paper.multi_stage": (PLANE, 0.25),
    "Adam, width k": (EASY, 1e-3),
    "Adam, width 4k": (EASY, 1e-2),
    "Adam, then L-BFGS": (EASY, 1e-7),
    "variable projection": (EASY, 1e-6),
    "least_squares": (EASY, 1e-10),
    "MLPRegressor": (EASY, 1e-2),
    "pyscnn": (EASY, 0.3),
    "xrfm": (EASY, 0.3),
    "least squares from the truth": (NOISY, 0.03),
}


FEWER = {
    "adam.STEPS": 800,
    "adam.RESTARTS": 2,
    "adam.RESTARTS_BEFORE_FINISH": {1: 2},
    "convex.SETTINGS": ((50, 1e-5),),
    "feature_machine.BANDWIDTHS": (10.0,),
    "mlp_regressor.SETTINGS": ((4, "adam"), (4, "lbfgs")),
    "mlp_regressor.EPOCHS": 100,
}
"""On a tiny problem less is enough."""


def fitted(method, family, monkeypatch):
    if method.missing:
        pytest.skip(f"not installed: {', '.join(method.missing)}")
    for name, value in FEWER.items():
        if f".{name}".startswith(f"{method.module}."):
            monkeypatch.setattr(f"benchmarks.versus.rivals.{name}", value)
    return judged(family.problem(0), method, 60.0)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.finds == "network"])
def test_a_method_finds_an_easy_network(name, monkeypatch):
    family, most = CASES[name]
    line = fitted(METHODS[name], family, monkeypatch)
    assert line["failure"] is None
    assert line["error"] <= most


@pytest.mark.parametrize(("name", "most"), [("SIR", 1.0), ("SAVE", 0.2), ("PHD", 0.2)])
def test_a_method_finds_the_plane_or_cannot(name, most, monkeypatch):
    line = fitted(METHODS[name], PLANE, monkeypatch)
    assert line["sine"] <= most
    assert line["error"] is None


def test_the_gradient_of_variable_projection_is_that_of_its_value():
    import numpy as np
    from scipy.optimize import check_grad

    from benchmarks.versus.rivals.variable_projection import Projected

    problem = Family("random", 2, 3, 400).problem(0)
    projected = Projected(problem.X, problem.y)
    at = np.random.default_rng(0).standard_normal(6)
    slope = np.linalg.norm(projected.value(at)[1])
    assert check_grad(lambda p: projected.value(p)[0], lambda p: projected.value(p)[1], at) < 1e-5 * slope


def test_least_squares_refuses_what_it_could_not_decompose():
    line = judged(Family("random", 50, 100, 2_000).problem(0), METHODS["least_squares"], 1.0)
    assert line["failure"] == "too large: a Jacobian of 2,000 rows and 5,151 columns"
