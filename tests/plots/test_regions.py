"""Pictures of classifiers in the plane."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structlearn import BinaryPerceptron, RegularizedRisk, StructuralSVM, plots
from structlearn.estimators.regularized_risk import L2, Hinge
from structlearn.kernels import Linear
from structlearn.models import Multiclass

X = np.array([[0.0, 0.0], [1.0, 0.2], [3.0, 3.0], [4.0, 2.5], [0.5, 4.0], [0.0, 5.0]])
TWO = ["a", "a", "b", "b", "b", "b"]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def heights(ax):
    """The values of f along which lines are drawn."""
    return [list(each.levels) for each in ax.collections if hasattr(each, "levels") and not each.filled]


def test_a_support_vector_machine_has_margins_and_support_vectors():
    svm = RegularizedRisk(Hinge(), L2(Linear()), C=100, tol=1e-8).fit(X, TWO)
    ax = plots.decision_regions(svm, X, TWO)
    assert legend(ax) == ["a", "b", "support vectors"]
    assert heights(ax) == [[-1.0, 0.0, 1.0]]
    circled = ax.get_lines()[-1].get_xydata()
    np.testing.assert_array_equal(circled, X[svm.support_])
    assert 2 <= len(circled) < len(X)
    # The line is where f is 0.
    contour = next(each for each in ax.collections if hasattr(each, "levels") and not each.filled)
    on_the_line = contour.get_paths()[1].vertices
    np.testing.assert_allclose(svm.decision_function(on_the_line), 0.0, atol=1e-6)


def test_margins_can_be_asked_for_and_left_out():
    linear = RegularizedRisk(Hinge(), L2(), C=100).fit(X, TWO)
    assert heights(plots.decision_regions(linear, X, TWO)) == [[0.0]]
    assert heights(plots.decision_regions(linear, X, TWO, margins=True)) == [[-1.0, 0.0, 1.0]]
    perceptron = BinaryPerceptron().fit(X, TWO)
    assert heights(plots.decision_regions(perceptron, X, TWO, margins=False)) == [[0.0]]
    # One that began with a line that separates has no example to circle.
    again = BinaryPerceptron().fit(X, TWO, coef_init=perceptron.coef_, intercept_init=perceptron.intercept_)
    assert legend(plots.decision_regions(again, X, TWO)) == ["a", "b"]


def test_every_classifier_of_two_columns_has_regions():
    three = ["a", "a", "b", "b", "c", "c"]
    for classifier in (StructuralSVM(Multiclass(), fit_intercept=True, C=100), LogisticRegression()):
        ax = plots.decision_regions(classifier.fit(X, three), X, three)
        assert legend(ax) == ["a", "b", "c"]
        assert heights(ax) == []
    pipeline = make_pipeline(StandardScaler(), RegularizedRisk(Hinge(), L2(Linear()))).fit(X, TWO)
    # The support vectors are scaled, and are no points of the picture.
    assert legend(plots.decision_regions(pipeline, X, TWO)) == ["a", "b"]


def test_what_is_no_plane_is_refused():
    svm = RegularizedRisk(Hinge(), L2()).fit(X, TWO)
    with pytest.raises(ValueError, match=r"^X has shape \(6, 1\); a picture of the plane needs"):
        plots.decision_regions(svm, X[:, :1], TWO)
    with pytest.raises(ValueError, match=r"^X\[0, 1\] is nan"):
        plots.decision_regions(svm, [[0.0, np.nan]], ["a"])
    with pytest.raises(ValueError, match=r"^X has 6 examples but y has shape \(2,\)"):
        plots.decision_regions(svm, X, ["a", "b"])
    with pytest.raises(ValueError, match=r"^margins is 'no'"):
        plots.decision_regions(svm, X, TWO, margins="no")
    with pytest.raises(ValueError, match=r"^there are 9 classes; at most 8 have a colour"):
        plots.decision_regions(svm, np.zeros((7, 2)), list("cdefghi"))
    with pytest.raises(NotFittedError):
        plots.decision_regions(RegularizedRisk(Hinge(), L2()), X, TWO)
