r"""
A book of basket options
========================

A book of options on baskets of assets, under Bachelier's model: prices end normally distributed, and the
payoff of a call on a basket is a ReLU of them. The value of the book, as a function of the normal factors, is
a one-hidden-layer ReLU network. Once it is recovered from scenarios, its mean is the price of the book: a
closed formula, without Monte-Carlo error, for this market and for others.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from netlearn import learn
from netlearn.report import figures

# %%
# The market and the book
# -----------------------
#
# Twelve assets with correlated normal moves over half a year; eight at-the-money calls on random baskets,
# some held and some sold. ``book`` plays the pricing system, which turns the factors ``z`` of a scenario into
# the value of all payoffs.

rng = np.random.default_rng(0)
n_assets, n_options, years = 12, 8, 0.5
spot = rng.uniform(80, 120, n_assets)
volatility = rng.uniform(10, 30, n_assets)  # of prices, per square root of a year: Bachelier
correlation = 0.4 + 0.6 * np.eye(n_assets)
root = math.sqrt(years) * volatility[:, None] * np.linalg.cholesky(correlation)

baskets = rng.dirichlet(np.full(n_assets, 0.3), n_options)  # a few assets make up most of each
positions = rng.integers(1, 10, n_options) * rng.choice([-1, 1], n_options)
strikes = baskets @ spot


def book(Z, spot=spot, root=root):
    """Value the book in the scenarios whose normal factors are the rows of Z."""
    prices = spot + Z @ root.T
    return np.maximum(prices @ baskets.T - strikes, 0) @ positions


# %%
# Learn it from a thousand scenarios
# ----------------------------------
#
# (8 + 1)(12 + 1) = 117 numbers describe such a book.

Z = rng.standard_normal((1_000, n_assets))
result = learn(Z, book(Z), rng=0)
print(result.status.name, "with", result.network.n_hidden, "payoffs")

# %%
# Bachelier's formula prices an at-the-money call at :math:`\sigma\sqrt{T/2\pi}`, with :math:`\sigma` the
# volatility of the basket. The network knows neither baskets nor positions, and has the same mean.

bachelier = positions @ np.linalg.norm(baskets @ root, axis=1) / math.sqrt(2 * math.pi)
print(f"Bachelier's formula      {bachelier:.12f}")
print(f"mean of the network      {result.network.mean():.12f}")
print(f"standard deviation       {math.sqrt(result.network.variance()):.6f}")

# %%
# Against Monte Carlo
# -------------------
#
# The mean over scenarios errs by its standard deviation over :math:`\sqrt N`. With few scenarios the network
# is a fit like any other. With three for each unknown it is exact.

sizes = np.unique(np.geomspace(60, 3_000, 9).astype(int))
monte_carlo, learned = [], []
for n in sizes:
    Z = rng.standard_normal((n, n_assets))
    value = book(Z)
    monte_carlo.append(abs(value.mean() - bachelier))
    learned.append(abs(learn(Z, value, n_hidden=n_options, rng=0).network.mean() - bachelier))

# %%
# Other markets, from the same network
# ------------------------------------
#
# Move every spot by the same amount: the options are no longer at the money, the network is the same function
# of prices. As a function of the new factors it is ``precompose`` of the old, and its mean is again closed:
# no new scenario is valued.

inverse = np.linalg.inv(root)
moves = np.linspace(-20, 20, 81)
closed = [
    result.network.precompose(np.eye(n_assets), inverse @ np.full(n_assets, move)).mean() for move in moves
]
some = moves[::10]
Z = rng.standard_normal((20_000, n_assets))
sampled = np.array([book(Z, spot + move) for move in some])
wide = 2 * sampled.std(axis=1) / math.sqrt(len(Z))

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
spread = math.sqrt(result.network.variance())
left.loglog(sizes, spread / np.sqrt(sizes), color=figures.GREY, linestyle="--", label=r"$\sigma / \sqrt{N}$")
left.loglog(sizes, monte_carlo, "s", color=figures.VERMILION, label="Monte Carlo")
left.loglog(sizes, learned, "o-", color=figures.BLUE, label="mean of the network")
left.axvline(117, color=figures.GREY, linewidth=0.8)
left.text(122, 1e-8, "117 unknowns", color=figures.GREY)
left.set(xlabel="scenarios", ylabel="error of the price", title="the price of the book")
left.legend()
right.plot(moves, closed, color=figures.BLUE, label="closed form, no new scenario")
right.errorbar(some, sampled.mean(axis=1), wide, fmt="s", markersize=4, color=figures.VERMILION, capsize=3,
               label="Monte Carlo, 20,000 scenarios each")  # fmt: skip
right.set(xlabel="move of every spot", ylabel="value of the book", title="the book under other markets")
right.legend()
