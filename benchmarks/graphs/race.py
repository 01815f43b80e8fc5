"""All benchmarks of inference on graphs, as one page: `make bench-graphs`.

python benchmarks/graphs/race.py --output docs/graph_benchmarks.md [--remark "beside other work"]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SECTIONS = {
    "cuts.py": "Cuts and moves on grids",
    "referees.py": "Exact engines and their referees",
    "uai_map.py": "Best labels of the UAI-2014 instances",
    "uai_sums.py": "log Z and marginals of the UAI-2014 instances",
    "junction_trees.py": "Growth of junction trees",
    "large_grid.py": "A grid of a million variables",
    "likelihoods.py": "Likelihoods of grids",
}
INTRODUCTION = """# Benchmarks of inference on graphs

Made by `make bench-graphs`, which has an environment of its own for the rivals. One thread each. {remark}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--remark", default="", help="what a reader should know of this run, such as other load")
    options = parser.parse_args()
    parts = [INTRODUCTION.format(remark=options.remark).rstrip()]
    for script, title in SECTIONS.items():
        print(title, file=sys.stderr, flush=True)
        command = [sys.executable, str(HERE / script)]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        parts.append(f"## {title}\n\n`python benchmarks/graphs/{script}`\n\n{printed.strip()}")
    options.output.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
