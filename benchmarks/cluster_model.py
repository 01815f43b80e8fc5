"""How long training on a cluster takes, predicted from what is measured on one machine: docs/cluster_model.md.

    python benchmarks/cluster_model.py measure [--tokens 200000]
    python benchmarks/cluster_model.py predict [--weights 4.3e6] [--latency 1e-4] [--bandwidth 1.25e9]
    python benchmarks/cluster_model.py check CORPUS [--workers 1 2 4] [--ways ascent sums]

`measure` lets parts of noisy sentences take turns in one process, so that their rounds are those of a cluster, and
their seconds are known apart from those of whoever puts them together; what it prints is `MEASURED` here. `predict`
adds that up for workers that run at the same time, with messages between them. `check` trains by 1, 2 and 4 workers of
this machine on a corpus of ``structlearn prepare``, beside what is predicted of that; seconds of processors tell
something on a machine with other work as well.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import time
from collections import Counter
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from measure import table
from scipy.optimize import nnls

Way = Literal["ascent", "sums"]
WORKERS = (1, 2, 4, 8, 16, 32, 64, 100)
TOKENS = (1e6, 1e7, 1e8, 1e9)


@dataclass(frozen=True)
class Costs:
    """What is measured: seconds of one core, and how often.

    Attributes
    ----------
    asking, cached, pricing, risk : float
        By the token: a pass of the oracle with steps on what it finds; a pass over known planes; an exact pass for a
        certificate; a pass for a sum of risk and gradient.
    shuffling : float
        By the weight and proposal: what a part does to its vectors.
    merging, adding, alone : float
        By the weight and exchange, times the square of the number of parts, that number, and 1: putting together.
    copying : float
        By the byte: a message is written and read.
    updates, growth : float
        Ascent takes updates · K^growth iterations with K parts.
    cached_exchanges, cached_growth : float
        By the iteration: exchanges without the oracle, cached_exchanges · K^cached_growth and at most 32.
    certificates : float
        By the iteration: exact passes.
    sums, step : float
        Iterations of cutting planes over sums, and their seconds by the weight beside the sums.
    exchanges : float
        With the oracle, by the iteration.
    call : float
        By the call of a worker through Dask, as `check` found it.
    spread : float
        Assumed: how much workers differ, as a standard deviation.
    """

    asking: float
    cached: float
    pricing: float
    shuffling: float
    risk: float
    merging: float
    adding: float
    alone: float
    copying: float
    updates: float
    growth: float
    cached_exchanges: float
    cached_growth: float
    certificates: float
    sums: float
    step: float
    exchanges: float = 4.0
    call: float = 1e-2
    spread: float = 0.05


#: `measure` with 50,000 and 200,000 tokens in 1, 2 and 4 parts, 18 November 2026, beside other work; `sums` and
#: `step` are those of `check` with one worker and 100,008 tokens.
MEASURED = Costs(
    asking=1.01e-6,
    cached=2.2e-7,
    pricing=6.2e-7,
    shuffling=6.5e-9,
    risk=5.8e-7,
    merging=1.8e-10,
    adding=4.3e-9,
    alone=8.3e-9,
    copying=7.3e-10,
    updates=22.0,
    growth=0.54,
    cached_exchanges=2.6,
    cached_growth=0.55,
    certificates=0.24,
    sums=672.0,
    step=3.5e-7,
)


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


def parts_of(X: Any, Y: Any, n: int) -> list[Any]:
    """A chain bound to n parts of the sequences."""
    from structlearn.models import Chain

    model = Chain()
    spec = model.specify(X, Y)
    cuts = np.linspace(0, len(Y), n + 1).astype(int)
    return [model.bind(spec, X[a:b], Y[a:b]) for a, b in pairwise(cuts.tolist())]


def sentences(n_tokens: int) -> tuple[Any, Any]:
    import noisy_sentences

    from structlearn.features import TextFeatures

    read = list(noisy_sentences.noisy_sentences(n_tokens, seed=1))
    words = [[token[:2] for token in sentence] for sentence in read]
    X = TextFeatures(columns=("word", "pos"), min_count=5).fit_transform(words)
    return X, [[token[2] for token in sentence] for sentence in read]


def timed_parts(problems: list[Any]) -> Any:
    """Parts that take turns in this process, whose seconds are kept by what they did."""
    from structlearn.solvers import local_ascent
    from structlearn.waist.sharded import PartsHere

    class Timed(PartsHere):
        def __init__(self) -> None:
            super().__init__(problems)
            self.seconds: Counter[str] = Counter()
            self.calls: Counter[str] = Counter()

        def ask(self, call: Any, *common: Any, **more: Any) -> list[Any]:
            begin = time.process_time()
            answers = super().ask(call, *common, **more)
            inner = common[0] if common and callable(common[0]) else call
            name = inner.__name__
            if inner is local_ascent.propose:
                name = "asking" if common[2].turns else "cached"
            self.seconds[name] += time.process_time() - begin
            self.calls[name] += 1
            return answers

    return Timed()


def ascent_here(X: Any, Y: Any, n_parts: int, tol: float) -> dict[str, Any]:
    """A run with so many parts: iterations, calls by kind, seconds by kind, and those of putting parts together."""
    from structlearn.solvers.sharded_ascent import ShardedAscent
    from structlearn.waist.objective import MarginObjective
    from structlearn.waist.sharded import ShardedProblem

    parts = timed_parts(parts_of(X, Y, n_parts))
    problem = ShardedProblem(parts)
    objective = MarginObjective(np.ones(problem.n_examples), C=0.1 * problem.n_examples)
    begin = time.process_time()
    solution = ShardedAscent(tol=tol, max_iter=500).run(problem, objective)
    whole = time.process_time() - begin
    run = {"parts": n_parts, "iterations": len(solution.history) - 1, "gap": solution.state.relative_gap}
    run |= {"weights": problem.n_features, "calls": dict(parts.calls), "seconds": dict(parts.seconds)}
    return run | {"driver": whole - sum(parts.seconds.values())}


def sums_here(X: Any, Y: Any, tol: float) -> dict[str, Any]:
    """Cutting planes over sums alone: planes of single examples, which would save passes, stay where the parts are."""
    from structlearn.solvers import OneSlack
    from structlearn.waist.objective import MarginObjective
    from structlearn.waist.sharded import PartsHere, ShardedProblem

    problem = ShardedProblem(PartsHere(parts_of(X, Y, 1)))
    objective = MarginObjective(np.ones(problem.n_examples), C=0.1 * problem.n_examples)
    begin = time.process_time()
    solution = OneSlack(tol=tol, max_iter=1000).run(problem, objective)
    whole, last = time.process_time() - begin, solution.history[-1]
    begin = time.process_time()
    for _ in range(5):
        problem.risk(solution.w, objective)
    risk = (time.process_time() - begin) / 5.0
    run = {"iterations": last["iteration"], "gap": last["gap"] / last["primal"], "weights": problem.n_features}
    return run | {"risk": risk, "beside": whole / last["iteration"] - risk}


def measure(n_tokens: int, tol: float, parts: list[int]) -> Costs:
    X, Y = sentences(n_tokens)
    runs = []
    for k in parts:
        runs.append(ascent_here(X, Y, k, tol) | {"tokens": sum(map(len, Y))})
        print(json.dumps(runs[-1]), flush=True)
    few = len(Y) // 4
    sums = sums_here(X[:few], Y[:few], tol) | {"tokens": sum(map(len, Y[:few]))}
    print(json.dumps(sums), flush=True)
    vector = np.random.default_rng(0).normal(size=4_000_000)
    copying = math.inf
    for _ in range(5):
        begin = time.process_time()
        pickle.loads(pickle.dumps(vector, protocol=5))
        copying = min(copying, (time.process_time() - begin) / vector.nbytes)
    return fitted(runs, sums, copying)


def fitted(runs: list[dict[str, Any]], sums: dict[str, Any], copying: float) -> Costs:
    """What the runs say: what is proportional to tokens and to weights by least squares with coefficients ≥ 0."""

    def total(name: str) -> np.ndarray:
        return np.array([run["calls"].get(name, 0) for run in runs], float)

    def by(tokens: list[float], weights: list[float], seconds: list[float]) -> tuple[float, float]:
        found, _ = nnls(np.column_stack([tokens, weights]) / np.array(seconds)[:, None], np.ones(len(seconds)))
        return float(found[0]), float(found[1])

    n, d, k = (np.array([run[name] for run in runs], float) for name in ("tokens", "weights", "parts"))
    seconds = {name: np.array([run["seconds"][name] for run in runs]) for name in ("asking", "cached", "price")}
    asking, shuffling = by(n * total("asking") / 4.0, d * k * total("asking"), seconds["asking"])
    cached, shuffling_cached = by(n * total("cached"), d * k * total("cached"), seconds["cached"])
    exchanged = (total("asking") + total("cached")) * d
    driver = np.array([run["driver"] for run in runs])
    put_together = np.column_stack([exchanged * k**2, exchanged * k, exchanged]) / driver[:, None]
    (merging, adding, alone), _ = nnls(put_together, np.ones(len(runs)))
    iterations = np.array([run["iterations"] for run in runs], float)
    growth, first = np.polyfit(np.log(k), np.log(iterations), 1)
    cached_growth, first_cached = np.polyfit(np.log(k), np.log(total("cached") / iterations), 1)
    return Costs(
        asking=asking,
        cached=cached,
        pricing=float(seconds["price"].sum() / (n * total("price")).sum()),
        shuffling=(shuffling + shuffling_cached) / 2.0,
        risk=sums["risk"] / sums["tokens"],
        merging=float(merging),
        adding=float(adding),
        alone=float(alone),
        copying=copying,
        updates=math.exp(first),
        growth=float(growth),
        cached_exchanges=math.exp(first_cached),
        cached_growth=float(cached_growth),
        certificates=float((total("price") / iterations).mean()),
        sums=float(sums["iterations"]),
        step=sums["beside"] / sums["weights"],
    )


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
