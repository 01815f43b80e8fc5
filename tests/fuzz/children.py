"""Work that may crash, hang or eat memory, done in child processes, whose end is seen."""

import faulthandler
import multiprocessing
import os
import resource
import signal
import time
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

#: Bytes that a child may need beyond what it has before its first piece of work, and seconds for each.
MEMORY = 2**30
SECONDS = 30
#: The address sanitizer reserves terabytes and takes its time: it has no limit of memory, and ten times the seconds.
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
FORK = multiprocessing.get_context("fork")


@dataclass
class Found:
    """What became of the work."""

    outcomes: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)
    slowest: float = 0.0
    largest: int = 0

    def add(self, k, outcome, details="", seconds=0.0, memory=0):
        self.outcomes[outcome] += 1
        self.slowest, self.largest = max(self.slowest, seconds), max(self.largest, memory)
        if outcome in ("crashed", "raised"):
            self.failures.append((k, details))

    def told(self, what):
        outcomes = ", ".join(f"{often} {outcome}" for outcome, often in sorted(self.outcomes.items()))
        size = f"slowest {self.slowest:.2f} s, largest {self.largest / 2**20:.0f} MB"
        return f"{sum(self.outcomes.values())} {what}: {outcomes}\n{size}"


def watched(numbers, work):
    """What became of ``work(k)``, an outcome and details, for all k, in a child that goes on until it dies."""
    found, numbers = Found(), list(numbers)
    while numbers:
        here, there = FORK.Pipe(duplex=False)
        child = in_child(_work_through, there, numbers, work)
        there.close()
        with suppress(EOFError):
            while here.poll(2 * _seconds()):
                found.add(*here.recv())
                numbers.pop(0)
        child.kill()
        child.join()
        if numbers:
            found.add(numbers.pop(0), "crashed", f"exit code {child.exitcode}")
    return found


def in_child(work, *arguments):
    child = FORK.Process(target=work, args=arguments)
    child.start()
    return child


def _work_through(pipe, numbers, work):
    warnings.simplefilter("ignore")
    faulthandler.enable()
    if not SANITIZED:
        limit = _virtual_memory() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGALRM, _too_slow)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for k in numbers:
        began = time.perf_counter()
        signal.alarm(_seconds())
        outcome, details = work(k)
        signal.alarm(0)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        pipe.send((k, outcome, details, time.perf_counter() - began, memory * 1024))


def _seconds():
    return SECONDS * 10 if SANITIZED else SECONDS


def _virtual_memory():
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _too_slow(number, frame):
    raise TimeoutError(f"more than {_seconds()} s")
