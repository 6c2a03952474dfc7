r"""
The paper's hard instance
=========================

Some networks hide from every method that only correlates labels with functions of the inputs. This one is
behind the lower bound :math:`d^{\Omega(k)}` for such methods: :math:`k` units in a plane, at equal angles,
with alternating signs. Algorithm 1 of the paper finds it, at a price. :func:`netlearn.learn` asks other
questions of the same rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from netlearn import learn, teachers
from netlearn.moments import moment_matrices
from netlearn.paper import Schedule
from netlearn.report import figures

k, d = 8, 50
target = teachers.hard_plane(n_hidden=k, n_features=d, rng=0)

# %%
# What moments see
# ----------------
#
# Algorithm 1 looks at :math:`M_\ell = \sum_i \lambda_i \langle u_i, g\rangle^{\ell-2} u_i u_i^\top` for a
# random direction :math:`g` and even degrees :math:`\ell`. For this network all of them vanish below degree
# :math:`k`: the alternating signs cancel. At degree :math:`k` and above a little is left, as small as the
# chance that a random :math:`g` meets a given plane, to the power :math:`\ell-2`.
#
# Rows only give estimates. Their noise, here from 20,000 rows, stands far above what there is to see.

rng = np.random.default_rng(1)
g = rng.standard_normal(d)
g /= np.linalg.norm(g)
orders = (2, 4, 6, 8, 10, 12)
U, lam = target.units, target.coefficients
exact = np.array([np.linalg.norm((U.T * lam * (U @ g) ** (ell - 2)) @ U, 2) for ell in orders])

X = rng.standard_normal((20_000, d))
y = target(X)
estimated = np.linalg.norm(moment_matrices(X, y, g, orders), 2, axis=(1, 2))

# %%
# What it costs
# -------------
#
# The proof's schedule says how many rows are enough for Algorithm 1 to be certain. The numbers are exact
# consequences of the lemmas, and no one will ever draw so many rows.

ks = range(1, 7)
proof = [Schedule.from_theory(d, n_hidden, epsilon=0.1, R=1.0).log10_N for n_hidden in ks]
for n_hidden, rows in zip(ks, proof, strict=True):
    print(f"k = {n_hidden}: 10^{rows:.0f} rows")

# %%
# What `learn` does instead
# -------------------------
#
# It correlates :math:`x x^\top - I` not with the label but with the *rank of its magnitude*. Far out in the
# plane the network is large in magnitude whatever its sign, so nothing cancels, and both directions of the
# plane stand out at degree 2. :doc:`/theory/filters` has the argument.

result = learn(X, y, rng=0)
print(result.status.name, f"relative error {target.distance(result.network) / target.norm():.0e}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
there = exact > 1e-12  # the others are zero, up to rounding
left.semilogy(orders, estimated, "s-", color=figures.VERMILION, label="estimate from 20,000 rows")
left.semilogy(
    np.array(orders)[there], exact[there], "o-", color=figures.BLUE, label="population; zero below degree 8"
)
left.set(ylim=(1e-9, 1), xlim=(1.5, 12.5), xlabel=r"degree $\ell$", ylabel=r"operator norm of $M_\ell$")
left.set_title("Algorithm 1: the signal lies far below the noise")
left.legend(loc="upper left")
figures.spectrum(result, right)
right.set_title("learn: the rank sees the plane, the label does not")

# %%
# In the plane that was found the network is a wheel: eight units, of which each has its crease along a line through
# the centre.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
figures.summary(result, left)
left.set_title("labels over the plane")
figures.directions(result, right)
right.set_title("units: filled positive, open negative")
