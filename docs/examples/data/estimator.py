"""
In scikit-learn, beside MLPRegressor
====================================

:class:`~netlearn.NetLearnRegressor` is an estimator like others: it goes into pipelines, searches and
cross-validation. What differs is that its answer does not depend on the luck of a seed, and that it says what
it is worth.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from netlearn import NetLearnRegressor, teachers
from netlearn.report import figures

# %%
# A table
# -------
#
# Eight columns of very different size, and labels from five orthonormal ReLUs with noise of a tenth of their
# spread. On such teachers gradient descent is known to meet spurious minima.

rng = np.random.default_rng(0)
target = teachers.orthonormal(5, 8, rng)
germs = rng.standard_normal((2_000, 8))
X, clean = 5.0 + germs * np.geomspace(0.1, 1_000, 8), target(germs)
noise = 0.1 * clean.std()
y = clean + noise * rng.standard_normal(len(germs))
X_train, X_test, y_train, y_test, _, clean_test = train_test_split(X, y, clean, random_state=0)

# %%
# Which width?
# ------------
#
# A grid search asks held-out folds. ``n_hidden="auto"`` comes to the same answer in a single fit.

pipeline = make_pipeline(StandardScaler(), NetLearnRegressor(random_state=0))
search = GridSearchCV(pipeline, {"netlearnregressor__n_hidden": [3, 5, 7]}, cv=2).fit(X_train, y_train)
print("grid search:", search.best_params_["netlearnregressor__n_hidden"], "units")
alone = NetLearnRegressor(random_state=0).fit(X_train, y_train)
print("auto:       ", alone.n_hidden_, "units;", alone.status_.name)

# %%
# Eight seeds
# -----------
#
# ``MLPRegressor`` gets the same rows, standardised, the true width and four times that, L-BFGS and enough
# rounds. Errors are those against the labels without noise, on rows that were held back, over the spread of
# the labels. At the true width some seeds find the network and are then a little ahead, others do not find
# it, and nothing in the fit says which it was. A wider network always comes near, and pays with variance.


def error(model):
    """Return the error on held-back rows, noise left out, over the spread of the labels."""
    return np.sqrt(np.mean((model.predict(X_test) - clean_test) ** 2)) / clean.std()


errors = {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # the last digits do not matter here
    for width in (5, 20):
        errors[f"MLPRegressor, {width} units"] = [
            error(
                make_pipeline(
                    StandardScaler(),
                    MLPRegressor(
                        hidden_layer_sizes=(width,), solver="lbfgs", max_iter=500, random_state=seed
                    ),
                ).fit(X_train, y_train)
            )
            for seed in range(8)
        ]
errors["NetLearnRegressor"] = [error(search), error(alone)]
for name, values in errors.items():
    print(f"{name:28} from {min(values):.4f} to {max(values):.4f}")

figure, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
for place, values in enumerate(errors.values()):
    ax.semilogx(values, np.full(len(values), place), "osD"[place], alpha=0.7)
ax.set(xlabel="error over the spread of the labels, one mark for each fit", ylim=(-0.5, 2.8))
ax.set_xticks([0.02, 0.05, 0.1, 0.2], ["0.02", "0.05", "0.1", "0.2"])
ax.minorticks_off()
ax.set_yticks(range(3), list(errors))
limit = 0.1 * np.sqrt(6 * 9 / len(X_train))
ax.axvline(limit, color=figures.GREY, linestyle="--", linewidth=1)
ax.text(limit, 2.45, r" $\sigma\sqrt{P/N}$", color=figures.GREY)

# %%
# After ``fit`` the estimator has what ``predict`` needs and what a reader needs: ``status_``,
# ``certificate_``, the network, and the directions that matter, which ``transform`` projects on.

print(alone.certificate_)
print("coordinates that matter:", alone.transform(X_test).shape)
