"""The page of the kernel machines: Yu's tables and figures with ours beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

import matplotlib as mpl
import numpy as np
from kernel_svm import METHODS, SIZES, TASKS, complete, jobs, known
from kernel_svm_published import ACCURACY, SECONDS, TABLE_1, VECTORS
from report import Run, percent, publish, table, verdict

from structlearn.metrics import bootstrap_counts
from structlearn.theory import projection_gap, sampled_cuts, sampling_gap, subspace_iterations

mpl.use("Agg")
from matplotlib import pyplot as plt

COMPARED = ("checkerboard 10000", "checkerboard 100000", "Adult 22697", "Covertype 15000")
NOTHING = "Not run yet."
GROWING = {"sampled 400": "#0b6fb8", "exact": "#222222"}
COLOURS = {"CPSP": "#0b6fb8", "CPSP(tr)": "#53b3e6", "NYSTROM": "#d1682c", "INCCHOL": "#8a8a8a", "exact": "#222222"}


def accuracy(run: Run) -> float:
    return 100.0 * (1.0 - len(run["wrong"]) / int(run["n_test"]))


def chosen(runs: list[Run], task: str, method: str, size: int) -> Run | None:
    """Of the runs of this size, with one kernel or with two, the one that is best on the validation part."""
    mine = [run for run in runs if (run["task"], run["method"], run.get("size")) == (task, method, size)]
    return min((run for run in mine if "held_out" in run), key=lambda run: run["held_out"], default=None)


def exact_of(runs: list[Run], task: str, **more: Any) -> Run | None:
    mine = (run for run in runs if (run["task"], run["method"]) == (task, "exact"))
    return next((run for run in mine if all(run[name] == value for name, value in more.items())), None)


def largest(runs: list[Run], task: str, method: str) -> Run | None:
    """The run of the largest size that there is."""
    tried = (chosen(runs, task, method, size) for size in reversed(SIZES))
    return next((run for run in tried if run is not None), None)


def near_enough(runs: list[Run], task: str, method: str) -> Run | str:
    """The first size within half a point of exact; what is known where none is."""
    exact = exact_of(runs, task)
    tried = [run for size in SIZES if (run := chosen(runs, task, method, size)) is not None]
    if exact is None or not tried:
        return "not run"
    most = len(exact["wrong"]) + 0.005 * exact["n_test"]
    good = (run for run in tried if len(run["wrong"]) <= most)
    return next(good, f">{tried[-1]['size']:,}")


def beside(ours: Callable[[str, str], str], published: dict[str, tuple[Any, ...]]) -> str:
    rows: list[list[object]] = [["", *(f"{task}{' (Yu: CCAT)' if task == 'NEWS' else ''}" for task in TASKS)]]
    for method, theirs in published.items():
        cells = [f"{value:,}" if isinstance(value, int) else value for value in theirs]
        rows.append([method, *(f"{ours(task, method)} ({cell})" for task, cell in zip(TASKS, cells, strict=True))])
    return "Ours, and in brackets Yu's.\n\n" + table(*rows)


def accuracies(runs: list[Run]) -> str:
    def ours(task: str, method: str) -> str:
        run = exact_of(runs, task) if method == "exact" else largest(runs, task, method)
        if run is None:
            return "not run"
        return (
            f"{accuracy(run):.2f}{'' if method == 'exact' or run['size'] == SIZES[-1] else ' at ' + str(run['size'])}"
        )

    def against(task: str, method: str) -> str:
        run, exact = largest(runs, task, method), exact_of(runs, task)
        if run is None or exact is None:
            return ""
        wrong = np.zeros((exact["n_test"], 2))
        wrong[run["wrong"], 0], wrong[exact["wrong"], 1] = 1.0, 1.0
        gap = bootstrap_counts(wrong, lambda sums: (sums[:, 1] - sums[:, 0]) / len(wrong), random_state=0)
        return f"{percent(gap, '+')} {verdict(gap)}"

    rows = [[method, *(against(task, method) for task in TASKS)] for method in METHODS]
    differences = table(["", *TASKS], *rows)
    return (
        f"{beside(ours, ACCURACY)}\n\nAccuracy minus that of the exact machine, 95 % paired percentile bootstrap "
        f"intervals over test rows (seed 0):\n\n{differences}"
    )


def vectors(runs: list[Run]) -> str:
    def ours(task: str, method: str) -> str:
        run = exact_of(runs, task) if method == "exact" else near_enough(runs, task, method)
        return run if isinstance(run, str) else "not run" if run is None else f"{run['size']:,}"

    return beside(ours, VECTORS)


def seconds(runs: list[Run]) -> str:
    def ours(task: str, method: str) -> str:
        run = exact_of(runs, task) if method == "exact" else near_enough(runs, task, method)
        return "" if run is None or isinstance(run, str) else f"{run['seconds']:.1f}"

    return beside(ours, SECONDS) + "\n\nYu's seconds are of an Opteron of 2.0 GHz."


def claim(runs: list[Run]) -> str:
    """Whether CPSP needs the fewest basis vectors, from what has been run."""
    found: dict[str, list[str]] = {"alone": [], "tied": [], "lost": [], "open": []}
    for task in TASKS:
        needs = {method: near_enough(runs, task, method) for method in METHODS}
        own = needs.pop("CPSP")
        known = [run["size"] for run in needs.values() if isinstance(run, dict)]
        if isinstance(own, str):
            tried = largest(runs, task, "CPSP")
            found["lost" if tried and min(known, default=np.inf) <= tried["size"] else "open"].append(task)
            continue
        # Whoever has not come near enough needs more than was tried.
        tried_sizes = [run["size"] if (run := largest(runs, task, method)) else 0 for method in needs]
        least = min(known, default=np.inf)
        sure = all(
            isinstance(needs[m], dict) or size >= own["size"] for m, size in zip(needs, tried_sizes, strict=True)
        )
        kind = "lost" if least < own["size"] else "open" if not sure else "alone" if least > own["size"] else "tied"
        found[kind].append(task)
    n = len(found["alone"] + found["tied"])
    holds = "holds" if n >= 4 else "is open" if n + len(found["open"]) >= 4 else "does not hold"
    return (
        f"CPSP needs fewer basis vectors than all others on {_listed(found['alone'])}; as few as another method on "
        f"{_listed(found['tied'])}; more on {_listed(found['lost'])}; what has been run leaves it open on "
        f"{_listed(found['open'])}. Yu's claim, that it needs the fewest on at least four of five tasks, {holds}."
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def table_1(runs: list[Run]) -> str:
    head = [
        "data",
        "C/n",
        "method",
        "seeds",
        "training error, %",
        "test error, %",
        "s",
        "MB",
        "cuts",
        "Yu: training, test, s",
    ]
    rows: list[list[Any]] = [head]
    order = [(f"checkerboard {n}", 1.0) for n in (10_000, 100_000, 1_000_000)]
    for task, price in [*order, ("Adult 22697", 1.0), ("Adult 22697", 100.0), ("Covertype 15000", 1.0)]:
        for method in ("sampled 400", "sampled 1000", "Cholesky 250", "Cholesky 500", "subspace 100", "exact"):
            mine = [r for r in runs if (r["task"], r["method"], r["price"]) == (task, method, price) and "train" in r]
            if not mine:
                continue
            errors = [100.0 * len(run["wrong"]) / run["n_test"] for run in mine]
            cuts = _spread([run["iterations"] for run in mine], 0)
            if method.startswith("sampled") and not all(run["converged"] for run in mine):
                cuts += ", the most"
            cells = [task, f"{price:g}", method, len(mine), _spread([100.0 * run["train"] for run in mine], 2)]
            cells += [_spread(errors, 2), _spread([run["seconds"] for run in mine], 1)]
            cells += [f"{max(run['megabytes'] for run in mine):.0f}", cuts]
            rows.append([*cells, ", ".join(TABLE_1.get((task, price), {}).get(method, ()))])
    words = (
        "Means, and standard deviations over seeds in brackets. Training errors are of the first 20,000 rows at most."
    )
    return f"{words}\n\n{table(*rows)}\n\n{_distances_to_exact(runs)}"


def _distances_to_exact(runs: list[Run]) -> str:
    """Yu's claim on sampled cuts: within about 0.2 points of the exact machine."""
    gaps: dict[str, list[float]] = {}
    for run in runs:
        exact = exact_of(runs, run["task"], price=run.get("price"))
        if run["method"].startswith("sampled") and exact is not None and run["task"] in COMPARED:
            name = f"{run['task']} (C/n = {run['price']:g})"
            gaps.setdefault(name, []).append(accuracy(exact) - accuracy(run))
    found = "; ".join(f"{name} {mean(values):+.2f}" for name, values in gaps.items())
    return (
        f"Test errors of sampled cuts minus those of the exact machine, in points, where Yu has at most 0.2: {found}."
    )


