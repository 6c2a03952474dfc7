"""Random small problems end to end through the public names, in one process; 2,000 of them in `make soak`.

Nothing is raised but what is documented, memory does not grow, and no status contradicts the error, which is measured:
in closed form on standard rows, on fresh rows elsewhere.
"""

import gc
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from netlearn import LearnResult, NetLearnRegressor, ShallowNetwork, Status, learn, teachers
from netlearn.errors import InputError
from tests import statistics

FAILURE_PROB = 0.05
MOST_GROWTH = 50 * 2**20
N_FRESH = 20_000
# Roundings of labels of each kind that a recovered network may be off, in units of their spread.
TOLERANCE = {np.float64: 1e-6, np.float32: 1e-4}


# Rows as functions of normal ones.
INPUTS = {
    "standard": lambda z: z,
    "correlated": lambda z: z @ np.triu(np.ones((z.shape[1], z.shape[1]))) + 3.0,
    "exponential": lambda z: z**2 - 1.0,
    "signs": lambda z: np.sign(z) + 0.01 * z,
    "heavy tails": lambda z: np.sinh(1.5 * z),
}


@dataclass(frozen=True)
class Problem:
    """Rows and labels, what made them, and what is asked of `learn`."""

    X: np.ndarray
    y: np.ndarray
    target: ShallowNetwork
    inputs: str
    noise: float
    options: dict

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> "Problem":
        d, k = int(rng.integers(1, 7)), int(rng.integers(0, 4))
        target = drawn_target(d, k, rng)
        inputs = str(rng.choice(list(INPUTS)))
        n = int(rng.choice([rng.integers(2, 30), rng.integers(30, 200), rng.integers(200, 1000)]))
        X = INPUTS[inputs](rng.standard_normal((n, d)))
        X = X.astype(rng.choice([np.float64, np.float64, np.float32]))
        clean = target(X.astype(np.float64))
        noise = float(rng.choice([0.0, 0.0, 1e-3, 0.1, 1.0])) * float(np.std(clean))
        y = clean + noise * rng.standard_normal(clean.shape)
        y = y.astype(rng.choice([np.float64, np.float64, np.float32]))
        options = {
            "n_hidden": "auto" if rng.uniform() < 0.25 else k,
            "biases": "auto" if rng.uniform() < 0.7 else True,
            "epsilon": None
            if rng.uniform() < 0.5
            else float(rng.choice([0.1, 1.0, 3.0]) * (np.std(y) + 0.1)),
            "failure_prob": FAILURE_PROB,
            "sample_weight": None if rng.uniform() < 0.8 else rng.integers(1, 4, n).astype(float),
        }
        return cls(X, y, target, inputs, noise, options)

    @property
    def size(self) -> float:
        """Spread of the labels, squares summed over outputs."""
        return float(np.linalg.norm(np.std(self.y.astype(float), axis=0)))

    def error(self, network: ShallowNetwork, rng: np.random.Generator) -> float:
        """Return the root mean square error of the network itself, squares summed over outputs."""
        if self.inputs == "standard":
            return network.distance(self.target)
        fresh = INPUTS[self.inputs](rng.standard_normal((N_FRESH, self.X.shape[1])))
        return float(np.sqrt(np.mean((network(fresh) - self.target(fresh)) ** 2) * network.n_outputs))

    def share_beyond(self, result: LearnResult, rng: np.random.Generator) -> float:
        """Return the share of new rows with an error above the certificate's tolerance."""
        fresh = (
            INPUTS[self.inputs](rng.standard_normal((N_FRESH, self.X.shape[1])))
            .astype(self.X.dtype)
            .astype(float)
        )
        labels = self.target(fresh)
        labels = (labels + self.noise * rng.standard_normal(labels.shape)).astype(self.y.dtype).astype(float)
        errors = (labels - result.network(fresh)).reshape(N_FRESH, -1)
        return float(np.mean(np.linalg.norm(errors, axis=1) > result.certificate.tolerance))

    @property
    def shows_all_units(self) -> bool:
        """Whether each unit of the target bends, and bends apart from each other one, on as many rows as it must.

        That is on as many as it has parameters, and three more where it is by itself.
        """
        d, k = self.X.shape[1], self.target.n_hidden
        positive = self.X.astype(float) @ self.target.units.T + self.target.biases > 0
        alone = [side.sum() for side in positive.T]
        pairs = [np.sum(positive[:, i] != positive[:, j]) for i in range(k) for j in range(i)]
        n = len(positive)
        return all(min(m, n - m) >= d + 4 for m in alone) and all(min(m, n - m) > d for m in pairs)


