"""The page of the experiment on linked documents: tables of `linked_documents.py`, and sentences computed from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from report import Run, findings, percent, table, verdict

from structlearn.metrics import Interval, bootstrap_counts

NODES, POTTS, SYMMETRIC, FIELD, TRANSDUCTIVE = "nodes", "Potts", "symmetric", "field", "transductive"
#: The comparisons asked for beforehand: the first against the second, each a method and the way it is tested.
ASKED = (
    ((POTTS, "apart"), (NODES, "apart")),
    ((SYMMETRIC, "apart"), (NODES, "apart")),
    ((FIELD, "apart"), (NODES, "apart")),
    ((FIELD, "apart"), (POTTS, "apart")),
    ((POTTS, "given"), (POTTS, "apart")),
    ((TRANSDUCTIVE, "given"), (POTTS, "given")),
)
#: For orientation.
ALSO = (
    ((SYMMETRIC, "apart"), (POTTS, "apart")),
    ((SYMMETRIC, "given"), (POTTS, "given")),
    ((FIELD, "given"), (POTTS, "given")),
)
#: A relative duality gap above which a difference is marked.
FAR = 0.1
REMARKS = """
- **On WebKB the SVMs with links are unfinished.** The network of a university is one example of 827 to 1,262 nodes;
  after 100 iterations gaps are 0.03 to 0.31 (Potts) and 0.16 to 0.63 (symmetric). The differences are those of these
  weights, not of the models' optima; both are above the nodes on their own at all four universities.
- The field, which is at the optimum of its pseudo-likelihood, gains less from links than the Potts SVM, on all three.
- On Cora and CiteSeer links help clearly, and the labels of known neighbours help again. Weights for every two labels
  are no better than one weight for equal labels.
- Transductive training begins from the inductive Potts SVM and ends where it cannot be told from it, in one repetition.
- Choosing the price took junction trees, since a quarter of the papers has few links among itself; the networks of half
  of the papers were searched, except one of CiteSeer.
- Seconds are of processor time, beside other work on the same machine.
"""

Found = dict[str, list[dict[Any, Any]]]


def right_and_tested(splits: list[dict[Any, Any]], *methods: Any) -> Any:
    """(n_nodes, k + 1): how often each method has a node right, and how often it is tested, if ever."""
    n = 1 + max(int(split["test"].max()) for split in splits)
    counts = np.zeros((n, len(methods) + 1))
    for split in splits:
        for k, method in enumerate(methods):
            counts[split["test"], k] += split[method]
        counts[split["test"], -1] += 1
    return counts[counts[:, -1] > 0]


def accuracy(splits: list[dict[Any, Any]], method: Any) -> Interval:
    counts = right_and_tested(splits, method)
    return bootstrap_counts(counts, lambda sums: sums[:, 0] / sums[:, 1], random_state=0)


def difference(splits: list[dict[Any, Any]], new: Any, old: Any) -> Interval:
    counts = right_and_tested(splits, new, old)
    return bootstrap_counts(counts, lambda sums: (sums[:, 0] - sums[:, 1]) / sums[:, 2], random_state=0)


def results(found: Found, runs: list[Run]) -> str:
    rows: list[list[object]] = [
        ["data", "method", "tested", "accuracy", "of each split", "mean IoU", "price", "iterations", "gap", "seconds"]
    ]
    for name, splits in found.items():
        for method, way in (key for key in splits[0] if key != "test"):
            mine = [run for run in runs if (run["data"], run["method"], run["tested"]) == (name, method, way)]

            def listed(key: str, form: str, of: list[Run] = mine) -> str:
                return ", ".join(f"{run[key]:{form}}" for run in of)

            rows.append(
                [
                    name,
                    method,
                    way,
                    percent(accuracy([split for split in splits if (method, way) in split], (method, way))),
                    listed("accuracy", ".1f"),
                    f"{np.mean([run['mean IoU'] for run in mine]):.1f}",
                    listed("price", "g"),
                    listed("iterations", "d"),
                    f"{max(run['gap'] for run in mine):.2g}",
                    listed("seconds", ".1f"),
                ]
            )
    return table(*rows)


def compared(found: Found, which: Any) -> Iterator[tuple[str, Any, Any, Interval]]:
    for name, splits in found.items():
        for new, old in which:
            both = [split for split in splits if new in split and old in split]
            if both:
                yield name, new, old, difference(both, new, old)


def differences(found: Found, which: Any) -> str:
    rows: list[list[object]] = [["data", "the first", "the second", "difference, points", "the first is"]]
    for name, new, old, interval in compared(found, which):
        rows.append([name, ", ".join(new), ", ".join(old), percent(interval, "+"), verdict(interval)])
    return table(*rows)


def unfinished(runs: list[Run], name: str, method: str) -> str:
    """A note where training stopped far from its optimum: such a difference is no answer."""
    tested = (run for run in runs if run["tested"] != "held out")
    gap = max(run["gap"] for run in tested if (run["data"], run["method"]) == (name, method))
    return f", **training unfinished, gap {gap:.2f}**" if gap > FAR else ""


def answer(found: Found, runs: list[Run]) -> str:
    lines = []
    for new, old in ASKED:
        sides: dict[str, list[str]] = {"better": [], "worse": [], "open": []}
        for name, _, _, interval in compared(found, [(new, old)]):
            points = f"{100 * interval.estimate:+.1f} points{unfinished(runs, name, new[0])}"
            sides[verdict(interval)].append(f"{name} ({points})")
        told = "; ".join(f"{side} on {', '.join(names)}" for side, names in sides.items() if names)
        lines.append(f"- {new[0]} ({new[1]}) against {old[0]} ({old[1]}): {told}.")
    return "\n".join(lines)


def cost(runs: list[Run]) -> str:
    rows: list[list[object]] = [
        ["data", "method", "fits", "seconds of a fit", "at most", "stopped before the tolerance"]
    ]
    for name, method in dict.fromkeys((run["data"], run["method"]) for run in runs):
        # A fit that is tested in two ways has two rows.
        mine = {
            (run["split"], run["tested"] == "held out", run["price"]): run
            for run in runs
            if (run["data"], run["method"]) == (name, method)
        }.values()
        seconds = [run["seconds"] for run in mine]
        beyond = sum(run["gap"] > 0.03 for run in mine)
        rows.append([name, method, len(mine), f"{np.mean(seconds):.1f}", f"{max(seconds):.1f}", beyond])
    most = max(run["MB so far"] for run in runs)
    return f"{table(*rows)}\n\nAt most {most:.0f} MB, Python, its libraries and the data included."


def sections(found: Found, runs: list[Run]) -> dict[str, str]:
    return {
        "The answer": f"{answer(found, runs)}\n\nOpen: the 95 % interval contains 0.\n\n{differences(found, ASKED)}",
        "Results": f"Accuracy and mean IoU in percent; gap is the largest of the splits.\n\n{results(found, runs)}",
        "Also": differences(found, ALSO),
        "What it costs": cost(runs),
        "What to keep in mind": findings(REMARKS, "18 November 2026"),
    }
