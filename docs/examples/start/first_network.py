"""
A first network
===============

Rows go in, a network comes out, with a statement of how sure it is.

A planted network plays the unknown: four ReLUs, ten inputs. :func:`netlearn.learn` sees 1,000 rows of inputs
and labels and nothing else, not even the number of ReLUs.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from netlearn import ShallowNetwork, learn, teachers
from netlearn.report import figures

rng = np.random.default_rng(0)
target = teachers.random(n_hidden=4, n_features=10, rng=rng)
X = rng.standard_normal((1_000, 10))

result = learn(X, target(X), rng=0)
print(result.summary())

# %%
# ``RECOVERED`` means that rows which took no part in learning are reproduced to rounding. A planted network
# has a luxury that no other has: the truth is known, and the distance to it is a closed formula.

print(f"distance to the truth: {target.distance(result.network):.1e} of {target.norm():.2f}")

# %%
# The weights themselves agree. A ReLU is half an absolute value and half a linear function, which is the form
# that is stored, with units of length 1 in a fixed order; so the units of both networks can be set side by
# side. ``to_relu()`` gives the ReLUs back.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for i, (true, found) in enumerate(zip(target.units, result.network.units, strict=True)):
    left.plot(true, found, "osD^"[i], markersize=5, label=f"unit {i + 1}")
left.axline((0, 0), slope=1, color=figures.GREY, linewidth=1, zorder=0)
left.set(xlabel="planted weight", ylabel="recovered weight", title="40 weights of 4 units")
left.legend()
figures.convergence(result, right)
right.set_title("the last rounds end at rounding")

# %%
# The network is a function of rows, and a file.

path = Path(tempfile.mkdtemp()) / "model.safetensors"
result.network.save(path)
print(ShallowNetwork.load(path)(X[:3]) - target(X[:3]))
