"""The search for units: width and network found, limits kept, and said where more units would help."""

from dataclasses import replace

import numpy as np
import pytest

from netlearn import learn, teachers
from netlearn.fit import Fit, Params, Problem
from netlearn.network import ShallowNetwork
from netlearn.search import budget, inside, units
from netlearn.search.judge import Judge
from netlearn.search.search import Search
from netlearn.search.surplus import without_surplus
from netlearn.search.units import choose_biases, find_units
from tests.fit.twins import FAMILIES
from tests.search.searches import noisy, search_on

SIX = ("one unit", "random", "positive", "orthonormal", "biases", "hard plane")
NOISE = 0.1


# No width asked for


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", [*SIX, "clustered", "crowded"])
def test_width_and_network_are_found(family, seed):
    network, biases, n = FAMILIES[family]
    search, target = search_on(network, max(n, 1500), biases, seed=seed)
    found, more_help = find_units(search, "auto")
    assert more_help is False
    assert search.judge.is_exact(found)
    assert found.route
    # A pair that few rows tell apart may stand for one unit; the last fit takes it off.
    final = without_surplus(search.problem, found)
    assert final.params.n_hidden == network.n_hidden
    assert final.params.to_network().distance(target) < 1e-10


@pytest.mark.parametrize("family", SIX)
def test_noise_leaves_the_width_right(family):
    network, biases, _ = FAMILIES[family]
    search, target = search_on(network, 6000, biases, noise=NOISE, seed=3)
    found, more_help = find_units(search, "auto")
    assert found.params.n_hidden == network.n_hidden
    assert more_help is False
    # Least squares started at the truth leave sigma sqrt(P / N); half as much again is allowed.
    unknowns = search.problem.shape(network.n_hidden).n_unknowns
    assert found.params.to_network().distance(target) < 1.5 * NOISE * np.sqrt(unknowns / 6000)


def test_units_that_bend_a_smooth_function_are_all_kept(monkeypatch):
    # A function that no network meets is taken to be smooth where rows are few: it is given what units they determine.
    search, _ = search_on(teachers.random(5, 8, 0), 700, True)
    monkeypatch.setattr(units, "_is_no_network", lambda search, fit: True)
    affine = search.affine()
    wide = next(units._growing(search, [affine]))
    assert wide.route == "wide"
    assert wide.params.n_hidden == budget.widest(700, search.problem.shape(1), budget.IF_EXACT)
    assert wide.score < affine.score


def test_pure_noise_has_no_units():
    search, _ = search_on(teachers.random(2, 5, 0), 3000, True)
    rng = np.random.default_rng(0)
    search.problem.rows.y[:] = rng.standard_normal(3000)
    search.judge.rows.y[:] = rng.standard_normal(search.judge.rows.n_rows)
    found, more_help = find_units(search, "auto")
    assert found.params.n_hidden == 0
    assert more_help is False


def test_a_plane_of_few_dimensions_is_fitted_inside_first():
    # In five dimensions a fit of the whole finds nothing: the weights of a hard plane cancel.
    search, target = search_on(teachers.hard_plane(10, 5, 0), 3000, True, noise=NOISE)
    search.V = np.linalg.svd(Params.from_network(target).planes[:, :-1])[2][:2].T
    found, _ = find_units(search, "auto")
    assert found.params.n_hidden == 10
    unknowns = search.problem.shape(10).n_unknowns
    assert found.params.to_network().distance(target) < 1.5 * NOISE * np.sqrt(unknowns / 3000)


@pytest.mark.parametrize("seed", [0, 3, 4])  # whose affine fit leaves what looks like noise to so few rows
def test_rows_too_few_for_the_usual_first_width_get_the_widest_they_determine(seed):
    search, target = search_on(teachers.orthonormal(5, 30, seed), 540, False, seed=seed)
    found, _ = find_units(search, "auto")
    assert search.judge.is_exact(found)
    assert found.params.to_network().distance(target) < 1e-8


@pytest.mark.parametrize("noise", [2.0, 3.0])
def test_units_are_found_where_noise_has_most_of_the_variance(noise):
    network = teachers.random(3, 8, 0)
    search, target = search_on(network, 20_000, False, noise=noise, seed=1)
    found, _ = find_units(search, "auto")
    assert found.params.n_hidden > 0
    unknowns = search.problem.shape(3).n_unknowns
    assert found.params.to_network().distance(target) < 1.5 * noise * np.sqrt(unknowns / 20_000)


# A width asked for


@pytest.mark.parametrize("noise", [0.0, NOISE])
@pytest.mark.parametrize("asked", [1, 3, 4, 7])
def test_a_width_that_is_asked_for_is_an_upper_limit(asked, noise):
    network, biases, _ = FAMILIES["random"]
    search, _ = search_on(network, 4000, biases, noise=noise, seed=2)
    found, more_help = find_units(search, asked)
    assert found.params.n_hidden <= asked
    assert found.params.n_hidden >= min(asked, 4)
    assert more_help is (asked < 4)
    if not noise and asked >= 4:
        assert search.judge.is_exact(found)


