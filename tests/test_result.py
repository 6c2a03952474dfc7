import json
import math
import os
from dataclasses import fields, replace

import numpy as np
import pytest
from safetensors import safe_open

from netlearn import learn, teachers
from netlearn.certify import Basis, Score, certify
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork, files
from netlearn.paper import Schedule
from netlearn.result import Diagnostics, HeldOut, LearnResult, MomentSpectrum, Status
from netlearn.source import ArraySource
from tests import statistics


@pytest.fixture
def result():
    network = ShallowNetwork(np.zeros(3), np.array([1.0]), np.eye(3)[:1])
    X = np.random.default_rng(0).standard_normal((1000, 3))
    certificate = certify(network, X, network(X), failure_prob=0.05, basis=Basis("N(0, I)", 1.0))
    diagnostics = Diagnostics(
        rows={"moments": 5000}, seconds={"search": 0.25}, n_candidates=1234, n_tried=1000, notes=("seen",)
    )
    return LearnResult(
        network, certificate, Status.CERTIFIED, subspace=np.eye(3)[:, :1], diagnostics=diagnostics
    )


def test_only_certified_and_recovered_are_success(result):
    assert result.success
    successes = {status for status in Status if LearnResult(None, None, status).success}
    assert successes == {Status.CERTIFIED, Status.RECOVERED}


def test_every_status_is_a_sentence():
    for status in Status:
        assert status.value.endswith(".")
        assert LearnResult(None, None, status).message == status.value
        assert LearnResult(None, None, status, message="Said.").message == "Said."
    assert len({status.value for status in Status}) == len(Status)


def test_summary_is_a_card_of_what_is_known(result):
    card = result.summary()
    for words in (
        "CERTIFIED",
        "1 neurons in 3 dimensions",
        "confidence 95 %",
        "no steeper than 1",
        "dimension 1 of 3",
        "1,000 tried of 1,234",
        "moments 5,000",
        "search 0.25",
        "seen",
    ):
        assert words in card
    assert max(map(len, card.splitlines()[1:])) < 110
    assert LearnResult(None, None, Status.FAILED).summary().count("\n") == 0


