import numpy as np
import pytest
from scipy import linalg

from netlearn.errors import InputError
from netlearn.subspace import sine


@pytest.mark.parametrize("angle", [1.5, 0.1, 1e-7, 1e-12])
def test_sine_is_accurate_for_small_angles(angle):
    V = np.eye(4)[:, :2]
    W = V.copy()
    W[:, 1] = [0, np.cos(angle), np.sin(angle), 0]
    Q = np.linalg.qr(np.array([[1.0, 2.0], [3.0, 4.0]]))[0]
    assert sine(V, W) == pytest.approx(np.sin(angle), rel=1e-3)
    assert sine(V, W @ Q) == pytest.approx(np.sin(angle), rel=1e-3)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (3, 3)])
def test_sine_agrees_with_scipy(shape):
    rng = np.random.default_rng(0)
    V, W = (np.linalg.qr(rng.standard_normal((6, r)))[0] for r in shape)
    assert sine(V, W) == pytest.approx(np.sin(np.max(linalg.subspace_angles(V, W))), rel=1e-10)
    assert sine(V, W) == pytest.approx(sine(W, V), rel=1e-10)


def test_a_subspace_of_another_is_at_angle_zero():
    assert sine(np.eye(4)[:, :3], np.eye(4)[:, 1:2]) == 0


@pytest.mark.parametrize(
    ("V", "W", "message"),
    [
        (np.eye(3)[:, :0], np.eye(3), "V_first must have at least one column"),
        (np.eye(3), 2 * np.eye(3), "V_second must have orthonormal columns"),
        (np.eye(3), np.eye(2), "as many rows each; got 3 and 2"),
    ],
)
def test_bad_input_gets_one_sentence(V, W, message):
    with pytest.raises(InputError, match=message):
        sine(V, W)