def drawn_target(d, k, rng):
    if k == 0 or d == 1:
        lam = rng.standard_normal(k)
        return ShallowNetwork(
            rng.standard_normal(d), lam, rng.standard_normal((k, d)), rng.standard_normal(k)
        )
    if rng.uniform() < 0.15:
        return ShallowNetwork(
            rng.standard_normal((2, d)),
            rng.standard_normal((k, 2)),
            rng.standard_normal((k, d)),
            rng.standard_normal(k) / 2,
            rng.standard_normal(2),
        )
    family = str(rng.choice(["random", "positive", "orthonormal", "clustered", "hard_plane"]))
    if family in ("random", "positive") and rng.uniform() < 0.5:
        return getattr(teachers, family)(k, d, rng, biases=0.7)
    return getattr(teachers, family)(min(k, d) if family == "orthonormal" else k, d, rng)


def solved(problem: Problem, seed: int) -> LearnResult:
    """Learn by one of the two doors; rows stay as they are."""
    rows, labels = problem.X.copy(), problem.y.copy()
    if seed % 5:
        result = learn(problem.X, problem.y, rng=seed, **problem.options)
    else:
        options = {name: value for name, value in problem.options.items() if name != "sample_weight"}
        model = NetLearnRegressor(random_state=seed, **options)
        model.fit(problem.X, problem.y, sample_weight=problem.options["sample_weight"])
        result = model.result_
        np.testing.assert_array_equal(
            model.predict(problem.X), result.network(problem.X.astype(float)), strict=False
        )
    assert np.array_equal(problem.X, rows)
    assert np.array_equal(problem.y, labels)
    return result


def check_form(result: LearnResult, problem: Problem, path: Path) -> None:
    """All that can be said of a result without the truth."""
    network, asked = result.network, problem.options["n_hidden"]
    assert asked == "auto" or network.n_hidden <= max(asked, 8 * (len(problem.y) < 1000))
    assert result.success == (result.status in (Status.CERTIFIED, Status.RECOVERED))
    assert result.status is not Status.OUT_OF_TIME
    predictions = network(problem.X.astype(float))
    assert predictions.shape == problem.y.shape
    assert np.all(np.isfinite(predictions))
    bound, said = result.certificate.error_bound, result.certificate
    assert bound > 0
    assert 0 <= said.empirical_error <= said.tolerance * (1 + 1e-12)
    assert 0 < said.share < 1
    if result.status is Status.RECOVERED:
        assert said.share <= 0.05
    if result.status is Status.CERTIFIED:
        assert bound <= problem.options["epsilon"]
    assert result.subspace.shape[0] == problem.X.shape[1]
    assert result.summary().startswith(f"status       {result.status.name}")
    result.save(path)
    again = LearnResult.load(path)
    assert again.network == network == ShallowNetwork.load(path)
    assert (again.status, again.certificate) == (result.status, result.certificate)


def resident() -> int:
    """Return the bytes that the process holds in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return 4096 * pages


def soak(n_problems: int, folder: Path, warm_up: int) -> Counter:
    """Go through the problems; return how often each status came, and how often a claim was wrong."""
    seen, before = Counter(), None
    for seed in range(n_problems):
        if seed == warm_up:
            before = resident()
        rng = np.random.default_rng(seed)
        problem = Problem.drawn(rng)
        if len(problem.y) < 4:
            with pytest.raises(InputError, match=f"{len(problem.y)} rows|minimum of 4"):
                solved(problem, seed)
            seen["refused"] += 1
            continue
        try:
            result = solved(problem, seed)
            check_form(result, problem, folder / "result.safetensors")
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        seen[result.status.name] += 1
        own = problem.error(result.network, rng)
        rounding = TOLERANCE[problem.y.dtype.type] * max(problem.size, 1e-3)
        error = np.hypot(own, problem.noise * np.sqrt(result.network.n_outputs))
        seen["shares"] += 1
        seen["broken"] += problem.share_beyond(result, rng) > result.certificate.share
        if result.status is Status.CERTIFIED and error > problem.options["epsilon"]:
            seen["certified beyond epsilon"] += 1
        if result.status is Status.RECOVERED and own > rounding:
            assert not problem.shows_all_units, f"seed {seed}: recovered with error {own / problem.size:.2g}"
            seen["recovered but for units that no rows show"] += 1
    if before is not None:
        seen["grown by MB"] = round((resident() - before) / 2**20)
        assert resident() - before < MOST_GROWTH
    return seen


def check(seen: Counter) -> None:
    assert seen["broken"] <= statistics.binomial_range(seen["shares"], FAILURE_PROB)[1]
    claims = seen[Status.CERTIFIED.name]
    assert seen["certified beyond epsilon"] <= statistics.binomial_range(max(claims, 1), FAILURE_PROB)[1]


def test_40_problems(tmp_path):
    seen = soak(40, tmp_path, warm_up=10)
    check(seen)
    assert seen["RECOVERED"] > 3
    assert seen["NOISE_LIMITED"] > 3


@pytest.mark.soak
def test_2000_problems(tmp_path, capsys):
    seen = soak(2000, tmp_path, warm_up=200)
    with capsys.disabled():
        print(dict(seen))
    check(seen)
