r"""
How far to trust a certificate
==============================

A certificate says two things with confidence 99 %: at most so many new rows have a larger error than any
held-out row had, and, where inputs are Gaussian, the root mean square error is at most so much. It rests on rows that
took no part in learning, so it does not matter how the network was found. Do the statements hold as often as
they say, and how much larger than the truth are they?
"""

import matplotlib.pyplot as plt
import numpy as np

from netlearn import ShallowNetwork, teachers
from netlearn.certify import Basis, certify, lipschitz_constant
from netlearn.report import figures

# %%
# Networks that are off by a known amount
# ---------------------------------------
#
# The truth and a copy of it with disturbed units. The distance between them is a closed formula: it can be
# set beside what fresh rows say, again and again.

rng = np.random.default_rng(0)
target = teachers.random(4, 10, rng)
steep = lipschitz_constant(target)
runs, n_val = 300, 500
pairs = []
for size in np.geomspace(1e-6, 0.3, runs):
    off = ShallowNetwork(
        target.linear, target.coefficients, target.units + size * rng.standard_normal((4, 10))
    )
    X = rng.standard_normal((n_val, 10))
    made = certify(off, X, target(X), failure_prob=0.01, basis=Basis("N(0, I)", steep))
    fresh = rng.standard_normal((20_000, 10))
    beyond = np.mean(np.abs(target(fresh) - off(fresh)) > made.tolerance)
    pairs.append((target.distance(off), made.error_bound, made.empirical_error, beyond, made.share))
true, bound, empirical, beyond, share = np.array(pairs).T
print(f"{np.sum(true > bound)} of {runs} bounds are below the true error; 1 % would be {runs / 100:.0f}")
print(f"{np.sum(true > empirical)} of {runs} empirical errors are below it")
print(f"{np.sum(beyond > share)} of {runs} shares are below the true share")

# %%
# What rows and a slope leave open
# --------------------------------
#
# A network that meets every label exactly may still be wrong far out, where no row fell. The bound for zero error is
# therefore not zero: it is :math:`0.054\,L` for 400 rows and :math:`0.0023\,L` for 100,000, and a function that would
# go unnoticed shows that it cannot be much less. All errors together say more than their root mean square.

sizes = np.unique(np.geomspace(50, 100_000, 12).astype(int))
off = ShallowNetwork(target.linear, target.coefficients, target.units + 0.02 * rng.standard_normal((4, 10)))
bounds = {"envelope": [], "mean": []}
for n in sizes:
    X = rng.standard_normal((n, 10))
    for method, values in bounds.items():
        basis = Basis("N(0, I)", steep, method=method)
        values.append(certify(off, X, target(X), failure_prob=0.01, basis=basis).error_bound)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
left.loglog(true, bound, "o", color=figures.BLUE, markersize=3, label="bound")
left.loglog(true, empirical, "s", color=figures.VERMILION, markersize=3, label="seen on the rows")
left.loglog(true, true, color=figures.GREY, linewidth=1)
left.set(xlabel="true error", ylabel="root mean square error", title=f"{runs} certificates of {n_val} rows")
left.legend()
right.loglog(sizes, bounds["mean"], "D-", color=figures.GREEN, label="from the root mean square")
right.loglog(sizes, bounds["envelope"], "o-", color=figures.BLUE, label="from all errors")
right.axhline(target.distance(off), color=figures.GREY, linestyle="--", linewidth=1, label="true error")
right.set(xlabel="fresh rows", ylabel="bound on the error", title="the same network, more rows")
right.legend()

# %%
# Both statements are derived in :doc:`/theory/certificate`.
