"""Whether what is left between labels and network is the labels' own rounding."""

from __future__ import annotations

import numpy as np

# A label is off by at most half a step, and the network fitted to such labels by little more.
_HALF_A_STEP = 0.6
# The smallest gap between two labels may be so many steps.
_MOST_STEPS = 12
# In units of the spacing of floating-point numbers: a grid finer than this is that of double precision itself.
_COARSE = 1e4


def label_step(y: np.ndarray) -> float:
    """Return the step of the grid that all labels lie on; 0 where there is none.

    Parameters
    ----------
    y : array of shape (n,)
    """
    values = np.unique(y)
    spacing = np.spacing(np.max(np.abs(values), initial=0.0))
    gaps = np.diff(values)
    gaps = gaps[gaps > 8 * spacing]  # below that, one place of the grid was computed in two ways
    if len(gaps) < 2:
        return 0.0
    for step in np.min(gaps) / np.arange(1, _MOST_STEPS + 1):
        if step < _COARSE * spacing:
            break
        places = (values - values[0]) / step
        # Labels are off by a spacing or two, and so is the step, which counts as often as it is taken.
        off = np.abs(places - np.round(places))
        if np.all(off < np.minimum(8 * (1 + places) * spacing / step, 0.1)):
            return float(step)
    return 0.0


def _steps(y: np.ndarray) -> tuple[str, np.ndarray]:
    """Say in words how labels of one output were rounded, and by which step each; an empty string if they were not."""
    with np.errstate(over="ignore"):
        half = y.astype(np.float16)
    step = label_step(y)
    if step:
        return f"multiples of {step:.3g}", np.full(len(y), step)
    if len(y) > 0 and np.array_equal(half, y):
        # Of labels near zero it is the network's own error that shows: the rounding of the others.
        steps = np.spacing(np.maximum(np.abs(half), np.float16(np.std(y))))
        return "numbers of half precision", steps.astype(float)
    return "", np.zeros(len(y))


def may_be_rounding(loss: float, y: np.ndarray, scale: float | np.ndarray) -> bool:
    """Whether a mean square, in units of `scale`, is no larger than rounding leaves of such labels.

    Parameters
    ----------
    loss : float
        A mean over rows and outputs.
    y : array of shape (n,) or (n, m)
        Labels, some of those that it is about.
    scale : float or array of shape (m,)
    """
    steps = np.transpose([_steps(own)[1] for own in np.atleast_2d(y.T)])
    return loss <= _HALF_A_STEP**2 * float(np.mean((steps / scale) ** 2))


def rounding_of_labels(y: np.ndarray, errors: np.ndarray) -> tuple[str, float]:
    """Say in words how labels were rounded, if that alone explains the errors, and by how much at most.

    An empty string and zero where it does not.

    Parameters
    ----------
    y : array of shape (n,) or (n, m)
        Labels.
    errors : array of the same shape
        Labels less the network's values, on rows that took no part in learning it.
    """
    words, largest = set(), []
    for own, error in zip(np.atleast_2d(y.T), np.atleast_2d(errors.T), strict=True):
        how, steps = _steps(own)
        if not how or not np.all(np.abs(error) <= _HALF_A_STEP * steps):
            return "", 0.0
        words.add(how)
        largest.append(float(np.max(steps)) / 2)
    return " or ".join(sorted(words)), float(np.linalg.norm(largest))
