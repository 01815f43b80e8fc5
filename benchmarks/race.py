"""Races the library against its rivals: `make bench`, and `make bench-smoke` for the one-minute version.

Exit code 1 if a check fails or, in the short version, if a ratio of times is more than twice the recorded one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import measure
from measure import HERE, ONE_THREAD, SCRATCH, Report
from races import chunking, page

TASKS = ("chunking", "letters", "likelihood", "prediction", "multiclass", "coreference", "motifs", "scaling")
#: Tasks whose data come with the libraries, or are made.
WITHOUT_FILES = ("multiclass", "motifs")
BASELINE = HERE / "races" / "baseline.json"
#: A ratio may grow by this factor before the short version fails.
TOLERATED = 2.0


def main() -> int:
    options = _options()
    os.environ.update(ONE_THREAD)
    if options.repeats:
        measure.MOST_REPEATS = options.repeats
    if options.choose:
        print(chunking.choose())
        return 0
    begin = time.perf_counter()
    report = _run(options)
    result = _result(report, time.perf_counter() - begin, options)
    print(page.table(result["rows"]))
    for label, value in report.facts:
        print(f"{label}: {value}")
    if options.record:
        BASELINE.write_text(json.dumps({row.key: round(row.ratio, 4) for row in report.rows}, indent=1) + "\n")
    elif options.smoke and _regressions([report]):
        # A machine that was busy for a moment slows one side only; a real regression shows twice.
        print("slower than recorded; once more", file=sys.stderr)
        report.failures += _regressions([report, _run(options)])
    if options.output:
        page.write(_merged(result, options), options.output)
    for failure in report.failures:
        print(f"FAILED {failure}", file=sys.stderr)
    print(f"{time.perf_counter() - begin:.0f} s", file=sys.stderr)
    return int(bool(report.failures))


def _run(options: argparse.Namespace) -> Report:
    report = Report()
    for name in options.only or TASKS:
        print(name, file=sys.stderr, flush=True)
        if not os.environ.get("STRUCTLEARN_DATA") and name not in WITHOUT_FILES:
            print("  left out: STRUCTLEARN_DATA is not set", file=sys.stderr)
            continue
        _extend(report, importlib.import_module(f"races.{name}").run(options.smoke))
    return report


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=TASKS, help="run this task only; may be repeated")
    parser.add_argument("--smoke", action="store_true", help="the one-minute version with its checks")
    parser.add_argument("--record", action="store_true", help="with --smoke: make these ratios the recorded ones")
    parser.add_argument("--choose", action="store_true", help="choose C and tol for chunking on held-out sentences")
    parser.add_argument("--repeats", type=int, help="run every competitor at most so often; the page says so")
    parser.add_argument("--remark", help="what a reader of the page should know of this run, such as other load")
    parser.add_argument("--output", type=Path, help="write benchmarks.md and benchmarks/ into this folder")
    return parser.parse_args()


def _extend(report: Report, more: Report) -> None:
    report.rows += more.rows
    report.facts += more.facts
    report.series |= more.series
    report.failures += more.failures


def _result(report: Report, seconds: float, options: argparse.Namespace) -> dict[str, Any]:
    return {
        "machine": page.machine(),
        "seconds": seconds,
        "preliminary": bool(options.only or options.repeats),
        "remark": options.remark,
        "missing": [name for name in TASKS if name not in (options.only or TASKS)],
        "rows": [row.record() for row in report.rows],
        "facts": report.facts,
        "series": report.series,
    }


def _merged(result: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """A run of some tasks replaces their lines in the last results and leaves the others."""
    last = options.output / "benchmarks" / "results.json"
    if not options.only or not last.exists():
        return result
    old = json.loads(last.read_text())
    old["rows"] = [row for row in old["rows"] if row["key"] not in {new["key"] for new in result["rows"]}] + result[
        "rows"
    ]
    old["preliminary"] = True
    old["missing"] = [name for name in old["missing"] if name in result["missing"]]
    old["facts"] = list({**dict(old["facts"]), **dict(result["facts"])}.items())
    old["series"] |= result["series"]
    return dict(old)


def _regressions(reports: list[Report]) -> list[str]:
    """What is slower than recorded in every one of the reports."""
    recorded = json.loads(BASELINE.read_text())
    best: dict[str, float] = {}
    for row in (row for report in reports for row in report.rows):
        best[row.key] = min(row.ratio, best.get(row.key, row.ratio))
    return [
        f"{key}: ratio {ratio:.3g} is more than {TOLERATED:g} times the recorded {recorded[key]:.3g}"
        for key, ratio in best.items()
        if ratio > TOLERATED * recorded[key]
    ]


if __name__ == "__main__":
    SCRATCH.mkdir(parents=True, exist_ok=True)
    sys.exit(main())
