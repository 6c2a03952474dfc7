"""Rows too many to hold: which are held, which are read, and that none of the certificate's is among either."""

import numpy as np
import pytest

from netlearn import FileSource, learn, learning, pipeline, teachers
from netlearn.errors import InputError
from netlearn.source import ArraySource
from netlearn.source.samples import HoldOut, hold
from netlearn.source.stream import Streamed, gathered
from tests.fit.several import network


def numbered(n, d=3, outputs=()):
    """Rows that hold their own number, negative in labels but for the first."""
    number = np.arange(float(n))
    y = np.multiply.outer(number, np.where(np.arange(outputs[0]) > 0, -1.0, 1.0)) if outputs else number
    return ArraySource(np.tile(number[:, None], (1, d)), y)


def passed(rows, **where):
    """The rows of a pass, as two arrays."""
    stretches = rows.over_rows(lambda X, y: [(X, y)], **where)
    X, y = zip(*(block for stretch in stretches for block in stretch), strict=True)
    return np.vstack(X), np.concatenate(y)


@pytest.mark.parametrize("outputs", [(), (1,), (3,)])
def test_gathered_rows_come_in_the_order_of_their_index(outputs):
    index = np.random.default_rng(0).permutation(5000)
    first, second = gathered(numbered(5000, outputs=outputs), [index[:70], index[70:1000]])
    expected = numbered(5000, outputs=outputs if outputs == (3,) else ()).y  # a single column is one output
    np.testing.assert_array_equal(first.y, expected[index[:70]])
    np.testing.assert_array_equal(second.y, expected[index[70:1000]])
    np.testing.assert_array_equal(second.X[:, 1], index[70:1000])


@pytest.mark.parametrize("apart", [[], [0], [4999], [0, 1, 2, 600, 4000, 4999], list(range(512))])
@pytest.mark.parametrize("outputs", [(), (3,)])
def test_rows_set_aside_are_left_out_in_every_pass(apart, outputs):
    source = numbered(5000, outputs=outputs)
    rows = Streamed(source, np.array(apart, dtype=int), source.head(10))
    expected = np.delete(np.arange(5000.0), apart)
    assert rows.n_rows == len(expected)
    for skip in (0, 0, 1, 511, 4000, rows.n_rows - 1):
        X, y = passed(rows, skip=skip)
        np.testing.assert_array_equal(y, numbered(5000, outputs=outputs).y[expected.astype(int)][skip:])
        np.testing.assert_array_equal(X[:, 0], expected[skip:])


def test_a_stream_is_divided_into_rows_that_hold_judge_and_certify():
    out = HoldOut(600, 4000)  # whatever the reserve would be: a stream has none
    samples = hold(numbered(30_000), 5000, out, np.random.default_rng(0))
    fresh = samples.fresh.in_memory().y
    assert (samples.n_train, samples.n_judge, samples.n_reserve, len(fresh)) == (5000, 1500, 0, 600)
    held = samples.rows.in_memory().y
    read = passed(samples.beyond)[1]
    assert not set(fresh) & set(read)
    assert set(held) <= set(read)
    assert len(read) == 30_000 - 600
    # Neither the first rows nor the last are favoured: means of 5000 of 30,000 numbers are within 5 sd.
    assert abs(np.mean(held[:5000]) - 15_000) < 5 * 30_000 / np.sqrt(12 * 5000)


def test_fewer_rows_than_may_be_held_are_all_held_but_for_the_certificate():
    samples = hold(numbered(1000), 5000, HoldOut(20, 230), np.random.default_rng(0))
    fresh = samples.fresh.in_memory().y
    assert (samples.n_train, samples.n_judge, samples.n_reserve, len(fresh)) == (930, 50, 0, 20)
    assert sorted([*samples.rows.in_memory().y, *fresh]) == list(range(1000))


@pytest.mark.parametrize(("noise", "agree"), [(0.0, 1e-8), (0.3, 0.3)])
@pytest.mark.parametrize("m", [1, 3])
def test_a_file_is_learned_alike_held_or_streamed(tmp_path, monkeypatch, noise, agree, m):
    # With noise both are the least squares of all rows but the certificate's, which differ a little between the two:
    # they agree within a share of their statistical error, which is about sigma sqrt(P / N).
    k, d, n = 3, 8, 60_000
    target = teachers.random(k, d, 0) if m == 1 else network(k, d, m, 0)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d))
    y = target(X)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y + noise * rng.standard_normal(y.shape)]))
    found = []
    for entries in (2**30, 2**15):
        monkeypatch.setattr(learning, "LARGE_FILE", entries)
        monkeypatch.setattr(pipeline, "SMALLEST_PILOT", 2000)
        source = FileSource(tmp_path / "rows.npy", target=list(range(d, d + m)))
        found.append(learn(source, n_hidden=k, rng=0))
    held, streamed = found
    assert streamed.network.coefficients.shape == target.coefficients.shape
    assert "fit" not in held.diagnostics.rows
    assert streamed.diagnostics.rows["fit"] == n - streamed.diagnostics.rows["certify"]
    assert streamed.status is held.status
    unknowns = (k + 1) * d if m == 1 else (k + m) * (d + 1) + k * (m - 1)
    error = noise * np.sqrt(unknowns / n) or 1.0
    assert streamed.network.distance(held.network) <= agree * error
    if noise:
        # Only the 4,096 held rows would leave an error four times as large.
        assert streamed.network.distance(target) < 2 * error
        assert streamed.diagnostics.noise_level == pytest.approx(noise * np.sqrt(m), rel=0.03)


def test_a_stream_without_labels_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "LARGE_FILE", 2**10)
    monkeypatch.setattr(pipeline, "SMALLEST_PILOT", 100)
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).standard_normal((1000, 4)))
    with pytest.raises(InputError, match="y must have at least one column"):
        learn(FileSource(tmp_path / "rows.npy", target=[]), n_hidden=1, rng=0)


def test_a_pass_or_two_are_enough_for_exact_labels(tmp_path, monkeypatch):
    target = teachers.random(2, 5, 0)
    X = np.random.default_rng(1).standard_normal((50_000, 5))
    np.save(tmp_path / "rows.npy", np.column_stack([X, target(X)]))
    monkeypatch.setattr(learning, "LARGE_FILE", 2**15)
    monkeypatch.setattr(pipeline, "SMALLEST_PILOT", 2000)
    source = FileSource(tmp_path / "rows.npy")
    passes = []
    chunks = source._chunks
    monkeypatch.setattr(source, "_chunks", lambda first=0: passes.append(1) or chunks(first))
    assert learn(source, n_hidden=2, rng=0).status.name == "RECOVERED"
    assert len(passes) == 2
