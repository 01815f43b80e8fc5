"""How long training on a cluster takes, predicted from what is measured on one machine: docs/cluster_model.md.

    python benchmarks/cluster_model.py measure [--tokens 200000]
    python benchmarks/cluster_model.py predict [--weights 4.3e6] [--latency 1e-4] [--bandwidth 1.25e9]
    python benchmarks/cluster_model.py check CORPUS [--workers 1 2 4] [--ways ascent sums]

`measure` prints what `MEASURED` in cluster_costs.py has. `predict` adds that up for workers that run at the same time,
with messages between them. `check` trains by 1, 2 and 4 workers of this machine on a corpus of ``structlearn prepare``,
beside what is predicted of that; seconds of processors tell something on a machine with other work as well.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass, fields
from typing import Any, Literal

from cluster_costs import MEASURED, Costs, measure
from measure import table

Way = Literal["ascent", "sums"]
WORKERS = (1, 2, 4, 8, 16, 32, 64, 100)
TOKENS = (1e6, 1e7, 1e8, 1e9)


@dataclass(frozen=True)
class Network:
    """Seconds until a message begins to come, and bytes a second of each machine's line.

    Where `cores` is not 0, all workers and the driver are on one machine with so many.
    """

    latency: float = 1e-4
    bandwidth: float = 1.25e9
    cores: int = 0
    tree: bool = False

    def crowding(self, workers: int) -> float:
        return max(1.0, workers / self.cores) if self.cores else 1.0

    def one_to_all(self, workers: int, nbytes: float, copying: float) -> float:
        """A message to every worker, or one from each: one after another through the driver's line, or by a tree."""
        steps = math.ceil(math.log2(workers + 1)) if self.tree else workers
        return steps * (self.latency + nbytes / self.bandwidth + nbytes * copying)


@dataclass(frozen=True)
class Prediction:
    """Seconds of training: workers at work, messages, and the driver."""

    work: float
    messages: float
    driver: float

    @property
    def seconds(self) -> float:
        return self.work + self.messages + self.driver

    @property
    def longest(self) -> str:
        return max((each.name for each in fields(self)), key=lambda name: float(getattr(self, name)))


def slowest(workers: int, costs: Costs) -> float:
    """What the slowest of some workers takes, of normally distributed times, as a multiple of the mean."""
    return 1.0 + costs.spread * math.sqrt(2.0 * math.log(workers))


def predicted(way: Way, tokens: float, workers: int, weights: float, costs: Costs, network: Network) -> Prediction:
    """Training to the gap of `measure`, with a part for each worker."""
    share = tokens / workers
    slow = slowest(workers, costs) * network.crowding(workers)
    messages = 2.0 * network.one_to_all(workers, 8.0 * weights, costs.copying) + workers * costs.call
    if way == "sums":
        driver = weights * (workers * costs.adding + costs.step)
        return Prediction(*(costs.sums * each for each in (slow * share * costs.risk, messages, driver)))
    cached = min(costs.cached_exchanges * workers**costs.cached_growth, 32.0)
    exchanges = costs.exchanges + cached
    by_tokens = costs.asking + cached * costs.cached + costs.certificates * costs.pricing
    work = slow * (share * by_tokens + exchanges * weights * costs.shuffling)
    driver = exchanges * weights * (workers**2 * costs.merging + workers * costs.adding + costs.alone)
    rounds = costs.updates * workers**costs.growth
    return Prediction(*(rounds * each for each in (work, (exchanges + costs.certificates) * messages, driver)))


def in_words(seconds: float) -> str:
    """
    >>> in_words(5.04), in_words(5000.0), in_words(200_000.0)
    ('5.0 s', '83 min', '56 h')
    """
    if seconds < 600.0:
        return f"{seconds:.1f} s" if seconds < 10.0 else f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 36_000.0 else f"{seconds / 3600.0:.0f} h"


