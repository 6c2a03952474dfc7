"""`NetLearnRegressor` as scikit-learn and its users meet it."""

import pickle

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from netlearn import FileSource, NetLearnRegressor, Oracle, Status, learn, teachers
from netlearn.errors import InputError
from tests.fit.several import network
from tests.source.messy import frame as table_of_houses

TARGET = teachers.random(3, 5, 0)
X = np.random.default_rng(0).standard_normal((600, 5))
y = TARGET(X)

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "rows are divided at random into those that learn, judge and certify; copies of a row are rows of their own "
        "there, and fall on both sides"
    )
}


@parametrize_with_checks([NetLearnRegressor()], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def fitted():
    return NetLearnRegressor(n_hidden=3, random_state=0).fit(X, y)


def test_it_shows_what_learn_returns(fitted):
    result = learn(X, y, n_hidden=3, rng=0)
    assert fitted.network_ == result.network == fitted.result_.network
    assert fitted.certificate_ == result.certificate
    assert fitted.status_ is result.status is Status.RECOVERED
    assert fitted.n_hidden_ == 3
    assert fitted.n_features_in_ == 5
    np.testing.assert_array_equal(fitted.components_, result.subspace.T)
    np.testing.assert_allclose(fitted.predict(X), y, atol=1e-9)
    assert fitted.score(X, y) == pytest.approx(1.0, abs=1e-12)


def test_transform_gives_all_that_the_units_see(fitted):
    Z = fitted.transform(X)
    np.testing.assert_allclose(Z, X @ fitted.components_.T, atol=1e-12)
    np.testing.assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(3), atol=1e-12)
    # What the target adds to its affine part is a function of these coordinates: moving x across them changes nothing.
    across = np.linalg.svd(fitted.components_)[2][3:]
    moved = X + np.random.default_rng(1).standard_normal((600, 2)) @ across
    np.testing.assert_allclose(fitted.transform(moved), Z, atol=1e-12)
    np.testing.assert_allclose(TARGET(moved) - moved @ TARGET.linear, y - X @ TARGET.linear, atol=1e-9)
    assert list(fitted.get_feature_names_out()) == [f"direction{i}" for i in range(3)]


def test_what_is_no_network_is_said_to_be_a_fit():
    rng = np.random.default_rng(0)
    model = NetLearnRegressor(random_state=0).fit(X[:80], rng.standard_normal(80))
    assert model.status_ is Status.NO_SIGNAL
    assert not model.result_.success
    assert not model.result_.score.beats_mean
    assert any("a fit to 72 rows, not a recovery" in note for note in model.result_.diagnostics.notes)
    assert model.transform(X).shape == (600, len(model.components_))


def frames(kind):
    names = ["height", "weight", "age", "pulse", "salt"]
    if kind == "pandas":
        return pandas.DataFrame(X, columns=names), pandas.Series(y, name="pressure")
    return polars.DataFrame(X, schema=names), polars.Series("pressure", y)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_keep_their_names(kind):
    frame, labels = frames(kind)
    model = NetLearnRegressor(n_hidden=3, random_state=0).fit(frame, labels)
    assert list(model.feature_names_in_) == list(frame.columns) == list(model.result_.names)
    assert model.result_.target == "pressure"
    coordinates = model.set_output(transform=kind).transform(frame)
    assert isinstance(coordinates, type(frame))
    assert list(coordinates.columns) == list(model.get_feature_names_out())
    np.testing.assert_allclose(coordinates.to_numpy(), X @ model.components_.T, atol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list(frame.columns)[::-1]])


SEVERAL = network(3, 5, 2, 0)
Y = SEVERAL(X)


def test_several_outputs_share_their_units():
    model = NetLearnRegressor(n_hidden=3, random_state=0).fit(X, Y)
    assert model.status_ is Status.RECOVERED
    assert model.network_ == learn(X, Y, n_hidden=3, rng=0).network
    assert model.network_.coefficients.shape == (3, 2)
    assert len(model.certificate_.per_output) == 2
    assert get_tags(model).target_tags.multi_output
    np.testing.assert_allclose(model.predict(X), Y, atol=1e-9)
    assert model.transform(X).shape == (600, 3)
    # A score between zero and one, of outputs that are explained to different parts.
    noisy = Y + [0.1, 2.0] * np.random.default_rng(1).standard_normal(Y.shape)
    left = np.mean((noisy - model.predict(X)) ** 2, axis=0) / noisy.var(axis=0)
    assert model.score(X, noisy) == pytest.approx(np.mean(1 - left), rel=1e-12)


