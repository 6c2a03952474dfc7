r"""
Algorithm 1, step by step
=========================

One run of the paper's algorithm on three neurons in six dimensions, with a picture of what every step leaves behind:
the spectra of the moment matrices, the subspace :math:`V`, the net of directions in it, the losses of the candidates,
and the rows that decide. :doc:`/theory/pipeline` has the argument for each step.
"""

import matplotlib.pyplot as plt
import numpy as np

from netlearn import teachers
from netlearn.paper import Schedule, direction_net, find_subspace, netlearn, search_subspace
from netlearn.paper.schedule import NOISE_CUT
from netlearn.paper.screening import ScreeningSum
from netlearn.paper.sets import DEFAULT_BUDGET, SetSearch, count_sets
from netlearn.paper.weights import best_weights
from netlearn.report.figures import BLUE, GREY, ORANGE, VERMILION

k, d, epsilon, R = 3, 6, 0.25, 2.0
target = teachers.random(k, d, rng=4, radius=R)
rng = np.random.default_rng(0)


def sample(n):
    X = rng.standard_normal((n, d))
    return X, target(X)


# %%
# Lines 1 and 2: the schedule
# ---------------------------
#
# What the proof asks for, and what is run instead. The second has no proof beforehand; rows that nothing has seen
# make up for it.

proof, schedule = Schedule.from_theory(d, k, epsilon, R), Schedule.practical(d, k, epsilon, R)
for name in ("N", "N_val", "N_val_printed", "sets"):
    asked, taken = (getattr(one, f"log10_{name}") for one in (proof, schedule))
    print(f"{name:14} proof 10^{asked:.1f}   practice 10^{taken:.1f}")

# %%
# Lines 3 and 4: moment matrices and their eigenvectors
# -----------------------------------------------------
#
# :math:`M_2` and, for eight random directions :math:`g`, :math:`M_4` and :math:`M_6`. Half of the rows against the
# other half shows the noise of each; eigenvectors above four times the noise join :math:`V`.

found = find_subspace(sample, schedule, rng=np.random.default_rng(1))
figure, ax = plt.subplots(figsize=(9.5, 3.4), layout="constrained")
for place, spectrum in enumerate(found.spectra):
    values = np.abs(spectrum.eigenvalues)
    kept = np.arange(d) < spectrum.n_kept
    ax.semilogy(np.full(d, place)[kept], values[kept], "o", color=BLUE, markersize=5)
    ax.semilogy(np.full(d, place)[~kept], values[~kept], "o", color=GREY, markersize=3)
    ax.semilogy([place - 0.35, place + 0.35], [NOISE_CUT * spectrum.noise_floor] * 2, color=VERMILION)
ax.set_xticks(range(len(found.spectra)), [f"$M_{spectrum.order}$" for spectrum in found.spectra], fontsize=7)
ax.set(ylabel="|eigenvalue|", title="Spectra; the red line is four times the noise, blue is kept")

# %%
# Line 5: the subspace
# --------------------
#
# The projectors onto what was kept are added up. Directions that many matrices agree on have a large eigenvalue
# :math:`\kappa`; noise is shared by few. The true units, which the algorithm never sees, lie in :math:`V` up to a few
# hundredths.

V = found.V
off = np.linalg.norm(target.units - target.units @ V @ V.T, axis=1)
print(
    "dim V =",
    V.shape[1],
    "  kappa:",
    np.round(found.kappa, 2),
    "  distances of the units to V:",
    np.round(off, 3),
)
print(f"w_hat is off by {np.linalg.norm(found.linear - target.linear):.3f}")

# %%
# Line 6: the net
# ---------------
#
# Rings of points cover the half sphere of :math:`V` up to sign: every direction is within :math:`\varepsilon/(2R)` of
# one of them. Stars are the true units, projected onto :math:`V`.

