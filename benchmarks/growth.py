"""How training of chains grows with examples, length, labels, features and planes: writes docs/growth.md.

    python benchmarks/growth.py

Every fit is a process of its own with one thread; times are processor time of `fit` alone, memory is what its peak adds
to the process with the data. Exponents are fitted to the last three sizes.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from measure import Run, exponent, in_fresh_process, peak_mb, table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "growth.md"
TEXT = """# How training grows

`python benchmarks/growth.py`, {when}. Chains of generated tokens with ten features each, of which three tell something
about the label. Unless they are what varies: {base}. `StructuralSVM` with the default solver to a gap of 1 %,
`ConditionalRandomField` to one of 0.1 %. Processor seconds of `fit` in one thread, and the megabytes that its peak adds
to the process that holds the data; an exponent p says that it grows like size^p, fitted to the last three sizes.

{tables}
"""

#: What stays while something else varies; C is that of one example.
BASE = {"examples": 1000, "length": 20, "labels": 10, "features": 10_000, "C": 0.1}
#: What varies, and how.
AXES: dict[str, tuple[float, ...]] = {
    "examples": (500, 1000, 2000, 4000),
    "length": (10, 20, 40, 80),
    "labels": (5, 10, 20, 40, 80),
    "features": (1000, 10_000, 100_000, 1_000_000),
    "C": (0.01, 0.1, 1.0, 10.0),
}
TITLES = {
    "examples": "Examples",
    "length": "Length",
    "labels": "Labels",
    "features": "Features",
    "C": "Planes: the weight C of an example",
}


def chains(examples: int, length: int, labels: int, features: int) -> tuple[Any, list[Any]]:
    """Tokens with labels of a Markov chain, three features drawn by the label and seven by chance, all like words."""
    from structlearn.data import Sequences

    random = np.random.default_rng(0)
    moves = random.dirichlet(np.full(labels, 0.3), size=labels).cumsum(axis=1)
    Y = np.empty((examples, length), np.int64)
    Y[:, 0] = random.integers(labels, size=examples)
    for t in range(1, length):
        Y[:, t] = (random.random(examples)[:, None] > moves[Y[:, t - 1]]).sum(axis=1).clip(max=labels - 1)
    flat = Y.ravel()
    # Frequencies as those of words: the logarithm of the rank is uniform.
    ranks = np.exp(random.random((len(flat), 10)) * np.log(features)).astype(np.int64) - 1
    told = (ranks[:, :3] * labels + flat[:, None] + random.integers(2, size=(len(flat), 3))) % features
    columns = np.hstack([told, ranks[:, 3:]])
    matrix = sp.csr_array(
        (np.ones(columns.size), columns.ravel(), 10 * np.arange(len(flat) + 1)), (len(flat), features)
    )
    matrix.sum_duplicates()
    return Sequences(matrix, [length] * examples), list(Y)


def run(kind: str, examples: int, length: int, labels: int, features: int, C: float) -> Run:
    from structlearn import ConditionalRandomField, StructuralSVM
    from structlearn.models import Chain

    X, Y = chains(examples, length, labels, features)
    kinds = {"svm": (StructuralSVM, 1e-2), "crf": (ConditionalRandomField, 1e-3)}
    estimator = kinds[kind][0](Chain(), C=C * examples, tol=kinds[kind][1])
    with suppress(OSError):  # on Linux; the peak is that of training then
        Path("/proc/self/clear_refs").write_text("5")
    before = peak_mb()
    begin = time.process_time()
    estimator.fit(X, Y)
    seconds = time.process_time() - begin
    last = estimator.history_[-1]
    return {
        "seconds": seconds,
        "more_mb": max(peak_mb() - before, 0.1),
        "iterations": len(estimator.history_),
        "planes": int(last.get("planes", 0)),
        "converged": bool(estimator.converged_),
    }


def against(axis: str) -> str:
    sizes, rows = AXES[axis], []
    for kind, name in (("svm", "StructuralSVM"), ("crf", "ConditionalRandomField")):
        runs = [in_fresh_process("growth:run", kind=kind, **BASE | {axis: size}) for size in sizes]
        for size, found in zip(sizes, runs, strict=True):
            planes = f", {found['planes']} planes" if found["planes"] else ""
            open_gap = "" if found["converged"] else ", not converged"
            print(
                f"{name}, {axis} {size:g}: {found['seconds']:.2f} s, {found['more_mb']:.0f} MB{planes}{open_gap}",
                flush=True,
            )
        shown = [
            [f"{found['seconds']:.2f}" + ("" if found["converged"] else "*") for found in runs],
            [f"{found['more_mb']:.0f}" for found in runs],
        ]
        grown = [exponent(sizes, [found[what] for found in runs]) for what in ("seconds", "more_mb")]
        rows.append([f"`{name}`, s", *shown[0], grown[0]])
        rows.append([f"`{name}`, MB", *shown[1], grown[1]])
        if kind == "svm":
            planes = [found["planes"] for found in runs]
            rows.append(["planes at the end", *map(str, planes), exponent(sizes, [max(each, 1) for each in planes])])
    header = ["C" if axis == "C" else axis, *(f"{size:,g}" for size in sizes), "exponent"]
    return f"## {TITLES[axis]}\n\n{table(header, rows)}"


def main() -> None:
    sizes = [f"{value:,} {name}" for name, value in BASE.items() if name != "C"]
    base = ", ".join([*sizes, f"C = {BASE['C']:g} an example"])
    tables = "\n\n".join(against(axis) for axis in AXES)
    if "*" in tables:
        tables += "\n\n\\* without convergence."
    PAGE.write_text(TEXT.format(when=f"{date.today():%d %B %Y}", base=base, tables=tables), encoding="utf-8")


if __name__ == "__main__":
    main()
