"""Draw the pictures of README and docs.

python docs/images/make.py    # writes the SVG files beside this script
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from netlearn import learn, teachers
from netlearn.report import figures

HERE = Path(__file__).parent


def hard_plane() -> None:
    """Draw what moments show of the paper's hard instance, and what comes of it."""
    rng = np.random.default_rng(0)
    target = teachers.hard_plane(n_hidden=8, n_features=50, rng=rng)
    X = rng.standard_normal((20_000, 50))
    result = learn(X, target(X), rng=0)
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    figures.spectrum(result, left)
    left.set_title("the label's rank sees the plane, the label does not", fontsize=9)
    figures.summary(result, middle)
    middle.set_title("labels over the plane that was found", fontsize=9)
    figures.convergence(result, right)
    right.set_title("refinement, down to rounding", fontsize=9)
    figure.savefig(HERE / "hard_plane.svg", metadata={"Date": None})


if __name__ == "__main__":
    with mpl.rc_context({"svg.hashsalt": "netlearn", "font.size": 8, "svg.fonttype": "none"}):
        hard_plane()