def test_no_units_asked_for_is_the_affine_fit():
    search, _ = search_on(FAMILIES["random"][0], 2000, False, seed=2)
    found, more_help = find_units(search, 0)
    assert found.params.n_hidden == 0
    assert found.params is search.affine().params
    assert more_help is True


def test_whether_more_would_help_is_left_open_where_rows_are_few():
    network = teachers.random(4, 10, 0)
    search, _ = search_on(
        network, 60, False, noise=NOISE
    )  # fewer than three for each unknown of a single unit
    found, more_help = find_units(search, 3)
    assert found.params.n_hidden <= 3
    assert more_help is None


@pytest.mark.parametrize("family", ["random", "orthonormal", "positive"])
def test_hardly_more_rows_than_unknowns_are_enough_for_exact_labels(family):
    network, biases, _ = FAMILIES[family]
    n = int(2.2 * (network.n_hidden + 1) * (network.n_features + 1))
    search, target = search_on(network, n, biases, seed=1)
    found, _ = find_units(search, network.n_hidden)
    assert found.params.n_hidden == network.n_hidden
    assert found.params.to_network().distance(target) < 1e-8


# What a nearly exact fit leaves


def with_a_weak_unit(weight):
    """A search for five units of which one has this weight."""
    strong = teachers.random(4, 5, 0, biases=0.5)
    weak = ShallowNetwork(np.zeros(5), [weight], teachers.random(1, 5, 7).units, [0.3], 0.0)
    return search_on(strong + weak, 1500, True, seed=1)


@pytest.mark.parametrize(
    ("weight", "asked"),
    [(weight, asked) for asked in (5, "auto") for weight in (1e-2, 1e-3, 1e-4, 1e-6)],
)
def test_a_unit_much_weaker_than_others_is_found_in_what_they_leave(weight, asked):
    search, target = with_a_weak_unit(weight)
    found, more_help = find_units(search, asked)
    assert search.judge.is_exact(found)
    assert more_help is False
    final = without_surplus(search.problem, found)
    assert final.params.n_hidden == 5
    assert final.params.to_network().distance(target) < 1e-10


def told_of(search, asked="auto"):
    """The fit, and what the search said that it did."""
    told = []
    search.tell = told.append
    return find_units(search, asked)[0], told


def test_weights_over_five_decades_ask_for_no_wider_fit():
    # Of seeds 1 to 12 one ends with a unit too many, which fits a handful of rows by itself.
    n_exact = 0
    for seed in range(1, 7):
        search, _ = search_on(teachers.random(6, 20, seed, spread=1e5), 5000, True, seed=seed)
        found, told = told_of(search)
        assert len([what for what in told if "wide fit" in what]) == 1
        if search.judge.is_exact(found):
            assert without_surplus(search.problem, found).params.n_hidden == 6
            n_exact += 1
    assert n_exact >= 5


def test_noise_that_is_small_asks_for_no_wider_fit():
    search, _ = search_on(teachers.random(10, 20, 0), 10_000, True, noise=0.01, seed=1)
    found, told = told_of(search)
    assert found.params.n_hidden == 10
    assert len([what for what in told if "wide fit" in what]) == 1


def test_few_rows_are_not_started_on_over_and_over_while_others_can_join_them():
    rng = np.random.default_rng(0)
    counts = []
    for has_reserve in (True, False):
        search, _ = search_on(teachers.random(4, 10, 0), 100, True, seed=3)
        search.problem.rows.y[:] = rng.standard_normal(100)  # no network at all
        search.has_reserve = has_reserve
        _, told = told_of(search)
        counts.append(len([what for what in told if "start" in what]))
        assert search.limited
    assert counts[0] == 0 < counts[1]


def test_a_width_that_is_given_is_not_started_on_over_and_over_either():
    rng = np.random.default_rng(0)
    counts = []
    for has_reserve in (True, False):
        search, _ = search_on(teachers.random(4, 10, 0), 100, True, seed=3)
        search.problem.rows.y[:] = rng.standard_normal(100)
        search.has_reserve = has_reserve
        _, told = told_of(search, 4)
        counts.append(len([what for what in told if "start" in what]))
    assert counts[0] == 4 < counts[1]


# Biases


def test_biases_go_where_held_out_rows_do_not_ask_for_them():
    network = teachers.random(3, 6, 0)
    for noise in (0.0, NOISE):
        search, target = search_on(network, 3000, True, noise=noise)
        found, _ = find_units(search, 3)
        without = choose_biases(search, found)
        assert not without.params.has_biases
        assert without.params.n_hidden == 3
        assert without.route == found.route
        distances = [fit.params.to_network().distance(target) for fit in (without, found)]
        assert distances[0] <= max(distances[1], 1e-12)


def test_biases_stay_where_there_are_some():
    search, _ = search_on(teachers.random(3, 6, 0, biases=0.5), 3000, True, noise=NOISE)
    found, _ = find_units(search, 3)
    assert choose_biases(search, found) is found
    homogeneous = search.without_biases()
    assert homogeneous.problem.biases is homogeneous.judge.problem.biases is False
    assert choose_biases(homogeneous, found) is found
    affine, _ = find_units(search, 0)
    assert choose_biases(search, affine) is affine


