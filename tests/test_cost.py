"""The cost model: formulas against numbers worked out by hand, and against what `learn` does."""

import numpy as np
import pytest

from netlearn import FileSource, learn, learning, pipeline, teachers
from netlearn.backend.calibrate import Rates
from netlearn.cost import least_rows, plan
from netlearn.errors import InputError
from netlearn.fit.expected import products_needed
from netlearn.step_costs import Cost

RATES = Rates(wide=4e9, narrow=1e9, memory=1e10, disk=5e8)


def named(planned, name):
    (cost,) = [cost for cost in planned.passes if cost.name == name]
    return cost


def test_a_large_file_is_read_twice_and_held_in_part():
    planned = plan(20_000_000, 200, 5)
    assert planned.streamed
    assert planned.n_passes == 2
    assert planned.n_held == 2**25 // 200
    for name in ("read and check the rows", "refinement on all rows"):
        assert named(planned, name).bytes_read == 20_000_000 * 201 * 8
    # f and its gradient at every row: two products with 6 vectors of 200 entries.
    assert named(planned, "refinement on all rows").flops == 2 * (2 * 20_000_000 * 200 * 6)
    assert planned.n_unknowns == 6 * 201


def test_memory_of_a_large_file_does_not_depend_on_its_length():
    long, longer = plan(10**9, 500, 5), plan(10**12, 500, 5)
    assert longer.resident == long.resident
    # Rows held, 20,000 that judge (twice) and 20,000 that certify; pages and blocks for reading.
    held = 8 * 501 * (2**25 // 500 + 60_000)
    assert held < long.resident < held + 2**20 * 501 + 5 * 8 * 2**20


def test_rows_in_memory_are_never_read():
    planned = plan(100_000, 200, 5, in_files=False)
    assert planned.n_passes == 0
    assert planned.n_held == 100_000 - 25_000 - 5_000  # a quarter is held out, a twentieth judges
    assert planned.resident > 8 * 100_000 * 201


@pytest.mark.parametrize(("n_rows", "n_passes"), [(100_000, 1), (2 * (2**25 // 200), 1), (335_545, 2)])
def test_a_file_of_twice_the_rows_held_is_read_once(n_rows, n_passes):
    assert plan(n_rows, 200, 5).n_passes == n_passes


@pytest.mark.parametrize(("d", "probe"), [(400, "moment matrices"), (401, "sketch of one moment matrix")])
def test_matrices_are_formed_up_to_400_features(d, probe):
    n = 2**25 // d
    cost = named(plan(10**7, d, 5), probe)
    if probe == "moment matrices":
        # Three quarters of X^T (t X) for each of three filters, and their eigenvalues.
        assert cost.wide == pytest.approx(3 * (0.75 * 2 * n * d**2 + 10 * d**3))
    else:
        # Five products with 32 vectors, 4 n d operations for each, at twice the rate.
        assert cost.wide == pytest.approx(5 * 4 * n * d * 32 / 2)


def test_many_units_in_few_dimensions_are_fitted_wide():
    first = [next(cost.name for cost in plan(30_000, 50, k).passes if cost.step == "search") for k in (6, 7)]
    assert first == ["fits inside V", "wide fit"]
    (cost,) = [cost for cost in plan(30_000, 50, 30).passes if cost.name == "wide fit"]
    # 30 units and their surplus are 40, on 8 rows for each of 41 * 51 unknowns.
    n, unknowns = 8 * 41 * 51, 41 * 51
    assert cost.narrow == pytest.approx(25 * (6 + 4 * products_needed(unknowns, n, 0.0, 2e-2)) * n * unknowns)


@pytest.mark.parametrize("k", [5, 30])
def test_noise_takes_all_rows_to_the_last_fit_and_ranks_on_many(k):
    planned = plan(200_000, 40, k, in_files=False, noise=0.1)
    search, last = named(planned, "wide fit, narrowed"), named(planned, "fit of all rows held")
    n, unknowns = 200_000 - 50_000, (k + 1) * 41  # but those held out
    width = -(-5 * k // 4) + 2
    wide = (width + 1) * 41
    if k == 5:  # whose fits are ranked on the least number of rows
        rounds, products = 50 * 1.1, products_needed(wide, 50_000, 0.0, 0.1)
        assert search.narrow == pytest.approx(rounds * (6 + 4 * products) * 50_000 * wide)
    rounds, products = 10 * 1.1 + 100 * 0.1**2, products_needed(unknowns, n, 0.0, 1e-3)
    assert last.narrow == pytest.approx(rounds * (6 + 4 * products) * n * unknowns)
    assert plan(200_000, 40, k, in_files=False, noise=1.0).seconds(RATES) > 1.5 * planned.seconds(RATES)
    assert planned.seconds(RATES) > 2 * plan(200_000, 40, k, in_files=False).seconds(RATES)


def test_very_many_noisy_rows_are_gone_through_in_passes():
    last = named(plan(3_000_000, 20, 6, in_files=False, noise=1.0), "fit of all rows held")
    n, unknowns = 3_000_000 * 3 // 4, 7 * 21  # a quarter is held out
    some = 100 * unknowns
    rounds = 4 * (6 + 4 * products_needed(unknowns, some, 0.0, 1e-3)) * some * unknowns
    assert last.narrow == pytest.approx(5 * 6 * n * unknowns + rounds)


def test_noisy_labels_in_files_are_read_more_often():
    assert plan(20_000_000, 200, 5, noise=0.1).n_passes == 4


@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf])
def test_noise_that_is_none_is_refused(noise):
    with pytest.raises(InputError, match='"noise" of a plan'):
        plan(1000, 5, 2, noise=noise)


def test_seconds_of_a_pass_are_those_of_reading_or_of_the_work_beside_it():
    cost = Cost("", "", bytes_read=1e9, bytes_moved=5e9, wide=2e9, narrow=3e8, divides=True)
    assert cost.parts(RATES) == pytest.approx({"disk": 2.0, "memory": 0.5, "arithmetic": 0.8})
    assert cost.seconds(RATES) == pytest.approx(2.0)
    assert cost.seconds(RATES, workers=4) == pytest.approx(0.5)
    assert cost.bottleneck(RATES) == "disk"
    faster = Rates(RATES.wide, RATES.narrow, RATES.memory, disk=1e10)
    assert cost.seconds(faster) == pytest.approx(1.3)
    assert cost.bottleneck(faster) == "arithmetic"


def test_workers_divide_the_passes_over_all_rows_alone():
    planned = plan(10**9, 300, 5)
    shared = [cost for cost in planned.passes if cost.divides]
    assert [cost.name for cost in shared] == ["read and check the rows", "refinement on all rows"]
    both = sum(cost.seconds(RATES) for cost in shared)
    assert planned.seconds(RATES, workers=10) == pytest.approx(planned.seconds(RATES) - 0.9 * both)
    quick = Rates(wide=1e11, narrow=1e11, memory=1e11, disk=5e8)
    assert planned.bottleneck(quick) == "disk"
    assert planned.bottleneck(quick, workers=10**6) == "arithmetic"  # what is left is the search


@pytest.mark.parametrize(
    ("k", "d", "biases", "least"),
    # 5/3 of (k + 1)(d + 1), or of (k + 1) d + 1 without biases, rounded up, and 40.
    [(10, 1000, True, 18_392), (1, 10, False, 75), (5, 200, True, 2_050)],
)
def test_least_rows(k, d, biases, least):
    assert least_rows(k, d, biases=biases) == least


def test_so_many_rows_are_enough_and_fewer_than_unknowns_are_not():
    target = teachers.random(3, 12, 0)
    least = least_rows(3, 12)
    X = np.random.default_rng(1).standard_normal((least, 12))
    result = learn(X, target(X), n_hidden=3, rng=0)
    assert result.status.name == "REPRODUCED"  # twenty held-out rows are too few to call it recovered
    assert result.network.distance(target) <= 1e-10 * target.norm()
    few = X[: 4 * 12 - 1]
    assert learn(few, target(few), n_hidden=3, rng=0).status.name == "TOO_FEW_ROWS"


def test_rows_in_memory_are_divided_as_learn_divides_them():
    n, d, k = 3_000, 5, 2
    X = np.random.default_rng(1).standard_normal((n, d))
    seen = learn(X, teachers.random(k, d, 0)(X), n_hidden=k, rng=0).diagnostics
    planned = plan(n, d, k, in_files=False)
    assert seen.rows["train"] == planned.n_held
    # The last fit has the rows that judge, and not those that are held out: f and its gradient at each.
    fitted = seen.rows["train"] + seen.rows["judge"]
    assert named(planned, "refinement on all rows").flops == 2 * (2 * fitted * d * (k + 1))


def test_learn_holds_and_reads_what_the_plan_says(tmp_path, monkeypatch):
    n, d, k = 50_000, 5, 2
    monkeypatch.setattr(learning, "LARGE_FILE", 2**15)
    monkeypatch.setattr(pipeline, "SMALLEST_PILOT", 2000)
    X = np.random.default_rng(1).standard_normal((n, d))
    np.save(tmp_path / "rows.npy", np.column_stack([X, teachers.random(k, d, 0)(X)]))
    source = FileSource(tmp_path / "rows.npy")
    n_read = []
    chunks = source._chunks

    def counted(first=0):
        for rows in chunks(first):
            n_read.append(rows.nbytes)
            yield rows

    monkeypatch.setattr(source, "_chunks", counted)
    result = learn(source, n_hidden=k, rng=0)
    planned = plan(n, d, k)
    assert result.diagnostics.rows["train"] == planned.n_held
    assert sum(n_read) == sum(cost.bytes_read for cost in planned.passes)
    assert result.diagnostics.seconds.keys() == {cost.step for cost in planned.passes}


@pytest.mark.parametrize("sizes", [(3, 5, 5), (100, 0, 5), (100, 5, 0)])
def test_sizes_without_meaning_are_refused(sizes):
    with pytest.raises(InputError, match=r'"n_\w+" of a plan must be at least [14], got [03]\.'):
        plan(*sizes)
