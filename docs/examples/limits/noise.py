r"""
Noise, and the limit of least squares
=====================================

With noisy labels nothing recovers weights to rounding. There is a limit that no method of least squares beats
by much: the error that remains when the search is started *at the truth*. It is close to
:math:`\sigma\sqrt{P/N}`, with :math:`\sigma` the noise, :math:`P` the number of unknowns and :math:`N` the
number of rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from netlearn import learn, teachers
from netlearn.fit import Params, Problem, finish
from netlearn.report import figures
from netlearn.source import ArraySource

k, d, N = 3, 10, 2_000
rng = np.random.default_rng(0)
target = teachers.random(k, d, rng)
X = rng.standard_normal((N, d))
clean = target(X)
spread = clean.std()
n_unknowns = (k + 1) * d + 1  # units without biases, and an affine part


def from_truth(y):
    """Return the network of least squares that is started at the truth."""
    problem = Problem(ArraySource(X, y / spread), biases=False)
    start = Params.from_network((1 / spread) * target)
    return spread * finish(problem, start, max_rounds=200).params.to_network()


# %%
# From almost no noise to as much noise as signal
# -----------------------------------------------
#
# For each level the network is learned from scratch and compared with the truth, in closed form. The run also
# says what it believes of itself: ``noise_level`` estimates the noise, ``excess_error`` the error of the
# network.

levels = np.geomspace(1e-6, 1, 4)
learned, limit, believed = [], [], []
for level in levels:
    y = clean + level * spread * rng.standard_normal(N)
    result = learn(X, y, n_hidden=k, rng=0)
    learned.append(target.distance(result.network) / target.norm())
    limit.append(target.distance(from_truth(y)) / target.norm())
    believed.append(result.diagnostics.excess_error / target.norm())
    print(f"noise {level:.0e} of the labels' spread: {result.status.name}, error {learned[-1]:.1e}, "
          f"limit {limit[-1]:.1e}")  # fmt: skip

# %%
# And with more rows
# ------------------
#
# At a tenth of the spread the error falls like :math:`1/\sqrt N`.

sizes = [200, 800, 3_200]
fell = []
for n in sizes:
    Z = rng.standard_normal((n, d))
    y = target(Z) + 0.1 * spread * rng.standard_normal(n)
    result = learn(Z, y, n_hidden=k, rng=0)
    fell.append(target.distance(result.network) / target.norm())

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
left.loglog(
    levels, limit, "s-", color=figures.VERMILION, markersize=9, fillstyle="none", label="from the truth"
)
left.loglog(levels, learned, "o", color=figures.BLUE, label="learn")
left.loglog(levels, believed, "x", color=figures.GREEN, label="excess_error, its own estimate")
left.set(xlabel="noise / spread of the labels", ylabel="relative error", title=f"{N:,} rows")
left.legend()
expected = 0.1 * spread * np.sqrt(n_unknowns / np.array(sizes)) / target.norm()
right.loglog(sizes, expected, color=figures.GREY, linestyle="--", label=r"$\sigma\sqrt{P/N}$")
right.loglog(sizes, fell, "o", color=figures.BLUE, label="learn")
right.set(xlabel="rows", ylabel="relative error", title="noise a tenth of the spread")
right.set_xticks(sizes, [f"{n:,}" for n in sizes])
right.set(ylim=(4e-3, 6e-2))
right.set_yticks([0.005, 0.01, 0.02, 0.05], ["0.005", "0.01", "0.02", "0.05"])
right.minorticks_off()
right.legend()

# %%
# Three numbers are easily confused. The certificate bounds the error of *predictions*, noise included: no
# network predicts noise. ``noise_level`` is the noise alone. ``excess_error`` is the network's own error,
# which falls with more rows; it is an estimate and no bound. Of the last run, with 3,200 rows:

print(f"certificate   {result.certificate.error_bound:.4f}")
print(f"noise level   {result.diagnostics.noise_level:.4f}   planted {0.1 * spread:.4f}")
print(f"excess error  {result.diagnostics.excess_error:.4f}   true {target.distance(result.network):.4f}")
