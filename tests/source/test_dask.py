"""Rows in Dask: the same rows and the same network as from arrays, whatever the partitions and whoever dies."""

import os
import pickle
import signal
import subprocess
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from netlearn import FileSource, learn, learning, pipeline, teachers
from netlearn.errors import InputError
from netlearn.fit import stream as fit_stream
from netlearn.source import checkpoint as checkpoint_module
from netlearn.source import dask as dask_module
from netlearn.source import samples as samples_module
from netlearn.source.dask import DaskSource
from tests.fit.several import network

K, D, N = 3, 6, 24_000
TARGET = teachers.random(K, D, 0)


def planted(n=N, noise=0.2):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, D))
    return X, TARGET(X) + noise * rng.standard_normal(n)


def with_second(y):
    """Labels and, beside them, their half taken off one: a second output of the same units."""
    return np.column_stack([y, 1.0 - 0.5 * y])


def arrays(X, y, rows, y_rows=None):
    """Dask arrays with chunks of these many rows."""
    return da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=y_rows or (rows, -1)[: y.ndim])


def frames(X, y, n_partitions, **dtypes):
    labels = ["price", "rent"][: y.ndim]
    table = pd.DataFrame(np.column_stack([X, y]), columns=[*"abcdef", *labels]).astype(dtypes)
    frame = dd.from_pandas(table, npartitions=n_partitions)
    return frame[[*"abcdef"]], frame["price"] if y.ndim == 1 else frame[labels]


@pytest.fixture(autouse=True)
def little_is_held(monkeypatch):
    monkeypatch.setattr(learning, "LARGE_FILE", 2**14)
    monkeypatch.setattr(pipeline, "SMALLEST_PILOT", 2000)


@pytest.fixture
def cluster():
    """Two workers in processes of their own, and the client that tasks go to."""
    quiet = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}, "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as made, Client(made):
        yield made


# Columns that a pass says it computes: partitions are then gone through in many blocks.
WIDE = 1000


def rows_of(source, start=0, marked=()):
    """All rows from `start` on as a pass sees them, and which of them are marked."""
    stretches = source.over_rows(_as_list, np.array(marked, dtype=int), WIDE, start)
    X, y, here = zip(*(block for stretch in stretches for block in stretch), strict=True)
    return np.vstack(X), np.concatenate(y), np.concatenate(here)


def _as_list(X, y, here):
    marks = np.zeros(len(y), dtype=bool)
    marks[here] = True
    return [(X, y, marks)]


UNEVEN = (1, 6999, 0, 8000, 8999, 1)


@pytest.mark.parametrize(
    "collected",
    [
        pytest.param(lambda X, y: arrays(X, y, 5000), id="arrays"),
        pytest.param(lambda X, y: arrays(X, y, UNEVEN), id="uneven, one partition empty"),
        pytest.param(lambda X, y: arrays(X, y, 5000, 7001), id="labels in other partitions"),
        pytest.param(lambda X, y: arrays(X, y[:, None], 5000, (5000, 1)), id="labels in a column"),
        pytest.param(lambda X, y: (da.from_array(X, chunks=(5000, 2)), arrays(X, y, 7000)[1]), id="columns"),
        pytest.param(lambda X, y: [a[y > -1e9] for a in arrays(X, y, 5000)], id="arrays of unknown sizes"),
        pytest.param(lambda X, y: frames(X, y, 7), id="frames"),
        pytest.param(
            lambda X, y: [part.clear_divisions() for part in frames(X, y, 7)], id="frames without divisions"
        ),
        pytest.param(lambda X, y: frames(X, y, 7, a="Float64", price="float64[pyarrow]"), id="nullable"),
        pytest.param(
            lambda X, y: [dd.concat([part.loc[-5:-1], part]) for part in frames(X, y, 7)],
            id="frames, first partition empty",
        ),
        pytest.param(
            lambda X, y: (frames(X, y, 7)[0], frames(X, y, 7)[1].to_frame()), id="a frame of labels"
        ),
    ],
)
def test_every_pass_sees_all_rows_in_order(collected):
    X, y = planted()
    check_passes(DaskSource.from_collections(*collected(X, y)), X, y)


