"""Model files and checkpoints that somebody edited on purpose: loaded, and asked for predictions; `make fuzz` runs it.

``python -m tests.fuzz.fuzz_model_files --count 10000 --seed 0``

A file must be refused by a ValueError, or predict whatever it says; never may it crash, raise anything else, or take
more than a gigabyte or half a minute. Files are read in a child process, whose end is seen.
"""

import argparse
import tempfile
import traceback
from functools import cache
from pathlib import Path
from random import Random

import structlearn
from structlearn.io import Lines
from structlearn.persistence import checkpoint, container, model_file
from tests.fuzz.children import in_child, watched
from tests.fuzz.edits import edited
from tests.fuzz.newer_models import NEWER, write
from tests.fuzz.stopped_runs import RUNS
from tests.persistence.version_2_cases import CASES
from tests.persistence.version_2_commands import COMMANDS

FOLDER = Path(__file__).parents[1] / "persistence" / "version_2"


def fuzz(numbers, seed, *, checkpoints=True):
    """What became of the files of these numbers."""
    with tempfile.TemporaryDirectory() as folder:
        written = {name: Path(folder, name) for name in (*RUNS, *NEWER)} if checkpoints else {}
        # Kernels start threads, which a process that goes on to fork must not have.
        in_child(leave_files, written).join()

        def read(k):
            name, random = chosen(k, seed, written)
            outcome, details = read_one(name, random, Path(folder, "edited.slm"), written)
            return outcome, f"{name}\n{details}"

        return watched(numbers, read)


def leave_files(written):
    for name, path in written.items():
        if name in RUNS:
            RUNS[name].stop(path)
        else:
            write(name, path)


def chosen(k, seed, written):
    """Which file is edited, and the random numbers that say how."""
    random = Random(f"{seed} {k}")
    return random.choice(sorted([*CASES, *COMMANDS, *written])), random


def read_one(name, random, path, written):
    """Edits a file, reads it and asks it; what became of it."""
    path.unlink(missing_ok=True)
    original, kind = written.get(name, original_of(name)), checkpoint.KIND if name in RUNS else model_file.FORMAT
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
    case = (CASES | NEWER)[name]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one file")
    options = parser.parse_args()
    found = fuzz(range(options.count) if options.only is None else [options.only], options.seed)
    for k, details in found.failures:
        print(f"--- {k} {details}")
    print(found.told("files"))
    raise SystemExit(bool(found.failures))


if __name__ == "__main__":
    main()
