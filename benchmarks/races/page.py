"""The page of results and its plots."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

import structlearn

PREFACE = """\
# Benchmarks

Every competitor has one thread and the same features. Each timed run is a fresh process; competitors take turns; times
are medians in seconds of wall clock. Ratios are ours divided by theirs, all from one run of `make bench` on one
machine, so smaller is better and "≤ 1/20" asks for a twentieth of the rival's time. Where a line reports something
reached (F1, error, objective), ours comes first.
"""

PRELIMINARY = """\
**Preliminary**: not from one whole run of `make bench`. Tasks ran apart from each other or once only, and side by side
with other work on the same cores: single times, and with them the ratios, may be off by a factor of two.
"""

NOTES = """\
## What was measured

- **Chunking**: CoNLL-2000, words and tags at −2…2 and the four pairs of neighbouring tags; 8,936 sentences for
  training, F1 of exact chunks on the 2,012 test sentences. C, the relative gap to stop at and whether to average were
  chosen on three folds of held-out training sentences (`python benchmarks/race.py --choose`, kept in
  `benchmarks/races/chosen.json`), never on the test set: the quickest setting whose mean F1 is within 0.05 of the best.
  Then all sentences were used, with another seed in every run; the F1 is the median of theirs. Plain lines time the
  training alone on data that both programs have already taken in; "from attribute lists" adds the building of
  vocabularies. The bar on the time of L-BFGS is for whichever of its two settings has the higher F1. L-BFGS and
  stochastic gradient descent run to convergence by CRFsuite's rules, the other algorithms make 50 passes.
- **Letters**: C = 625.1 is C/n = 0.1, which is CRFsuite's c2 = 5 and the quicker rival; c2 = 1 is its default. It stops
  by its own rule.
- **CRF**: the letters of folds 1-9 and the chunking data, c2 = 1, no scores for the ends, as CRFsuite has none. Its
  L-BFGS runs to convergence by its own rule; ours until the objective, computed for all examples at one w, is at most
  1e-4 above CRFsuite's last value, relatively. "All pairs" gives every attribute a weight with every label,
  "observed pairs" only those that occur in the data.
- **Prediction**: the 47,377 test tokens. "Prepared" is a sparse matrix here and `pycrfsuite.ItemSequence` there.
- **Multiclass**: C = 0.01 (MNIST) and 0.1 (part of speech) in liblinear's convention, no intercept; ours stops at a
  relative duality gap of 0.1 %, and both objectives are computed by one function.