@pytest.mark.parametrize(
    "collected",
    [
        pytest.param(lambda X, y: arrays(X, y, 5000), id="arrays"),
        pytest.param(lambda X, y: arrays(X, y, 5000, (7001, 1)), id="labels in other partitions"),
        pytest.param(
            lambda X, y: [a[X[:, 0] > -1e9] for a in arrays(X, y, 5000)], id="arrays of unknown sizes"
        ),
        pytest.param(lambda X, y: frames(X, y, 7), id="frames"),
        pytest.param(lambda X, y: frames(X, y, 7, a="Float64", rent="float64[pyarrow]"), id="nullable"),
    ],
)
def test_every_pass_sees_all_outputs(collected):
    X, y = planted()
    check_passes(DaskSource.from_collections(*collected(X, with_second(y))), X, with_second(y))


def check_passes(source, X, y):
    assert (source.n_rows, source.n_features) == X.shape
    marked = np.sort(np.random.default_rng(0).choice(N, 500, replace=False))
    for start in (0, 1, 7000, 12_345, N - 1):
        seen = rows_of(source, start, marked)
        np.testing.assert_array_equal(seen[0], X[start:])
        np.testing.assert_array_equal(seen[1], y[start:])
        np.testing.assert_array_equal(np.flatnonzero(seen[2]) + start, marked[marked >= start])


def test_a_pass_gives_one_sum_for_each_partition():
    X, y = planted()
    source = DaskSource.from_collections(*arrays(X, y, 5000))
    sums = list(source.over_rows(lambda X, y, here: float(y.sum()), np.zeros(0, dtype=int), WIDE))
    np.testing.assert_allclose(sums, [y[i : i + 5000].sum() for i in range(0, N, 5000)], rtol=1e-12)


def test_exact_labels_give_the_network_that_arrays_give():
    X, y = planted(noise=0.0)
    held = learn(X, y, n_hidden=K, rng=0)
    streamed = learn(*arrays(X, y, UNEVEN), n_hidden=K, rng=0)
    assert streamed.status is held.status
    assert streamed.diagnostics.rows["fit"] == N - streamed.diagnostics.rows["certify"]
    assert streamed.diagnostics.rows["train"] < N / 8
    assert streamed.network.distance(held.network) <= 1e-8 * held.network.norm()


def test_exact_labels_of_several_outputs_give_the_network_that_arrays_give():
    X, _ = planted()
    target = network(K, D, 3, 0)
    held = learn(X, target(X), n_hidden=K, rng=0)
    streamed = learn(*arrays(X, target(X), UNEVEN), n_hidden=K, rng=0)
    assert streamed.status is held.status
    assert streamed.diagnostics.rows["train"] < N / 8
    assert streamed.network.coefficients.shape == (K, 3)
    assert streamed.network.distance(held.network) <= 1e-8 * held.network.norm()
    assert streamed.network.distance(target) <= 1e-8 * target.norm()
    assert len(streamed.certificate.per_output) == 3


def test_noisy_labels_give_the_network_that_a_file_gives(tmp_path):
    X, y = planted()
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    expected = learn(FileSource(tmp_path / "rows.npy"), n_hidden=K, rng=0).network
    found = learn(*arrays(X, y, 5000), n_hidden=K, rng=0).network
    assert found.distance(expected) <= 1e-10 * expected.norm()
    # All rows were fitted, not the few that are held: these would be off by three times as much.
    assert found.distance(TARGET) < 2 * 0.2 * np.sqrt((K + 1) * D / N)


def test_rows_that_could_all_be_held_and_inputs_that_are_whitened():
    X, y = planted(1000, noise=0.0)
    result = learn(*arrays(3.0 + 2.0 * X, y, 300), n_hidden=K, rng=0)
    rows = result.diagnostics.rows
    assert rows["train"] + rows["judge"] + rows["certify"] == 1000
    assert result.status.name == "RECOVERED"
    np.testing.assert_allclose(result.network(3.0 + 2.0 * X), y, atol=1e-9)


