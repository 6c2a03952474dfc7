"""
Biases, and a width that nobody told
====================================

Where does the network have kinks? Every unit has a line, or a hyperplane, on which the function has a kink. In the
plane they can be drawn. Nobody says how many there are, nor whether they pass through the origin.
"""

import matplotlib.pyplot as plt
import numpy as np

from netlearn import learn, teachers
from netlearn.report import figures

rng = np.random.default_rng(3)
target = teachers.random(n_hidden=7, n_features=2, rng=rng, biases=0.8)
X = rng.standard_normal((1_500, 2))
result = learn(X, target(X), rng=0)  # n_hidden="auto", biases="auto"
print(result.status.name, "with", result.network.n_hidden, "units")
print(f"largest difference of the biases: {np.max(np.abs(target.biases - result.network.biases)):.0e}")


def kinks(network, ax, **style):
    """Draw the line <u, x> + b = 0 of each unit."""
    for u, b in zip(network.units, network.biases, strict=True):
        foot, along = -b * u, np.array([-u[1], u[0]])
        ends = foot + np.outer([-9, 9], along)
        ax.plot(*ends.T, **style)


# %%
# How the width is chosen
# -----------------------
#
# ``"auto"`` doubles the width as long as held-out rows gain, then takes units away while they see no loss.
# The same question asked by hand, with some noise on the labels: the error on fresh rows falls until the true
# width, and rises slowly beyond.

y = target(X) + 0.05 * rng.standard_normal(len(X))
fresh = rng.standard_normal((20_000, 2))
widths = range(1, 11)
errors = []
for width in widths:
    network = learn(X, y, n_hidden=width, rng=0, time_limit=1).network
    errors.append(np.sqrt(np.mean((network(fresh) - target(fresh)) ** 2)))
chosen = learn(X, y, rng=0)
print("chosen under noise:", chosen.network.n_hidden, "units;", chosen.status.name)

line = np.linspace(-3, 3, 200)
grid = np.stack(np.meshgrid(line, line), axis=-1)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
left.contourf(line, line, target(grid.reshape(-1, 2)).reshape(200, 200), 20, cmap="cividis")
kinks(target, left, color="white", linewidth=4)
kinks(result.network, left, color=figures.VERMILION, linewidth=1.2, linestyle="--")
left.set(xlim=(-3, 3), ylim=(-3, 3), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
left.set_title("kinks: planted (white), recovered (dashed)")
right.semilogy(widths, errors, "o-", color=figures.BLUE, label="width given")
right.axvline(target.n_hidden, color=figures.GREY, linestyle="--", linewidth=1, label="planted width")
right.plot(chosen.network.n_hidden, target.distance(chosen.network), "s", color=figures.VERMILION, markersize=9,
           fillstyle="none", label="chosen by auto")  # fmt: skip
right.set(
    xlabel="units", ylabel="distance to the truth", xticks=list(widths), title="noise 0.05 on the labels"
)
right.legend()
