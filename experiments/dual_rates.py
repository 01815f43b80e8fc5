"""Rates of the solvers that sum over all outputs: certified gap against iterations, on OCR letters.

Fold 0 (626 words), C = 62.6, Hamming loss, no boundary scores, as in letters.py. Every method begins at its own default
and stops at a relative gap of 1e-6 (likelihood: 1e-9) or after a fixed number of iterations. The gap is absolute:
objective minus lower bound, both exact, the best of the run so far. Seconds are processor time on one core.

    python experiments/dual_rates.py --output docs/experiments
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import structlearn
from structlearn.datasets import fetch_letters
from structlearn.models import Chain
from structlearn.solvers import BlockCoordinate, ExcessiveGap, ExponentiatedGradient, Extragradient, GapSolver, State
from structlearn.solvers.excessive_gap import ExcessiveGapState
from structlearn.waist import LikelihoodObjective, MarginObjective

COMMAND = "python experiments/dual_rates.py --output docs/experiments"
C = 62.6


@dataclass
class Run:
    """A method, the rate that is stated for it, and what it did."""

    name: str
    solver: GapSolver
    stated: str
    iterations: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    gaps: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    primal: float = np.nan
    dual: float = np.nan
    curvatures: list[float] = field(default_factory=list)

    def follow(self, problem, objective) -> None:
        begin = time.process_time()

        def clock(state: State) -> bool:
            state.record["cpu"] = time.process_time() - begin
            if isinstance(state, ExcessiveGapState):
                self.curvatures.append(state.curvature)
            return False

        history = self.solver.run(problem, objective, observe=clock).history
        certified = [record for record in history if record["certified"]]
        self.iterations, self.seconds, self.gaps = (
            np.array([record[name] for record in certified], float) for name in ("iteration", "cpu", "gap")
        )
        self.primal, self.dual = certified[-1]["primal"], certified[-1]["dual"]

    def to_reach(self, tol: float) -> str:
        """Iterations and seconds until the gap is this share of the final objective."""
        reached = np.flatnonzero(self.gaps <= tol * self.primal)
        return f"{self.iterations[reached[0]]:.0f} ({self.seconds[reached[0]]:.1f} s)" if len(reached) else "–"

    def tail(self) -> NDArray[np.bool_]:
        """The last three quarters of the run, where the first steps no longer show."""
        return (self.iterations >= self.iterations[-1] / 4) & (self.gaps > 0)

    def exponent(self) -> float:
        """p of the fit gap ∝ iterations^−p."""
        tail = self.tail()
        return -float(np.polyfit(np.log(self.iterations[tail]), np.log(self.gaps[tail]), 1)[0])

    def factor(self) -> float:
        """q of the fit gap ∝ q^iterations."""
        tail = self.tail()
        return float(np.exp(np.polyfit(self.iterations[tail], np.log(self.gaps[tail]), 1)[0]))

    def errors(self) -> tuple[float, float]:
        """How well the power and the geometric law fit: root mean square of log10 of the gap."""
        tail = self.tail()
        x, logs = self.iterations[tail], np.log10(self.gaps[tail])
        fits = (np.polynomial.Polynomial.fit(t, logs, 1)(t) for t in (np.log(x), x))
        power, geometric = (float(np.sqrt(np.mean((fit - logs) ** 2))) for fit in fits)
        return power, geometric

    def row(self) -> str:
        power, geometric = self.errors()
        return (
            f"| {self.name} | {self.primal:.4f} | {self.dual:.4f} | {self.gaps[-1]:.1e} | {self.iterations[-1]:.0f} | "
            f"{self.seconds[-1]:.1f} | {self.to_reach(1e-2)} | {self.to_reach(1e-3)} | {self.stated} | "
            f"{self.exponent():.1f} ({power:.2f}) | {self.factor():.3f} ({geometric:.2f}) |"
        )


HEADER = [
    "| method | objective | lower bound | gap | iterations | seconds | to 1 % | to 0.1 % | stated | p | q |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
]


def margins() -> list[Run]:
    return [
        Run("exponentiated gradient, online", ExponentiatedGradient(tol=1e-6, max_iter=500), "O(1/ε), p = 1"),
        Run(
            "exponentiated gradient, batch",
            ExponentiatedGradient(tol=1e-6, max_iter=500, online=False),
            "O(1/ε), p = 1",
        ),
        Run("extragradient", Extragradient(tol=1e-6, max_iter=400), "O(1/ε), p = 1"),
        Run("excessive gap", ExcessiveGap(tol=1e-6, max_iter=400), "O(1/√ε), p = 2"),
        Run("block-coordinate ascent, working sets", BlockCoordinate(tol=1e-6), "O(1/ε²) planes"),
    ]


def likelihoods() -> list[Run]:
    return [
        Run("exponentiated gradient, online", ExponentiatedGradient(tol=1e-9), "O(log 1/ε), q < 1"),
        Run(
            "exponentiated gradient, batch",
            ExponentiatedGradient(tol=1e-9, max_iter=500, online=False),
            "O(log 1/ε), q < 1",
        ),
    ]


NOTES = """\
![Certified gap against iterations](dual_rates.png)

"Stated" is what the documents say: Saha 2010, chapters 5, 6 and 10, for exponentiated gradient and the excessive gap;
Taskar et al. 2006 for extragradient; Tsochantaridis et al. 2005 for the number of planes in the working sets. p and q
are fitted to the last three quarters of a run, gap ∝ iterations^−p and gap ∝ q^iterations; in brackets how far the fit
is off, as the root mean square of log₁₀ of the gap. "To 1 %" is where the gap fell to 1 % of the objective that the run
ended with.