def _spread(values: list[float], digits: int) -> str:
    found = f"{mean(values):,.{digits}f}"
    return found if len(values) == 1 else f"{found} ({pstdev(values):,.{digits}f})"


def objectives(runs: list[Run]) -> str:
    """True gaps and what the theorems allow, both as shares of the certified minimum."""
    head = ["data", "C/n", "method", "objective above the minimum, %", "theorem allows, %", "largest ‖g − ĝ‖", "cuts"]
    head += ["theorem allows"]
    rows: list[list[Any]] = [head]
    ratios = []
    for task in ("Adult 5000", "checkerboard 5000"):
        n = int(task.split()[1])
        for run in runs:
            exact = exact_of(runs, task, price=run.get("price"))
            sampled = run["method"].startswith("sampled")
            if run["task"] != task or exact is None or not (sampled or "distance" in run):
                continue
            least = exact["objective"] * (1.0 - exact["gap"])
            C = run["price"] * n
            if sampled:
                k, T = int(run["method"].split()[1]), run["iterations"] + 1
                allowed = sampling_gap(C=C, eps=1e-3, n_samples=k, n_cuts=T, delta=0.05, radius=1.0)
                cuts = sampled_cuts(C=C, eps=1e-3, n_samples=k, radius=1.0)
            else:
                allowed = projection_gap(C=C, eps=1e-3, distance=run["distance"])
                cuts = subspace_iterations(C=C, eps=1e-3, k_max=run["size"], radius=1.0)
            gap = run["objective"] - exact["objective"]
            ended = run.get("converged", True)
            if ended and gap > 0:
                ratios.append(allowed / gap)
            distance = f"{run['distance']:.2g}" if "distance" in run else ""
            above = f"{100 * gap / least:+.2f}{'' if ended else ' (not at its end)'}"
            cells = [task, f"{run['price']:g}", run["method"], above, f"{100 * allowed / least:,.4g}", distance]
            rows.append([*cells, run["iterations"], f"{cuts:.1e}"])
    if not ratios:
        return NOTHING
    words = f"Bounds are {min(ratios):,.1f} to {max(ratios):,.0f} times the true gaps of runs that came to their end"
    broken = sum(ratio < 1 for ratio in ratios)
    own = "The exact machine is itself within 0.1 % of the minimum, so that a run may be below it."
    return f"{words}; {broken} of {len(ratios)} are broken. {own}\n\n{table(*rows)}"


