"""A black box is asked no more than allowed, counted, retried, and its answers are kept."""

import numpy as np
import pytest

from netlearn import Status, learn, teachers
from netlearn.errors import InputError
from netlearn.source import Oracle, OracleError

D = 3
NETWORK = teachers.random(2, D, 0)


class Box:
    """A function that counts its calls and points, and fails where it is told to."""

    def __init__(self, fail=(), nan=()):
        self.fail, self.nan = set(fail), set(nan)
        self.calls, self.points = 0, []

    def __call__(self, X):
        call = self.calls
        self.calls += 1
        if call in self.fail:
            raise ConnectionError("down")
        self.points.append(X.copy())
        y = NETWORK(X)
        if call in self.nan:
            y[::2] = np.nan
        return y


def draw(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, D))


@pytest.mark.parametrize("n", [1, 99, 100, 101, 1000])
def test_points_are_asked_in_batches_and_counted(n):
    box = Box()
    oracle = Oracle(box, n_features=D, batch=100)
    X = draw(n)
    np.testing.assert_allclose(oracle.ask(X), NETWORK(X))
    assert [len(points) for points in box.points] == [100] * (n // 100) + [n % 100] * (n % 100 > 0)
    assert oracle.n_queries == n
    assert oracle.left == np.inf
    bought_X, bought_y = oracle.bought
    np.testing.assert_array_equal(bought_X, X)
    np.testing.assert_allclose(bought_y, NETWORK(X))


def test_nothing_bought_is_empty():
    X, y = Oracle(Box(), n_features=D).bought
    assert X.shape == (0, D)
    assert y.shape == (0,)


def test_the_budget_is_never_exceeded():
    box = Box()
    oracle = Oracle(box, n_features=D, budget=150)
    oracle.ask(draw(100))
    assert oracle.left == 50
    with pytest.raises(InputError, match="51 points were asked for, but the oracle's budget leaves 50"):
        oracle.ask(draw(51))
    assert (oracle.n_queries, box.calls) == (100, 1)  # a refused question costs nothing
    oracle.ask(draw(50))
    assert (oracle.n_queries, oracle.left) == (150, 0)


@pytest.mark.parametrize("fail", [{0}, {0, 1}, {1}, {1, 3}])
def test_a_failing_call_is_retried(fail):
    box = Box(fail=fail)
    oracle = Oracle(box, n_features=D, batch=50, retries=2)
    X = draw(150)
    np.testing.assert_allclose(oracle.ask(X), NETWORK(X))
    assert oracle.n_queries == 150
    assert box.calls == 3 + len(fail)


def test_rows_without_a_finite_answer_are_asked_again_and_no_others():
    box = Box(nan={0, 1})
    oracle = Oracle(box, n_features=D, batch=100, retries=2)
    X = draw(100)
    np.testing.assert_allclose(oracle.ask(X), NETWORK(X))
    assert [len(points) for points in box.points] == [100, 50, 25]
    np.testing.assert_array_equal(box.points[1], X[::2])
    np.testing.assert_array_equal(box.points[2], X[::4])
    assert oracle.n_queries == 100
    np.testing.assert_array_equal(oracle.bought[0], X)


def test_what_was_bought_before_a_failure_is_kept():
    box = Box(fail={2, 3, 4})
    oracle = Oracle(box, n_features=D, batch=40, retries=2)
    X = draw(120)
    with pytest.raises(
        OracleError, match=r"ConnectionError.* for 40 of 40 points, 3 times over; the 80 answers"
    ):
        oracle.ask(X)
    assert oracle.n_queries == 80
    np.testing.assert_array_equal(oracle.bought[0], X[:80])
    np.testing.assert_allclose(oracle.bought[1], NETWORK(X[:80]))


def test_answers_among_nans_are_kept_too():
    box = Box(nan=set(range(10)))
    oracle = Oracle(box, n_features=D, retries=1)
    X = draw(100)
    with pytest.raises(OracleError, match="returned NaN or infinity for 25 of 100 points, 2 times over"):
        oracle.ask(X)
    # Rows 0, 4, 8, ... never got an answer.
    answered = np.arange(100) % 4 != 0
    assert oracle.n_queries == answered.sum()
    np.testing.assert_array_equal(oracle.bought[0], X[answered])
    np.testing.assert_allclose(oracle.bought[1], NETWORK(X[answered]))


def test_an_interruption_is_not_swallowed():
    def interrupted(X):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Oracle(interrupted, n_features=D).ask(draw(5))


def test_the_oracle_cannot_change_the_points():
    def vandal(X):
        X[:] = 0.0
        return np.ones(len(X))

    X = draw(10)
    before = X.copy()
    oracle = Oracle(vandal, n_features=D)
    oracle.ask(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(oracle.bought[0], before)


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_antithetic_points_come_in_pairs(n):
    oracle = Oracle(Box(), n_features=D)
    X, y = oracle.draw(n, np.random.default_rng(0), antithetic=True)
    assert X.shape == (n, D)
    pairs = n // 2
    np.testing.assert_array_equal(X[0 : 2 * pairs : 2], -X[1 : 2 * pairs : 2])
    np.testing.assert_allclose(y, NETWORK(X))
    # Half the difference of a pair is the odd part exactly: this network has no biases, so it is linear.
    odd = (y[0 : 2 * pairs : 2] - y[1 : 2 * pairs : 2]) / 2
    np.testing.assert_allclose(odd, X[0 : 2 * pairs : 2] @ NETWORK.linear, atol=1e-13)
    independent, _ = oracle.draw(n, np.random.default_rng(0), antithetic=False)
    assert n < 2 or not np.array_equal(independent[0], -independent[1])


@pytest.mark.parametrize(
    "answer",
    [
        lambda X: np.ones(len(X) + 1),
        lambda X: 1.0,
        lambda X: np.ones((2, len(X))),
        lambda X: np.ones((len(X), 0)),
        lambda X: np.ones((len(X), 2, 2)),
    ],
)
def test_an_answer_of_the_wrong_size_is_refused(answer):
    with pytest.raises(
        InputError, match=r"one number per row, .*: asked for 10 rows, it returned an array of shape"
    ):
        Oracle(answer, n_features=D).ask(draw(10))


def test_several_outputs_are_asked_for_again_row_by_row():
    # A row with one number missing is missing; the shape of a label stays what it was at first.
    asked = []

    def box(X):
        asked.append(len(X))
        y = np.stack([NETWORK(X), -NETWORK(X), X[:, 0]], axis=1)
        y[::2, len(asked) % 3] = np.nan if len(asked) < 3 else 0.0
        return y[:, :2] if len(asked) > 4 else y

    oracle = Oracle(box, n_features=D, batch=100)
    assert oracle.bought[1].shape == (0,)
    X = draw(100)
    y = oracle.ask(X)
    assert asked == [100, 50, 25]
    assert y.shape == (100, 3)
    rest = np.arange(100) % 4 != 0  # the others were answered by zeros, in the third call
    np.testing.assert_array_equal(y[rest], np.stack([NETWORK(X), -NETWORK(X), X[:, 0]], axis=1)[rest])
    np.testing.assert_array_equal(oracle.bought[1], y)
    assert oracle.ask(X[:0]).shape == (0, 3)
    oracle.ask(X[:1])
    with pytest.raises(InputError, match=r"as many numbers each time: .* shape \(2, 2\)"):
        oracle.ask(X[:2])


@pytest.mark.parametrize("answer", [lambda X: NETWORK(X)[:, None], lambda X: NETWORK(X).tolist()])
def test_columns_and_lists_are_numbers_too(answer):
    X = draw(10)
    np.testing.assert_allclose(Oracle(answer, n_features=D).ask(X), NETWORK(X))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"f": 3}, '"f" of Oracle must be callable, got a int'),
        ({"n_features": 0}, '"n_features" of Oracle must be an integer >= 1, got 0'),
        ({"n_features": 2.0}, '"n_features" of Oracle must be an integer >= 1, got 2.0'),
        ({"batch": 0}, '"batch" of Oracle must be an integer >= 1, got 0'),
        ({"retries": -1}, '"retries" of Oracle must be an integer >= 0, got -1'),
        ({"budget": 0}, '"budget" of Oracle must be an integer >= 1, got 0'),
    ],
)
def test_bad_arguments_get_one_sentence(arguments, message):
    f = arguments.pop("f", NETWORK)
    with pytest.raises(InputError, match=message):
        Oracle(f, **{"n_features": D, **arguments})


