"""Evaluation of learners of outputs as vectors: their own scores, margins by hand, labels that training never saw."""

from itertools import pairwise

import numpy as np
import pytest

from structlearn import StructuralSVM, VectorValuedRidge, VectorValuedSVM
from structlearn.evaluation import compare, evaluate
from structlearn.kernels import RBF, Spectrum
from structlearn.models import Chain
from structlearn.outputs import KernelOutputs, LabelOutputs, LabelSequenceOutputs, LabelSetOutputs

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(40, 3))
SEQUENCES = [ROWS[k : k + 4] for k in range(0, 40, 4)]
LABELS = ["ab"[int(x[0] + 0.8 * RANDOM.normal() > 0)] for x in ROWS]
TAGS = [LABELS[k : k + 4] for k in range(0, 40, 4)]
SETS = [{name for name, value in zip("xyz", x, strict=True) if value + 0.8 * RANDOM.normal() > 0} for x in ROWS]
CASES = {
    "sequences": (LabelSequenceOutputs(0.5), SEQUENCES, TAGS),
    "labels": (LabelOutputs(), ROWS, LABELS),
    "sets": (LabelSetOutputs(), ROWS, SETS),
}


def learner(kind, outputs):
    return VectorValuedRidge(outputs, RBF(0.3), lam=0.1) if kind == "ridge" else VectorValuedSVM(outputs, RBF(0.3), C=4)


@pytest.mark.parametrize("kind", ["ridge", "svm"])
@pytest.mark.parametrize("case", CASES)
def test_scores_are_those_of_the_estimator_and_margins_those_of_vectors(kind, case):
    outputs, X, Y = CASES[case]
    fitted = learner(kind, outputs).fit(X, Y)
    found = evaluate(fitted, X, Y)
    score = found.scores["label_accuracy"] if case == "sets" else found.accuracy
    assert score.estimate == pytest.approx(fitted.score(X, Y))
    offsets = np.arange(0, 41, 4) if case == "sequences" else np.arange(41)
    f = fitted.decision_function(X)
    true, guess = (fitted.outputs_.targets(y, offsets) for y in (Y, found.predicted))
    apart = (f - true) ** 2 - (f - guess) ** 2 if kind == "ridge" else f * (guess - true)
    by_hand = [apart[begin:end].sum() for begin, end in pairwise(offsets)]
    np.testing.assert_allclose(found.margins, by_hand, atol=1e-9)
    assert (found.margins >= 0.0).all()
    assert 0 < (found.margins > 0.0).sum() == (~found.right).sum()


def test_labels_that_training_never_saw_count_as_wrong():
    fitted = learner("ridge", LabelSequenceOutputs()).fit(SEQUENCES, TAGS)
    found = evaluate(fitted, SEQUENCES, [["new", *TAGS[0][1:]], *TAGS[1:]])
    known = evaluate(fitted, SEQUENCES, TAGS)
    wrong_first = known.predicted[0][0] != TAGS[0][0]
    assert found.losses[0] == known.losses[0] + (not wrong_first)
    assert np.isnan(found.margins).tolist() == [True] + 9 * [False]
    with pytest.raises(ValueError, match=r"Y\[0\] has 3 labels"):
        evaluate(fitted, SEQUENCES, [["new", "a", "b"], *TAGS[1:]])
    fitted = learner("ridge", LabelOutputs()).fit(ROWS, LABELS)
    assert evaluate(fitted, ROWS, ["c", *LABELS[1:]]).losses[0] == 1.0


def test_they_are_compared_with_others():
    ridge = learner("ridge", LabelSequenceOutputs()).fit(SEQUENCES, TAGS)
    svm = StructuralSVM(Chain(), C=1).fit(SEQUENCES, TAGS)
    found = compare(ridge, svm, SEQUENCES, TAGS)
    expected = ridge.score(SEQUENCES, TAGS) - svm.score(SEQUENCES, TAGS)
    assert found.differences["accuracy"].difference.estimate == pytest.approx(expected)
    assert "loss" in found.differences


def test_outputs_without_metrics_are_refused():
    ridge = VectorValuedRidge(KernelOutputs(Spectrum(2)), RBF(1.0), lam=0.1).fit(ROWS[:3], ["ab", "ba", "bb"])
    with pytest.raises(TypeError, match="no metrics of the outputs of KernelOutputs"):
        evaluate(ridge, ROWS[:3], ["ab", "ba", "bb"])


def test_declared_labels_need_not_come_in_training():
    fitted = VectorValuedRidge(LabelSetOutputs(["far", "x", "y", "z"]), lam=0.1).fit(ROWS, SETS)
    assert fitted.classes_.tolist() == ["far", "x", "y", "z"]
    assert evaluate(fitted, ROWS, [{"far"}, *SETS[1:]]).losses[0] >= 1.0
    with pytest.raises(ValueError, match="classes has 'x' more than once"):
        VectorValuedRidge(LabelSetOutputs(["x", "x"])).fit(ROWS, SETS)
