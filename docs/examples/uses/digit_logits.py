r"""
The ten logits of a digit classifier
====================================

A classifier of handwritten digits has ten outputs and one hidden layer that they share. Asked at points of pure noise,
none of which shows a digit, it gives all its 4,810 weights away, and the copy agrees with it on real digits to
rounding.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from netlearn import Oracle, ShallowNetwork, learn
from netlearn.report import figures

# %%
# The classifier
# --------------
#
# 64 ReLUs on the 64 pixels, trained with cross-entropy on scikit-learn's 1,797 digits.

pixels, digits = load_digits(return_X_y=True)
images = StandardScaler().fit_transform(pixels)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)).double()
rows, labels = torch.as_tensor(images), torch.as_tensor(digits)
optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(200):
    optimiser.zero_grad()
    torch.nn.functional.cross_entropy(model(rows), labels).backward()
    optimiser.step()


def logits(X):
    """Answer as a served classifier would: rows in, ten numbers for each out."""
    with torch.no_grad():
        return model(torch.as_tensor(X)).numpy()


print(f"{np.mean(logits(images).argmax(axis=1) == digits):.1%} of the digits are told right")

# %%
# Ask it
# ------
#
# The units are looked for in all ten outputs together. Points come from N(0, I).

oracle = Oracle(logits, n_features=64)
result = learn(oracle, n_hidden=64, biases=True, rng=0)
found, truth = result.network, ShallowNetwork.from_torch(model)
print(result.status.name, f"with {found.n_hidden} units after {oracle.n_queries:,} questions")
for note in result.diagnostics.notes:
    print("note:", note)

# %%
# On the digits
# -------------
#
# No point that was asked looks like a digit. But the network is one function, and where it was asked does not matter
# once its weights are known.

difference = np.abs(found(images) - logits(images))
same = found(images).argmax(axis=1) == logits(images).argmax(axis=1)
print(f"{same.sum():,} of {len(same):,} digits are classified alike")
print(
    f"largest difference of a logit {difference.max():.0e}, largest logit {np.abs(logits(images)).max():.0f}"
)

# %%
# The units
# ---------
#
# Each unit of the classifier has its own among those found: the nearest, with its ten output weights. A unit that fires
# on all points or on none would be an affine function or nothing there, and could not be found; two that nearly
# coincide would need points between them. This training left neither, and so no note speaks of them.


def vectors(network):
    """Return input weights, bias and output weights of each unit, as one row."""
    planes = np.column_stack([network.units, network.biases])
    return (network.coefficients[:, :, None] * planes[:, None, :]).reshape(network.n_hidden, -1)


apart = np.linalg.norm(vectors(truth)[:, None] - vectors(found)[None], axis=2)
partner, relative = apart.argmin(axis=1), apart.min(axis=1) / np.linalg.norm(vectors(truth), axis=1)
sizes = np.linalg.norm(truth.coefficients, axis=1)
fires = (images @ truth.units.T + truth.biases > 0).mean(axis=0)
cosines = np.abs(truth.units @ truth.units.T) - np.eye(64)
print(f"{len(set(partner))} units matched, relative error at most {relative.max():.0e}")
print(f"output weights from {sizes.max():.2f} down to {sizes.min():.2f}")
print(f"{np.sum(np.minimum(fires, 1 - fires) < 0.01)} units are on one side of 99 % of the digits")
print(f"the closest two units are {np.degrees(np.arccos(cosines.max())):.0f} degrees apart")

# %%
# What would not work: the digits themselves, which are 1,797 rows for the 65 unknowns of each of 64 units;
# probabilities instead of logits, since a softmax is no ReLU network; or the most likely class alone.
#
# Above the input weights of the six largest units as images, below those found for them. Three pixels are blank in all
# 1,797 digits. Training never moved their weights, and these random numbers come back with the others.

figure, axes = plt.subplots(2, 6, figsize=(9.5, 3.4), layout="constrained")
for ax, weights in zip(axes.ravel(), np.vstack([truth.units[:6], found.units[partner[:6]]]), strict=True):
    ax.imshow(weights.reshape(8, 8), cmap="RdBu", vmin=-0.4, vmax=0.4)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
axes[0, 0].set_ylabel("classifier")
axes[1, 0].set_ylabel("found")

# %%
# All units: how large they are in both networks, and how far each is from its own.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
left.plot(np.arange(1, 65), sizes, "o", color=figures.VERMILION, fillstyle="none", label="classifier")
left.plot(
    np.arange(1, 65),
    np.linalg.norm(found.coefficients[partner], axis=1),
    ".",
    color=figures.BLUE,
    label="found",
)
left.set(xlabel="unit", ylabel="size of its ten output weights", ylim=(0, None))
left.legend()
right.semilogy(sizes, relative, "o", color=figures.BLUE, markersize=4)
right.set(xlabel="size of its ten output weights", ylabel="relative error of the unit")