def pages(weights: float, costs: Costs, network: Network) -> str:
    """Tables of predicted times with what takes most of each, and how many workers are of use."""
    told = []
    for way in ("ascent", "sums"):
        rows = []
        for tokens in TOKENS:
            found = [predicted(way, tokens, k, weights, costs, network) for k in WORKERS]  # type: ignore[arg-type]
            cells = [f"{in_words(each.seconds)} ({each.longest})" for each in found]
            best = min(range(1, 1001), key=lambda k: _seconds(way, tokens, k, weights, costs, network))
            half = max(k for k in range(1, 1001) if _efficiency(way, tokens, k, weights, costs, network) >= 0.5)
            rows.append([f"{tokens:.0e}", *cells, str(best), str(half)])
        header = ["tokens", *(f"{k} workers" for k in WORKERS), "fastest with", "half efficient to"]
        told.append(f"{way}, {weights:.1e} weights, {network}\n\n{table(header, rows)}")
    return "\n\n".join(told)


def _seconds(way: Any, tokens: float, workers: int, weights: float, costs: Costs, network: Network) -> float:
    return predicted(way, tokens, workers, weights, costs, network).seconds


def _efficiency(way: Any, tokens: float, workers: int, weights: float, costs: Costs, network: Network) -> float:
    """How much of K times one worker's speed K workers have."""
    alone = _seconds(way, tokens, 1, weights, costs, network)
    return alone / workers / _seconds(way, tokens, workers, weights, costs, network)


def check(corpus: str, ways: list[str], workers: list[int], costs: Costs, network: Network) -> None:
    """Trains on a cluster of this machine and prints what was predicted of it before."""
    from structlearn import StructuralSVM, open_shards
    from structlearn.distributed import distribute, workers_here
    from structlearn.models import Chain

    shards = open_shards(corpus)
    weights = float(Chain().n_weights(Chain().specify(shards.X, shards.Y)) or 0)
    rows = []
    for way in ways:
        for k in workers:
            told = predicted(way, shards.n_tokens, k, weights, costs, network)  # type: ignore[arg-type]
            print(f"{way}, {k} workers: predicted {told}", flush=True)
            with workers_here(k) as client:
                data = distribute(client, corpus, n_parts=k)
                solver = "auto" if way == "ascent" else "one_slack"
                before, begin = sum(client.run(time.process_time).values()), time.process_time()
                svm = StructuralSVM(Chain(), solver=solver, tol=0.03).fit(data.X, data.Y)
                driver = time.process_time() - begin
                at_work = sum(client.run(time.process_time).values()) - before
            last = svm.history_[-1]
            work = told.work * k / slowest(k, costs) / network.crowding(k)
            times = [told.seconds, last["seconds"], work, at_work, told.driver, driver]
            gap = f"{last['gap'] / last['primal']:.3f}"
            rows.append([way, str(k), *(f"{each:.0f}" for each in times), str(last["iteration"]), gap])
            print(rows[-1], flush=True)
    header = ["way", "workers", "s, predicted", "measured", "workers' CPU, predicted", "measured"]
    print(table([*header, "driver's CPU, predicted", "measured", "iterations", "gap"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure")
    one.add_argument("--tokens", type=int, default=200_000)
    one.add_argument("--parts", type=int, nargs="+", default=[1, 2, 4, 8])
    two = commands.add_parser("predict")
    two.add_argument("--weights", type=float, default=4.3e6)
    three = commands.add_parser("check")
    three.add_argument("corpus")
    three.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    three.add_argument("--ways", nargs="+", choices=("ascent", "sums"), default=["ascent", "sums"])
    for each, bandwidth, cores in ((two, 1.25e9, 0), (three, 1e9, 2)):
        each.add_argument("--latency", type=float, default=1e-4)
        each.add_argument("--bandwidth", type=float, default=bandwidth)
        each.add_argument("--cores", type=int, default=cores)
        each.add_argument("--tree", action="store_true")
    given = parser.parse_args()
    if given.command == "measure":
        print(measure(given.tokens, 0.03, given.parts))
        return
    network = Network(given.latency, given.bandwidth, given.cores, given.tree)
    if given.command == "predict":
        print(pages(given.weights, MEASURED, network))
    else:
        check(given.corpus, given.ways, given.workers, MEASURED, network)


if __name__ == "__main__":
    main()