def settings(runs: list[Run]) -> str:
    rows: list[list[object]] = [["task", "γ", "C/n", "held out, % wrong", "taken"]]
    tried = [run for run in runs if run["method"] == "settings"]
    for run in tried:
        best = min((r for r in tried if r["task"] == run["task"]), key=lambda r: r["held_out"])
        cells = [run["task"], f"{run['gamma']:.4g}", run["price"], f"{100 * run['held_out']:.2f}"]
        rows.append([*cells, "yes" if run is best else ""])
    return table(*rows)


def sizes_table(runs: list[Run]) -> str:
    """Everything behind Tables 6.2 to 6.4."""
    rows: list[list[object]] = [
        ["task", "method", "size", "γ", "test accuracy", "above the minimum, %", "iterations", "s", "MB"]
    ]
    for task in TASKS:
        for method in METHODS:
            for size in SIZES:
                run, exact = chosen(runs, task, method, size), exact_of(runs, task)
                if run is None or exact is None:
                    continue
                own = run["gamma"] == exact["gamma"]
                above = f"{100 * (run['objective'] / exact['objective'] - 1):.1f}" if own else ""
                cells = [task, method, size, f"{run['gamma']:.4g}", f"{accuracy(run):.2f}", above, run["iterations"]]
                rows.append([*cells, f"{run['seconds']:.1f}", f"{run['megabytes']:.0f}"])
    return table(*rows)


def _saved(figure: Any, folder: Path, name: str) -> str:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
    return f"![{name.replace('_', ' ')}]({name}.svg)"


def accuracy_by_size(runs: list[Run], folder: Path) -> str:
    """Figure 6.7: the accuracy that is lost against the exact machine."""
    found = [task for task in TASKS if exact_of(runs, task) and chosen(runs, task, "NYSTROM", SIZES[0])]
    if not found:
        return NOTHING
    figure, panels = plt.subplots(1, len(found), figsize=(2.6 * len(found), 3), layout="constrained", squeeze=False)
    for axes, task in zip(panels[0], found, strict=True):
        exact = exact_of(runs, task)
        assert exact is not None
        for method in METHODS:
            tried = [run for size in SIZES if (run := chosen(runs, task, method, size)) is not None]
            lost = [accuracy(exact) - accuracy(run) for run in tried]
            axes.plot([run["size"] for run in tried], lost, color=COLOURS[method], marker="o", ms=3, label=method)
        axes.axhline(0.5, color="#bbbbbb", lw=0.8, ls="--")
        axes.set(title=task, xscale="log", xlabel="basis vectors")
        axes.set_yscale("symlog", linthresh=0.5)
        axes.set_ylim(bottom=-0.5)
    panels[0, 0].set(ylabel="points below exact")
    panels[0, 0].legend(frameon=False, fontsize=8)
    words = "Points of test accuracy below the exact machine; the dashed line is the half point of Table 6.3."
    return f"{_saved(figure, folder, 'kernel_svm_sizes')}\n\n{words}"


