r"""
How many rows are enough?
=========================

A network of :math:`k` units without biases on :math:`d` inputs has :math:`P = (k+1)\,d` unknowns, so fewer
than :math:`P` rows cannot determine it. How many more does it take? There is no slow improvement: the error
falls off a cliff, from a poor fit to rounding, at about two rows for each unknown.
"""

import matplotlib.pyplot as plt
import numpy as np

from netlearn import learn, teachers

ratios = np.linspace(1.0, 3.2, 12)


def one_run(k, d, ratio, seed):
    """Return the relative error and the status from `ratio` rows for each unknown."""
    rng = np.random.default_rng(seed)
    target = teachers.random(k, d, rng)
    X = rng.standard_normal((round(ratio * (k + 1) * d), d))
    result = learn(X, target(X), n_hidden=k, biases=False, rng=seed)
    return target.distance(result.network) / target.norm(), result.status.name


# %%
# Each mark is another planted network, with exact labels and the width given. Filled marks ended as
# ``RECOVERED``, open ones as ``TOO_FEW_ROWS`` or another status that is no success: the run knows on which
# side of the cliff it is.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (k, d), marker, colour in (((3, 25), "o", "C0"), ((5, 20), "s", "C1")):
    for seed, ratio in enumerate(ratios):
        error, status = one_run(k, d, ratio, seed)
        ax.semilogy(ratio, error, marker, color=colour, fillstyle="full" if status == "RECOVERED" else "none")
        print(f"{k} units, {d} inputs, N/P = {ratio:.1f}: error {error:.0e}, {status}")
    ax.semilogy([], [], marker, color=colour, label=f"{k} units, {d} inputs: P = {(k + 1) * d}")
ax.set(xlabel="rows for each unknown, N / P", ylabel="relative error")
ax.legend(loc="center left")

# %%
# Rows for judging and for the certificate are taken from the same sample, at least twenty each: units are
# looked for among the others. Three rows for each unknown are plenty with exact labels. A noisy label carries
# less, as :ref:`sphx_glr_gallery_limits_noise.py` shows.
