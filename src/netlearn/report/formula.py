"""The network as a formula: for reading, for LaTeX, and as Python that computes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlearn.report.measures import feature_names
from netlearn.report.terms import Terms, readable

if TYPE_CHECKING:
    from netlearn.result import LearnResult

MOST_UNITS, MOST_FEATURES, MOST_OUTPUTS = 6, 8, 4
"""Networks up to this size have a formula that a person can read."""
_MOST_NUMBERS = 5_000
# Digits of the Python code: the last one or two of float64 are rounding.
_DIGITS = 15
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "_%&#${}"},
}


def is_readable(result: LearnResult) -> bool:
    """Whether the network is small enough for a formula that a person can read."""
    f = result.network
    if f is None:
        return False
    return f.n_hidden <= MOST_UNITS and f.n_features <= MOST_FEATURES and f.n_outputs <= MOST_OUTPUTS


@dataclass(frozen=True)
class _Notation:
    """How numbers, products, ReLUs and names are written.

    Attributes
    ----------
    number, name : callable
    times, relu, hidden, equals, begin : str
        Between factors; around what is inside a ReLU; the name of a ReLU; between the sides; before further terms.
    """

    number: Callable[[float], str]
    name: Callable[[str], str]
    times: str
    relu: str
    hidden: str
    equals: str
    begin: str

    def sum_of(self, factors: Sequence[float], names: Sequence[str], constant: float = 0.0) -> str:
        """Write a sum of multiples of names and a constant, zeros left out."""
        parts = [
            (factor, name if abs(factor) == 1 else f"{self.number(abs(factor))}{self.times}{name}")
            for factor, name in zip(factors, names, strict=True)
            if factor
        ]
        if constant or not parts:
            parts.append((constant, self.number(abs(constant))))
        (first, text), *rest = parts
        return (f"-{text}" if first < 0 else text) + "".join(_signed(*part) for part in rest)

    def lines(self, result: LearnResult) -> list[str]:
        """Write the whole network, line by line."""
        terms, names = readable(result), [self.name(name) for name in feature_names(result)]
        outputs = [self.name(name) for name in result.output_names]
        relus = [
            self.relu.format(self.sum_of(v, names, b))
            for v, b in zip(terms.weights, terms.biases, strict=True)
        ]
        affine = [self.sum_of(w, names, c) for w, c in zip(terms.linear, terms.intercept, strict=True)]
        if len(outputs) == 1:
            signs = terms.outputs[:, 0]
            first = affine[0]
            if relus and first == self.number(0.0):
                first = f"{'-' if signs[0] < 0 else ''}{relus[0]}"
                signs, relus = signs[1:], relus[1:]
            rest = [self.begin + _signed(*part) for part in zip(signs, relus, strict=True)]
            return [f"{outputs[0]}{self.equals}{first}", *rest]
        hidden = [self.hidden.format(place) for place in range(1, len(relus) + 1)]
        lines = [f"{name}{self.equals}{relu}" for name, relu in zip(hidden, relus, strict=True)]
        for output, name in enumerate(outputs):
            mu = terms.outputs[:, output]
            added = "".join(
                _signed(factor, f"{self.number(abs(factor))}{self.times}{unit}")
                for factor, unit in zip(mu, hidden, strict=True)
                if factor
            )
            lines.append(f"{name}{self.equals}{affine[output]}{added}")
        return lines


def _signed(factor: float, text: str) -> str:
    return f" {'-' if factor < 0 else '+'} {text}"


def _number(value: float) -> str:
    return f"{value:.{_DIGITS}g}"


def _latex_number(value: float) -> str:
    mantissa, _, exponent = _number(value).partition("e")
    return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def escaped(name: str) -> str:
    """Return a name as LaTeX text; what LaTeX would obey is shown instead."""
    return re.sub(r"[\\~^_%&#${}]", lambda found: _LATEX[found[0]], " ".join(name.split()))


_TEXT = _Notation(_number, str, "*", "relu({})", "h{}", " = ", "   ")
_IN_LATEX = _Notation(
    _latex_number,
    lambda name: f"\\text{{{escaped(name)}}}",
    "\\,",
    "\\max(0,\\, {})",
    "h_{{{}}}",
    " &= ",
    "&\\quad",
)


def text_formula(result: LearnResult) -> list[str]:
    """Return the formula line by line, rounded for reading; relu(t) stands for the larger of t and 0.

    With several outputs the ReLUs, which they share, have lines of their own.
    """
    return _TEXT.lines(result)


def latex_formula(result: LearnResult) -> str:
    """Return the same as an align* environment of LaTeX."""
    return "\\begin{align*}\n" + " \\\\\n".join(_IN_LATEX.lines(result)) + "\n\\end{align*}"


def python_code(result: LearnResult) -> str:
    """Return a function in NumPy with all digits; empty for a network of thousands of numbers."""
    terms = Terms.of(result.network)
    if terms.weights.size + terms.linear.size + terms.outputs.size > _MOST_NUMBERS:
        return ""
    several = result.network.n_outputs > 1
    lines = [
        "import numpy as np",
        "",
        "",
        "def predict(X):",
        f"    # columns of X: {', '.join(map(repr, feature_names(result)))}",
        f"    # returns {', '.join(map(repr, result.output_names))}",
    ]
    parts = [_written(terms.intercept) if several else _number(terms.intercept[0])]
    if np.any(terms.linear):
        lines.append(f"    linear = {_written(terms.linear.T if several else terms.linear[0])}")
        parts.append("X @ linear")
    if terms.n_hidden:
        lines += [
            f"    weights = {_written(terms.weights)}  # a row for each unit",
            f"    biases = {_written(terms.biases)}",
            f"    outputs = {_written(terms.outputs if several else terms.outputs[:, 0])}",
        ]
        parts.append("np.maximum(X @ weights.T + biases, 0) @ outputs")
    if len(parts) == 1:
        parts = [f"np.tile({parts[0]}, (len(X), 1))" if several else f"np.full(len(X), {parts[0]})"]
    lines += ["    X = np.asarray(X)", f"    return {' + '.join(parts)}"]
    return "\n".join(lines) + "\n"


def _written(values: np.ndarray) -> str:
    if values.ndim == 1:
        return f"np.array([{', '.join(map(_number, values))}])"
    rows = ",\n".join(f"        [{', '.join(map(_number, row))}]" for row in values)
    return f"np.array([\n{rows},\n    ])"
