"""Bounds beside what happened, of fitted estimators."""

import numpy as np
import pytest

from structlearn import KernelStructuralSVM, StructuralSVM, StructuredPerceptron
from structlearn.kernels import RBF, Linear
from structlearn.models import Chain, Multiclass
from structlearn.solvers import NSlack, SampledCuts, SubspacePursuit
from structlearn.theory import PreconditionError, constraints_added, cutting_plane_iterations, training_bounds

X = [np.eye(3)[[0, 1, 2]], np.eye(3)[[1, 1]], np.eye(3)[[2, 0]]]
Y = [["a", "b", "b"], ["b", "b"], ["a", "a"]]


def fitted(sample_weight=None, **options):
    return StructuralSVM(Chain(), **{"C": 2.0, "eps": 0.01} | options).fit(X, Y, sample_weight)


def test_one_slack_beside_theorem_3_1():
    svm = fitted(solver="one_slack")
    found = training_bounds(svm, X, Y)
    (bound,) = found.bounds
    assert (found.C, found.eps, found.largest_loss) == (2.0, 0.01, 3.0)
    assert bound.at_most == cutting_plane_iterations(C=2.0, eps=0.01, radius=found.radius, largest_loss=3.0)
    assert 1 < bound.happened == svm.n_iter_ <= bound.at_most
    assert str(found).splitlines()[0].split() == ["theorem", "quantity", "at", "most", "happened"]
    assert str(found).splitlines()[1].endswith(f"{bound.at_most:,}{svm.n_iter_:>{len('happened') + 2}}")


@pytest.mark.parametrize("slack", ["linear", "squared"])
@pytest.mark.parametrize(("update_on", "quantity"), [("addition", "constraints"), ("pass", "passes")])
def test_n_slack_beside_theorem_18(update_on, quantity, slack):
    weight = np.array([1.0, 2.0, 0.5])
    svm = fitted(weight, solver=NSlack(eps=0.01, update_on=update_on), eps=None, slack=slack)
    found = training_bounds(svm, X, Y, weight)
    (bound,) = found.bounds
    assert bound.quantity == quantity
    assert bound.at_most == constraints_added(
        C=2.0, eps=0.01, n_examples=7.0, radius=found.radius, largest_loss=3.0, slack=slack
    )
    assert 1 < bound.happened <= bound.at_most
    assert bound.happened == (svm.history_[-1]["planes"] if update_on == "addition" else svm.n_iter_)


def test_constraints_of_an_earlier_fit_do_not_count():
    svm = fitted(solver=NSlack(eps=0.01, update_on="addition"), eps=None, warm_start=True)
    again = svm.set_params(C=2.1).fit(X, Y)
    (bound,) = training_bounds(again, X, Y).bounds
    assert bound.happened < again.history_[0]["planes"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"solver": "auto"}, ValueError, "no theorem here for BlockCoordinate, only for solver='n_slack', 'one_slack'"),
        ({"solver": "one_slack", "eps": None}, PreconditionError, "about eps, which OneSlack was not given"),
        (
            {"solver": "one_slack", "slack": "squared"},
            PreconditionError,
            "needs slack='linear', but slack is 'squared'",
        ),
        ({"solver": "one_slack", "eps": 1e4}, PreconditionError, "Theorem 3.1 needs eps ≤ 4R²C"),
    ],
)
def test_runs_of_which_no_theorem_speaks_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        training_bounds(fitted(**options), X, Y)


def test_other_data_and_other_learners_are_refused():
    with pytest.raises(ValueError, match="fitted to 3 examples, but X has 2"):
        training_bounds(fitted(solver="n_slack"), X[:2], Y[:2])
    with pytest.raises(TypeError, match="not about StructuredPerceptron"):
        training_bounds(StructuredPerceptron(Multiclass()), X, Y)


def test_kernel_cuts_beside_theorem_3_1():
    svm = KernelStructuralSVM(Chain(), Linear(), C=2.0, solver="exact", eps=0.01).fit(X, Y)
    found = training_bounds(svm, X, Y)
    # Unit rows with the linear kernel have the lengths of the model itself, but those of an example may add up.
    assert found.radius == pytest.approx(training_bounds(fitted(solver="one_slack"), X, Y).radius * np.sqrt(3.0))
    assert found.bounds[0].theorem == "Yu 2011, Theorem 3.1"
    assert found.bounds[0].happened <= found.bounds[0].at_most


@pytest.mark.parametrize(
    ("solver", "theorem"),
    [(SampledCuts(n_samples=5, eps=0.1), "Theorem 6.1"), (SubspacePursuit(n_basis=4, eps=0.1), "Theorem 6.3")],
)
def test_sampled_and_projected_cuts_beside_their_theorems(solver, theorem):
    rows = np.random.default_rng(0).normal(size=(30, 2))
    labels = np.where(rows.prod(axis=1) > 0, "same", "other")
    svm = KernelStructuralSVM(Multiclass(), RBF(1.0), C=5.0, solver=solver).fit(rows, labels)
    (bound,) = training_bounds(svm, rows, labels).bounds
    assert bound.theorem.endswith(theorem)
    assert bound.happened <= bound.at_most
    with pytest.raises(PreconditionError, match="one row each"):
        training_bounds(KernelStructuralSVM(Chain(), RBF(1.0), C=5.0, solver=solver).fit(X, Y), X, Y)
