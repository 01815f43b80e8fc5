"""Preparing and training on a corpus larger than memory, beside CRFsuite: the numbers of docs/decisions/shards.md.

    python benchmarks/large_corpora.py [--tokens 20000000] [--min-count 100 | --n-hashed N] [--max-memory 700MB]
                                       [--limit 1.5e9] [--tol 0.03] [--learner svm] [--n-jobs 1] [--only STEP]
                                       [--folder FOLDER]

Sentences come from ``noisy_sentences.py``. ``structlearn prepare`` and ``structlearn train`` run in processes of their
own that may not have more than `limit` bytes of writable memory (RLIMIT_DATA); their peak of anonymous memory is read
every 50 ms. CRFsuite, eight iterations of L-BFGS, after which its memory no longer grows, gets the features of a tenth
of the sentences and leaves out those of fewer than ten tokens. Every step is kept as JSON beside the corpus, and not
run again. Linux only, python-crfsuite for the last step.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import noisy_sentences
from measure import SCRATCH

MB = 1e6


def measured(command: list[str], limit: float | None) -> dict[str, Any]:
    """Seconds of CPU and of the clock, and the peak of anonymous memory of a command that may have so many bytes."""

    def bounded() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))

    begin = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.Popen(command, preexec_fn=bounded, stdout=subprocess.PIPE, text=True)
    peak = 0
    while run.poll() is None:
        try:
            status = Path(f"/proc/{run.pid}/status").read_text()
        except OSError:
            break
        peak = max(peak, *(1024 * int(kb) for kb in re.findall(r"RssAnon:\s+(\d+)", status)), 0)
        time.sleep(0.05)
    output, _ = run.communicate()
    if run.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {run.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    facts = json.loads(output) if output.startswith("{") else {}
    return {"command": command, "seconds": time.monotonic() - begin, "cpu": cpu, "peak": peak, "facts": facts}


def crfsuite(path: str, n_tokens: int) -> None:
    """Trains CRFsuite, in this process, on the first sentences of a file with the features that ours get."""
    import pycrfsuite

    from structlearn.features import TextFeatures
    from structlearn.io.columns import Columns
    from structlearn.io.formats import read_examples

    _, examples = read_examples(path, format=Columns(("word", "pos")))
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"max_iterations": 8, "feature.minfreq": 10})
    while n_tokens > 0 and (chunk := list(islice(examples, 2000))):
        words = TextFeatures(columns=("word", "pos"))
        rows = words.fit_transform([example.x for example in chunk])
        names = words.get_feature_names_out()
        for example, row in zip(chunk, rows, strict=True):
            bounds = zip(row.indptr[:-1], row.indptr[1:], strict=True)
            trainer.append([names[row.indices[begin:end]].tolist() for begin, end in bounds], example.y)
            n_tokens -= len(example.y)
    trainer.train(f"{path}.crfsuite")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=20_000_000)
    parser.add_argument("--min-count", type=int, default=100)
    parser.add_argument("--n-hashed", type=int)
    parser.add_argument("--max-memory", default="700MB")
    parser.add_argument("--limit", type=float, default=1.5e9)
    parser.add_argument("--tol", type=float, default=0.03)
    parser.add_argument("--learner", default="svm")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="Where all is kept; by default beside other benchmarks.")
    parser.add_argument("--only", choices=("prepare", "train", "crfsuite"))
    parser.add_argument("--crfsuite", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.crfsuite:
        return crfsuite(given.crfsuite[0], int(given.crfsuite[1]))
    folder = given.folder or SCRATCH / f"large-{given.tokens}"
    folder.mkdir(parents=True, exist_ok=True)
    text, corpus = folder / "sentences.txt", folder / "corpus"
    if not text.exists():
        noisy_sentences.write(folder / "being_written", given.tokens, seed=0)
        (folder / "being_written").rename(text)
    features = ["--n-hashed", str(given.n_hashed)] if given.n_hashed else ["--min-count", str(given.min_count)]
    ours = [sys.executable, "-m", "structlearn"]
    asked = ["--columns", "word,pos,chunk", *features, "--json"]
    bounds = ["--max-memory", given.max_memory, "--tol", str(given.tol), "--learner", given.learner]
    bounds += ["--n-jobs", str(given.n_jobs), "--json"]
    steps: dict[str, Callable[[], dict[str, Any]]] = {
        "prepare": lambda: measured([*ours, "prepare", str(text), "-o", str(corpus), *asked], given.limit),
        "train": lambda: measured([*ours, "train", str(corpus), "-o", str(folder / "model.slm"), *bounds], given.limit),
        "crfsuite": lambda: measured(
            [sys.executable, __file__, "--crfsuite", str(text), str(given.tokens // 10)], None
        ),
    }
    for name, step in steps.items():
        kept = folder / f"{name}.json"
        if given.only not in (None, name):
            continue
        if not kept.exists():
            if name == "prepare":
                shutil.rmtree(corpus, ignore_errors=True)
            kept.write_text(json.dumps(step(), indent=1))
        run = json.loads(kept.read_text())
        n_tokens = given.tokens // 10 if name == "crfsuite" else given.tokens
        speed = f"{n_tokens / run['cpu']:,.0f} tokens a CPU second"
        print(f"{name}: {n_tokens:,} tokens, {run['peak'] / MB:,.0f} MB anonymous, {run['cpu']:.0f} s CPU, {speed}")
        print(f"   {run['facts']}")


if __name__ == "__main__":
    main()
