"""Which solver for the quadratic program over cuts?

    max_α  cᵀα − ½ αᵀHα    with  α ≥ 0,  Σα ≤ C

Records the sequence of programs that `OneSlack` meets on real data and hands each to DAQP, PIQP, Clarabel and to the
pairwise ascent of the core, which is asked for the same relative gap. Cold starts for all but the core and DAQP, which
take the previous solution. Prints seconds a sequence and the worst relative gap, measured here for all alike.

    python benchmarks/qp_over_cuts.py            (needs: pip install daqp piqp clarabel; STRUCTLEARN_DATA for letters)
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import clarabel
import daqp
import numpy as np
import piqp
import scipy.sparse as sp
from sklearn.datasets import load_digits

from structlearn import _core
from structlearn.data.arrays import FloatArray
from structlearn.datasets import fetch_letters
from structlearn.models import Chain, Multiclass
from structlearn.solvers import OneSlack, State
from structlearn.solvers.one_slack import OneSlackState
from structlearn.waist import MarginObjective, Problem


@dataclass
class CutSequence:
    """The Gram matrices, offsets and budget of the programs of one run, in order."""

    C: float
    programs: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)

    @classmethod
    def record(cls, problem: Problem, C: float, tol: float) -> CutSequence:
        sequence = cls(C)

        def keep(state: State) -> bool:
            assert isinstance(state, OneSlackState)
            sequence.programs.append(
                (state.cuts.gram(0).reshape(2 * [int(state.cuts.sizes()[0])]), state.cuts.offsets(0))
            )
            return False

        solver = OneSlack(tol=tol, cache=0, idle_cuts=10**9)
        solver.run(problem, MarginObjective(np.ones(problem.n_examples), C), observe=keep)
        return sequence


def relative_gap(H: FloatArray, c: FloatArray, C: float, alpha: FloatArray) -> float:
    """Of α scaled into the feasible set: primal ½αᵀHα + C max(0, c − Hα) less dual, over the primal."""
    alpha = np.maximum(alpha, 0.0)
    alpha *= min(1.0, C / max(alpha.sum(), 1e-300))
    Ha = H @ alpha
    primal = 0.5 * alpha @ Ha + C * max(0.0, float((c - Ha).max()))
    dual = c @ alpha - 0.5 * alpha @ Ha
    return float((primal - dual) / primal)


class WithDaqp:
    def __init__(self, C: float, tol: float):
        self.C = C
        self.last = np.zeros(0)

    def __call__(self, H: FloatArray, c: FloatArray) -> FloatArray:
        m = len(c)
        start = np.concatenate([self.last, np.zeros(m - len(self.last))])
        upper = np.concatenate([np.full(m, 1e30), [self.C]])
        lower = np.concatenate([np.zeros(m), [-1e30]])
        alpha, *_ = daqp.solve(H, -c, np.ones((1, m)), upper, lower, primal_start=start)
        self.last = np.asarray(alpha)
        return self.last.copy()


class WithPiqp:
    def __init__(self, C: float, tol: float):
        self.C = C
        self.tol = tol

    def __call__(self, H: FloatArray, c: FloatArray) -> FloatArray:
        m = len(c)
        solver = piqp.DenseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = self.tol * 1e-2
        solver.setup(H, -c, G=np.ones((1, m)), h_u=np.array([self.C]), x_l=np.zeros(m))
        solver.solve()
        return np.array(solver.result.x)


class WithClarabel:
    def __init__(self, C: float, tol: float):
        self.C = C
        self.settings = clarabel.DefaultSettings()
        self.settings.verbose = False
        self.settings.tol_gap_rel = self.settings.tol_gap_abs = self.settings.tol_feas = tol * 1e-2

    def __call__(self, H: FloatArray, c: FloatArray) -> FloatArray:
        m = len(c)
        A = sp.vstack([-sp.eye(m), np.ones((1, m))], format="csc")
        b = np.concatenate([np.zeros(m), [self.C]])
        P = sp.csc_matrix(np.triu(H))
        solution = clarabel.DefaultSolver(P, -c, A, b, [clarabel.NonnegativeConeT(m + 1)], self.settings).solve()
        return np.array(solution.x)


class WithCore:
    """Pairwise ascent; the cuts are stood in for by rows of a square root of H."""

    def __init__(self, C: float, tol: float):
        self.C = C
        self.tol = tol
        self.last = np.zeros(0)
        self.seconds = 0.0

    def __call__(self, H: FloatArray, c: FloatArray) -> FloatArray:
        m = len(c)
        values, vectors = np.linalg.eigh(H)
        rows = np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))
        sets = _core.SparseSets(1, m)
        sets.set_limits(np.array([self.C]), np.zeros(1))
        sets.add(
            np.zeros(m, np.int64),
            np.arange(m + 1) * m,
            np.tile(np.arange(m), m),
            rows.ravel(),
            np.arange(m),
            np.ones(m),
            c,
        )
        sets.gram(0)
        sets.set_alpha(0, np.concatenate([self.last, np.zeros(m - len(self.last))]))
        begin = time.perf_counter()
        sets.solve_alone(0, self.tol, 100_000)
        self.seconds += time.perf_counter() - begin
        self.last = sets.alpha(0)
        return self.last


def race(sequence: CutSequence, tol: float) -> None:
    solvers: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
        "core": WithCore(sequence.C, tol),
        "DAQP": WithDaqp(sequence.C, tol),
        "PIQP": WithPiqp(sequence.C, tol),
        "Clarabel": WithClarabel(sequence.C, tol),
    }
    for name, solve in solvers.items():
        worst = 0.0
        begin = time.perf_counter()
        for H, c in sequence.programs:
            alpha = solve(H, c)
            worst = max(worst, relative_gap(H, c, sequence.C, alpha))
        seconds = solve.seconds if isinstance(solve, WithCore) else time.perf_counter() - begin
        print(f"  {name:10} {seconds:8.2f} s   worst relative gap {worst:.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tol", type=float, default=1e-6, help="relative gap of every program")
    options = parser.parse_args()

    X, y = load_digits(return_X_y=True)
    digits = Multiclass()
    problems: dict[str, tuple[Problem, float]] = {
        "digits, C/n = 0.1": (digits.bind(digits.specify(X / 16, y), X / 16, y), 0.1 * len(y)),
        "digits, C/n = 10": (digits.bind(digits.specify(X / 16, y), X / 16, y), 10.0 * len(y)),
    }
    words = fetch_letters()
    first = [i for i in range(len(words.X)) if words.folds[i] == 0]
    chain = Chain(boundaries=False)
    X_words, Y_words = [words.X[i] for i in first], [words.Y[i] for i in first]
    problems["letters, fold 0, C/n = 0.1"] = (
        chain.bind(chain.specify(X_words, Y_words), X_words, Y_words),
        0.1 * len(first),
    )
    for name, (problem, C) in problems.items():
        sequence = CutSequence.record(problem, C, 1e-3)
        sizes = [len(c) for _, c in sequence.programs]
        print(f"{name}: {len(sizes)} programs of up to {max(sizes)} cuts, relative gap {options.tol:g}")
        race(sequence, options.tol)


if __name__ == "__main__":
    main()
