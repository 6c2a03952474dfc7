"""The map of columns and a few directions against the matrix that it stands for."""

import numpy as np

from netlearn.inputs.whitening import ColumnWhitening

D, R = 7, 2


def planted():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((D, R)))[0]
    W = ColumnWhitening(rng.uniform(0.1, 10, D), Q, np.array([-0.9, 3.0]))
    matrix = np.diag(W.factor) @ (np.eye(D) + Q @ np.diag(W.stretch) @ Q.T)
    return W, matrix, rng


def test_products_from_either_side_are_those_of_the_matrix():
    W, matrix, rng = planted()
    X, vectors = rng.standard_normal((5, D)), rng.standard_normal((D, 3))
    assert W.shape == matrix.shape
    np.testing.assert_allclose(X @ W, X @ matrix, atol=1e-13)
    np.testing.assert_allclose(W @ vectors, matrix @ vectors, atol=1e-13)
    np.testing.assert_allclose(W @ vectors[:, 0], matrix @ vectors[:, 0], atol=1e-13)


def test_rows_in_torch_stay_there():
    import torch

    W, matrix, rng = planted()
    X = rng.standard_normal((5, D))
    image = torch.asarray(X) @ W
    assert isinstance(image, torch.Tensor)
    np.testing.assert_allclose(image.numpy(), X @ matrix, atol=1e-13)