def test_names_of_columns_reach_the_result():
    X, y = planted(2000)
    result = learn(*frames(X, y, 3), n_hidden=1, rng=0)
    assert (result.names, result.target) == (tuple("abcdef"), "price")
    several = learn(*frames(X, with_second(y), 3), n_hidden=1, rng=0)
    assert (several.names, several.target) == (tuple("abcdef"), ("price", "rent"))
    one = DaskSource.from_collections(frames(X, y, 3)[0], frames(X, y, 3)[1].to_frame())
    assert one.target == "price"


def spoiled(place, value, what="X"):
    X, y = planted(5000)
    if what == "second":
        y = with_second(y)
    (X if what == "X" else y)[place] = value
    return X, y


@pytest.mark.parametrize(
    ("collected", "words"),
    [
        (lambda: arrays(*spoiled((3017, 2), np.nan), 1000), ["X", "NaN", "column 2, row 17 of partition 3"]),
        (lambda: arrays(*spoiled(3017, -np.inf, "y"), 1000), ["y", "infinity", "row 17 of partition 3"]),
        (
            lambda: arrays(*spoiled((3017, 1), np.nan, "second"), 1000),
            ["y must be finite", "column 1, row 17 of partition 3"],
        ),
        (
            lambda: frames(*spoiled((3017, 1), np.nan, "second"), 5),
            ["y must be finite", 'column "rent", row 17 of partition 3'],
        ),
        (lambda: frames(*spoiled((3017, 2), np.nan), 5), ["X", 'column "c", row 17 of partition 3']),
        (lambda: frames(*spoiled((3017, 2), np.nan), 5, c="Float64"), ['column "c", row 17 of partition 3']),
        (lambda: frames(*planted(50), 2, b="str"), ["X must hold numbers", 'column "b"']),
        (lambda: frames(*planted(50), 2, price="str"), ["y must hold numbers"]),
        (lambda: [a.astype(complex) for a in arrays(*planted(50), 20)], ["X", "complex128"]),
        (
            lambda: [a.map_blocks(lambda b: b.astype(object), dtype=float) for a in arrays(*planted(50), 20)],
            ["X must hold numbers", "object", "in partition"],
        ),
        (lambda: (arrays(*planted(50), 20)[0], arrays(*planted(49), 20)[1]), ["49 entries and 50 rows"]),
        (
            lambda: (frames(*planted(50), 3)[0], frames(*planted(50), 2)[1]),
            ["same partitions", "3 and 2 of them"],
        ),
        (
            lambda: (frames(*planted(50), 2)[0], frames(*planted(48), 2)[1]),
            ["as many rows", "25 and 24 in partition"],
        ),
        (lambda: (arrays(*planted(50), 20)[0], np.zeros(50)), ['"y" of learn', "ndarray"]),
        (lambda: (arrays(*planted(50), 20)[0], None), ['"y" of learn', "NoneType"]),
        (
            lambda: (arrays(*planted(50), 20)[0], arrays(*planted(50), 20)[0][:, :0]),
            ["y must have shape (n,) or (n, m)", "(50, 0)"],
        ),
        (
            lambda: (arrays(*planted(50), 20)[0], arrays(*planted(50), 20)[0][:, :, None]),
            ["y must have shape (n,) or (n, m)", "(50, 6, 1)"],
        ),
        (lambda: (arrays(*planted(50), 20)[1],) * 2, ["X must have shape (n, d)"]),
        (lambda: (dask.delayed(planted)(), dask.delayed(planted)()), ["X must be a Dask array", "Delayed"]),
        (lambda: arrays(*planted(3), 2), ["X has 3 rows"]),
        (
            lambda: (DaskSource.from_collections(*arrays(*planted(50), 20)), np.zeros(50)),
            ["left out", "DaskSource"],
        ),
    ],
)
def test_what_cannot_be_learned_from_is_told_in_one_sentence(collected, words):
    with pytest.raises(InputError) as refused:
        learn(*collected(), n_hidden=1, rng=0)
    for word in words:
        assert word in str(refused.value)
    assert str(refused.value).count(". ") == 0


def test_weights_are_for_arrays():
    with pytest.raises(InputError, match="sample_weight"):
        learn(*arrays(*planted(50), 20), sample_weight=np.ones(50))