def growth(runs: list[Run], folder: Path) -> str:
    """Figures 6.2 to 6.4: seconds and errors by n."""
    figure, panels = plt.subplots(1, 4, figsize=(13, 3), layout="constrained")
    for (times, errors), name in zip(panels.reshape(2, 2), ("checkerboard", "Covertype"), strict=True):
        for method, colour in GROWING.items():
            mine = [run for run in runs if run["task"].startswith(name) and run["method"] == method and "train" in run]
            by_n = {int(run["task"].split()[1]): run for run in reversed(mine) if run["price"] == 1.0}
            if len(by_n) < 2:
                plt.close(figure)
                return NOTHING
            line = {"color": colour, "marker": "o", "ms": 3}
            ns = sorted(by_n)
            times.plot(ns, [by_n[n]["seconds"] for n in ns], label=method, **line)
            errors.plot(ns, [100 * by_n[n]["train"] for n in ns], label=f"{method}, training", ls="--", **line)
            errors.plot(ns, [100 - accuracy(by_n[n]) for n in ns], label=f"{method}, test", **line)
        times.set(title=name, xscale="log", yscale="log", xlabel="n", ylabel="s")
        errors.set(title=name, xscale="log", xlabel="n", ylabel="error, %")
        times.legend(frameon=False, fontsize=8)
        errors.legend(frameon=False, fontsize=7)
    return _saved(figure, folder, "kernel_svm_growth")


def sample_sizes(runs: list[Run], folder: Path) -> str:
    """Figures 6.5 and 6.6: cuts, seconds and errors by the rows of a cut."""
    mine = [run for run in runs if run["task"] == "Adult 5000" and run["method"].startswith("sampled")]
    if not mine:
        return NOTHING
    figure, panels = plt.subplots(1, 3, figsize=(11, 3), layout="constrained")
    shades = mpl.colormaps["viridis"]
    values: dict[str, Callable[[Run], float]] = {
        "cuts": lambda run: run["iterations"],
        "s": lambda run: run["seconds"],
        "test error, %": lambda run: 100 - accuracy(run),
    }
    for axes, (what, value) in zip(panels, values.items(), strict=True):
        for i, price in enumerate(sorted({run["price"] for run in mine})):
            row = {int(run["method"].split()[1]): value(run) for run in mine if run["price"] == price}
            ks = sorted(row)
            axes.plot(ks, [row[k] for k in ks], color=shades(i / 5), marker="o", ms=3, label=f"C/n = {price:g}")
        axes.set(xscale="log", xlabel="rows of a cut", ylabel=what)
        if what != "test error, %":
            axes.set(yscale="log")
    panels[2].legend(frameon=False, fontsize=8)
    capped = sum(not run["converged"] for run in mine)
    return f"{_saved(figure, folder, 'kernel_svm_samples')}\n\n{capped} of {len(mine)} runs made the most cuts, 1,000."


def page(work: Path, folder: Path, protocol: str, begin: float) -> None:
    mpl.rcParams["svg.hashsalt"] = "kernel_svm"
    folder.mkdir(parents=True, exist_ok=True)
    runs: list[Run] = []
    missing, seen = [], set()
    for job in jobs(work):
        if job in seen:
            continue
        seen.add(job)
        found = known(work, job)
        runs += found
        if not complete(work, job):
            missing.append(f"{job[0].replace('_', ' ')}: {job[1]}")
    sections = {
        "Is CPSP the sparsest?": claim(runs),
        "Table 6.2: accuracy with 1,000 basis vectors, %": accuracies(runs),
        "Table 6.3: basis vectors to within 0.5 % of exact": vectors(runs),
        "Table 6.4: seconds to the same accuracy": seconds(runs),
        "Figure 6.7: accuracy by basis vectors": accuracy_by_size(runs, folder),
        "Table 6.1: sampled cuts": table_1(runs),
        "Figures 6.2 to 6.4: growth with n": growth(runs, folder),
        "Figures 6.5 and 6.6: samples of many sizes": sample_sizes(runs, folder),
        "Objectives and theorems": objectives(runs),
        "All sizes": sizes_table(runs),
        "Settings": settings(runs),
    }
    if missing:
        command = "`python experiments/kernel_svm.py` goes on with these (some have smaller sizes already); how many:"
        sections["Not run yet"] = command + "\n\n" + "\n".join(f"- {job}, {n}" for job, n in Counter(missing).items())
    publish(folder, "kernel_svm", protocol, sections, [run | {"wrong": None} for run in runs], begin)
