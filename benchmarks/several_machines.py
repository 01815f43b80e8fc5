"""Training on several workers of Dask: random kills, and time, bytes and overhead against one process.

    python benchmarks/several_machines.py kills [--runs 20] [--sentences 400] [--seed 0] [--tol 0.01]
    python benchmarks/several_machines.py speed CORPUS [--workers 1 2] [--tol 0.01] [--rounds 3] [--learner svm]
    python benchmarks/several_machines.py small [--sentences 200]

`kills` trains on a corpus of shards with three workers; at a random moment, drawn from the time that the shortest run
so far took, a random worker process gets SIGKILL. Every run must end with a certified gap and the objective of one
process within the two gaps, and the violations of all examples, each counted once, must give that objective again.

`speed` trains on a folder that ``structlearn prepare`` wrote, in turns by one process and by workers with one thread,
each in a process of its own, and prints seconds to the tolerance, with the bytes that moved. For a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from structlearn import ConditionalRandomField, StructuralSVM, open_shards, write_shards
from structlearn.distributed import distribute, workers_here
from structlearn.features import TextFeatures
from structlearn.models import Chain


def corpus_of(folder: Path, n_sentences: int, seed: int) -> Any:
    """Shards of noisy sentences with hashed features."""
    from noisy_sentences import noisy_sentences

    sentences = []
    for sentence in noisy_sentences(10**9, seed):
        sentences.append(sentence)
        if len(sentences) == n_sentences:
            break
    features = TextFeatures(columns=("word", "pos"), n_hashed=2**14)
    X = [[(word, tag) for word, tag, _ in sentence] for sentence in sentences]
    Y = [[label for _, _, label in sentence] for sentence in sentences]
    features.fit(X)
    size = -(-n_sentences // 12)
    chunks = ((X[k : k + size], Y[k : k + size]) for k in range(0, n_sentences, size))
    return write_shards(chunks, folder, features=features)


def check(svm: Any, corpus: Any, expected: Any) -> list[str]:
    """What is wrong with a fit, in words."""
    wrong = []
    if not (svm.converged_ and svm.history_[-1]["certified"] and 0 <= svm.duality_gap_ <= svm.tol):
        wrong.append(f"gap {svm.duality_gap_}")
    bounds = [(1 - each.duality_gap_) * each.objective_ for each in (svm, expected)]
    if max(bounds) > min(svm.objective_, expected.objective_) * (1 + 1e-9):
        wrong.append(f"objective {svm.objective_}, of one process {expected.objective_}")
    if len(svm.slacks_) != corpus.n_examples:
        wrong.append(f"{len(svm.slacks_)} slacks of {corpus.n_examples} examples")
    # Priced anew in this process: a sentence that was lost or counted twice would show.
    problem = svm.model_.bind(svm.spec_, corpus.X, corpus.Y)
    objective = svm._objective(np.ones(corpus.n_examples), problem)
    violations = np.maximum(problem.violations(svm.w_, objective), 0.0)
    if not np.allclose(violations, svm.slacks_, rtol=1e-9, atol=1e-9):
        wrong.append(f"{int((np.abs(violations - svm.slacks_) > 1e-9).sum())} slacks differ")
    if not np.isclose(objective.primal(svm.w_, violations), svm.objective_, rtol=1e-9):
        wrong.append("the objective is not that of the examples")
    return wrong


def kills(n_runs: int, n_sentences: int, seed: int, tol: float) -> None:
    draw = random.Random(seed)
    folder = Path(tempfile.mkdtemp()) / "corpus"
    corpus = corpus_of(folder, n_sentences, seed)
    expected = StructuralSVM(Chain(), tol=tol).fit(corpus.X, corpus.Y)
    print(f"{corpus!r}; one process: objective {expected.objective_:.4f}, gap {expected.duality_gap_:.4f}", flush=True)
    took = 0.0
    failed = 0
    for run in range(n_runs + 1):
        with workers_here(3) as client:
            data = distribute(client, folder, n_parts=3)
            moment = None if run == 0 else draw.uniform(0.0, took)
            told: dict[str, Any] = {"victim": ""}
            if moment is not None:
                threading.Timer(moment, kill_one, (client, draw.random(), told)).start()
            begin = time.perf_counter()
            svm = StructuralSVM(Chain(), tol=tol).fit(data.X, data.Y)
            seconds = time.perf_counter() - begin
        took = seconds if run == 0 else min(took, seconds)
        wrong = check(svm, corpus, expected)
        failed += bool(wrong)
        lost = sum(record["lost_parts"] for record in svm.history_)
        at = "none" if moment is None else f"{moment:5.1f} s"
        print(
            f"run {run:2}  kill at {at} {told['victim'] or '(after the end)':>24}  parts lost {lost}  "
            f"iterations {svm.n_iter_}  {seconds:.1f} s  objective {svm.objective_:.4f}  gap {svm.duality_gap_:.5f}  "
            f"{'; '.join(wrong) or 'certified, every example once'}",
            flush=True,
        )
    print(f"{n_runs} runs with a kill, {failed} wrong")
    if failed:
        raise SystemExit(1)


def kill_one(client: Any, chance: float, told: dict[str, Any]) -> None:
    """SIGKILL to the process of a random worker."""
    try:
        workers = sorted(client.run(os.getpid).items())
        address, pid = workers[int(chance * len(workers))]
        os.kill(pid, signal.SIGKILL)
        told["victim"] = address
    except (OSError, ValueError, RuntimeError, TimeoutError):
        told["victim"] = ""


def one(corpus: str, learner: str, n_workers: int, tol: float) -> dict[str, Any]:
    """A fit in this process: with so many workers, or with none."""
    made = {"svm": StructuralSVM, "crf": ConditionalRandomField}[learner]
    estimator = made(Chain(), tol=tol, verbose=1)
    begin = time.perf_counter()
    if n_workers == 0:
        shards = open_shards(corpus)
        estimator.fit(shards.X, shards.Y)
        return told(estimator, time.perf_counter() - begin)
    with workers_here(n_workers) as client:
        started = time.perf_counter() - begin
        before = loopback()
        data = distribute(client, corpus, n_parts=n_workers)
        estimator.fit(data.X, data.Y)
        on_wire = loopback() - before
    found = told(estimator, time.perf_counter() - begin)
    history = estimator.history_[1:]
    for name in ("bytes_sent", "bytes_received"):
        found[name] = int(np.mean([record[name] for record in history]))
    return found | {"started": started, "loopback": on_wire, "restarted": sum(r.get("restarted", 0) for r in history)}


def told(estimator: Any, seconds: float) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "training": estimator.training_["seconds"],
        "objective": estimator.objective_,
        "gap": estimator.duality_gap_,
        "iterations": estimator.n_iter_,
        "weights": len(estimator.w_),
    }


def loopback() -> int:
    """Bytes that this machine has sent to itself."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[0])
    return 0