def same(a, b):
    """Equality that looks into arrays and dataclasses, and knows tuples from lists."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, ShallowNetwork | Status):
        return a == b
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def test_same_would_see_a_difference(result):
    # Negative control of the round trips below.
    assert same(result, replace(result))
    other = replace(result.diagnostics, rows={"moments": 5001})
    assert not same(result, replace(result, diagnostics=other))
    assert not same(result, replace(result, subspace=np.eye(3)[:, :2]))
    assert not same(result, replace(result, names=("a", "b", "c")))


@pytest.mark.parametrize(
    ("m", "target", "names"),
    [
        (None, "", ("y",)),
        (None, "price", ("price",)),
        (None, ("price",), ("price",)),
        (3, "", ("y1", "y2", "y3")),
        (2, ("low", "high"), ("low", "high")),
    ],
)
def test_outputs_have_names_and_keep_them(tmp_path, m, target, names):
    outputs = () if m is None else (m,)
    network = ShallowNetwork(np.ones((*outputs, 2)), np.ones((1, *outputs)), np.eye(2)[:1])
    result = LearnResult(network, None, Status.FAILED, target=target)
    assert result.output_names == names
    result.save(tmp_path / "r.safetensors")
    assert same(LearnResult.load(tmp_path / "r.safetensors").target, target)
    assert LearnResult(None, None, Status.FAILED, target=target).output_names == ()


def test_names_of_some_outputs_are_refused():
    network = ShallowNetwork(np.ones((3, 2)), np.ones((1, 3)), np.eye(2)[:1])
    with pytest.raises(
        InputError, match='"target" of a result must be one name, or name all 3 outputs, got 2'
    ):
        LearnResult(network, None, Status.FAILED, target=("a", "b"))


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(0)
    target = teachers.random(2, 5, rng, biases=1.0)
    X = rng.standard_normal((2_000, 5))
    return learn(X, target(X) + 0.1 * rng.standard_normal(2_000), n_hidden=2, rng=0)


def test_predict_and_recheck_use_the_network(learned):
    X = np.random.default_rng(5).standard_normal((300, 5))
    np.testing.assert_array_equal(learned.predict(X), learned.network(X))
    np.testing.assert_array_equal(learned.predict(X.tolist()), learned.network(X))
    own = learned.certificate
    fresh = learned.recheck(X, learned.network(X) + 0.25)
    assert (fresh.n_val, fresh.confidence, fresh.basis) == (300, own.confidence, own.basis)
    assert fresh.tolerance == pytest.approx(0.25)
    assert fresh.share == pytest.approx(1 - 0.01 ** (1 / 300))
    assert learned.recheck(X, learned.network(X), failure_prob=0.2).confidence == 0.8
    with pytest.raises(InputError, match=r"must have shapes \(n, d\)"):
        learned.recheck(X, np.ones((300, 2)))
    with pytest.raises(InputError, match="failure_prob"):
        learned.recheck(X, learned.network(X), failure_prob=0.0)


def test_without_a_network_there_is_nothing_to_predict_or_certify():
    nothing = LearnResult(None, None, Status.FAILED, message="Nothing was found.")
    assert nothing.r2 is None
    for ask in (nothing.predict, lambda X: nothing.recheck(X, np.ones(2))):
        with pytest.raises(InputError, match=r"There is no network to \w+( with)?: Nothing was found\."):
            ask(np.ones((2, 3)))


def test_a_result_without_certificate_or_fingerprint_is_certified_all_the_same():
    network = ShallowNetwork([1.0, 0.0], [], np.zeros((0, 2)))
    X = np.random.default_rng(0).standard_normal((20, 2))
    own = LearnResult(network, None, Status.NOISE_LIMITED).recheck(X, X[:, 0])
    assert (own.confidence, own.n_val, own.error_bound) == (0.99, 20, math.inf)


@pytest.mark.statistical
def test_of_more_rows_than_are_kept_recheck_estimates_how_many_taught(tmp_path, learned):
    # 1,900 rows taught, and 1,024 of their keys are kept. Of rows used again as many keys as in a binomial draw are
    # below the largest that is kept; the estimate divides by the share of keys that are.
    rng = np.random.default_rng(0)
    target = teachers.random(2, 5, rng, biases=1.0)
    X = rng.standard_normal((2_000, 5))
    y = target(X) + 0.1 * rng.standard_normal(2_000)
    learned.save(tmp_path / "r")
    loaded = LearnResult.load(tmp_path / "r")
    share = loaded.taught[-1] / 2.0**52
    taught = ~np.isin(X[:, 0], learned.held_out.X[:, 0])
    assert taught.sum() == 1_900
    for again in (taught, taught & (X[:, 0] > 0)):
        low, high = statistics.binomial_range(again.sum(), share, 2)
        with pytest.raises(
            InputError, match=r"must be fresh, but about .* given took part in learning"
        ) as caught:
            loaded.recheck(np.concatenate([X[again], X + 1]), np.concatenate([y[again], y]))
        said = str(caught.value)
        assert f"of the {again.sum() + 2_000:,} given" in said
        assert low / share - 1 <= int(said.split("about ")[1].split()[0].replace(",", "")) <= high / share + 1
    assert loaded.recheck(X + 1, y).n_val == 2_000
    assert loaded.recheck(*vars(learned.held_out).values()).n_val == 100
    # All rows given: no more than these can have taught.
    with pytest.raises(InputError, match=r"but (about )?\S+ of the 1,900 given"):
        loaded.recheck(X[taught], y[taught])


def empty():
    return LearnResult(None, None, Status.FAILED)


def uncertified():
    network = ShallowNetwork([1.0, 0.0], [], np.zeros((0, 2)), None, 3.0)
    rows = np.zeros((1, 2)), np.array([4.0])
    certificate = certify(network, *rows, failure_prob=1e-9)
    assert math.isinf(certificate.error_bound)
    return LearnResult(network, certificate, Status.TOO_FEW_ROWS, np.zeros((2, 0)), held_out=HeldOut(*rows))


def several_outputs():
    network = ShallowNetwork.from_relu(np.eye(3), np.ones((3, 2)))
    return LearnResult(network, None, Status.NOISE_LIMITED, held_out=HeldOut(np.eye(3), network(np.eye(3))))


def named():
    spectrum = MomentSpectrum(4, 3, np.array([2.0, -1.0]), 0.5)
    seen = Diagnostics(
        spectra=(spectrum, spectrum), trace=(0.5, 1e-300), noise_level=np.float64(0.25), n_tried=7
    )
    names = ("a b", '"; <é\u2028🙂')
    return LearnResult(
        teachers.random(2, 2, 0), None, Status.OUT_OF_TIME, diagnostics=seen, names=names, target="y?"
    )


def scored():
    network = ShallowNetwork.from_relu(np.eye(3), np.ones((3, 2)))
    return LearnResult(
        network,
        None,
        Status.NO_SIGNAL,
        message="What this run has to say.",
        score=Score(3, 0.5, None, -0.25, 0.125, math.inf, False, (0.5, None)),
        taught=np.arange(5.0),
        diagnostics=Diagnostics(advice="do this"),
    )


@pytest.mark.parametrize("make", [empty, uncertified, several_outputs, named, scored])
def test_a_saved_result_is_loaded(tmp_path, make):
    path = tmp_path / "result.safetensors"
    make().save(path)
    loaded = LearnResult.load(str(path))
    expected = make()
    # JSON gives Python's numbers back, not NumPy's.
    plain = replace(expected.diagnostics, noise_level=loaded.diagnostics.noise_level)
    assert expected.diagnostics.noise_level == loaded.diagnostics.noise_level
    assert same(replace(expected, diagnostics=plain), loaded)


def test_what_learn_gives_is_loaded_with_every_spectrum(tmp_path, learned):
    path = tmp_path / "result.safetensors"
    learned.save(path)
    loaded = LearnResult.load(path)
    assert ShallowNetwork.load(path) == learned.network == loaded.network
    assert loaded.summary() == learned.summary()
    assert len(loaded.diagnostics.spectra) == len(learned.diagnostics.spectra) >= 3
    assert same(loaded.diagnostics.spectra, learned.diagnostics.spectra)
    assert same(loaded.certificate, learned.certificate)
    assert same(loaded.held_out, learned.held_out)
    assert same(loaded.subspace, learned.subspace)
    assert same(loaded.score, learned.score)
    assert same(loaded.taught, learned.taught)
    assert loaded.message == learned.message
    assert loaded.r2 == learned.r2 == learned.score.r2 > 0.5
    assert loaded.diagnostics == replace(learned.diagnostics, spectra=loaded.diagnostics.spectra)
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.safetensors"]


def test_held_out_rows_are_some_of_the_certificates(learned):
    rows, certificate = learned.held_out, learned.certificate
    assert rows.X.shape == (100, 5)
    assert len(rows.y) == certificate.n_val == 100
    error = math.sqrt(np.mean((rows.y - learned.network(rows.X)) ** 2))
    assert error == pytest.approx(certificate.empirical_error, rel=1e-12)


@pytest.mark.parametrize(
    ("n", "d", "kept"), [(5, 3, 5), (3_000, 3, 1_000), (600, 2**11, 512), (2, 2**20 + 1, 1)]
)
def test_held_out_rows_are_few_and_copies(n, d, kept):
    X, y = np.broadcast_to(np.float32(1.5), (n, d)), np.arange(n)
    rows = HeldOut.first(ArraySource(X, y))
    assert rows.X.shape == (kept, d)
    assert rows.X.dtype == rows.y.dtype == float
    np.testing.assert_array_equal(rows.y, np.arange(kept))
    assert rows.X.flags.owndata


def test_the_schedule_is_replaced_by_a_note(tmp_path, result):
    path = tmp_path / "result.safetensors"
    schedule = Schedule.practical(3, 1, 0.5, 2.0)
    replace(result, schedule=schedule).save(path)
    loaded = LearnResult.load(path)
    assert loaded.schedule is None
    (note,) = set(loaded.diagnostics.notes) - set(result.diagnostics.notes)
    assert "practical schedule for k = 1, epsilon = 0.5, R = 2, failure_prob = 0.01" in note


def test_names_must_fit_the_features(result):
    with pytest.raises(InputError, match="name all 3 features, got 2 names"):
        replace(result, names=("a", "b"))


def test_tensors_of_the_network_keep_their_names(tmp_path, result):
    result.save(tmp_path / "f")
    with safe_open(tmp_path / "f", framework="numpy") as opened:
        names = set(opened.keys())
    assert names >= set(files.NAMES)
    assert all(name.startswith("result.") for name in names - set(files.NAMES))


def refused(path, sentence, load=LearnResult.load):
    with pytest.raises(InputError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_broken_and_foreign_files_are_refused(tmp_path, result):
    path = tmp_path / "f.safetensors"
    result.save(path)
    data = path.read_bytes()
    for length in (0, 7, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        refused(path, "whole safetensors")
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    refused(path, "altered after it was written")
    # The words are under a checksum too.
    path.write_bytes(data.replace(b"CERTIFIED", b"RECOVERED"))
    refused(path, "altered after it was written")
    result.network.save(path)
    refused(path, "holds a network alone, which ShallowNetwork.load reads")
    with pytest.raises(FileNotFoundError, match="no such file"):
        LearnResult.load(tmp_path / "absent")


def test_a_result_without_a_network_is_no_network_file(tmp_path):
    empty().save(tmp_path / "f")
    refused(tmp_path / "f", "found no network", ShallowNetwork.load)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"status": "FINE"}', json.dumps({"diagnostics": {"spectra": 3}, "certificate": 1})],
)
def test_words_that_make_no_result_are_refused(tmp_path, text):
    """A file with right checksums but wrong contents: only code that means to do harm writes one."""
    files.write_result(tmp_path / "f", None, {}, text)
    refused(tmp_path / "f", "does not hold a usable result")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch, result):
    path = tmp_path / "f"
    empty().save(path)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        result.save(path)
    monkeypatch.undo()
    assert LearnResult.load(path).network is None
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_frame_is_predicted_as_the_table_that_was_learned_from():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"b": rng.standard_normal(300), "a": rng.standard_normal(300)})
    frame["y"] = np.abs(frame["a"]) + 2.0 * frame["b"]
    result = learn(frame, "y", n_hidden=1, rng=0)
    shuffled = frame[["y", "a", "b"]].iloc[::-1]
    np.testing.assert_allclose(result.predict(shuffled), frame["y"][::-1], atol=1e-9)
    np.testing.assert_allclose(result.predict(frame[["b", "a"]].to_numpy()), frame["y"], atol=1e-9)
    gaps = frame.copy()
    gaps.loc[7, "a"] = np.nan
    with pytest.raises(InputError, match='column "a" has 1 missing value'):
        result.predict(gaps)