def test_large_numbers_whose_sum_overflows_are_finite():
    X, y = planted(50)
    X[:, 0] = 1e308
    np.testing.assert_array_equal(rows_of(DaskSource.from_collections(*arrays(X, y, 20)))[0], X)


class Cut(BaseException):
    """Raised where a run is to be cut off; nothing in the package catches it."""


@pytest.fixture
def one_by_one(monkeypatch):
    """Partitions are computed in this thread, and one ahead at most."""
    monkeypatch.setattr(dask.system, "CPU_COUNT", 1)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.usefixtures("one_by_one")
@pytest.mark.parametrize("cut_after", [2, 5, 9, 15])
def test_a_run_that_is_cut_off_goes_on_at_the_partition_it_was_at(tmp_path, monkeypatch, cut_after):
    monkeypatch.setattr(checkpoint_module, "_EVERY", 0.0)
    read = []

    def seen(block, block_info=None):
        read.append(block_info[0]["chunk-location"][0])
        return block

    X, y = arrays(*planted(), 4000)
    X = X.map_blocks(seen, dtype=float, token="seen")
    whole = learn(X, y, n_hidden=K, rng=0)
    assert sorted(read) == sorted(list(range(6)) * (len(read) // 6))
    n_whole, read[:] = len(read), []
    save, count = checkpoint_module.Checkpoint.save, [0]

    def cut(self, *args, **kwargs):
        save(self, *args, **kwargs)
        count[0] += 1
        if count[0] > cut_after:
            raise Cut

    monkeypatch.setattr(checkpoint_module.Checkpoint, "save", cut)
    with pytest.raises(Cut):
        learn(X, y, n_hidden=K, rng=0, checkpoint=tmp_path / "folder")
    monkeypatch.setattr(checkpoint_module.Checkpoint, "save", save)
    again = learn(X, y, n_hidden=K, rng=0, checkpoint=tmp_path / "folder")
    assert again.network.distance(whole.network) <= 1e-10 * whole.network.norm()
    assert len(read) <= n_whole + 2  # what was computed ahead of the cut
    with pytest.raises(InputError, match="other data"):
        learn(X, y + 1.0, n_hidden=K, rng=0, checkpoint=tmp_path / "folder")


@pytest.fixture
def parquet(tmp_path):
    """Files of 1, 7,999, 0 and 16,000 rows."""
    X, y = planted()
    table = pd.DataFrame(np.column_stack([X, y]), columns=[*"abcdef", "price"])
    for i, (first, last) in enumerate([(0, 1), (1, 8000), (8000, 8000), (8000, N)]):
        table[first:last].to_parquet(tmp_path / f"{i}.parquet", row_group_size=3000)
    return tmp_path


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy"])
def test_files_are_read_by_partitions(parquet, monkeypatch, kind):
    monkeypatch.setattr(dask_module, "_PARTITION_ENTRIES", 7 * 3000)
    X, y = planted()
    path = parquet if kind == "parquet" else parquet / f"rows.{kind}"
    if kind == "csv":
        table = pd.DataFrame(np.column_stack([X, y]), columns=[*"abcdef", "price"])
        table.to_csv(path, index=False, float_format="%.17g")
    elif kind == "npy":
        np.save(path, np.column_stack([X, y]))
    source = DaskSource.from_files(FileSource(path, target=6))
    assert source.n_rows == N
    assert len(source.partitions) > 1 or kind != "parquet"
    for start in (0, 7999, 8000, 12_345):
        seen = rows_of(source, start, [8000, 13_000])
        np.testing.assert_allclose(seen[0], X[start:], rtol=1e-15)
        np.testing.assert_allclose(seen[1], y[start:], rtol=1e-15)
        assert np.flatnonzero(seen[2]).tolist() == [row - start for row in (8000, 13_000) if row >= start]


def test_files_with_several_targets_are_read_by_partitions(parquet, monkeypatch):
    monkeypatch.setattr(dask_module, "_PARTITION_ENTRIES", 7 * 3000)
    X, y = planted()
    source = DaskSource.from_files(FileSource(parquet, target=["price", "f"]))
    assert (source.target, source.n_features, len(source.partitions) > 1) == (("price", "f"), D - 1, True)
    check_passes(source, X[:, :-1], np.column_stack([y, X[:, -1]]))


def test_workers_read_files_themselves_and_send_sums(cluster, parquet):
    table = FileSource(parquet, target="price")
    source = DaskSource.from_files(table)
    found = learn(source, n_hidden=K, rng=0)
    assert source.client is not None
    assert table.n_read == 0
    assert (found.names, found.target) == (tuple("abcdef"), "price")
    expected = learn(table, n_hidden=K, rng=0).network
    assert table.n_read == N
    assert found.network.distance(expected) <= 1e-10 * expected.norm()
    pd.DataFrame({**dict.fromkeys("abcdef", 1.0), "price": [1.0, np.nan]}).to_parquet(parquet / "4.parquet")
    with pytest.raises(InputError, match=r"column \"price\" has 1 missing value, in row 2 of .*4.parquet"):
        learn(DaskSource.from_files(FileSource(parquet, target="price")), n_hidden=K, rng=0)


def test_what_comes_to_the_client_does_not_grow_with_the_rows(cluster, monkeypatch):
    monkeypatch.setattr(samples_module, "_MOST", 200)
    received = []
    on_cluster = dask_module._on_cluster

    def counted(*args):
        for result in on_cluster(*args):
            received.append(len(pickle.dumps(result)))
            yield result

    monkeypatch.setattr(dask_module, "_on_cluster", counted)
    totals = []
    for n in (N, 8 * N):
        received.clear()
        X = da.random.default_rng(0).standard_normal((n, D), chunks=(n // 8, D))
        y = X.map_blocks(TARGET, drop_axis=1, dtype=float)
        assert learn(X, y, n_hidden=K, rng=0).status.name == "RECOVERED"
        assert len(received) == 8 * 2  # the rows that are held, and one pass
        totals.append(sum(received))
    held = 8 * (D + 1) * (2730 + 400)
    # Sums and wrapping: less than 100 numbers and 1000 bytes for each result, here 512 rows or fewer to a block.
    assert held < totals[0] < 8 * N * D
    assert totals[1] < 1.5 * totals[0]


def test_a_worker_that_is_killed_in_the_middle_of_a_pass_costs_nothing_but_time(cluster, monkeypatch):
    X, y = dask.persist(*arrays(*planted(), 400))  # what it holds is lost with it
    client = Client.current()
    undisturbed = learn(X, y, n_hidden=K, rng=0).network
    before = set(client.run(os.getpid).values())
    added = [0]
    add = fit_stream._Sums.__add__

    def killing(self, other):
        added[0] += 1
        if added[0] == 70:  # of 60 in each pass
            os.kill(min(before), signal.SIGKILL)
        return add(self, other)

    monkeypatch.setattr(fit_stream._Sums, "__add__", killing)
    found = learn(X, y, n_hidden=K, rng=0).network
    assert added[0] >= 120
    client.wait_for_workers(2, timeout=60)
    assert min(before) not in client.run(os.getpid).values()
    assert found.distance(undisturbed) <= 1e-10 * undisturbed.norm()


def test_a_partition_that_kills_its_workers_is_given_up(cluster):
    cluster.scheduler.allowed_failures = 0
    X, y = arrays(*planted(), 4000)

    def deadly(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    with pytest.raises(ConnectionError, match="1 workers died over it"):
        learn(X.map_blocks(deadly, dtype=float), y, n_hidden=K, rng=0)


def test_a_cluster_that_ends_in_the_middle_is_told_in_one_sentence(cluster, monkeypatch):
    add = fit_stream._Sums.__add__

    def ending(self, other):
        cluster.close()
        return add(self, other)

    monkeypatch.setattr(fit_stream._Sums, "__add__", ending)
    with pytest.raises(ConnectionError, match="cluster was lost"):
        learn(*arrays(*planted(), 400), n_hidden=K, rng=0)


def test_dask_is_imported_only_where_it_is_used():
    script = "import sys, netlearn.cli; from netlearn import learn; sys.exit('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