@pytest.mark.parametrize("n_hidden", [2, "auto"])
def test_learn_recovers_the_box_and_reports_the_points(n_hidden):
    box = Box()
    oracle = Oracle(box, n_features=D)
    result = learn(oracle, n_hidden=n_hidden, rng=0)
    assert result.status is Status.RECOVERED
    assert result.network.n_hidden == 2
    assert result.network.distance(NETWORK) <= 1e-10 * NETWORK.norm()
    assert oracle.n_queries == sum(len(points) for points in box.points)
    assert f"{oracle.n_queries:,} points asked of the oracle" in result.diagnostics.notes
    assert sum(result.diagnostics.rows.values()) == oracle.n_queries


def test_learn_stays_within_the_budget_even_when_it_does_not_succeed():
    points = []

    def sine(X):
        points.append(len(X))
        return np.sin(5.0 * X[:, 0])

    oracle = Oracle(sine, n_features=2, budget=400)
    result = learn(oracle, n_hidden=2, epsilon=0.05, rng=0)
    assert not result.success
    assert result.network is not None
    assert sum(points) == oracle.n_queries <= 400


def test_learn_gets_over_a_call_that_fails_now_and_then():
    oracle = Oracle(Box(fail={0, 3}, nan={1}), n_features=D, batch=100)
    result = learn(oracle, n_hidden=2, rng=0)
    assert result.status is Status.RECOVERED


def test_learn_from_the_same_box_twice_is_bitwise_the_same():
    first, second = (learn(Oracle(NETWORK, n_features=D), n_hidden=2, rng=4).network for _ in range(2))
    for name in ("linear", "coefficients", "units", "biases", "intercept"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_a_box_that_always_raises_ends_in_an_oracle_error():
    box = Box(fail=set(range(100)))
    oracle = Oracle(box, n_features=D, retries=3)
    with pytest.raises(OracleError, match=r"raised ConnectionError\('down'\) .* 4 times over"):
        learn(oracle, n_hidden=2, rng=0)
    assert (oracle.n_queries, box.calls) == (0, 4)
