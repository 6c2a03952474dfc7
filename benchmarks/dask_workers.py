"""One Dask worker against two, each a process with one thread, where computing is what costs.

python -m benchmarks.dask_workers                          # seconds of a pass and of a whole fit, and their ratios
python -m benchmarks.dask_workers --rows 600000 --repeats 5

Rows are drawn inside the partitions, so that nothing is shipped. The two clusters take turns, so that both meet the
same neighbours on the machine, and the best time of each counts. Where others keep its cores busy, only the processor
time of the busiest worker tells how well the work is shared.
"""

import argparse
import logging
import os
import time

os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is loaded: the client, too, computes on one core

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from netlearn import learn, teachers
from netlearn.fit import Params, Problem
from netlearn.fit.stream import finish_on_stream
from netlearn.source import ArraySource
from netlearn.source.dask import DaskSource
from netlearn.source.stream import Streamed

K, D, PARTITION = 20, 100, 50_000


def planted(n, noise=0.0):
    target, rng = teachers.random(K, D, 0), da.random.default_rng(0)
    X = rng.standard_normal((n, D), chunks=(PARTITION, D))
    y = X.map_blocks(target, drop_axis=1, dtype=float)
    if noise:
        y = y + noise * target.variance() ** 0.5 * rng.standard_normal(n, chunks=PARTITION)
    return target, X, y


def one_pass(n, noise, client):
    """At the target, where all labels are met, the last fit needs a single pass."""
    target, X, y = planted(n)
    held = ArraySource(np.zeros((1, D)), np.zeros(1))
    rows = Streamed(DaskSource.from_collections(X, y, client), np.zeros(0, dtype=int), held)
    fit = finish_on_stream(Problem(held, True), rows, Params.from_network(target))
    assert fit.loss < 1e-25


def whole_fit(n, noise, client):
    # The search on the rows that are held is the client's alone.
    target, X, y = planted(n, noise)
    result = learn(DaskSource.from_collections(X, y, client), n_hidden=K, rng=0)
    # A tenth more than least squares would leave, started at the truth.
    allowed = 1.1 * noise * (target.variance() * (K + 1) * D / n) ** 0.5
    assert result.network.distance(target) < max(1e-8 * target.norm(), allowed)


def seconds(measured, n, noise, client):
    """Return the time it takes, and the processor time of the worker that has most of it."""
    before, start = client.run(time.process_time), time.perf_counter()
    measured(n, noise, client)
    wall, after = time.perf_counter() - start, client.run(time.process_time)
    return wall, max(after[worker] - before[worker] for worker in before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--noise", type=float, default=0.0, help="of the whole fit, in units of the spread")
    asked = parser.parse_args()
    shape = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=1, **shape) as one, LocalCluster(n_workers=2, **shape) as two:
        clients = Client(one), Client(two)
        for client in clients:
            # Linux divides a busy machine by sessions first: in one of its own, each worker counts for itself.
            client.run(os.setsid)
            one_pass(2 * PARTITION, 0.0, client)  # imports and first calls
        for measured in (one_pass, whole_fit):
            turns = [
                [seconds(measured, asked.rows, asked.noise, client) for client in clients]
                for _ in range(asked.repeats)
            ]
            alone, both = np.min(turns, axis=0)
            name = measured.__name__.replace("_", " ")
            print(
                f"{name}: {alone[0]:.1f} s with one worker, {both[0]:.1f} s with two: {alone[0] / both[0]:.2f}"
            )
            print(
                f"  of the busiest worker: {alone[1]:.1f} s and {both[1]:.1f} s: {alone[1] / both[1]:.2f}",
                flush=True,
            )
        for client in clients:
            client.close()


if __name__ == "__main__":
    main()
