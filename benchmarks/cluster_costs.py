"""What training in parts costs on one machine: the numbers that cluster_model.py adds up, and how they are measured.

Parts of noisy sentences take turns in one process, so that their rounds are those of a cluster, and their seconds are
known apart from those of whoever puts them together.
"""

from __future__ import annotations

import json
import math
import pickle
import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import nnls


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
