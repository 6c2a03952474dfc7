"""What a user would write, for pyright and mypy to read: nothing here may be an error in an editor.

`make lint` checks the types, `tests/typing/test_user_script.py` runs it.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_score

from netlearn import (
    Certificate,
    FileSource,
    LearnResult,
    NetLearnRegressor,
    Oracle,
    Progress,
    ShallowNetwork,
    Status,
    learn,
    paper,
    teachers,
)


def rows(n: int = 600) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows of a network with two units."""
    network = teachers.random(2, 4, 0, biases=0.5)
    X = np.random.default_rng(1).standard_normal((n, 4))
    return X, network(X)


def from_arrays() -> LearnResult:
    """Learn, and look at everything that a result has."""
    X, y = rows()
    steps: list[str] = []

    def told(progress: Progress) -> None:
        steps.append(f"{progress.seconds:.1f} s: {progress.message}")

    result = learn(X, y, n_hidden=2, biases=True, epsilon=0.1, rng=0, progress=told, time_limit=600)
    network: ShallowNetwork = result.network
    certificate: Certificate = result.certificate
    print(result.status is Status.RECOVERED, result.success, result.message, len(steps))
    print(network.n_hidden, network.units.shape, network.biases + 1.0, network.norm())
    print(network.distance(teachers.random(2, 4, 0, biases=0.5)), network.sobol().total.sum())
    print(certificate.share, certificate.tolerance, certificate.error_bound, certificate.confidence)
    print(result.subspace.shape, result.r2, result.names, result.predict(X[:3]).mean())
    print(max(result.sensitivity().values()), result.diagnostics.seconds, result.summary())
    print(result.recheck(X + 0.5, network(X + 0.5)).empirical_error)
    return result


def by_default() -> LearnResult:
    """Leave the number of units and the biases to be found out."""
    X, y = rows()
    return learn(X, y, n_hidden="auto", biases="auto", rng=np.random.default_rng(0))


def from_a_frame() -> float:
    """Learn from columns by name."""
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["target"] = y
    result = learn(frame, "target", n_hidden=2, rng=0)
    return float(result.predict(frame.head(3))[0]) + result.sensitivity()["a"]


def from_a_path(folder: Path) -> ShallowNetwork:
    """Learn from a file, by its path and as a source, and keep what was learned."""
    X, y = rows()
    path = folder / "rows.csv"
    pd.DataFrame(np.column_stack([X, y]), columns=["a", "b", "c", "d", "y"]).to_csv(path, index=False)
    result = learn(path, "y", n_hidden=2, rng=0)
    again = learn(FileSource(path, target="y", drop="d"), n_hidden=2, rng=0)
    result.save(folder / "model.safetensors")
    again.network.save(str(folder / "network.safetensors"))
    print(LearnResult.load(folder / "model.safetensors").network.n_features)
    return ShallowNetwork.load(folder / "network.safetensors")


def as_an_estimator() -> NDArray[np.float64]:
    """Use it as any regressor of scikit-learn."""
    X, y = rows()
    model = NetLearnRegressor(n_hidden=4, biases=True, random_state=0).fit(X, y)
    scores = cross_val_score(NetLearnRegressor(n_hidden=2, random_state=0), X, y, cv=2)
    print(model.score(X, y), model.network_.n_hidden, model.certificate_.share, model.status_.name, scores)
    print(model.components_.shape, model.n_hidden_, model.result_.r2, model.transform(X).shape)
    return model.predict(X)


def from_a_black_box() -> int:
    """Ask a function for labels."""
    hidden = teachers.random(2, 4, 0)
    oracle = Oracle(hidden, n_features=4, budget=5_000)
    result = learn(oracle, n_hidden=2, rng=0)
    print(result.network.distance(hidden), Oracle(lambda X: np.abs(X[:, 0]), n_features=4).n_queries)
    return oracle.n_queries


def as_in_the_paper() -> bool:
    """Run Algorithm 1, which may Fail and then has no network."""
    target = teachers.positive(1, 2, 0)
    rng = np.random.default_rng(0)

    def sample(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        X = rng.standard_normal((n, 2))
        return X, target(X)

    result = paper.netlearn(sample, 2, k=1, epsilon=0.5, R=2.0, rng=rng)
    return result.has_network and result.network.n_hidden <= 1


def by_hand() -> ShallowNetwork:
    """Make a network of lists, and of ReLUs."""
    network = ShallowNetwork([0.0, 1.0], [2.0], [[1.0, 0.0]], biases=[0.5], intercept=1.0)
    relu = ShallowNetwork.from_relu([[1.0, 0.0]], [2.0])
    weights, output_weights, biases, intercept = network.to_relu()
    print(weights.shape, output_weights.shape, biases.shape, intercept)
    return 2.0 * network - relu
