r"""
Uncertainty of a model with kinks
=================================

A grid operator buys power where it falls short. Demand and supply of each region depend on weather and
markets, here forty independent normal variables (*germs*). The cost has kinks, one for each region that may
run short. Three questions are usually asked of such a model: which inputs matter, what is the mean and spread
of the cost, which share of the variance is due to which germ? OpenTURNS answers by sampling. A recovered
network answers in closed form.
"""

import matplotlib.pyplot as plt
import numpy as np
import openturns as ot

from netlearn import learn
from netlearn.report import figures

# %%
# The model
# ---------
#
# Six regions. Each has a margin of supply over demand that the germs move, and a price for what is missing.
# Only twelve germs move anything: the others are there because no one knew beforehand.

n_germs, n_regions = 40, 6
rng = np.random.default_rng(0)
loadings = np.zeros((n_regions, n_germs))
loadings[:, :12] = rng.normal(size=(n_regions, 12)) * np.geomspace(1.0, 0.2, 12)
margin = rng.uniform(0.0, 1.0, n_regions)
price = rng.uniform(20, 80, n_regions)


def cost(Z):
    """Return the cost of shortages for germs in the rows of Z."""
    shortage = np.maximum(np.asarray(Z) @ loadings.T - margin, 0)
    return shortage @ price


# %%
# Find what matters
# -----------------
#
# OpenTURNS draws the germs, the model is run 1,500 times, and the network is learned without a word about
# regions.

ot.RandomGenerator.SetSeed(0)
germs = ot.JointDistribution([ot.Normal()] * n_germs)
Z = np.array(germs.getSample(1_500))
result = learn(Z, cost(Z), rng=0)
network = result.network
print(result.status.name, f"{network.n_hidden} kinks in a subspace of dimension {result.subspace.shape[1]}")

# %%
# Mean and variance
# -----------------
#
# Both are closed formulas of the network's weights. The same 1,500 runs averaged are a few percent off.

values = cost(Z)
print(f"mean       closed {network.mean():8.3f}   sampled {values.mean():8.3f}")
print(f"variance   closed {network.variance():8.1f}   sampled {values.var():8.1f}")

# %%
# Sobol indices
# -------------
#
# The first index of a germ is the share of the variance that it explains alone, the total index what is lost
# without it. Martinez's estimators take 42 runs of the model for each point of their design, and leave an
# interval. The closed form needs no further run.

closed = network.sobol()
size = 1_000
design = ot.SobolIndicesExperiment(germs, size).generate()
sampled = ot.MartinezSensitivityAlgorithm(design, ot.Sample(cost(design)[:, None]), size)
print(f"{len(design):,} runs for the sampled indices, {len(Z):,} for the network")

shown = np.arange(15)
figure, axes = plt.subplots(2, 1, figsize=(9, 5.5), sharex=True, layout="constrained")
for ax, order in zip(axes, ("First", "Total"), strict=True):
    estimate = np.array(getattr(sampled, f"get{order}OrderIndices")())[shown]
    interval = getattr(sampled, f"get{order}OrderIndicesInterval")()
    ends = np.array([interval.getLowerBound(), interval.getUpperBound()])[:, shown]
    exact = closed.first_order if order == "First" else closed.total
    ax.bar(shown + 1, exact[shown], width=0.6, color=figures.BLUE, label="closed form of the network")
    ax.errorbar(
        shown + 1,
        estimate,
        np.abs(ends - estimate),
        fmt="s",
        markersize=4,
        capsize=3,
        color=figures.VERMILION,
        label="OpenTURNS, with its 95 % interval",
    )
    ax.axhline(0, color=figures.GREY, linewidth=0.8)
    ax.set(ylabel=f"{order.lower()} index", xticks=shown + 1)
axes[0].legend()
axes[1].set_xlabel("germ (the first fifteen of forty)")

# %%
# A germ that moves nothing has a first index of zero in the closed form. Its estimate is as far off as the
# interval says, and cannot be told from a small index.

idle = np.array(sampled.getFirstOrderIndices())[12:]
print(f"largest first index of the 28 idle germs: {closed.first_order[12:].max():.0e} closed,", end=" ")
print(f"{np.abs(idle).max():.0e} sampled")