@pytest.mark.parametrize("labels", [y, y[:, None], Y], ids=["(n,)", "(n, 1)", "(n, m)"])
def test_predictions_have_the_shape_of_y(labels):
    model = NetLearnRegressor(n_hidden=3, random_state=0).fit(X, labels)
    for rows in (X, X[:1]):
        assert model.predict(rows).shape == labels[: len(rows)].shape
    np.testing.assert_allclose(model.predict(X), labels, atol=1e-9)
    assert model.score(X, labels) == pytest.approx(1.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert cross_val_score(clone(model), X, labels, cv=3).min() > 1 - 1e-9


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_of_labels_keep_their_names(kind):
    frame = frames(kind)[0]
    labels = (pandas.DataFrame if kind == "pandas" else polars.DataFrame)({"high": Y[:, 0], "low": Y[:, 1]})
    model = NetLearnRegressor(n_hidden=3, random_state=0).fit(frame, labels)
    assert model.result_.target == model.result_.output_names == ("high", "low")
    one = NetLearnRegressor(n_hidden=1, random_state=0).fit(frame, labels[["high"]])
    assert one.result_.output_names == ("high",)
    assert one.predict(frame).shape == (600, 1)


def test_a_series_without_a_name_is_called_nothing():
    model = NetLearnRegressor(n_hidden=0, random_state=0).fit(frames("pandas")[0], pandas.Series(y))
    assert model.result_.target == ""


def test_around_and_inside_others_that_know_several_outputs():
    model = NetLearnRegressor(n_hidden=3, random_state=0)
    scaled = TransformedTargetRegressor(model, transformer=StandardScaler()).fit(X, 5.0 + 10.0 * Y)
    np.testing.assert_allclose(scaled.predict(X), 5.0 + 10.0 * Y, atol=1e-8)
    scaled.fit(X, y)
    assert scaled.predict(X).shape == y.shape
    apart = MultiOutputRegressor(model).fit(X, Y)
    np.testing.assert_allclose(apart.predict(X), Y, atol=1e-9)
    assert [own.network_.coefficients.ndim for own in apart.estimators_] == [1, 1]
    monitor = ScoringMonitor(scoring="r2")
    model.set_callbacks(monitor).fit(X, Y)
    assert monitor.get_logs().data[0]["r2"] == pytest.approx(model.score(X, Y))


def test_a_file_with_several_targets(tmp_path):
    pandas.DataFrame(np.column_stack([X, Y]), columns=[*"abcde", "y_0", "y_1"]).to_parquet(
        tmp_path / "t.parquet"
    )
    model = NetLearnRegressor(n_hidden=3, random_state=0)
    model.fit(FileSource(tmp_path / "t.parquet", target="y_*"))
    assert model.result_.target == ("y_0", "y_1")
    np.testing.assert_allclose(model.predict(pandas.DataFrame(X, columns=list("abcde"))), Y, atol=1e-9)


def test_inside_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), NetLearnRegressor(random_state=0))
    search = GridSearchCV(pipeline, {"netlearnregressor__n_hidden": [1, 3]}, cv=3).fit(3 * X + 1, y)
    assert search.best_params_ == {"netlearnregressor__n_hidden": 3}
    assert search.best_score_ > 1 - 1e-9
    assert np.min(cross_val_score(pipeline.set_params(netlearnregressor__n_hidden=3), X, y, cv=3)) > 1 - 1e-9
    # The directions as features of another model.
    reduced = make_pipeline(NetLearnRegressor(n_hidden=3, random_state=0), LinearRegression()).fit(X, y)
    assert reduced[-1].n_features_in_ == 3


def test_copies(fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "network_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


@pytest.mark.parametrize(
    "seed",
    [lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3), lambda: np.int64(3)],
)
def test_a_seed_of_any_kind_fixes_the_network(seed):
    noisy = y + 0.3 * np.random.default_rng(1).standard_normal(600)
    first, second = (NetLearnRegressor(n_hidden=1, random_state=seed()).fit(X, noisy) for _ in range(2))
    assert first.network_ == second.network_
    assert first.network_ != NetLearnRegressor(n_hidden=1, random_state=4).fit(X, noisy).network_


def test_sample_weights_reach_learn():
    weight = np.random.default_rng(1).uniform(0.0, 2.0, 600)
    noisy = y + 0.3 * np.random.default_rng(2).standard_normal(600)
    model = NetLearnRegressor(n_hidden=1, random_state=0).fit(X, noisy, sample_weight=weight)
    assert model.network_ == learn(X, noisy, sample_weight=weight, n_hidden=1, rng=0).network
    assert model.network_ != learn(X, noisy, n_hidden=1, rng=0).network


