"""
A regressor trained on patients
===============================

Someone has trained a small network on medical records and lets others ask it, but does not show it. Its answers
give it away: twelve hundred of them, to points that look like no patient at all, are worth more than its answers
to all 442 patients.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtr
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler

from netlearn import Oracle, ShallowNetwork, learn
from netlearn.report import figures

# %%
# The model
# ---------
#
# Twenty ReLUs on ten standardised measurements, trained on the progression of the disease after a year.

patients, progression = load_diabetes(return_X_y=True)
patients = StandardScaler().fit_transform(patients)
model = MLPRegressor(hidden_layer_sizes=(20,), learning_rate_init=0.01, max_iter=1_000, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # any weights will do, the best or not
    model.fit(patients, progression)
print(f"{model.score(patients, progression):.2f} of the variance on the patients it was trained on")

# %%
# Ask it
# ------
#
# The width is not told. Points come from N(0, I), the spread of the patients without their correlations.

oracle = Oracle(model.predict, n_features=10)
result = learn(oracle, rng=0)
found, truth = result.network, ShallowNetwork.from_sklearn(model)
print(result.status.name, f"with {found.n_hidden} units after {oracle.n_queries:,} questions")
difference = np.abs(found(patients) - model.predict(patients))
print(f"on the patients it differs from the model by at most {difference.max():.0e},")
print(f"where the model's answers go from {model.predict(patients).min():.0f} ", end="")
print(f"to {model.predict(patients).max():.0f}")

# %%
# The units
# ---------
#
# Both networks are in canonical form, which sorts units by size (output weight times length of the input weights): the
# first of one is the first of the other. Training has left three of them nearly dead, hundreds of times weaker than the
# strongest. They come back all the same, with fewer digits.


def vectors(network):
    """Return the units times their coefficients, with biases, one in each row."""
    return network.coefficients[:, None] * np.column_stack([network.units, network.biases])


sizes = np.abs(truth.coefficients)
apart = np.linalg.norm(vectors(found) - vectors(truth), axis=1) / np.linalg.norm(vectors(truth), axis=1)
cosines = np.abs(truth.units @ truth.units.T) - np.eye(truth.n_hidden)
closest = np.degrees(np.arccos(cosines.max()))
print(f"sizes from {sizes.max():.1f} down to {sizes.min():.3f}, ", end="")
print(f"{(sizes < 0.01 * sizes.max()).sum()} of the units below 1 % of the largest")
print(f"the closest two directions are {closest:.0f} degrees apart: there are no twins")
print(f"beyond the hyperplane farthest out lie {ndtr(-np.abs(truth.biases)).min():.0%} of the points")
print(f"largest relative error of a unit: {apart.max():.0e}")
for note in result.diagnostics.notes:
    print("note:", note)

# %%
# What would not work
# -------------------
#
# The model's answers to its own patients are 442 numbers for 231 unknowns, at points that are few and far from
# Gaussian. They are fitted well, but nothing is recovered. The true progression of the disease has more noise than
# anything a small network could explain: what comes back has no units.

answered = learn(patients, model.predict(patients), n_hidden=20, rng=0)
true_labels = learn(patients, progression, n_hidden=20, rng=0)
fresh = np.random.default_rng(1).standard_normal((2_000, 10))
for name, other in (("the model's answers to patients", answered), ("true labels", true_labels)):
    away = np.std(other.network(fresh) - model.predict(fresh)) / np.std(model.predict(fresh))
    print(f"{name}: {other.status.name}, {other.network.n_hidden} units, off by {away:.0%} on fresh points")

# %%
# On the left each unit's error against its size: what rounding leaves is the same for all, so weak units have
# fewer digits. On the right fresh points, which is where the three networks part.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
left.loglog(sizes, np.maximum(apart, 1e-17), "o", color=figures.BLUE)
left.set(xlabel="size of the unit", ylabel="relative error of the unit", title="all twenty units")
for network, color, label in (
    (true_labels.network, figures.ORANGE, "from true labels"),
    (answered.network, figures.VERMILION, "from answers to patients"),
    (found, figures.BLUE, "from questions"),
):
    right.plot(model.predict(fresh), network(fresh), ".", color=color, markersize=3, label=label)
right.set(xlabel="the model", ylabel="the network", title="on fresh points")
right.legend(markerscale=3)
