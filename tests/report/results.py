"""Results made by hand, in no time, and one that a learner made."""

from dataclasses import replace

import numpy as np

from netlearn import teachers
from netlearn.certify import Basis, certify, scored, without_bound
from netlearn.network import ShallowNetwork
from netlearn.result import Diagnostics, HeldOut, LearnResult, MomentSpectrum, Status
from netlearn.source import ArraySource

NASTY = ("<script>alert(1)</script>", 'a"b', "c&d", "x'><img src=https://example.invalid/x>")


def made(network, *, status=Status.NOISE_LIMITED, noise=0.1, n_rows=200, seed=0, **fields):
    """Build a result around a network, with a certificate from rows with noisy labels."""
    rng = np.random.default_rng(seed)
    d = network.n_features
    X = rng.standard_normal((n_rows, d))
    y = network(X)
    y = y + noise * rng.standard_normal(y.shape)
    certificate = certify(network, X, y, failure_prob=0.01, basis=Basis("N(0, I)", noisy=True))
    rows = ArraySource(X, y)
    score = scored(network, linear_part(network), y.mean(axis=0), rows)
    values = np.sort(rng.exponential(size=(2, d)))[:, ::-1] * [[1], [-1]]
    diagnostics = Diagnostics(
        spectra=(
            MomentSpectrum(2, None, values[0], 0.4, "label", int((values[0] > 0.6).sum())),
            MomentSpectrum(4, 0, values[1, : max(1, d // 2)], 0.3, "", None),
        ),
        rows={"train": 4000, "certify": n_rows},
        seconds={"search": 1.25, "fit": 0.5},
        trace=(0.5, 0.1, 1e-3, 1e-6),
        noise_level=float(np.linalg.norm(noise)),
        excess_error=float(np.linalg.norm(noise)) / 10,
        departure=2.5,
        notes=("a note",),
    )
    basis, held_out = span(network), HeldOut.first(rows)
    made = LearnResult(network, certificate, status, basis, None, diagnostics, held_out, score=score)
    return replace(made, **fields)


def linear_part(network):
    outputs, d = network.linear.shape[:-1], network.n_features
    return ShallowNetwork(network.linear, np.zeros((0, *outputs)), np.zeros((0, d)), None, network.intercept)


def span(network):
    if network.n_hidden == 0:
        return np.zeros((network.n_features, 0))
    basis, strengths, _ = np.linalg.svd(network.units.T, full_matrices=False)
    return basis[:, strengths > 1e-9]


def in_dimension(r, d=8, k=5, seed=0):
    """A result whose units span r dimensions."""
    return made(teachers.random(k, d, seed, dimension=r, biases=1.0))


def affine(d=3):
    return made(ShallowNetwork(np.arange(1.0, d + 1), [], np.zeros((0, d)), None, 2.0))


def several_outputs(m=2, d=5, **fields):
    rng = np.random.default_rng(1)
    network = ShallowNetwork.from_relu(rng.normal(size=(4, d)), rng.normal(size=(4, m)), rng.normal(size=4))
    # Noise of very different size: the outputs fit ever worse.
    return made(network, noise=0.1 * 2.0 ** np.arange(m) if m < 10 else 0.1, **fields)


def one_constant_output():
    f = several_outputs(3).network
    kept = np.array([1.0, 1.0, 0.0])
    return made(
        ShallowNetwork(kept[:, None] * f.linear, kept * f.coefficients, f.units, f.biases, [0.0, 1.0, 2.0]),
        noise=kept * 0.1,
        target=("first", "second", "third"),
    )


def nothing_found():
    return LearnResult(None, None, Status.FAILED, np.zeros((4, 0)))


CASES = {
    "dim V 1": lambda: in_dimension(1),
    "dim V 2": lambda: in_dimension(2),
    "dim V 3": lambda: in_dimension(3),
    "dim V 5": lambda: in_dimension(5),
    "k = 0": affine,
    "k = 0, d = 1": lambda: affine(1),
    "d = 1": lambda: made(teachers.random(2, 1, 0, biases=1.0)),
    "a constant": lambda: made(ShallowNetwork([0.0, 0.0], [], np.zeros((0, 2)), None, 2.0)),
    "equal labels": lambda: made(ShallowNetwork([0.0, 0.0], [], np.zeros((0, 2)), None, 2.0), noise=0.0),
    "many units": lambda: made(teachers.random(70, 60, 0)),
    "one held-out row": lambda: made(teachers.random(2, 3, 0), n_rows=1),
    "several outputs": several_outputs,
    "one output constant": one_constant_output,
    "several affine outputs": lambda: made(
        ShallowNetwork(np.eye(3, 4), np.zeros((0, 3)), np.zeros((0, 4)), None, [1.0, 2.0, 3.0])
    ),
    "constant outputs": lambda: made(
        ShallowNetwork(np.zeros((2, 3)), np.zeros((0, 2)), np.zeros((0, 3)), None, [1.0, 2.0])
    ),
    "many outputs": lambda: several_outputs(60, 30, target=tuple(f"logit_{o}" for o in range(60))),
    "several outputs, one held-out row": lambda: several_outputs(n_rows=1),
    "several outputs, no certificate": lambda: replace(several_outputs(), certificate=None),
    "several outputs, no held-out rows": lambda: replace(several_outputs(), held_out=None),
    "no certificate": lambda: replace(in_dimension(2), certificate=None),
    "no held-out rows": lambda: replace(in_dimension(2), held_out=None),
    "nothing found but noise": lambda: made(teachers.random(2, 3, 0), status=Status.NO_SIGNAL),
    "no L2 bound": lambda: replace(
        in_dimension(2), certificate=without_bound(in_dimension(2).certificate, "nobody knows the inputs")
    ),
    "several outputs, no L2 bound": lambda: replace(
        several_outputs(), certificate=without_bound(several_outputs().certificate, "nobody knows the inputs")
    ),
    "no diagnostics": lambda: replace(in_dimension(2), diagnostics=Diagnostics()),
    "no network": nothing_found,
}
