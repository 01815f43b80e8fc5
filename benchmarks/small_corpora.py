"""The command line on small corpora, from a column file to a saved model, against CRFsuite's passive-aggressive one.

``python benchmarks/small_corpora.py`` prints a table; ``--only`` and ``--sentences`` choose from it. Each run is a
fresh process with one thread, the two take turns, and imports, reading and features count. Scores are of held-out
sentences that belong to no training or test part.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measure import HERE, ONE_THREAD, SCRATCH, Run

from structlearn.datasets import fetch_conll2002
from structlearn.io.conllu import ConllU
from structlearn.io.formats import read_examples
from structlearn.metrics import span_scores, token_accuracy

#: A sentence as lines of columns, the label last.
Sentences = list[list[tuple[str, ...]]]
SIZES = (200, 1000, 2000)
#: What CPU time may be at each size: a part of CRFsuite's, or so many seconds more.
MOST_RATIO = 1.0
MOST_MORE = 0.5


def entities(subset: str) -> Sentences:
    read = fetch_conll2002({"train": "train", "held-out": "testa"}[subset])  # type: ignore[arg-type]
    return [[(*token, label) for token, label in zip(x, y, strict=True)] for x, y in zip(read.X, read.Y, strict=True)]


def parts_of_speech(label: str) -> Callable[[str], Sentences]:
    def read(subset: str) -> Sentences:
        part = {"train": "train", "held-out": "dev"}[subset]
        file = Path(os.environ["STRUCTLEARN_DATA"]) / "ud_english_ewt" / f"en_ewt-ud-{part}.conllu.gz"
        _, examples = read_examples(file, format=ConllU(label))  # type: ignore[arg-type]
        return [list(zip(each.x, each.y, strict=True)) for each in examples]

    return read


TASKS: dict[str, Callable[[str], Sentences]] = {
    "entities (CoNLL-2002)": entities,
    "UPOS (UD English)": parts_of_speech("upos"),
    "XPOS (UD English)": parts_of_speech("xpos"),
}


def write(sentences: Sentences, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\n".join(map("\t".join, sentence)) + "\n\n" for sentence in sentences))
    return path


#: Whoever installs the library has its modules compiled.
ENVIRONMENT = ONE_THREAD | {"PYTHONDONTWRITEBYTECODE": ""}

#: Runs a command and says what it used; small itself, since a new process begins with the peak of the one before it.
LAUNCHER = """
import json, os, subprocess, sys, time
begin = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
wall = time.perf_counter() - begin
print(json.dumps({"status": status, "seconds": used.ru_utime + used.ru_stime, "wall": wall, "peak": used.ru_maxrss}))
"""


def timed(*command: str | Path) -> Run:
    """CPU seconds, wall seconds and peak memory of a command in a process of its own."""
    launched = [sys.executable, "-S", "-c", LAUNCHER, *command]
    done = subprocess.run(launched, env=os.environ | ENVIRONMENT, check=True, capture_output=True, text=True)
    used: Run = json.loads(done.stdout)
    if used.pop("status"):
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return used | {"peak_mb": used["peak"] / 1024}


def score(task: str, Y: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """F1 of entities in percent, accuracy of parts of speech."""
    if task.startswith("entities"):
        return 100 * span_scores(Y, predicted, "conlleval").f1
    return 100 * token_accuracy(Y, predicted)


def predictions(*command: str | Path) -> list[list[str]]:
    """The last column of what a command writes, by sentence."""
    text = subprocess.run(command, env=os.environ | ENVIRONMENT, check=True, capture_output=True, text=True).stdout
    return [[line.rpartition("\t")[2] for line in sentence.split("\n")] for sentence in text.strip("\n").split("\n\n")]


def compare(task: str, n: int, pairs: int, library: Sequence[str] = ()) -> dict[str, Any]:
    folder = SCRATCH / "small_corpora"
    train = write(TASKS[task]("train")[:n], folder / "train.txt")
    held_out = TASKS[task]("held-out")
    test = write(held_out, folder / "held_out.txt")
    unlabelled = write([[token[:-1] for token in sentence] for sentence in held_out], folder / "unlabelled.txt")
    Y = [[token[-1] for token in sentence] for sentence in held_out]
    ours, theirs = folder / "ours.slm", folder / "theirs.crfsuite"
    rival = HERE / "crfsuite_columns.py"
    command = [sys.executable, "-m", "structlearn"]
    runs: dict[str, list[Run]] = {"ours": [], "theirs": []}
    for _ in range(pairs):
        runs["ours"].append(timed(*command, "train", train, "-o", ours, "--quiet", *library))
        runs["theirs"].append(timed(sys.executable, rival, "train", train, theirs))
    found: dict[str, Any] = {
        f"{side} {what}": statistics.median(run[what] for run in some)
        for side, some in runs.items()
        for what in ("seconds", "wall", "peak_mb")
    }
    both = zip(runs["ours"], runs["theirs"], strict=True)
    found["ratio"] = statistics.median(a["seconds"] / b["seconds"] for a, b in both)
    found["ours score"] = score(task, Y, predictions(*command, "predict", ours, unlabelled))
    found["theirs score"] = score(task, Y, predictions(sys.executable, rival, "tag", test, theirs))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=TASKS)
    parser.add_argument("--sentences", type=int, nargs="+", default=SIZES)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--options", default="", help="of our command, as one text, such as '--tol 0.01'")
    options = parser.parse_args()
    print("task, sentences | CPU s ours, theirs, ratio | wall s | peak MB | score ours, theirs | met")
    for task in options.only or TASKS:
        for n in options.sentences:
            found = compare(task, n, options.pairs, options.options.split())
            more = found["ours seconds"] - found["theirs seconds"]
            fast = more <= MOST_MORE if n < 1000 else found["ratio"] <= MOST_RATIO
            good = found["ours score"] >= found["theirs score"]
            print(
                f"{task}, {n} | {found['ours seconds']:.2f}, {found['theirs seconds']:.2f}, {found['ratio']:.2f} | "
                f"{found['ours wall']:.2f}, {found['theirs wall']:.2f} | "
                f"{found['ours peak_mb']:.0f}, {found['theirs peak_mb']:.0f} | "
                f"{found['ours score']:.2f}, {found['theirs score']:.2f} | {'yes' if fast and good else 'no'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
