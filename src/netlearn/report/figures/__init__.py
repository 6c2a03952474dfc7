"""The figures, each a function of a result: it draws into `ax`, or into a new figure, and returns the Axes.

    ax = figures.summary(result)
    ax.figure.savefig("summary.pdf")

They use matplotlib's objects and leave its global state alone. Colours are those of Okabe and Ito, which colour-blind
readers can tell apart; where a colour means something, so does a shape.
"""

from netlearn.report.figures.drawing import (
    BLUE,
    GREEN,
    GREY,
    MOST_LINES,
    ORANGE,
    PURPLE,
    VERMILION,
    new_axes,
)
from netlearn.report.figures.fit import predicted, residual_histogram, residuals
from netlearn.report.figures.inputs import effect, importance, sobol, summary
from netlearn.report.figures.technical import biases, convergence, directions, neurons, spectrum

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "MOST_LINES",
    "ORANGE",
    "PURPLE",
    "VERMILION",
    "biases",
    "convergence",
    "directions",
    "effect",
    "importance",
    "neurons",
    "new_axes",
    "predicted",
    "residual_histogram",
    "residuals",
    "sobol",
    "spectrum",
    "summary",
]