def test_rows_of_a_file_and_of_an_oracle(tmp_path):
    pandas.DataFrame(np.column_stack([X, y]), columns=[*"abcde", "label"]).to_parquet(tmp_path / "t.parquet")
    model = NetLearnRegressor(n_hidden=3, random_state=0).fit(
        FileSource(tmp_path / "t.parquet", target="label")
    )
    assert list(model.feature_names_in_) == list("abcde")
    assert model.result_.target == "label"
    np.testing.assert_allclose(model.predict(pandas.DataFrame(X, columns=list("abcde"))), y, atol=1e-9)
    model.fit(Oracle(TARGET, n_features=5, budget=2000))
    assert not hasattr(model, "feature_names_in_")  # those of the file are forgotten
    assert (model.n_features_in_, model.status_) == (5, Status.RECOVERED)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)


class Listener:
    """Callback that writes down which tasks begin and end."""

    def __init__(self):
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.heard.append(f"end {context.task_name}")


def test_callbacks_hear_each_room():
    listener = Listener()
    NetLearnRegressor(n_hidden=3, random_state=0).set_callbacks(listener).fit(X, y)
    steps = ["samples", "moments", "subspace", "search", "fit", "certify"]
    inside = [f"{word} {step}" for step in steps for word in ("begin", "end")]
    assert listener.heard == ["setup", "begin fit", *inside, "end fit", "teardown"]
    failing = Listener()
    with pytest.raises(InputError):
        NetLearnRegressor(n_hidden=-1).set_callbacks(failing).fit(X, y)
    assert failing.heard[-1] == "teardown"


def test_rooms_walked_twice_for_an_oracle_are_heard_twice():
    listener = Listener()
    oracle = Oracle(lambda X: np.sin(3 * X[:, 0]), n_features=1, budget=1500)
    NetLearnRegressor(n_hidden=1, random_state=0).set_callbacks(listener).fit(oracle)
    assert listener.heard.count("begin fit") == listener.heard.count("end fit") > 2


def test_scikit_learns_own_callbacks(capsys):
    frame, labels = frames("pandas")
    monitor = ScoringMonitor(scoring="r2")
    model = NetLearnRegressor(n_hidden=3, random_state=0).set_callbacks(ProgressBar(), monitor)
    model.fit(frame, labels, sample_weight=np.ones(600))
    assert "NetLearnRegressor - fit" in capsys.readouterr().out
    (entry,) = monitor.get_logs().data
    assert entry["r2"] == pytest.approx(model.score(frame, labels))


def test_the_notebook_shows_diagram_and_card(fitted):
    diagram = NetLearnRegressor(n_hidden=3)._repr_mimebundle_()["text/html"]
    assert "sk-estimator" in diagram
    assert "RECOVERED" not in diagram
    html = fitted._repr_mimebundle_()["text/html"]
    assert "sk-estimator" in html
    assert fitted.result_._repr_html_() in html
    assert fitted._repr_html_().count("RECOVERED") == html.count("RECOVERED") > 0


GOOD = {"X": X[:50], "y": y[:50]}
STRINGS = np.full((50, 5), "tall")
BAD = {
    "NaN in X": ({"X": np.where(np.eye(50, 5), np.nan, X[:50])}, "X contains NaN"),
    "infinity in X": ({"X": np.where(np.eye(50, 5), np.inf, X[:50])}, "X contains infinity"),
    "NaN in y": ({"y": np.where(np.arange(50), y[:50], np.nan)}, "y contains NaN"),
    "X of one axis": ({"X": X[:50, 0]}, "Expected 2D array"),
    "X of three axes": ({"X": X[:50, None]}, "dim 3"),
    "another length": ({"y": y[:49]}, "50, 49"),
    "y of three axes": ({"y": y[:50, None, None]}, "dim 3"),
    "no output": ({"y": np.zeros((50, 0))}, "0 feature"),
    "NaN in an output": ({"y": np.where(np.eye(50, 2), np.nan, 1.0)}, "y contains NaN"),
    "another length of outputs": ({"y": np.column_stack([y, y])[:49]}, "50, 49"),
    "no y": ({"y": None}, "y is None"),
    "no column": ({"X": X[:50, :0]}, "0 feature"),
    "too few rows": ({"X": X[:3], "y": y[:3]}, "3 sample.*minimum of 4"),
    "words for numbers": ({"X": STRINGS}, "X and y: .*tall"),
    "a column of words": (
        {"X": pandas.DataFrame(X[:50], columns=list("abcde")).assign(c="tall")},
        'column "c" holds text: "tall" in row 1',
    ),
    "words in y": ({"y": STRINGS[:, 0]}, "y must hold real numbers"),
    "complex numbers": ({"X": X[:50] + 1j}, "Complex data"),
    "weights": ({"sample_weight": np.full(50, -1.0)}, "sample_weight"),
    "too few weights": ({"sample_weight": np.ones(3)}, "3 entries and 50 rows"),
    "y beside an oracle": ({"X": Oracle(TARGET, n_features=5)}, "left out when X is an Oracle"),
    "n_hidden": ({"n_hidden": -1}, '"n_hidden" of learn'),
    "n_hidden in words": ({"n_hidden": "many"}, '"n_hidden" of learn'),
    "biases": ({"biases": "some"}, '"biases" of learn'),
    "epsilon": ({"epsilon": 0.0}, '"epsilon" of learn'),
    "failure_prob": ({"failure_prob": 1.0}, '"failure_prob" of learn'),
    "time_limit": ({"time_limit": -1}, '"time_limit" of learn'),
    "random_state": ({"random_state": "seven"}, '"rng" of learn'),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_sentence(case):
    given, words = BAD[case]
    data = {**GOOD, **{name: value for name, value in given.items() if name in ("X", "y", "sample_weight")}}
    model = NetLearnRegressor(**{name: value for name, value in given.items() if name not in data})
    with pytest.raises(InputError, match=words) as caught:
        model.fit(**data)
    assert "\n" not in str(caught.value)
    assert not hasattr(model, "network_")


def test_a_missing_file_or_column_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv"):
        NetLearnRegressor().fit(FileSource(tmp_path / "none.csv", target="y"))
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 20)
    with pytest.raises(InputError, match=r"t\.csv"):
        NetLearnRegressor().fit(FileSource(tmp_path / "t.csv", target="y"))


