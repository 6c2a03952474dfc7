"""
Reading a report
================

``result.report("report.html")`` writes one file that opens in any browser, with everything a reader needs to
decide whether to trust the network. Its figures are functions of the result, and can be drawn one by one.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from netlearn import learn, teachers
from netlearn.report import figures

# %%
# The run
# -------
#
# The hard plane of the paper with four units, fifteen inputs, and a little noise on the labels.

rng = np.random.default_rng(0)
target = teachers.hard_plane(n_hidden=4, n_features=15, rng=rng, radius=4.0)
X = rng.standard_normal((6_000, 15))
y = target(X) + 0.05 * rng.standard_normal(len(X))
result = learn(X, y, n_hidden=4, epsilon=0.2, rng=0)

path = Path(tempfile.mkdtemp()) / "report.html"
result.report(path)
print(f"{path.stat().st_size / 1e3:.0f} kB, one file, no script, no network access")

# %%
# Can I trust it?
# ---------------
#
# The first screen of the report is also what a notebook shows for a result: the status in words, the error on
# rows that took no part, the certificate with what it assumes.

result

# %%
# What the moment matrices show
# -----------------------------
#
# Eigenvalues far above the dashed line are directions that matter, filled if they joined the subspace. If all
# of them lie at the line, units were found by the search alone, or not at all.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
figures.spectrum(result, left)
left.set_title("spectra of the moment matrices")
figures.summary(result, right)
right.set_title("data (points) over the fit (background)")

# %%
# On the right, held-out labels lie over the network in the plane that was found. Points with the
# background's colour are predicted well; one that stands out is a row that the network misses.
#
# The units, and what is left over
# --------------------------------
#
# A small coefficient beside large ones is a unit that the rows hardly show. Residuals should have no pattern:
# a pattern means that the network lacks something. The refinement ends at the noise here; with exact labels it
# ends near 1e-28.

figure, axes = plt.subplots(2, 2, figsize=(9.5, 6.4), layout="constrained")
for ax, draw, title in zip(
    axes.flat,
    (figures.neurons, figures.predicted, figures.residuals, figures.convergence),
    ("coefficients of the units", "held-out rows", "what is left over", "rounds of refinement"),
    strict=True,
):
    draw(result, ax)
    ax.set_title(title)

# %%
# The numbers behind it
# ---------------------

print(result.summary())
