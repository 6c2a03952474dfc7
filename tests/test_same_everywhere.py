"""One data set, wherever it is kept: NumPy, torch, files of each kind, held or streamed, and Dask give one network."""

import numpy as np
import pytest

from netlearn import FileSource, Status, learn, learning, pipeline, teachers

N_ROWS = 12_000
NETWORK = teachers.random(4, 9, 0, biases=0.5)
X = np.random.default_rng(1).standard_normal((N_ROWS, 9))
Y = NETWORK(X)
NAMES = [f"x{i}" for i in range(9)]


def from_torch(folder):
    torch = pytest.importorskip("torch")
    return torch.from_numpy(X), torch.from_numpy(Y)


def from_npy(folder):
    np.save(folder / "rows.npy", np.column_stack([X, Y]))
    return (FileSource(folder / "rows.npy"),)


def from_parquet(folder):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for part in range(3):
        rows = slice(part * N_ROWS // 3, (part + 1) * N_ROWS // 3)
        columns = dict(zip(NAMES, X[rows].T, strict=True)) | {"y": Y[rows]}
        parquet.write_table(pyarrow.table(columns), folder / f"{part}.parquet", row_group_size=1000)
    return (FileSource(folder, target="y"),)


def from_dask(folder):
    array = pytest.importorskip("dask.array")
    return array.from_array(X, chunks=(1700, 9)), array.from_array(Y, chunks=1700)


@pytest.fixture(scope="module")
def reference():
    return learn(X, Y, n_hidden=4, rng=0)


@pytest.mark.parametrize("streamed", [False, True], ids=["held", "streamed"])
@pytest.mark.parametrize("rows", [from_torch, from_npy, from_parquet, from_dask])
def test_the_network_does_not_depend_on_where_rows_are(rows, streamed, reference, tmp_path, monkeypatch):
    if streamed:
        monkeypatch.setattr(learning, "LARGE_FILE", 2**14)
        monkeypatch.setattr(pipeline, "SMALLEST_PILOT", 2000)
    result = learn(*rows(tmp_path), n_hidden=4, rng=0)
    assert result.status is reference.status is Status.RECOVERED
    assert result.network.distance(reference.network) < 1e-8 * NETWORK.norm()
    assert result.network.distance(NETWORK) < 1e-10 * NETWORK.norm()
    # A quarter of the rows is held out; of a stream, which Dask always is, a hundredth.
    is_stream = "fit" in result.diagnostics.rows
    assert is_stream == (rows is from_dask or (streamed and rows is not from_torch))
    assert reference.certificate.n_val == N_ROWS // 4
    assert result.certificate.n_val == N_ROWS // (100 if is_stream else 4)
    assert result.certificate.share == pytest.approx(1 - 0.01 ** (1 / result.certificate.n_val))
