import numpy as np
import pytest

from netlearn.certify.rounding import label_step, rounding_of_labels

Y = np.random.default_rng(0).standard_normal(2000)


@pytest.mark.parametrize("step", [1.0, 0.25, 1e-3, 1e-6, 0.0123, 1e5])
@pytest.mark.parametrize("offset", [0.0, 0.3, -17.0])
def test_the_step_of_a_grid_is_found(step, offset):
    y = offset * step + step * np.round(Y * 50)
    assert label_step(y) == pytest.approx(step, rel=1e-6)


def test_a_few_labels_far_apart_still_show_their_step():
    y = np.array([0.0, 4.0, 10.0, 22.0]) * 0.01  # gaps of 4, 6 and 12 steps of 0.01, all of them even
    assert label_step(y) == pytest.approx(0.02)


@pytest.mark.parametrize("y", [Y, Y.astype(np.float32).astype(float), np.ones(5), np.zeros(0), Y[:3]])
def test_numbers_on_no_grid_have_no_step(y):
    assert label_step(y) == 0.0


@pytest.mark.parametrize(
    ("rounded", "words", "half"),
    [
        (np.round(Y, 3), "multiples of 0.001", 0.0005),
        (np.round(Y * 127 / 4) * 4 / 127, "multiples of 0.0315", 2 / 127),
        (Y.astype(np.float16).astype(float), "numbers of half precision", 2.0**-10),
    ],
    ids=["decimals", "bytes", "half precision"],
)
def test_errors_within_half_a_step_are_the_rounding(rounded, words, half):
    assert rounding_of_labels(rounded, rounded - Y) == (words, pytest.approx(half))
    # Negative controls: twice the errors, or one that is too large, are something else.
    assert rounding_of_labels(rounded, 2 * (rounded - Y)) == ("", 0.0)
    assert rounding_of_labels(rounded, np.where(np.arange(2000) == 7, 0.5, rounded - Y)) == ("", 0.0)
    assert rounding_of_labels(Y, rounded - Y) == ("", 0.0)


def test_every_output_must_be_explained():
    several = np.column_stack([Y, 2 * Y])
    rounded = np.round(several, 2)
    assert rounding_of_labels(rounded, rounded - several) == (
        "multiples of 0.01",
        pytest.approx(0.005 * 2**0.5),
    )
    spoiled = rounded - several
    spoiled[3, 1] = 0.1
    assert rounding_of_labels(rounded, spoiled) == ("", 0.0)
