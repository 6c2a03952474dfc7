"""Same rows, same seed: the same network, to the last bit in two runs, and to 1e-9 however the work is cut up."""

import os
import subprocess
import sys

import numpy as np
import pytest

from netlearn import (
    FileSource,
    NetLearnRegressor,
    Oracle,
    ShallowNetwork,
    Status,
    learn,
    learning,
    pipeline,
    teachers,
)
from netlearn.paper import Schedule, netlearn
from tests import grains

NETWORK = teachers.random(3, 6, 0, biases=0.5)
X = np.random.default_rng(1).standard_normal((6000, 6))
NOISE = np.random.default_rng(2).standard_normal(6000)
# Rows of other kinds than N(0, I), and labels that leave something to choose.
PROBLEMS = {
    "exact": (X, NETWORK(X), {"n_hidden": 3}),
    "noisy": (X, NETWORK(X) + 0.1 * NOISE, {"n_hidden": 3}),
    "auto, whitened": (X[:2000] @ np.triu(np.ones((6, 6))) + 2.0, NETWORK(X[:2000]), {}),
    "two outputs": (X, np.column_stack([NETWORK(X), X[:, 0] - NETWORK(X)]), {"n_hidden": 3}),
    "few rows": (X[:40], NETWORK(X[:40]) + 0.1 * NOISE[:40], {"n_hidden": 3}),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_two_runs_are_equal_to_the_last_bit(problem):
    rows, labels, options = PROBLEMS[problem]
    first, second = (learn(rows, labels, rng=5, **options) for _ in range(2))
    assert first.network == second.network
    assert first.certificate == second.certificate
    assert (first.status, first.diagnostics.notes) == (second.status, second.diagnostics.notes)
    # Negative control: another seed divides the rows otherwise.
    assert learn(rows, labels, rng=6, **options).network != first.network


def test_two_runs_of_the_other_learners_are_equal_to_the_last_bit():
    def asked():
        return learn(Oracle(NETWORK, n_features=6), n_hidden=3, rng=0).network

    def fitted():
        return NetLearnRegressor(n_hidden=3, random_state=0).fit(X, NETWORK(X) + 0.1 * NOISE).network_

    def printed():
        rng = np.random.default_rng(0)
        target = teachers.random(1, 3, rng)

        def sample(n):
            rows = rng.standard_normal((n, 3))
            return rows, target(rows)

        schedule = Schedule.practical(3, 1, 0.3, 2.0, n_rows=20_000)
        return netlearn(sample, 3, 1, 0.3, 2.0, schedule=schedule, rng=rng).network

    for learner in (asked, fitted, printed):
        assert learner() == learner()


@pytest.mark.parametrize("block_entries", [2**12, 2**15])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_blocks_of_other_sizes_change_the_last_digits_only(problem, block_entries, monkeypatch):
    rows, labels, options = PROBLEMS[problem]
    reference = learn(rows, labels, rng=5, **options)
    grains.cut(monkeypatch, block_entries=block_entries, least_rows=64)
    result = learn(rows, labels, rng=5, **options)
    assert result.status is reference.status
    assert result.network.distance(reference.network) <= 1e-9 * NETWORK.norm()


@pytest.mark.parametrize("streamed", [False, True], ids=["held", "streamed"])
def test_files_in_blocks_of_other_sizes_give_the_network_of_the_arrays(streamed, tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", np.column_stack([X, NETWORK(X)]))
    if streamed:
        monkeypatch.setattr(learning, "LARGE_FILE", 2**13)
        monkeypatch.setattr(pipeline, "SMALLEST_PILOT", 1000)
    reference = learn(X, NETWORK(X), n_hidden=3, rng=5)
    for block_entries in (2**12, 2**16):
        grains.cut(monkeypatch, block_entries=block_entries)
        result = learn(FileSource(tmp_path / "rows.npy"), n_hidden=3, rng=5)
        assert result.status is reference.status is Status.RECOVERED
        assert result.network.distance(reference.network) <= 1e-9 * NETWORK.norm()


PROGRAM = """
import sys
import numpy as np
from netlearn import learn
rows = np.load(sys.argv[1])
learn(rows["X"], rows["y"], n_hidden=3, rng=5).network.save(sys.argv[2])
"""


@pytest.mark.parametrize("noise", [0.0, 0.1], ids=["exact", "noisy"])
def test_one_thread_and_two_give_one_network(noise, tmp_path):
    np.savez(tmp_path / "rows.npz", X=X, y=NETWORK(X) + noise * NOISE)
    found = []
    for n_threads in (1, 2):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, str(n_threads))
        path = tmp_path / f"{n_threads}.safetensors"
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / "rows.npz"), str(path)]
        subprocess.run(command, check=True, env=environment)
        found.append(ShallowNetwork.load(path))
    assert found[0].distance(found[1]) <= 1e-9 * NETWORK.norm()
