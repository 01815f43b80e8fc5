"""Two checkouts of the library in one run: is the second as fast, as small, and does it find the same?

    python benchmarks/before_and_after.py BEFORE AFTER [--pairs 7] [--only letters --only parsing]

Both are folders with ``src/structlearn`` and the compiled module in it. Every measurement is a fresh process with one
thread; those of a pair follow each other, and pairs take turns in who goes first. Printed are medians of processor time
and of peak memory with the median, smallest and largest ratio of the pairs, and what was found (see `verdict`). Exit
code 1 if objectives disagree or more than 0.1 % of the predictions differ.

Sums in another order change the last digits, and solvers then go another way. What that does by itself shows a run of
one checkout against itself with ``--rounding``, which makes the C of the second larger by 1e-12 of itself: convex
problems still agree, but equally good trees and alignments and the local minima of latent variables need not. ``same
w`` has the predictions of both with the weights of BEFORE, where nothing but the decoder counts.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
import sys
from pathlib import Path

from measure import HERE, SCRATCH, Run, in_fresh_process

#: Which part of the predictions may differ.
BAR = 1e-3
COLUMNS = ("task", "CPU s", "ratio", "peak MB", "ratio", "objective", "agree", "differ, own w", "differ, same w")


def task_names() -> list[str]:
    # Read, not imported: the library in this process would count in the peak memory of all that it starts.
    return re.findall(r'^    "([a-z0-9-]+)": ', (HERE / "short_tasks.py").read_text(), re.MULTILINE)


def measured(checkout: Path, task: str, keep: bool, nudge: float) -> Run:
    source = checkout.resolve() / "src"
    weights = str(SCRATCH / f"{task}.npy")
    run = in_fresh_process("short_tasks:run", str(source), task=task, weights=weights, keep=keep, nudge=nudge)
    if not Path(run["library"]).is_relative_to(source):
        raise RuntimeError(f"{checkout} has no library of its own: {run['library']} was imported")
    return run


def pairs(before: Path, after: Path, task: str, n: int, nudge: float) -> list[tuple[Run, Run]]:
    found = []
    for turn in range(n):
        # The weights that both predict with are those of the very first run.
        if turn % 2:
            second = measured(after, task, False, nudge)
            first = measured(before, task, False, 0.0)
        else:
            first = measured(before, task, turn == 0, 0.0)
            second = measured(after, task, False, nudge)
        found.append((first, second))
        print(f"  {task}: {first['seconds']:.3f} s, {second['seconds']:.3f} s", file=sys.stderr, flush=True)
    return found


def compared(found: list[tuple[Run, Run]], what: str, digits: int) -> list[str]:
    old, new = (statistics.median(run[what] for run in side) for side in zip(*found, strict=True))
    ratios = [second[what] / first[what] for first, second in found]
    return [
        f"{old:.{digits}f} → {new:.{digits}f}",
        f"{statistics.median(ratios):.3f} ({min(ratios):.3f}–{max(ratios):.3f})",
    ]


def lower_bound(run: Run) -> float:
    """The dual; nobody has one of a latent objective, which is to agree up to the stationarity that it has reached."""
    return float(run["dual"] if not math.isnan(run["dual"]) else run["primal"] * (1.0 - run["stationarity"]))


def agree(first: Run, second: Run) -> bool:
    """Whether the same minimum may lie between the bounds of both, up to rounding."""
    if math.isnan(first["primal"]) and math.isnan(second["primal"]):
        return True
    slack = 1e-9 * abs(first["primal"])
    return lower_bound(first) <= second["primal"] + slack and lower_bound(second) <= first["primal"] + slack


def differing(first: Run, second: Run, whose: str) -> float:
    """Which part of the parts of predictions one of the two has and the other has not."""
    a, b = set(first[whose]), set(second[whose])
    return 1.0 - len(a & b) / max(len(a), len(b), 1)


def verdict(found: list[tuple[Run, Run]]) -> tuple[bool, list[str]]:
    """The worst of all pairs: certified bounds of the objective, and shares of differing predictions."""
    first, second = next((pair for pair in found if not agree(*pair)), found[0])
    shares = [max(differing(*pair, whose) for pair in found) for whose in ("own", "same")]
    agreed = agree(first, second)
    bounds = [f"[{lower_bound(run):.6g}, {run['primal']:.6g}]" for run in (first, second)]
    objective = "" if math.isnan(first["primal"]) else bounds[0] if bounds[0] == bounds[1] else " → ".join(bounds)
    cells = [objective, "yes" if agreed else "NO"]
    cells += [f"{share:.3%} of {len(first['own'])}" for share in shares]
    return agreed and max(shares) <= BAR, cells


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a folder with src/structlearn")
    parser.add_argument("after", type=Path, help="another one, or the same")
    parser.add_argument("--pairs", type=int, default=7, help="how many pairs of runs a task gets")
    parser.add_argument("--only", action="append", choices=task_names(), help="this task only; may be repeated")
    parser.add_argument("--rounding", action="store_true", help="change the last digits of C in AFTER")
    options = parser.parse_args()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    failed = []
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    for task in options.only or task_names():
        found = pairs(options.before, options.after, task, options.pairs, 1e-12 if options.rounding else 0.0)
        same, cells = verdict(found)
        row = [task, *compared(found, "seconds", 2), *compared(found, "peak_mb", 0), *cells]
        print(f"| {' | '.join(row)} |", flush=True)
        failed += [] if same else [task]
    print(f"\nFound something else: {', '.join(failed)}." if failed else "\nThe same was found everywhere.")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
