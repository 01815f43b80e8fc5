"""log Z and marginals of the UAI-2014 instances: exact where the junction tree fits, and what approximations err by.

    python benchmarks/graphs/uai_sums.py [--only Grids] [--max-memory 4GB] [--seconds 20]

Each instance is solved in a process of its own. The stored answers have about six figures. log Z is computed once more
by an elimination in NumPy with an order of its own, where that takes tables of at most 2^22 entries.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
from markdown import table

from structlearn.data.factor_graphs.reduction import ReducedGraph
from structlearn.datasets import GraphicalModel, fetch_uai2014
from structlearn.inference.graphs import JunctionTree, labelling_marginals

APPROXIMATE = ("belief_propagation", "tree_reweighted", "mean_field", "gibbs")
LARGEST_TABLE = 2**22


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="instances whose names begin so")
    parser.add_argument("--max-memory", default="4GB")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each approximation")
    parser.add_argument("--instance", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.instance:
        (chosen,) = (model for model in fetch_uai2014("MAR") if model.name == options.instance)
        print(json.dumps(solved(chosen, options.max_memory, options.seconds)))
        return
    rows = []
    for name in (model.name for model in fetch_uai2014("MAR") if model.name.startswith(options.only)):
        command = [sys.executable, __file__, "--instance", name, "--max-memory", options.max_memory]
        command += ["--seconds", str(options.seconds)]
        rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        print(rows[-1], file=sys.stderr, flush=True)
    print(page(rows))


def solved(model: GraphicalModel, max_memory: str, seconds: float) -> dict[str, Any]:
    row: dict[str, Any] = {"name": model.name, "variables": model.graph.n_variables}
    begin = time.process_time()
    try:
        exact = labelling_marginals(model.graph, JunctionTree(max_memory=max_memory))
    except ValueError as error:
        row["refused"] = str(error).split(";")[0]
        exact = None
    else:
        row |= {
            "width": exact.details["width"],
            "seconds": time.process_time() - begin,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
            "log_z": exact.log_z,
            "stored_log_z": abs(exact.log_z - (model.log_z or np.nan)),
            "stored_marginals": float(np.abs(exact.nodes.flat - model.marginals).max()),
            "again": abs(exact.log_z - eliminated(model)),
        }
    for engine in APPROXIMATE:
        row[engine] = error_of(model, engine, seconds, exact)
    return row


def error_of(model: GraphicalModel, engine: str, seconds: float, exact: Any) -> dict[str, Any]:
    try:
        found = labelling_marginals(model.graph, engine, max_seconds=seconds)
    except ValueError as error:
        return {"refused": str(error)}
    log_z = model.log_z if exact is None else exact.log_z
    marginals = model.marginals if exact is None else exact.nodes.flat
    bound = {"tree_reweighted": found.upper, "mean_field": found.lower}.get(engine, found.log_z)
    return {
        "log_z": bound - log_z,
        "marginals": float(np.abs(found.nodes.flat - marginals).mean()),
        "stopped": found.stopped,
    }


def eliminated(model: GraphicalModel) -> float:
    """log Z by summing variables out, that with the smallest joint table first; NaN if a table grows too large."""
    graph = ReducedGraph.of(model.graph).graph
    tables = [((i,), graph.unary(i)) for i in range(graph.n_variables)]
    tables += [(tuple(graph.scope(f).tolist()), graph.table(f)) for f in range(graph.n_factors)]
    total = float(graph.constants.sum())
    left = set(range(graph.n_variables))
    while left:
        around = {i: {j for scope, _ in tables if i in scope for j in scope} for i in left}
        i = min(left, key=lambda i: np.prod(graph.n_labels[list(around[i])], dtype=float))
        axes = [i, *sorted(around[i] - {i})]
        if np.prod(graph.n_labels[axes], dtype=float) > LARGEST_TABLE:
            return np.nan
        joint = np.zeros(graph.n_labels[axes])
        for scope, scores in (entry for entry in tables if i in entry[0]):
            order = sorted(range(len(scope)), key=lambda k: axes.index(scope[k]))
            shape = [graph.n_labels[j] if j in scope else 1 for j in axes]
            joint = joint + np.transpose(scores, order).reshape(shape)
        tables = [entry for entry in tables if i not in entry[0]]
        summed = np.logaddexp.reduce(joint, axis=0)
        left.remove(i)
        if summed.ndim:
            tables.append((tuple(axes[1:]), summed))
        else:
            total += float(summed)
    return total


def page(rows: list[dict[str, Any]]) -> str:
    head = (
        "instance",
        "width",
        "CPU s",
        "peak MB",
        "log Z",
        "stored log Z",
        "stored marginals",
        "log Z by elimination",
    )
    errors = table(
        ("instance", *APPROXIMATE), ([row["name"], *(_cell(row[engine]) for engine in APPROXIMATE)] for row in rows)
    )
    return "\n\n".join(
        [
            "Exact, with how far the stored answers and the elimination in NumPy are from it:",
            table(head, map(_exact, rows)),
            "Errors of log Z (of the bound, where it is one), and mean errors of marginals:",
            errors,
        ]
    )


def _exact(row: dict[str, Any]) -> list[str]:
    if "refused" in row:
        return [row["name"], row["refused"], *[""] * 6]
    found = [row["name"], str(row["width"]), f"{row['seconds']:.2f}", f"{row['peak_mb']:.0f}", f"{row['log_z']:.6f}"]
    return found + [f"{row[key]:.1e}" for key in ("stored_log_z", "stored_marginals", "again")]


def _cell(found: dict[str, Any]) -> str:
    if "refused" in found:
        return "refused"
    log_z = "" if np.isnan(found["log_z"]) else f"{found['log_z']:+.3g}, "
    ended = "" if found["stopped"] == "converged" else f" ({found['stopped']})"
    return f"{log_z}{found['marginals']:.1e}{ended}"


if __name__ == "__main__":
    main()
