"""
When it fails, and what it says
===============================

Every run ends in a status, and none that fails ends in silence. Three ways to fail, and one that looks like
failing but is none.
"""

import matplotlib.pyplot as plt
import numpy as np

from netlearn import learn, teachers
from netlearn.report import figures

rng = np.random.default_rng(0)


def show(result, title, ax):
    """Draw predictions against held-out labels, with the status as the title."""
    figures.predicted(result, ax)
    ax.set_title(f"{title}\n{result.status.name}")


# %%
# Not a small network
# -------------------
#
# The label is the length of the input: a cone, smooth but for its tip. Four units cannot explain it, and a
# network of twice the width does better beyond doubt: the status says so. The network is the best fit of the
# width that was allowed, and the certificate says how good that is.

X = rng.standard_normal((3_000, 4))
cone = learn(X, np.linalg.norm(X, axis=1), n_hidden=4, rng=0)
print(cone.status.name)
print(cone.status.value)
print(f"certified error {cone.certificate.error_bound:.2f}")

# %%
# Too few rows
# ------------
#
# Five units on twenty inputs have 126 unknowns. A hundred rows cannot determine them, and a note says how
# many would do.

target = teachers.random(5, 20, rng)
X = rng.standard_normal((100, 20))
few = learn(X, target(X), n_hidden=5, rng=0)
print(few.status.name)
for note in few.diagnostics.notes:
    print("note:", note)

# %%
# Inputs that are not Gaussian
# ----------------------------
#
# Mean and covariance may be anything: they are measured and taken out. Heavy tails cannot be. The network is
# recovered all the same, as the fit is judged by held-out rows and not by assumptions. What is withheld are
# statements about the Gaussian law, and a note says so.

X = rng.standard_t(df=5, size=(4_000, 20))
heavy = learn(X, target(X), n_hidden=5, rng=0)
print(heavy.status.name, f"departure {heavy.diagnostics.departure:.0f} standard errors")
for note in heavy.diagnostics.notes:
    print("note:", note)

# %%
# Noise is not failure
# --------------------
#
# Labels with noise cannot be reproduced. What remains looks like noise, more units do not help, and the
# status says just that. With an ``epsilon`` that the certificate meets, the same run would end as
# ``CERTIFIED``.

X = rng.standard_normal((4_000, 20))
y = target(X) + 0.3 * rng.standard_normal(len(X))
noisy = learn(X, y, n_hidden=5, rng=0)
print(noisy.status.name, f"noise level {noisy.diagnostics.noise_level:.3f}, planted 0.300")

figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
for ax, result, title in zip(
    axes, (cone, few, heavy, noisy), ("cone, 4 units", "100 rows", "heavy tails", "noise"), strict=True
):
    show(result, title, ax)

# %%
# ``result.success`` is true for ``RECOVERED`` and ``CERTIFIED`` only. On the command line the others end with
# exit code 3.

for result in (cone, few, heavy, noisy):
    print(f"{result.status.name:20} success: {result.success}")
