"""Rows too many to hold: which are held, which are read, and that none of the certificate's is among either."""

import numpy as np
import pytest

from netlearn import FileSource, learn, teachers
from netlearn import corridor as corridor_module
from netlearn.source import ArraySource
from netlearn.source.samples import hold
from netlearn.source.stream import Streamed, gathered


def numbered(n, d=3):
    return ArraySource(np.tile(np.arange(float(n))[:, None], (1, d)), np.arange(float(n)))


def test_gathered_rows_come_in_the_order_of_their_index():
    index = np.random.default_rng(0).permutation(5000)
    first, second = gathered(numbered(5000), [index[:70], index[70:1000]])
    np.testing.assert_array_equal(first.y, index[:70])
    np.testing.assert_array_equal(second.X[:, 1], index[70:1000])


@pytest.mark.parametrize("apart", [[], [0], [4999], [0, 1, 2, 600, 4000, 4999], list(range(512))])
def test_rows_set_aside_are_left_out_in_every_pass(apart):
    source = numbered(5000)
    rows = Streamed(source, np.array(apart, dtype=int), source.head(10))
    expected = np.delete(np.arange(5000.0), apart)
    assert rows.n_rows == len(expected)
    for _ in range(2):
        blocks = list(rows.blocks())
        np.testing.assert_array_equal(np.concatenate([y for _, y in blocks]), expected)
        np.testing.assert_array_equal(np.concatenate([X[:, 0] for X, _ in blocks]), expected)


def test_a_stream_is_divided_into_rows_that_hold_judge_and_certify():
    samples = hold(numbered(30_000), 5000, np.random.default_rng(0))
    assert (samples.n_train, samples.n_judge, len(samples.y_val)) == (5000, 1500, 600)
    held = samples.rows.in_memory().y
    read = np.concatenate([y for _, y in samples.beyond.blocks()])
    assert not set(samples.y_val) & set(read)
    assert set(held) <= set(read)
    assert len(read) == 30_000 - 600
    # Neither the first rows nor the last are favoured: means of 5000 of 30,000 numbers are within 5 sd.
    assert abs(np.mean(held[:5000]) - 15_000) < 5 * 30_000 / np.sqrt(12 * 5000)


@pytest.mark.parametrize(("noise", "agree"), [(0.0, 1e-8), (0.3, 0.3)])
def test_a_file_is_learned_alike_held_or_streamed(tmp_path, monkeypatch, noise, agree):
    # With noise both are the least squares of all rows but the certificate's, which differ a little between the two:
    # they agree within a share of their statistical error, which is about sigma sqrt(P / N).
    k, d, n = 3, 8, 60_000
    target = teachers.random(k, d, 0)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d))
    np.save(tmp_path / "rows.npy", np.column_stack([X, target(X) + noise * rng.standard_normal(n)]))
    found = []
    for entries in (2**30, 2**15):
        monkeypatch.setattr(corridor_module, "_LARGE_FILE", entries)
        monkeypatch.setattr(corridor_module, "_SMALLEST_PILOT", 2000)
        found.append(learn(FileSource(tmp_path / "rows.npy"), n_hidden=k, rng=0))
    held, streamed = found
    assert "polish" not in held.diagnostics.rows
    assert streamed.diagnostics.rows["polish"] == n - streamed.diagnostics.rows["certify"]
    assert streamed.status is held.status
    error = noise * np.sqrt((k + 1) * d / n) or 1.0
    assert streamed.network.distance(held.network) <= agree * error
    if noise:
        # Only the 4,096 held rows would leave an error four times as large.
        assert streamed.network.distance(target) < 2 * error


def test_a_pass_or_two_are_enough_for_exact_labels(tmp_path, monkeypatch):
    target = teachers.random(2, 5, 0)
    X = np.random.default_rng(1).standard_normal((50_000, 5))
    np.save(tmp_path / "rows.npy", np.column_stack([X, target(X)]))
    monkeypatch.setattr(corridor_module, "_LARGE_FILE", 2**15)
    monkeypatch.setattr(corridor_module, "_SMALLEST_PILOT", 2000)
    source = FileSource(tmp_path / "rows.npy")
    passes = []
    chunks = source._chunks
    monkeypatch.setattr(source, "_chunks", lambda first=0: passes.append(1) or chunks(first))
    assert learn(source, n_hidden=2, rng=0).status.name == "RECOVERED"
    assert len(passes) == 2