- dlib is not among the rivals: it has no binary wheel for this platform.
"""


def machine() -> str:
    python, library = platform.python_version(), structlearn.__version__
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {python}, structlearn {library}"


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| task | rival | ours, s | theirs, s | ratio | bar | met | reached |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        bar = "" if row["bar"] is None else f"≤ {_bar(row['bar'])}"
        met = {None: "", True: "yes", False: "**no**"}[row["met"]]
        times = f"{row['ours']:.3g} | {row['theirs']:.3g} | {_ratio(row['ratio'])}"
        lines.append(f"| {row['task']} | {row['rival']} | {times} | {bar} | {met} | {row['reached']} |")
    return "\n".join(lines)


def write(result: dict[str, Any], output: Path) -> None:
    """benchmarks.md, and results.json and the plots in benchmarks/."""
    folder = output / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(result, indent=1) + "\n")
    plots = [name for name, draw in PLOTS.items() if _drawn(name, draw, result["series"], folder)]
    facts = [f"| {label} | {value} |" for label, value in result["facts"]]
    facts = ["| the library alone | |", "|---|---|", *facts] if facts else []
    missed = [row for row in result["rows"] if row["met"] is False]
    asked = [row for row in result["rows"] if row["met"] is not None]
    verdict = f"{len(asked) - len(missed)} of {len(asked)} bars are met."
    notice = [PRELIMINARY] if result["preliminary"] else []
    notice += [result["remark"]] if result.get("remark") else []
    notice += [f"Not run yet: {', '.join(result['missing'])}."] if result["missing"] else []
    parts = [
        PREFACE,
        *notice,
        verdict,
        table(result["rows"]),
        "\n".join(facts),
    ]
    parts += [f"![{name}](benchmarks/{name}.svg)" for name in plots]
    parts += [NOTES, f"Made by `make bench`; {result['machine']}."]
    (output / "benchmarks.md").write_text("\n\n".join(part.strip() for part in parts) + "\n")


def _bar(bar: float) -> str:
    return f"1/{round(1 / bar)}" if abs(1 / bar - round(1 / bar)) < 1e-9 else f"{bar:g}"


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio > 0.5 else f"1/{1 / ratio:.1f}"


def _drawn(name: str, draw: Any, series: dict[str, Any], folder: Path) -> bool:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = name
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    drawn = bool(draw(axes, series))
    if drawn:
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
    return drawn


def _convergence(axes: Any, series: dict[str, Any]) -> bool:
    if "chunking" not in series or "letters" not in series:
        return False
    left, right = axes
    points = series["chunking"]["ours"]
    left.plot([p["seconds"] for p in points], [p["f1"] for p in points], "k.-", label="structlearn")
    for name, (seconds, f1) in series["chunking"]["theirs"].items():
        left.plot(seconds, f1, "o", label=name)
    left.set(xscale="log", xlabel="seconds of training", ylabel="test F1", ylim=(90, 94), title="CoNLL-2000 chunking")
    left.legend(fontsize=6)
    history = [h for h in series["letters"] if h["dual"] > 0]
    gaps = [(h["primal"] - h["dual"]) / h["primal"] for h in history]
    right.plot([h["seconds"] for h in history], gaps, "k.-")
    right.set(yscale="log", xlabel="seconds", ylabel="relative duality gap", title="OCR letters, folds 1-9")
    return True


def _objectives(axes: Any, series: dict[str, Any]) -> bool:
    if "MNIST" not in series or "part of speech" not in series:
        return False
    for ax, name in zip(axes, ("MNIST", "part of speech"), strict=True):
        history = series[name]["ours"]
        seconds, objective = series[name]["theirs"]
        best = max(h["dual"] for h in history)
        ax.plot([h["seconds"] for h in history], [h["primal"] / best - 1 for h in history], "k.-", label="structlearn")
        ax.plot(seconds, objective / best - 1, "o", label="LinearSVC")
        ax.set(xscale="log", yscale="log", xlabel="seconds", ylabel="objective above the lower bound", title=name)
        ax.legend(fontsize=7)
    return True


def _growth(axes: Any, series: dict[str, Any]) -> bool:
    if "CoNLL-2000" not in series:
        return False
    left, right = axes
    conll = series["CoNLL-2000"]
    left.plot(conll["n"], conll["seconds"], "o-", label="training to gap 10 %")
    left.plot(conll["n"], conll["pass_seconds"], "o-", label="one oracle pass")
    left.set(xscale="log", yscale="log", xlabel="sentences of CoNLL-2000", ylabel="seconds")
    left.legend(fontsize=7)
    memory = right
    memory.plot(conll["n"], conll["peak_mb"], "o-k")
    memory.set(xlabel="sentences of CoNLL-2000", ylabel="peak memory, MB", ylim=(0, 1.1 * max(conll["peak_mb"])))
    return True


def _passes(axes: Any, series: dict[str, Any]) -> bool:
    names = [name for name in ("pass against length", "pass against labels") if name in series]
    for ax, name in zip(axes, names, strict=False):
        values, seconds = series[name]
        ax.plot(values, np.array(seconds) * 1000, "o-k")
        ax.set(xscale="log", yscale="log", xlabel=name.removeprefix("pass against "), ylabel="milliseconds a pass")
    return len(names) == 2


PLOTS = {"convergence": _convergence, "objectives": _objectives, "growth": _growth, "passes": _passes}
