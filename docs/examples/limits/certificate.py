r"""
How far to trust a certificate
==============================

A certificate says: with confidence 99 %, the error is at most so much. It rests on rows that took no part in
learning, so it does not matter how the network was found. Does it hold as often as it says, and how much
larger than the truth is it?
"""

import matplotlib.pyplot as plt
import numpy as np

from netlearn import ShallowNetwork, teachers
from netlearn.certify import certify
from netlearn.report import figures

# %%
# Networks that are off by a known amount
# ---------------------------------------
#
# The truth and a copy of it with disturbed units. The distance between them is a closed formula: it can be
# set beside what fresh rows say, again and again.

rng = np.random.default_rng(0)
target = teachers.random(4, 10, rng)
runs, n_val = 300, 500
pairs = []
for size in np.geomspace(1e-6, 0.3, runs):
    off = ShallowNetwork(
        target.linear, target.coefficients, target.units + size * rng.standard_normal((4, 10))
    )
    X = rng.standard_normal((n_val, 10))
    made = certify(off, X, target(X), failure_prob=0.01, method="bernstein")
    pairs.append((target.distance(off), made.error_bound, made.empirical_error))
true, bound, empirical = np.array(pairs).T
print(f"{np.sum(true > bound)} of {runs} bounds are below the true error; 1 % would be {runs / 100:.0f}")
print(f"{np.sum(true > empirical)} of {runs} empirical errors are below it")

# %%
# The price of assuming less
# --------------------------
#
# Bernstein's inequality needs a largest error, and takes twice the largest one seen: that is an assumption,
# written on the certificate. The bound of the paper's Lemma 2.5 assumes only how steep the target can be, and
# Gaussian inputs. It is rigorous, and pays: even where every label is met exactly it cannot fall below
# :math:`L\sqrt{8 \log(1/\delta)/n}`.

sizes = np.unique(np.geomspace(50, 100_000, 12).astype(int))
steep = float(np.linalg.norm(target.linear) + np.abs(target.coefficients).sum())
off = ShallowNetwork(target.linear, target.coefficients, target.units + 0.02 * rng.standard_normal((4, 10)))
bounds = {"bernstein": [], "lipschitz": []}
for n in sizes:
    X = rng.standard_normal((n, 10))
    for method, constants in (("bernstein", {}), ("lipschitz", {"target_lipschitz": steep})):
        made = certify(off, X, target(X), failure_prob=0.01, method=method, **constants)
        bounds[method].append(made.error_bound)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
left.loglog(true, bound / true, "o", color=figures.BLUE, markersize=3, label="bound / true error")
left.loglog(
    true, empirical / true, "s", color=figures.VERMILION, markersize=3, label="empirical / true error"
)
left.axhline(1, color=figures.GREY, linewidth=1)
left.set(xlabel="true error", ylabel="ratio", title=f"{runs} certificates of {n_val} rows")
left.set(ylim=(0.8, 5), yticks=[1, 2, 5], yticklabels=["1", "2", "5"])
left.minorticks_off()
left.legend()
right.loglog(sizes, bounds["lipschitz"], "D-", color=figures.GREEN, label="Lemma 2.5")
right.loglog(sizes, bounds["bernstein"], "o-", color=figures.BLUE, label="Bernstein")
right.axhline(target.distance(off), color=figures.GREY, linestyle="--", linewidth=1, label="true error")
right.set(xlabel="fresh rows", ylabel="bound on the error", title="the same network, more rows")
right.legend()

# %%
# Both inequalities are derived in :doc:`/theory/certificate`.