# Time, and the same again


@pytest.mark.parametrize("asked", [4, "auto"])
def test_out_of_time_what_is_there_is_returned_at_once(asked):
    network, biases, _ = FAMILIES["random"]
    search, _ = search_on(network, 4000, biases, deadline=lambda: True)
    told = []
    search.tell = told.append
    found, _ = find_units(search, asked)
    assert len(told) <= 1
    assert len(found.trace) <= 5
    assert found.params.n_hidden <= 4 if asked == 4 else np.isfinite(found.loss)


def test_the_same_rng_finds_the_same_network():
    network, biases, _ = FAMILIES["random"]
    fits = [find_units(search_on(network, 3000, biases, noise=NOISE, seed=4)[0], "auto")[0] for _ in range(2)]
    np.testing.assert_array_equal(fits[0].params.a, fits[1].params.a)


def test_a_subspace_that_moments_have_shown_is_used():
    network = teachers.hard_plane(4, 20, 0)
    search, target = search_on(network, 6000, False, seed=1)
    P = np.linalg.svd(network.units)[2][:2].T
    search.V = np.linalg.qr(P + 0.05 * np.random.default_rng(0).standard_normal((20, 2)))[0]
    found, _ = find_units(search, 4)
    assert found.route == "subspace"
    assert found.params.to_network().distance(target) < 1e-10


def test_a_fit_inside_a_plane_begins_with_many_units_as_they_cost_little():
    network = teachers.hard_plane(8, 20, 0)
    search, target = search_on(network, 10_000, False, seed=1)
    search.V = np.linalg.svd(network.units)[2][:2].T
    found, told = told_of(search)
    assert found.params.to_network().distance(target) < 1e-10
    assert told[0] == "40 units inside the 2-dimensional subspace"
    assert not [what for what in told if "wide fit" in what]


def test_a_start_inside_that_explains_nothing_is_followed_by_another(monkeypatch):
    network = teachers.hard_plane(12, 20, 0, planes=2)
    search, target = search_on(network, 20_000, False, seed=1)
    search.V = np.linalg.svd(network.units)[2][:4].T
    truly, given = inside.fit_in_subspace, []

    def lost_at_first(problem, V, width, rng, **limits):
        given.append(V)
        fit, tilted = truly(problem, V, width, rng, **limits)
        if len(given) == 1:  # as where the first tilts lose what the moments saw
            return replace(fit, params=fit.params.keep(np.zeros(0, int)), loss=1.0), np.roll(V, 1, axis=0)
        return fit, tilted

    monkeypatch.setattr(inside, "fit_in_subspace", lost_at_first)
    found, told = told_of(search)
    assert found.params.to_network().distance(target) < 1e-10
    assert len(given) == 2
    np.testing.assert_array_equal(*given)
    assert not [what for what in told if "wide fit" in what]


# What a search shares


def test_the_affine_fit_is_least_squares_and_made_once():
    search, _ = search_on(FAMILIES["biases"][0], 2000, True, noise=NOISE)
    X, y = search.pilot.X, search.pilot.y
    F = np.column_stack([X, np.ones(len(X))])
    expected = np.linalg.lstsq(F, y, rcond=None)[0]
    np.testing.assert_allclose(search.affine().params.affine[0], expected, atol=1e-5)
    assert search.affine() is search.affine()
    assert search.affine().route == "affine"


def test_affine_labels_are_met_to_rounding():
    search, _ = search_on(teachers.random(1, 4, 0), 1000, True)
    for rows in (search.problem.rows, search.judge.rows):
        rows.y[:] = rows.X @ [1.0, -2.0, 0.5, 0.0] + 0.3
    assert search.judge.is_exact(search.affine())
    assert find_units(search, "auto")[0].params.n_hidden == 0


def test_a_fit_that_is_near_is_finished_before_it_is_judged():
    network, biases, n = FAMILIES["random"]
    rows, target = noisy(network, n, 5)
    problem = Problem(rows, biases)
    search = Search(
        problem, rows, Judge(problem, rows.head(100)), np.zeros((10, 0)), np.random.default_rng(0)
    )
    true = Params.from_network(target)
    near = true.moved(
        1e-4 * np.random.default_rng(1).standard_normal(true.a.shape) * true.shape(False).free()
    )
    judged = search.judged(Fit(near, problem.equations(near).loss), "here")
    assert judged.route == "here"
    assert judged.score < problem.zero_loss
    far = replace(judged, params=true.keep(np.array([0])), loss=1.0)
    few = replace(search, problem=problem.on(rows.head(50)), judge=Judge(problem.on(rows.head(50)), rows))
    assert few.judged(far, "there").params is far.params


@pytest.mark.parametrize("n", range(4, 14))
def test_so_few_rows_that_no_width_is_left_end_in_a_status(n):
    # Three outputs of three features: the width that rows allow is negative, and its unknowns may count as none.
    rng = np.random.default_rng(n)
    result = learn(rng.standard_normal((n, 3)), rng.standard_normal((n, 3)), rng=0)
    assert not result.success
