"""
Recover a torch model from its answers
======================================

A trained network sits behind an interface: rows in, numbers out. How many questions give its weights away?
About three for each of them. This is what an audit, a check of a delivered model against its description, or
a compression can rest on; only ask models that you may ask.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

from netlearn import Oracle, ShallowNetwork, learn
from netlearn.report import figures

# %%
# The model
# ---------
#
# Twelve ReLUs on six inputs, trained for a moment on a smooth function. What it was trained on does not
# matter here, nor how well: it is the trained model that is the truth.

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 1)).double()
Z = torch.randn(2_000, 6, dtype=torch.float64)
goal = torch.sin(2 * Z[:, :1]) + Z[:, 1:2] * Z[:, 2:3]
optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(300):
    optimiser.zero_grad()
    torch.nn.functional.mse_loss(model(Z), goal).backward()
    optimiser.step()


def black_box(X):
    """Answer as a served model would: arrays in, arrays out."""
    with torch.no_grad():
        return model(torch.as_tensor(X)).numpy().ravel()


# %%
# The questions
# -------------
#
# An :class:`~netlearn.Oracle` wraps the function and counts. The width is not told.

oracle = Oracle(black_box, n_features=6)
result = learn(oracle, rng=0)
truth = ShallowNetwork.from_torch(model)
print(result.status.name, f"with {result.network.n_hidden} ReLUs after {oracle.n_queries:,} questions")
print(f"relative error {truth.distance(result.network) / truth.norm():.0e}")

# %%
# How few would have done? With the width given and a budget set, the answer jumps from useless to exact at
# about three questions for each unknown. There is little in between.

n_unknowns = (12 + 1) * (6 + 1)
budgets = [100, 150, 220, 300, 400, 600]
errors = []
for budget in budgets:
    small = learn(Oracle(black_box, n_features=6, budget=budget), n_hidden=12, rng=0)
    errors.append(truth.distance(small.network) / truth.norm())
    print(f"{budget} questions: {small.status.name}, error {errors[-1]:.0e}")

# %%
# On the right the model along a line through its inputs. It has a kink where the line meets one of its units, and
# each kink has a recovered unit to it.

found = result.network
along = np.random.default_rng(1).standard_normal(6)
t = np.linspace(-3, 3, 600)
kinks = -found.biases / (found.units @ along)
kinks = kinks[np.abs(kinks) < 3]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.axvline(n_unknowns, color=figures.GREY, linestyle="--", linewidth=1)
left.text(n_unknowns * 1.05, 1e-8, f"{n_unknowns} unknowns", color=figures.GREY)
left.loglog(budgets, errors, "o-", color=figures.BLUE)
left.set(xlabel="questions", ylabel="relative error", title="useless, then exact")
left.set_xticks(budgets, [str(budget) for budget in budgets])
left.minorticks_off()
right.plot(t, black_box(np.outer(t, along)), color=figures.BLUE, label="the model")
right.plot(
    kinks, found(np.outer(kinks, along)), "o", color=figures.VERMILION, label="kinks of recovered units"
)
right.set(xlabel="place on the line", ylabel="answer", title="along a line through the inputs")
right.legend()

# %%
# ``to_torch`` gives the network back as a module, to go on with.

copy = found.to_torch()
print(copy)
with torch.no_grad():
    print("largest difference:", float((copy(Z) - model(Z)).abs().max()))
