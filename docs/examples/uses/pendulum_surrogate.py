r"""
A wide surrogate of a double pendulum
=====================================

Surrogates of physical models are often one hidden layer, wide for the number of inputs, and trained until the fit is
good enough. Here 128 ReLUs stand for the energy of a double pendulum in eight quantities. The surrogate is not the
pendulum, and learning it back does not make it so; but every one of its 1,161 weights is there to be read again.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.special import ndtr

from netlearn import ShallowNetwork, learn
from netlearn.report import figures

# %%
# The physics, and a surrogate of it
# ----------------------------------
#
# Angles and angular velocities of the two rods, their masses and their lengths, each a function of a standard normal
# variable. The surrogate is trained for a thousand steps of Adam.


def energy(Z):
    """Return kinetic and potential energy, in joules, for normal variables in the rows of Z."""
    angle, velocity = 0.6 * Z[:, 0:2], 2.0 * Z[:, 2:4]
    mass, length = torch.exp(0.2 * Z[:, 4:6]), torch.exp(0.2 * Z[:, 6:8])
    v = length * velocity
    across = v[:, 0] * v[:, 1] * torch.cos(angle[:, 0] - angle[:, 1])
    kinetic = mass[:, 0] * v[:, 0] ** 2 / 2 + mass[:, 1] * ((v**2).sum(1) / 2 + across)
    height = length * (1 - torch.cos(angle))
    return kinetic + 9.81 * (mass.sum(1) * height[:, 0] + mass[:, 1] * height[:, 1])


torch.manual_seed(0)
Z = torch.randn(8_000, 8, dtype=torch.float64)
joules = energy(Z)
mean, spread = joules.mean(), joules.std()
model = torch.nn.Sequential(torch.nn.Linear(8, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1)).double()
optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 1_000)
for _ in range(1_000):
    some = torch.randint(len(Z), (256,))
    optimiser.zero_grad()
    torch.nn.functional.mse_loss(model(Z[some])[:, 0], (joules[some] - mean) / spread).backward()
    optimiser.step()
    schedule.step()


def surrogate(X):
    """Answer in joules."""
    with torch.no_grad():
        return (mean + spread * model(torch.as_tensor(X))[:, 0]).numpy()


fresh = torch.randn(20_000, 8, dtype=torch.float64)
true = energy(fresh).numpy()
left_over = np.var(surrogate(fresh) - true) / np.var(true)
print(f"the surrogate misses {left_over:.1%} of the variance of the energy")

# %%
# Ask it
# ------
#
# Sixteen times as many units as inputs: hyperplanes cross everywhere, and no subspace is smaller than the whole. The
# width is given, which saves trying several. Seventeen questions for each unknown are more than needed; with ten, some
# draws take three attempts instead of one.

X = np.random.default_rng(0).standard_normal((20_000, 8))
result = learn(X, surrogate(X), n_hidden=128, biases=True, rng=0)
found = result.network
print(result.status.name, f"with {found.n_hidden} units after {len(X):,} questions")
print(f"largest difference on {len(fresh):,} fresh points: ", end="")
print(f"{np.abs(found(fresh.numpy()) - surrogate(fresh)).max():.0e} joules")
for note in result.diagnostics.notes:
    print("note:", note)

# %%
# What training leaves
# --------------------
#
# Nobody planted these units. They differ in size by hundreds, and some switch far from the origin: beyond the
# hyperplane of a unit at distance b lies a share :math:`\Phi(-|b|)` of the points. Two units are told apart by
# the points between their hyperplanes. None turned out to be dead or a copy of another, so no note speaks of
# either; a unit that switches on no point would be missing, and a note would say how many are.

scaled = ShallowNetwork.from_torch(model)
truth = ShallowNetwork(
    float(spread) * scaled.linear,
    float(spread) * scaled.coefficients,
    scaled.units,
    scaled.biases,
    float(mean + spread * scaled.intercept),
)
sizes, switched = np.abs(truth.coefficients), ndtr(-np.abs(truth.biases))
planes = np.column_stack([truth.units, truth.biases])
planes /= np.linalg.norm(planes, axis=1, keepdims=True)
cosines = np.abs(planes @ planes.T) - np.eye(len(planes))
print(f"coefficients from {sizes.max():.1f} down to {sizes.min():.3f} joules, ", end="")
print(f"{(sizes < 0.01 * sizes.max()).sum()} of them below 1 % of the largest")
print(f"beyond the hyperplane farthest out lie {switched.min():.1%} of the points")
print(f"the closest two hyperplanes are {np.degrees(np.arccos(cosines.max())):.1f} degrees apart")


def vectors(network):
    """Return the units times their coefficients, with biases, one in each row."""
    return network.coefficients[:, None] * np.column_stack([network.units, network.biases])


apart = np.linalg.norm(vectors(truth)[:, None] - vectors(found)[None], axis=2).min(axis=1)
relative = apart / np.linalg.norm(vectors(truth), axis=1)
print(f"{(relative < 1e-6).sum()} of {len(relative)} units found to 1e-6, the worst to {relative.max():.0e}")

# %%
# What would not work: a surrogate with two hidden layers, or with smooth activations, is no such network, and would end
# as a fit with the status ``NOT_A_SMALL_NETWORK`` or ``NOISE_LIMITED``. So would the energy itself.
#
# On the left the energy over one velocity, everything else at its middle: the surrogate has corners where the physics
# is smooth, and the recovered network has the same corners. On the right every unit.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.9), layout="constrained")
t = np.linspace(-3, 3, 400)
line = np.zeros((len(t), 8))
line[:, 2] = t
left.plot(t, energy(torch.as_tensor(line)), color=figures.GREY, label="the physics")
left.plot(t, surrogate(line), color=figures.VERMILION, linewidth=3, alpha=0.5, label="the surrogate")
left.plot(t, found(line), color=figures.BLUE, linewidth=1, label="the recovered network")
left.set(
    xlabel="velocity of the first rod (normal variable)", ylabel="energy in joules", title="along a line"
)
left.legend()
dots = right.scatter(switched, sizes, c=np.log10(np.maximum(relative, 1e-16)), s=18, cmap="viridis")
right.set(xscale="log", yscale="log", xlabel="share of points beyond the hyperplane", ylabel="coefficient in joules",
          title="the 128 units")  # fmt: skip
right.set_xticks([0.02, 0.05, 0.1, 0.2, 0.4], ["2 %", "5 %", "10 %", "20 %", "40 %"])
right.minorticks_off()
figure.colorbar(dots, ax=right, label="log10 of the unit's relative error")
