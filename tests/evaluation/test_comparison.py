"""Which of two estimators is better."""

import json
import math

import numpy as np
import pytest

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.data import from_bio
from structlearn.datasets import make_sentences
from structlearn.evaluation import compare, compare_evaluations, evaluate
from structlearn.features import TextFeatures
from structlearn.metrics import bootstrap_counts, f1, mcnemar
from structlearn.metrics.spans import span_counts
from structlearn.models import Chain, Multiclass, Segments


@pytest.fixture(scope="module")
def sentences():
    train, test = make_sentences(60, random_state=0), make_sentences(40, random_state=1)
    words = [[[word for word, _ in x] for x in drawn.X] for drawn in (train, test)]
    features = TextFeatures().fit(words[0])
    return features.transform(words[0]), train.Y, features.transform(words[1]), test.Y


def test_differences_are_those_of_a_paired_bootstrap(sentences):
    X, Y, X_test, Y_test = sentences
    good, poor = StructuralSVM(Chain(), C=10).fit(X, Y), StructuralSVM(Chain(), C=0.5).fit(X, Y)
    found = compare(good, poor, X_test, Y_test)
    name, headline = found.headline
    assert name == "f1"
    counts = np.hstack([span_counts(Y_test, each.predict(X_test)) for each in (good, poor)])
    expected = bootstrap_counts(counts, lambda sums: f1(sums[..., :3]) - f1(sums[..., 3:]), random_state=1)
    assert headline.difference.estimate == pytest.approx(expected.estimate)
    assert (headline.difference.low, headline.difference.high) == pytest.approx((expected.low, expected.high), abs=0.01)
    rights = [[y == p for y, p in zip(Y_test, each.predict(X_test), strict=True)] for each in (good, poor)]
    assert found.whole_outputs == mcnemar(*rights)
    assert headline.first == evaluate(good, X_test, Y_test).f1


def test_an_estimator_is_as_good_as_itself(sentences):
    X, Y, X_test, Y_test = sentences
    svm = StructuralSVM(Chain(), C=10).fit(X, Y)
    found = compare(svm, svm, X_test, Y_test)
    for score in found.differences.values():
        assert (score.difference.low, score.difference.high, score.p_value) == (0.0, 0.0, 1.0)
    assert found.whole_outputs.p_value == 1.0


def test_which_one_comes_first_changes_signs_only(sentences):
    X, Y, X_test, Y_test = sentences
    a, b = StructuralSVM(Chain(), C=10).fit(X, Y), ConditionalRandomField(Chain(), C=5).fit(X, Y)
    there, back = compare(a, b, X_test, Y_test).differences, compare(b, a, X_test, Y_test).differences
    for name, score in there.items():
        assert score.p_value == back[name].p_value
        assert score.difference.low == pytest.approx(-back[name].difference.high)


def test_chance_is_not_taken_for_a_difference():
    """Two predictors that err independently and equally often: p-values below 0.05 are as rare as they should be."""
    random = np.random.default_rng(0)
    X, y = np.eye(2)[random.integers(2, size=60)], ["a"] * 60
    svm = StructuralSVM(Multiclass(["a", "b"])).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    low = []
    for _ in range(50):
        X, X_other = (np.eye(2)[(random.random(60) < 0.3).astype(int)] for _ in range(2))
        found = compare_evaluations(evaluate(svm, X, y), evaluate(svm, X_other, y))
        low.append(found.differences["accuracy"].p_value < 0.05)
    assert sum(low) <= 7


def test_segments_are_compared_with_tags(sentences):
    X, Y, X_test, Y_test = sentences
    chain = StructuralSVM(Chain(), C=10).fit(X, Y)
    segments = StructuralSVM(Segments(), C=10).fit(X, [from_bio(y) for y in Y])
    found = compare(chain, segments, X_test, Y_test)
    assert found.differences["f1"].second == evaluate(segments, X_test, [from_bio(y) for y in Y_test]).f1
    assert "loss" not in found.differences
    assert "f1" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["examples"] == 40


def test_other_examples_are_refused(sentences):
    X, Y, X_test, Y_test = sentences
    svm = StructuralSVM(Chain(), C=10).fit(X, Y)
    whole, part = evaluate(svm, X_test, Y_test), evaluate(svm, X_test[:9], Y_test[:9])
    with pytest.raises(ValueError, match="the first was evaluated on 40 examples, the second on 9"):
        compare_evaluations(whole, part)
    with pytest.raises(ValueError, match="the truths of number 0 differ"):
        compare_evaluations(part, evaluate(svm, X_test[9:18], Y_test[9:18]))


def test_one_example_has_no_interval(sentences):
    X, Y, X_test, Y_test = sentences
    svm = StructuralSVM(Chain(), C=10).fit(X, Y)
    found = compare(svm, svm, X_test[:1], Y_test[:1])
    assert math.isnan(found.headline[1].p_value)
    assert found.to_dict()["scores"]["accuracy"]["p_value"] is None