net = direction_net(V, schedule.net_radius)
points, stars = net @ V, target.units @ V
stars /= np.linalg.norm(stars, axis=1, keepdims=True)
stars *= np.where(stars[:, :1] < 0, -1.0, 1.0)  # to the half that the net covers
figure = plt.figure(figsize=(6.4, 4.6), layout="constrained")
ax = figure.add_subplot(projection="3d")
ax.scatter(*points.T, s=3, color=BLUE, alpha=0.5)
ax.scatter(*stars.T, s=140, marker="*", color=VERMILION, depthshade=False)
ax.set_box_aspect((0.5, 1, 1))
ax.view_init(elev=15, azim=15)
ax.set_axis_off()
ax.set_title(f"{len(net)} directions within {schedule.net_radius:.3g}, and the true units")
print(f"{count_sets(len(net), k):,} sets of at most {k} of them")

# %%
# Lines 8 to 13: candidates and their losses
# ------------------------------------------
#
# Every set of directions has its best weights in closed form. For a picture of all losses a coarser net will do;
# those of one, two and three neurons are drawn apart. The line is the acceptance threshold :math:`\varepsilon^2/2`.

coarse = direction_net(V, 3 * schedule.net_radius)
total = ScreeningSum(found.linear, coarse, target * 0.0)
total.add(*sample(200_000))
loss = total.finalize()
figure, ax = plt.subplots(figsize=(9.5, 3.4), layout="constrained")
for m, color in zip((3, 2, 1), (BLUE, ORANGE, GREY), strict=True):
    # A limit above every loss gives all sets.
    everything = SetSearch(loss, m, 2.0 * loss.residual, R=R, slack=1e-6).survivors()
    sets = np.concatenate([block for block in everything if block.shape[1] == m])
    values = best_weights(loss, sets, R)[1]
    values = np.log10(values[values <= loss.residual])  # what beats the zero function
    ax.hist(
        values, bins=120, color=color, histtype="stepfilled", alpha=0.8, label=f"{len(sets):,} sets of {m}"
    )
ax.axvline(np.log10(schedule.threshold), color=VERMILION, label=r"$\varepsilon^2/2$")
ax.set(yscale="log", xlabel="log10 of the mean square with the best weights", ylabel="sets")
ax.legend()

# %%
# The search itself proposes a network first, and needs the net only where the proposal fails on fresh rows.

answer = search_subspace(
    sample, V, found.linear, found.schedule, budget=DEFAULT_BUDGET, rng=np.random.default_rng(2)
)
print("rows:", answer.rows, "  sets tried:", answer.n_passed)
print(f"empirical error {answer.mean_square**0.5:.4f}, true error {target.distance(answer.network):.4f}")

# %%
# Validation
# ----------
#
# The root of the mean square of :math:`n` fresh rows is within :math:`L \sqrt{2 t / n}` of the true error, whatever the
# candidate is: Lemma 2.5, sharpened. Where that band lies between :math:`\varepsilon/2` and
# :math:`\varepsilon/\sqrt 2`, a candidate within :math:`\varepsilon/2` passes.

X, y = sample(round(schedule.N_val))
n = np.unique(np.geomspace(100, len(y), 60).astype(int))
running = np.sqrt(np.cumsum((y - answer.network(X)) ** 2)[n - 1] / n)
band = schedule.lipschitz * np.sqrt(2 * np.log(1 / schedule.shares.validation) / n)
true_error = target.distance(answer.network)
figure, ax = plt.subplots(figsize=(9.5, 3.4), layout="constrained")
ax.fill_between(n, 0, true_error + band, color=BLUE, alpha=0.12, label="where the lemma allows it to be")
ax.semilogx(n, running, color=BLUE, label="empirical error")
ax.axhline(true_error, color=GREY, linewidth=1, label="true error")
ax.axhline(epsilon / np.sqrt(2), color=VERMILION, label=r"accepted below $\varepsilon/\sqrt{2}$")
ax.set(ylim=(0, 2 * epsilon), xlabel="fresh rows", ylabel="error")
ax.legend()

# %%
# All of it in one call, with the certificate on rows of its own:

result = netlearn(sample, d, k, epsilon, R, rng=np.random.default_rng(3))
print(result.summary())

# sphinx_gallery_thumbnail_number = 2
