"""Model files and checkpoints that somebody edited on purpose: loaded, and asked for predictions; `make fuzz` runs it.

``python -m tests.fuzz.fuzz_model_files --count 10000 --seed 0``

A file must be refused by a ValueError, or predict whatever it says; never may it crash, raise anything else, or take
more than a gigabyte or half a minute. Files are read in a child process, whose end is seen.
"""

import argparse
import multiprocessing
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

import structlearn
from structlearn.io import Lines
from structlearn.persistence import checkpoint, container, model_file
from tests.fuzz.edits import edited
from tests.fuzz.stopped_runs import RUNS
from tests.persistence.version_2_cases import CASES
from tests.persistence.version_2_commands import COMMANDS

FOLDER = Path(__file__).parents[1] / "persistence" / "version_2"
#: Bytes that a child may need beyond what it has before the first file, and seconds.
MEMORY = 2**30
SECONDS = 30
FORK = multiprocessing.get_context("fork")


@dataclass
class Found:
    """What became of the files."""

    outcomes: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)
    slowest: float = 0.0
    largest: int = 0

    def add(self, k, name, outcome, seconds, memory, details):
        self.outcomes[outcome] += 1
        self.slowest, self.largest = max(self.slowest, seconds), max(self.largest, memory)
        if outcome in ("crashed", "raised"):
            self.failures.append((k, name, details))


def fuzz(numbers, seed, *, checkpoints=True):
    """The files of these numbers, each read in a child that goes on with the next until it dies."""
    found, numbers = Found(), list(numbers)
    with tempfile.TemporaryDirectory() as folder:
        stopped = {name: Path(folder, name) for name in RUNS} if checkpoints else {}
        # Kernels start threads, which a process that goes on to fork must not have.
        in_child(leave_checkpoints, stopped).join()
        while numbers:
            here, there = FORK.Pipe(duplex=False)
            child = in_child(read_all, there, numbers, seed, Path(folder), stopped)
            there.close()
            with suppress(EOFError):
                while here.poll(2 * SECONDS):
                    found.add(*here.recv())
                    numbers.pop(0)
            child.kill()
            child.join()
            if numbers:
                k = numbers.pop(0)
                found.add(k, chosen(k, seed, stopped)[0], "crashed", 0.0, 0, f"exit code {child.exitcode}")
    return found


def in_child(work, *arguments):
    child = FORK.Process(target=work, args=arguments)
    child.start()
    return child


def leave_checkpoints(stopped):
    for name, path in stopped.items():
        RUNS[name].stop(path)


def chosen(k, seed, stopped):
    """Which file is edited, and the random numbers that say how."""
    random = Random(f"{seed} {k}")
    return random.choice(sorted([*CASES, *COMMANDS, *stopped])), random


def read_all(pipe, numbers, seed, folder, stopped):
    warnings.simplefilter("ignore")
    limit = virtual_memory() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGALRM, too_slow)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for k in numbers:
        name, random = chosen(k, seed, stopped)
        began = time.perf_counter()
        signal.alarm(SECONDS)
        outcome, details = read_one(name, random, folder / "edited.slm", stopped)
        signal.alarm(0)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        pipe.send((k, name, outcome, time.perf_counter() - began, memory * 1024, details))


def read_one(name, random, path, stopped):
    """Edits a file, reads it and asks it; what became of it."""
    path.unlink(missing_ok=True)
    original, kind = (stopped[name], checkpoint.KIND) if name in stopped else (original_of(name), model_file.FORMAT)
    try:
        container.write(path, kind, *edited(*container.read(original, kind, what="file"), random))
    except RecursionError:
        return "not written", ""
    try:
        ask = opened(name, path)
    except (ValueError, OSError) as error:
        return ("refused", "") if str(path) in str(error) else ("raised", f"no path in: {error}")
    except FloatingPointError:  # what solvers say of a start from which they get nowhere
        return "refused when asked", ""
    except BaseException:
        return "raised", traceback.format_exc()
    try:
        ask()
    except (ValueError, TypeError, NotImplementedError):
        return "refused when asked", ""
    except BaseException:
        return "raised", traceback.format_exc()
    return "accepted", ""


def opened(name, path):
    """What the file says, as a function that predicts."""
    if name in RUNS:
        RUNS[name].resume(path)
        return lambda: None
    if name in COMMANDS:
        estimator, (_, X) = model_file.read(path).estimator, command_inputs(name)
        return lambda: estimator.predict(X)
    case = CASES[name]
    estimator = structlearn.load(path, model=case.model)

    def ask():
        estimator.predict([*case.X, *case.new])
        estimator.score(case.X, case.Y)
        if not hasattr(estimator, "steps"):
            for method in case.asked:
                arguments = {
                    "k_best": (case.new, 2),
                    "complete": (case.X, case.Y),
                    "predict_log_proba": (case.X, case.Y),
                }
                getattr(estimator, method)(*arguments.get(method, (case.new,)))

    return ask


def original_of(name):
    return FOLDER / f"{name}.slm"


@cache
def command_inputs(name):
    reader = model_file.read(original_of(name)).reader
    lines = Lines([COMMANDS[name].new.encode()], "new")
    return reader, [example.x for example in reader.read(lines)]


def virtual_memory():
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def too_slow(number, frame):
    raise TimeoutError(f"more than {SECONDS} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one file")
    options = parser.parse_args()
    found = fuzz(range(options.count) if options.only is None else [options.only], options.seed)
    for k, name, details in found.failures:
        print(f"--- {k} {name}\n{details}")
    told = ", ".join(f"{often} {outcome}" for outcome, often in sorted(found.outcomes.items()))
    print(f"{sum(found.outcomes.values())} files: {told}")
    print(f"slowest {found.slowest:.2f} s, largest {found.largest / 2**20:.0f} MB")
    raise SystemExit(bool(found.failures))


if __name__ == "__main__":
    main()
