"""Bounds beside what happened: which theorem speaks of a fitted estimator, and with which numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from structlearn.contract import check_is_fitted
from structlearn.estimators.structural_svm import StructuralSVM
from structlearn.solvers import KernelCuts, NSlack, OneSlack, SampledCuts, Solver, SubspacePursuit
from structlearn.theory.approximate_cuts import sampled_cuts, subspace_iterations
from structlearn.theory.cutting_planes import PreconditionError, constraints_added, cutting_plane_iterations
from structlearn.waist.objective import MarginObjective


@dataclass(frozen=True, slots=True)
class Bound:
    """What a theorem allows, beside what happened.

    Attributes
    ----------
    theorem : str
    quantity : str
        What is bounded: iterations, constraints.
    at_most, happened : float
    """

    theorem: str
    quantity: str
    at_most: float
    happened: float


@dataclass(frozen=True, slots=True)
class TrainingBounds:
    """The bounds on a run, and the numbers that they come from. It prints as a table.

    Attributes
    ----------
    C, eps : float
        Price of the mean slack, and the violation at which training may end.
    radius, largest_loss : float
        R̄ and Δ̄, upper bounds over the training data.
    bounds : tuple of Bound
    """

    C: float
    eps: float
    radius: float
    largest_loss: float
    bounds: tuple[Bound, ...]

    def __str__(self) -> str:
        rows = [("theorem", "quantity", "at most", "happened")]
        rows += [(b.theorem, b.quantity, f"{b.at_most:,.6g}", f"{b.happened:,.6g}") for b in self.bounds]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"{a:<{u}}  {b:<{v}}  {c:>{x}}  {d:>{y}}" for a, b, c, d in rows for u, v, x, y in [widths]]
        numbers = f"C = {self.C:g}, ε = {self.eps:.3g}, R ≤ {self.radius:.3g}, Δ ≤ {self.largest_loss:.3g}"
        return "\n".join([*lines, numbers])


def training_bounds(estimator: Any, X: Any, Y: Any, sample_weight: Any = None) -> TrainingBounds:
    """What theorems say of the training of a structural SVM, beside what happened.

    Theorem 3.1 of Yu 2011 for ``solver="one_slack"``, Theorem 18 of Tsochantaridis et al. 2005 for "n_slack"; of
    `KernelStructuralSVM`, Theorem 3.1 for "exact", and Yu's 6.1 and 6.3 for "sampled" and "subspace". R̄ and Δ̄ are the
    model's own upper bounds over all outputs of the training data, so that the bounds hold, if more loosely than with
    the unknown least ones.

    Parameters
    ----------
    estimator : StructuralSVM or KernelStructuralSVM
        Fitted, with `eps`, of which the theorems speak.
    X, Y, sample_weight
        What it was fitted to.

    Notes
    -----
    Theorem 18 counts constraints where the dual is optimised after each, ``NSlack(update_on="addition")``. Otherwise it
    counts passes: the first violated constraint of a pass alone adds as much to the dual as the theorem asks for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from structlearn.models import Multiclass
    >>> X, y = load_iris(return_X_y=True)
    >>> svm = StructuralSVM(Multiclass(), C=1.0, solver="one_slack", eps=0.1).fit(X, y)
    >>> (bound,) = training_bounds(svm, X, y).bounds
    >>> bound.theorem, bound.at_most, bound.happened < 50
    ('Yu 2011, Theorem 3.1', 39508, True)
    """
    if not isinstance(estimator, StructuralSVM):
        raise TypeError(f"the theorems are about a StructuralSVM, not about {type(estimator).__name__}")
    check_is_fitted(estimator)
    training = estimator._prepare(X, Y, sample_weight, None)
    speaks = _THEOREMS.get(type(training.solver))
    if speaks is None:
        names = ", ".join(repr(name) for name, kind in estimator._named_solvers.items() if kind in _THEOREMS)
        raise ValueError(f"there is no theorem here for {type(training.solver).__name__}, only for solver={names}")
    eps = getattr(training.solver, "eps", None)
    if eps is None:
        raise PreconditionError(f"the theorems are about eps, which {type(training.solver).__name__} was not given")
    fitted, given = estimator.training_["examples"], training.problem.n_examples
    if fitted != given:
        raise ValueError(f"the estimator was fitted to {fitted} examples, but X has {given}")
    metric = training.problem.metric
    stretch = 1.0 if metric is None else metric.stretch()
    numbers: dict[str, float] = {
        "C": training.objective.C,
        "eps": eps,
        "radius": float(training.problem.radii().max()) * stretch,
        "largest_loss": float(training.problem.max_losses().max()),
    }
    assert isinstance(training.objective, MarginObjective)
    return TrainingBounds(**numbers, bounds=speaks(training.objective, training.solver, estimator, numbers))


def _of_one_slack(
    objective: MarginObjective, solver: Any, estimator: StructuralSVM, numbers: Mapping[str, float]
) -> tuple[Bound, ...]:
    if objective.slack != "linear":
        raise PreconditionError(f"Theorem 3.1 needs slack='linear', but slack is {objective.slack!r}")
    at_most = cutting_plane_iterations(**numbers, rescaling=objective.rescaling)
    return (Bound("Yu 2011, Theorem 3.1", "iterations", at_most, estimator.n_iter_),)


def _of_sampled_cuts(
    objective: MarginObjective, solver: SampledCuts, estimator: StructuralSVM, numbers: Mapping[str, float]
) -> tuple[Bound, ...]:
    _check_binary_form("Theorem 6.1", objective, estimator)
    at_most = sampled_cuts(**numbers, n_samples=solver.n_samples)
    return (Bound("Yu 2011, Theorem 6.1", "iterations, expected", at_most, estimator.n_iter_),)


def _of_subspace_pursuit(
    objective: MarginObjective, solver: SubspacePursuit, estimator: StructuralSVM, numbers: Mapping[str, float]
) -> tuple[Bound, ...]:
    _check_binary_form("Theorem 6.3", objective, estimator)
    at_most = subspace_iterations(**numbers, k_max=solver.n_basis)
    return (Bound("Yu 2011, Theorem 6.3", "iterations", at_most, estimator.n_iter_),)


def _check_binary_form(theorem: str, objective: MarginObjective, estimator: StructuralSVM) -> None:
    if objective.slack != "linear" or objective.rescaling != "margin":
        raise PreconditionError(f"{theorem} needs rescaling='margin' and slack='linear', not {objective}")
    if not estimator.model_.tabular:
        raise PreconditionError(f"{theorem} speaks of examples with one row each, not of {estimator.model_}")


def _of_n_slack(
    objective: MarginObjective, solver: NSlack, estimator: StructuralSVM, numbers: Mapping[str, float]
) -> tuple[Bound, ...]:
    weight = objective.sample_weight
    at_most = constraints_added(
        **numbers,
        n_examples=float(weight.sum() / weight.min()),
        rescaling=objective.rescaling,
        slack=objective.slack,
    )
    quantity, happened = "passes", estimator.n_iter_
    if solver.update_on == "addition":
        # What a warm start brought along does not count.
        quantity, happened = "constraints", estimator.history_[-1]["planes"] - estimator.history_[0]["planes"]
    return (Bound("Tsochantaridis et al. 2005, Theorem 18", quantity, at_most, happened),)


#: What is known of the runs of a solver, from the objective, the solver, the fitted estimator, and C, ε, R̄ and Δ̄.
_THEOREMS: dict[type[Solver], Callable[[MarginObjective, Any, Any, Mapping[str, float]], tuple[Bound, ...]]] = {
    KernelCuts: _of_one_slack,
    NSlack: _of_n_slack,
    OneSlack: _of_one_slack,
    SampledCuts: _of_sampled_cuts,
    SubspacePursuit: _of_subspace_pursuit,
}