def few_linear(n, d, seed):
    """Rows whose labels depend on three columns, mostly linearly, with noise."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d))
    return rows, rows[:, :3].sum(axis=1) + np.maximum(rows[:, 0], 0) + 0.5 * rng.standard_normal(n)


SMALL = {
    "friedman1": (make_friedman1(n_samples=120, noise=1.0, random_state=0), 10),
    "40 rows in 20 dimensions": (few_linear(40, 20, 0), 5),
    "15 rows in 50 dimensions": (few_linear(15, 50, 0), 5),
}


@pytest.mark.parametrize("case", SMALL)
def test_few_rows_are_fitted_no_worse_than_by_a_trained_network(case):
    # benchmarks/regression.py has the whole table, with standard errors; here the difference is large.
    (rows, labels), width = SMALL[case]
    folds = KFold(3, shuffle=True, random_state=0)
    ours = cross_val_score(NetLearnRegressor(n_hidden=width, random_state=0), rows, labels, cv=folds)
    rival = MLPRegressor(hidden_layer_sizes=(width,), solver="lbfgs", max_iter=5000, random_state=0)
    theirs = cross_val_score(make_pipeline(StandardScaler(), rival), rows, labels, cv=folds)
    assert np.mean(ours) >= np.mean(theirs)
    if "15" not in case:
        assert np.mean(ours) > 0.5


def test_a_text_column_is_named_and_a_recipe_reads_it():
    messy = table_of_houses()
    labels = messy["price"]
    with pytest.raises(InputError, match='column "city" holds text: "Ulm" in row 1'):
        NetLearnRegressor().fit(messy.drop(columns="price"), labels)
    source = FileSource(messy, "price", encode="onehot", missing="drop")
    model = NetLearnRegressor(n_hidden=1, random_state=0).fit(source)
    assert list(model.feature_names_in_) == ["size", "age", "city=Bonn", "city=Köln", "city=Ulm", "new"]
    values = model.predict(messy.assign(city=["Rom", *messy["city"][1:]]))
    assert np.flatnonzero(np.isnan(values)).tolist() == [0]
    np.testing.assert_allclose(values[1:], model.network_(source.arrays()[0])[1:])


def test_a_path_is_fitted_and_predicted(tmp_path):
    path = tmp_path / "t.csv"
    table_of_houses().drop(columns="city").to_csv(path, index=False)
    model = NetLearnRegressor(n_hidden=1, random_state=0).fit(path, "price")
    assert list(model.feature_names_in_) == ["size", "age", "new"]
    assert model.predict(path).shape == (60,)


def test_what_is_done_is_logged_and_written_where_wanted(capsys, caplog):
    with caplog.at_level("INFO", logger="netlearn"):
        NetLearnRegressor(n_hidden=3, random_state=0, verbose=True).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("[netlearn]") for line in lines)
    assert len(lines) >= 5
    assert {record.name for record in caplog.records} == {"netlearn"}
    assert len(caplog.records) >= len(lines)
    NetLearnRegressor(n_hidden=3, random_state=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