An iteration is a pass over all words, not a fixed amount of work: one sum-product for exponentiated gradient, two for
extragradient and the excessive gap, each again for a step that is taken back, and Viterbi or cached planes for working
sets. Every iteration of the others includes a Viterbi pass for the certificate.

## Where this differs from the theory

- The rates are upper bounds for the worst problem. A fitted p above the stated one, over a bounded stretch, contradicts
  no bound and proves no better rate.
- **Exponentiated gradient, margins**: online p = {online:.1f}, batch p = {batch:.1f}. Online, every word moves w at
  once and has its own step size; the batch form has one step for all words, which must suit the worst direction of
  their sum, and it was stopped far from the optimum, at a gap of {batch_gap:.0f}: its p says nothing about the limit.
- **Extragradient**: p = {extra:.1f}. The theorem is about the average of all steps from the first on, in which the way
  from the start fades no faster than 1/k. Here the average begins anew after 1, 2, 4, … iterations, and the weight
  between w and the distributions moves at the same times: a change of method that the theorem covers only piecewise.
- **Excessive gap**: p = {excessive:.1f}. The bound μ Σ u log|Y| follows the guess of the curvature, which fell from
  {first_curvature:.0f} to {last_curvature:.1f} while it ran; the theory's own bound on it, ¼ Σ u R², is
  {most_curvature:.0f}. The first gaps are the largest of all methods, because it begins at the uniform distributions.
- **Working sets**: p = {working:.1f} over {points} certified points, steeper than every rate above; no law is
  claimed from so few. Once the working sets hold the planes that matter, a quadratic program of fixed size is left. The
  stated bound counts planes up to a precision of the constraints and knows nothing of that. In seconds nothing else
  comes near.
- **Exponentiated gradient, likelihoods**: a geometric fall, as stated, and q fits better than p:
  q = {online_likelihood:.2f} online, {batch_likelihood:.3f} batch. The dual of margins lacks
  the entropy that makes the difference.

Made by `{command}` with structlearn {version}, seed 0 for the methods that draw at random.
"""


def notes(margin: list[Run], likelihood: list[Run], most_curvature: float) -> str:
    return NOTES.format(
        **{
            name: run.exponent()
            for name, run in zip(("online", "batch", "extra", "excessive"), margin[:4], strict=True)
        },
        first_curvature=margin[3].curvatures[0],
        last_curvature=margin[3].curvatures[-1],
        most_curvature=most_curvature,
        batch_gap=margin[1].gaps[-1],
        working=margin[4].exponent(),
        points=int(margin[4].tail().sum()),
        online_likelihood=likelihood[0].factor(),
        batch_likelihood=likelihood[1].factor(),
        command=COMMAND,
        version=structlearn.__version__,
    )


def agreement(runs: list[Run]) -> str:
    """Whether one optimum can lie between the bounds of all runs."""
    highest, lowest = max(run.dual for run in runs), min(run.primal for run in runs)
    verdict = "all methods agree within their gaps" if highest <= lowest else "THE METHODS CONTRADICT EACH OTHER"
    return f"The highest lower bound is {highest:.5f}, the lowest objective {lowest:.5f}: {verdict}."


def draw(margin: list[Run], likelihood: list[Run], path: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6))
    for run in margin:
        shown = (run.iterations > 0) & (run.gaps > 0)
        left.loglog(run.iterations[shown], run.gaps[shown], label=run.name)
    reference = np.array([20.0, 1000.0])
    for power, style in ((1, ":"), (2, "--")):
        left.loglog(reference, 300.0 * (reference / 20.0) ** -power, "0.5", ls=style, label=f"slope −{power}")
    left.set(title="margins", xlabel="iterations", ylabel="objective − lower bound", ylim=(1e-8, 2e5))
    for run in likelihood:
        shown = run.gaps > 0
        right.semilogy(run.iterations[shown], run.gaps[shown], label=run.name)
    right.set(title="likelihoods: a straight line is O(log 1/ε)", xlabel="iterations")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="folder for dual_rates.md and dual_rates.png")
    folder = parser.parse_args().output
    data = fetch_letters()
    X, Y = ([part[i] for i in np.flatnonzero(data.folds == 0)] for part in (data.X, data.Y))
    model = Chain(boundaries=False)
    problem = model.bind(model.specify(X, Y), X, Y)
    ones = np.ones(len(X))
    runs = {"Margins": margins(), "Likelihoods": likelihoods()}
    objectives = {"Margins": MarginObjective(ones, C), "Likelihoods": LikelihoodObjective(ones, C)}
    lines: list[str] = []
    for title, group in runs.items():
        print(title, *HEADER, sep="\n")
        for run in group:
            run.follow(problem, objectives[title])
            print(run.row(), flush=True)
        print(agreement(group))
        lines += [f"## {title}", "", *HEADER, *(run.row() for run in group), "", agreement(group), ""]
    if folder is not None:
        draw(runs["Margins"], runs["Likelihoods"], folder / "dual_rates.png")
        description = (__doc__ or "").split("\n\n")[1].replace("\n", " ")
        bound = 0.25 * C / len(X) * float(np.sum(problem.radii() ** 2))
        page = ["# Rates of the dual solvers", "", description, "", *lines]
        page += [notes(runs["Margins"], runs["Likelihoods"], bound)]
        (folder / "dual_rates.md").write_text("\n".join(page))


if __name__ == "__main__":
    main()
