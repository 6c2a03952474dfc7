"""Tables of the lines that benchmarks/paper.py has measured.

python -m benchmarks.paper_tables    # writes docs/theory/measured_runs.md and prints it
"""

from pathlib import Path

import numpy as np

from benchmarks.paper import too_many_neurons
from benchmarks.resumable import results
from netlearn.network import ShallowNetwork
from netlearn.paper.propose import propose

PAGE = Path(__file__).parents[1] / "docs" / "theory" / "measured_runs.md"


def groups(part, *columns):
    """Lines of a part by some of their columns."""
    found = {}
    for line in results(f"paper_{part}.csv"):
        found.setdefault(tuple(line[column] for column in columns), []).append(line)
    return found.items()


def numbers(lines, column):
    return np.array([float(line[column]) for line in lines])


def true(lines, column):
    return sum(line[column] == "True" for line in lines)


def table(*head):
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]


def planted():
    out = table(
        "network",
        "k",
        "d",
        "epsilon",
        "R",
        "within epsilon",
        "false claims",
        "median distance",
        "seconds, median",
        "slowest",
    )
    runs = wrong = 0
    for key, lines in groups("planted", "teacher", "k", "d", "epsilon", "R"):
        seconds, distance = numbers(lines, "seconds"), np.median(numbers(lines, "distance"))
        runs, wrong = runs + len(lines), wrong + true(lines, "false_claim")
        out.append(
            f"| {' | '.join(key)} | {true(lines, 'within')} of {len(lines)} | "
            f"{true(lines, 'false_claim')} | {distance:.2g} | {np.median(seconds):.1f} | {seconds.max():.1f} |"
        )
    return [*out, "", f"False claims in all: {wrong} in {runs} runs."]


def fails():
    out = table("target", "k", "epsilon", "R", "Fail by exhaustion", "most sets", "slowest, seconds")
    for key, lines in groups("fails", "target", "k", "epsilon", "R"):
        out.append(
            f"| {' | '.join(key)} | {true(lines, 'exhausted')} of {len(lines)} | {numbers(lines, 'sets').max():,.0f} | "
            f"{numbers(lines, 'seconds').max():.1f} |"
        )
    near = [f"{nearest(k, 6, 0.8):.2f} for k = {k}" for k in (3, 4)]
    words = "The nearest networks of k neurons to those of k + 2 that many fits have found are at"
    return [*out, "", f"{words} {' and '.join(near)}."]


def nearest(k, d, weight):
    """Least distance of a network of k neurons, weights unbounded, to k + 2 orthonormal ones: the best of many fits."""
    rng = np.random.default_rng(0)
    target = too_many_neurons(k + 2, d, weight, rng)
    Z = rng.standard_normal((100_000, d))
    weights, units = propose(Z, target(Z), k, np.inf, good=0.0, rng=rng)
    return target.distance(ShallowNetwork(np.zeros(d), weights, units))


def agreement():
    lines = results("paper_agreement.csv")
    accepted = sum(line["fast"] == "accept" for line in lines)
    return [
        f"The fast search and the printed one agree on {true(lines, 'agree')} of {len(lines)} small problems "
        f"({accepted} accepted, {len(lines) - accepted} Fail; one or two neurons in a plane, each with its own net and "
        f"rows), and the fast one's loss is larger in {true(lines, 'larger_loss')}."
    ]


def whole():
    out = table("k", "dimension of V", "epsilon / R", "directions", "sets", "seconds", "sets a second")
    for line in results("paper_whole.csv"):
        ratio, seconds = float(line["epsilon"]) / float(line["R"]), float(line["seconds"])
        out.append(
            f"| {line['k']} | {line['dimension']} | {ratio:.3g} | {int(line['directions']):,} | "
            f"{int(line['sets']):,} | "
            f"{seconds:.1f} | {int(line['sets']) / float(line['cpu_seconds']):.1e} |"
        )
    return out


def predecessor():
    out = table(
        "network",
        "k",
        "algorithm",
        "certified",
        "dimension of V, mean",
        "moment rows, mean",
        "seconds, median",
    )
    for key, lines in groups("predecessor", "teacher", "k", "algorithm"):
        certified = sum(line["status"] == "CERTIFIED" for line in lines)
        out.append(
            f"| {' | '.join(key)} | {certified} of {len(lines)} | {numbers(lines, 'dimension').mean():.1f} | "
            f"{numbers(lines, 'moment_rows').mean():,.0f} | {np.median(numbers(lines, 'seconds')):.2f} |"
        )
    return out


def main():
    parts = {
        "Networks of the class": planted,
        "Targets that are no such network": fails,
        "The printed search": agreement,
        "Whole nets": whole,
        "The predecessor on the same instances": predecessor,
    }
    text = "\n".join("\n".join([f"### {title}", "", *part(), ""]) for title, part in parts.items())
    PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