def speed(corpus: str, workers: list[int], tol: float, rounds: int, learner: str) -> None:
    print(f"{datetime.now():%d %B %Y %H:%M}, load {os.getloadavg()}, {open_shards(corpus)!r}")
    found: dict[int, list[dict[str, Any]]] = {n: [] for n in (0, *workers)}
    for _ in range(rounds):
        for n in found:
            command = [sys.executable, __file__, "one", corpus, "--learner", learner, "--tol", str(tol), "--n", str(n)]
            ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found[n].append(json.loads(ended.stdout.splitlines()[-1]))
            print(n or "one process", json.dumps(found[n][-1]), flush=True)
    base = np.median([each["seconds"] for each in found[0]])
    for n, runs in found.items():
        seconds = np.median([each["seconds"] for each in runs])
        print(f"{f'{n} workers' if n else 'one process'}: {seconds:.1f} s, {seconds / base:.2f} of one process")


def small(n_sentences: int) -> None:
    """What a cluster costs a corpus that does not need one."""
    folder = Path(tempfile.mkdtemp()) / "corpus"
    corpus_of(folder, n_sentences, 0)
    speed(str(folder), [2], 0.01, 3, "svm")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    of_kills = commands.add_parser("kills")
    of_kills.add_argument("--runs", type=int, default=20)
    of_kills.add_argument("--sentences", type=int, default=400)
    of_kills.add_argument("--seed", type=int, default=0)
    of_kills.add_argument("--tol", type=float, default=0.01)
    for name in ("speed", "one"):
        of_speed = commands.add_parser(name)
        of_speed.add_argument("corpus")
        of_speed.add_argument("--learner", choices=("svm", "crf"), default="svm")
        of_speed.add_argument("--tol", type=float, default=0.01)
        of_speed.add_argument("--workers", type=int, nargs="+", default=[1, 2])
        of_speed.add_argument("--rounds", type=int, default=3)
        of_speed.add_argument("--n", type=int, default=0)
    commands.add_parser("small").add_argument("--sentences", type=int, default=200)
    given = parser.parse_args()
    if given.command == "kills":
        kills(given.runs, given.sentences, given.seed, given.tol)
    elif given.command == "one":
        print(json.dumps(one(given.corpus, given.learner, given.n, given.tol)))
    elif given.command == "speed":
        speed(given.corpus, given.workers, given.tol, given.rounds, given.learner)
    else:
        small(given.sentences)
