"""The page of the experiment on vector-valued prediction: tables of its runs, and sentences computed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from label_sets_page import Judged, points
from report import Run, table, verdict
from vector_valued_sets import (
    COVARIANCE,
    IDENTITY,
    INDEPENDENT,
    KERNEL_SVM,
    LEARNT,
    SETS_KERNEL,
    SVM,
    THRESHOLD,
    THRESHOLDS,
    VECTOR_SVM,
)

from structlearn.metrics import Interval
from structlearn.metrics.resampled import ResampledSums

Place = tuple[str, int]  # data and training size
Choices = Mapping[tuple[str, str], list[Run]]  # by data and learner
MARKS = {"open": "", "better": " **+**", "worse": " **−**"}
#: Beside the differences to the structural SVM.
AMONG = ((COVARIANCE, IDENTITY), (LEARNT, IDENTITY), (THRESHOLD, IDENTITY), (SETS_KERNEL, IDENTITY))
SEPARATE = (IDENTITY, COVARIANCE, LEARNT, SETS_KERNEL, VECTOR_SVM)


NAMES = ("wrong labels", "right as a whole")
JOINT = "joint"
SAME = """\
Points of each separate learner minus the joint kernel: that of the structural SVM, whose k is linear, or of the kernel
structural SVM, whichever had fewer wrong labels on held-out training data. Onto sets of labels, the vector-valued SVM
with A = I is the kernel structural SVM without pairs of labels and intercepts: the difference of the two is what these
are worth, not what a joint kernel is worth. The kernel of sets sees pairs as well."""


@dataclass(frozen=True)
class Scored:
    """Judged test examples, and the runs they are from; the resamples are the same for all learners."""

    judged: Judged
    runs: list[Run]

    @classmethod
    def of(cls, its: Any, data: str, runs: list[Run], truth: Any) -> Scored:
        each = [its.judged(data, truth, run["predicted"]) for run in runs]
        return cls(Judged(sum(one.counts for one in each), each[0].formulas), runs)

    @cached_property
    def sums(self) -> ResampledSums:
        return ResampledSums(sp.csr_array(self.judged.counts), random_state=0)

    def interval(self, measure: str) -> Interval:
        return self.sums.interval(self.judged.formulas[measure])

    def minus(self, other: Scored, measure: str) -> Interval:
        formulas = self.judged.formulas[measure], other.judged.formulas[measure]
        drawn = formulas[0](self.sums.resampled) - formulas[1](other.sums.resampled)
        low, high = np.percentile(drawn, (2.5, 97.5))
        middle = formulas[0](self.sums.total[None]) - formulas[1](other.sums.total[None])
        return Interval(float(middle[0]), float(low), float(high))


Found = dict[Place, dict[str, Scored]]


def sections(
    places: Sequence[Place],
    choices: Choices,
    tests: Mapping[tuple[str, int, str], list[Run]],
    missing: list[tuple[str, int, str]],
    task: Callable[[str], Any],
    best: Callable[[list[Run]], list[Any]],
) -> dict[str, str]:
    found: Found = {}
    text: dict[str, str] = {}
    for data, size in places:
        its, truth = task(data), task(data).truth(data)
        ran = {name: tests[data, size, name] for name in its.grids(data) if (data, size, name) in tests}
        if ran:
            found[data, size] = {name: Scored.of(its, data, runs, truth) for name, runs in ran.items()}
            text[heading(data, size)] = results(found[data, size], its.MEASURES)
    text["Separate kernels or a joint one"] = answer(found, choices, task)
    if missing:
        text["Not run"] = not_run(missing)
    text["Settings"] = "\n\n".join([settings(choices, best), *lowest_thresholds(tests)])
    text["Time"] = (
        f"Fits and predictions took {minutes(choices)} processor minutes for settings, {minutes(tests)} for tests."
    )
    return {"What was found": summary(found, task), **text}


def heading(data: str, size: int) -> str:
    return f"{data}, {size} sentences" if size else data


def results(scored: dict[str, Scored], measures: Mapping[str, int]) -> str:
    rows: list[list[object]] = [["learner", *measures, "setting", "λ or gap", "s", "MB"]]
    for name, each in scored.items():
        cells = [said(each.interval(measure)) for measure in measures]
        seconds, most = np.mean([run["seconds"] for run in each.runs]), max(run["MB"] for run in each.runs)
        rows.append([name, *cells, shown(each.runs[0]), certified(each.runs), f"{seconds:.1f}", f"{most:.0f}"])
    pairs = [(name, SVM) for name in scored if name not in (SVM, INDEPENDENT)]
    pairs = [pair for pair in (*pairs, *AMONG) if all(name in scored for name in pair)]
    apart: list[list[object]] = [["difference in points", *measures]]
    for first, second in pairs:
        cells = [marked(scored[first].minus(scored[second], m), sign) for m, sign in measures.items()]
        apart.append([f"{first} − {second}", *cells])
    if not pairs:
        return table(*rows)
    head = (
        "All in percent. Differences: + where the first is better and the interval leaves out 0, − where it is worse."
    )
    return "\n\n".join([table(*rows), head, table(*apart)])


def said(interval: Interval) -> str:
    return f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def marked(interval: Interval, sign: int) -> str:
    return points(interval) + MARKS[verdict(interval, sign > 0)]


def shown(run: Run) -> str:
    setting = [f"{part:g}" if isinstance(part, float) else str(part) for part in run["setting"]]
    return ", ".join(setting + ([f"t = {run['threshold']:g}"] if run.get("threshold") else []))


def certified(runs: list[Run]) -> str:
    """λ of ridge regression, the largest relative gap of others; the first of the draws."""
    if runs[0]["lam"] is not None:
        return f"λ {runs[0]['lam']:.1e}"
    gaps = [run["duality_gap"] for run in runs if run["duality_gap"] is not None and np.isfinite(run["duality_gap"])]
    return f"gap {max(gaps):.3f}" if gaps else ""


def measures_of(its: Any) -> list[tuple[str, int]]:
    """Wrong labels and outputs that are right as a whole, with the sign of what is better."""
    return list(its.MEASURES.items())[:2]


def summary(found: Found, task: Callable[[str], Any]) -> str:
    """Who is first where, and how often one learner beats another."""
    firsts: dict[str, list[str]] = {name: [] for name in NAMES}
    for (data, size), scored in found.items():
        for name, (measure, sign) in zip(NAMES, measures_of(task(data)), strict=True):
            score = {learner: each.interval(measure).estimate for learner, each in scored.items()}
            first = max(score, key=lambda learner: sign * score[learner])
            firsts[name].append(f"{heading(data, size)} {first} ({score[first]:.2f})")
    lines = [f"- The best by {name}, in percent: {'; '.join(those)}." for name, those in firsts.items()]
    pairs = [*((name, SVM) for name in (*SEPARATE, KERNEL_SVM)), *AMONG]
    rows: list[list[object]] = [["", *NAMES]]
    rows += [[f"{a} − {b}", *tallies(found, task, a, b)] for a, b in pairs]
    head = "How often the first is better, worse, or neither by the interval of the difference:"
    return "\n\n".join(["\n".join(lines), head, table(*rows)])


def tallies(found: Found, task: Callable[[str], Any], first: str, second: str) -> list[str]:
    cells = []
    for k in range(len(NAMES)):
        count: Counter[str] = Counter()
        for (data, _), scored in found.items():
            if first in scored and second in scored:
                measure, sign = measures_of(task(data))[k]
                count[verdict(scored[first].minus(scored[second], measure), sign > 0)] += 1
        cells.append(f"{count['better']} better, {count['worse']} worse, {count['open']} open")
    return cells


def answer(found: Found, choices: Choices, task: Callable[[str], Any]) -> str:
    """Each separate learner minus the joint kernel."""
    rows: list[list[object]] = [["data", "separate", "joint", *NAMES]]
    against: Found = {}
    for (data, size), scored in found.items():
        joint = min(
            (name for name in (SVM, KERNEL_SVM) if name in scored),
            key=lambda name: least_loss(choices[data, name]),
            default=None,
        )
        if joint is None:
            continue
        against[data, size] = {**scored, JOINT: scored[joint]}
        for separate in (name for name in SEPARATE if name in scored):
            gaps = [(scored[separate].minus(scored[joint], m), sign) for m, sign in measures_of(task(data))]
            rows.append([heading(data, size), separate, joint, *(marked(*gap) for gap in gaps)])
    total: list[list[object]] = [["separate against joint", *NAMES]]
    total += [[name, *tallies(against, task, name, JOINT)] for name in SEPARATE]
    return "\n\n".join([SAME, table(*rows), table(*total), *seconds_of_both(found)])


def least_loss(runs: list[Run]) -> float:
    """The mean over seeds of the best setting on held-out training data; a single setting has none."""
    losses: dict[str, list[float]] = {}
    for run in runs:
        losses.setdefault(str(run["setting"]), []).append(0.0 if run["loss"] is None else run["loss"])
    return min(float(np.mean(those)) for those in losses.values())


def seconds_of_both(found: Found) -> Iterable[str]:
    """How long the learners that have a kernel take for the same data."""
    ratios = {
        name: [
            np.mean([run["seconds"] for run in scored[name].runs])
            / np.mean([run["seconds"] for run in scored[KERNEL_SVM].runs])
            for scored in found.values()
            if name in scored and KERNEL_SVM in scored
        ]
        for name in SEPARATE
    }
    parts = [
        f"{name} {np.median(some):.2f} ({min(some):.2f} to {max(some):.2f})" for name, some in ratios.items() if some
    ]
    yield (
        "Processor time as a multiple of that of the kernel structural SVM, median and range: " + "; ".join(parts) + "."
    )


def not_run(missing: list[tuple[str, int, str]]) -> str:
    by: dict[str, list[str]] = {}
    for data, size, name in missing:
        by.setdefault(heading(data, size), []).append(name)
    head = "The time for this run was over; the command below without `--finished` runs them."
    return "\n".join([head, "", *(f"- {place}: {'; '.join(names)}" for place, names in by.items())])


def lowest_thresholds(tests: Mapping[tuple[str, int, str], list[Run]]) -> Iterable[str]:
    low = [data for (data, _, _), runs in tests.items() if runs[0].get("threshold") == THRESHOLDS[0]]
    if low:
        yield f"The lowest threshold that was tried was taken, and a lower one may be better, on {', '.join(low)}."


def minutes(runs: Mapping[Any, list[Run]]) -> int:
    every = [run for those in runs.values() for run in those if "seconds" in run]
    return round(float(sum(run["seconds"] + run["predicting"] for run in every)) / 60)


def settings(choices: Choices, best: Callable[[list[Run]], list[Any]]) -> str:
    rows: list[list[object]] = [["data", "learner", "settings, with their wrong labels on held-out training data, %"]]
    for (data, name), runs in choices.items():
        losses: dict[str, list[float]] = {}
        for run in runs:
            if run["loss"] is not None:
                losses.setdefault(shown(run), []).append(run["loss"])
        taken = shown({"setting": best(runs)})
        cells = [f"{setting}: {100 * np.mean(loss):.2f}" for setting, loss in losses.items()]
        cells = [f"**{cell}**" if cell.startswith(f"{taken}: ") else cell for cell in cells]
        if cells:
            rows.append([data, name, "; ".join(cells)])
    return table(*rows)
