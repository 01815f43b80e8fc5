"""Typed graphs whose labels are known in part, and types whose labels nobody has ever seen."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.base import clone

import structlearn
from structlearn import LatentConditionalRandomField, LatentStructuralSVM, StructuralSVM
from structlearn.data import TypedNetwork
from structlearn.evaluation import evaluate
from structlearn.models import TypedGraph
from structlearn.waist import Scaling
from tests.estimators.test_checkpoint import StopAt
from tests.models.typed_graph.enumerated_typed_graph import (
    CLASSES,
    TEMPLATES,
    EnumeratedTypedGraph,
    factors_option,
    typed_labels,
    typed_network,
)


def agrees(said, y):
    """Whether a labelling is one of those that may be true."""
    if said is None:
        return True
    return all(
        entry is None or label in (entry if isinstance(entry, (set, list)) else [entry])
        for kind, entries in said.items()
        if entries is not None
        for entry, label in zip(entries, y[kind], strict=True)
    )


def loss_beside(said, y, *, zero_one=False):
    """How many labels cannot be true."""
    wrong = sum(
        not agrees({kind: [entry]}, {kind: [label]})
        for kind, entries in (said or {}).items()
        if entries is not None
        for entry, label in zip(entries, y[kind], strict=True)
    )
    return float(wrong > 0) if zero_one else float(wrong)


@st.composite
def instances(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = [typed_network(random, int(random.integers(1, 4)), int(random.integers(0, 3))) for _ in range(2)]
    Y = []
    for x in X:
        said = typed_labels(random, x)
        said["a"] = [(label, None, {label, "y"})[random.integers(3)] for label in said["a"]]
        Y.append(draw(st.sampled_from([said, {"a": said["a"]}, {"a": said["a"], "b": None}])))
    return X, [*Y[:1], draw(st.sampled_from([None, Y[1]]))], random


@settings(max_examples=30)
@given(instances(), st.sampled_from(["hamming", "zero_one"]))
def test_what_is_known_in_part_agrees_with_enumeration(instance, loss):
    X, Y, random = instance
    model, reference = TypedGraph(factors_option(), CLASSES, loss), EnumeratedTypedGraph(CLASSES, TEMPLATES)
    # Labels of both types, so that the start does not depend on the draw.
    problem = model.bind_partial(model.specify(X, [typed_labels(random, x) for x in X]), X, Y)
    w, every = random.normal(size=problem.n_features), np.arange(2)
    losses, gradient = problem.log_losses(w), np.zeros(len(w))
    completed = problem.present(problem.complete(w, every))
    augmented = problem.present(problem.loss_augmented(w, every))
    for i, x in enumerate(X):
        outputs = reference.outputs(x)
        scores = np.array([reference.joint_feature(x, y) @ w for y in outputs])
        possible = np.array([agrees(Y[i], y) for y in outputs])
        assert losses[i] == pytest.approx(logsumexp(scores) - logsumexp(scores[possible]), abs=1e-8)
        assert reference.joint_feature(x, completed[i]) @ w == pytest.approx(scores[possible].max())
        raised = scores + [loss_beside(Y[i], y, zero_one=loss == "zero_one") for y in outputs]
        assert raised[outputs.index(augmented[i])] == pytest.approx(raised.max())
    problem.log_losses(w, np.ones(2), gradient)
    for k in random.integers(len(w), size=5):
        step = 1e-6 * np.eye(len(w))[k]
        slope = (problem.log_losses(w + step).sum() - problem.log_losses(w - step).sum()) / 2e-6
        assert gradient[k] == pytest.approx(slope, abs=2e-5)


def exclusive_or(n=80, seed=0):
    """An answer that no linear function of two numbers tells: whether they have the same sign."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        signs = random.integers(2, size=2)
        features = np.append(2.0 * signs - 1.0 + 0.3 * random.normal(size=2), 1.0)[None]
        X.append(TypedNetwork({"answer": features, "part": features}, {("part", "answer"): [(0, 0)]}))
        Y.append({"answer": ["same" if signs[0] == signs[1] else "different"]})
    return X, Y


HIDDEN = TypedGraph(classes={"part": [0, 1, 2, 3]})


@pytest.mark.parametrize("learner", [LatentStructuralSVM, LatentConditionalRandomField])
def test_a_hidden_type_learns_what_answers_alone_cannot(learner, tmp_path):
    X, Y = exclusive_or()
    alone = [TypedNetwork({"answer": x.nodes["answer"]}) for x in X]
    linear = StructuralSVM(TypedGraph(), C=100.0).fit(alone[:40], Y[:40]).score(alone[40:], Y[40:])
    hidden = learner(HIDDEN, C=100.0, n_init=2, random_state=0).fit(X[:40], Y[:40])
    assert linear < 0.8
    assert hidden.score(X[40:], Y[40:]) > 0.9
    assert evaluate(hidden, X[40:], Y[40:]).scores["answer_accuracy"].estimate > 0.9
    predicted = hidden.predict(X)
    assert len({y["part"][0] for y in predicted}) > 2
    hidden.save(tmp_path / "hidden.slm")
    assert structlearn.load(tmp_path / "hidden.slm").predict(X) == predicted


def test_learning_begins_where_hidden_labels_differ():
    X, Y = exclusive_or()
    problem = HIDDEN.bind_partial(HIDDEN.specify_partial(X, Y), X, Y)
    starts = [problem.start(np.random.default_rng(seed)) for seed in (0, 0, 1, 2, 3, 4, 5)]
    shown = [problem.present(start.completions) for start in starts]
    assert all(start.w is None for start in starts)
    # Of ten draws the most even one: single draws give one label to more than three quarters of the parts.
    shares = [np.unique([y["part"][0] for y in found], return_counts=True)[1].max() / len(X) for found in shown]
    assert max(shares) < 0.6
    assert shown[0] == shown[1] != shown[2]
    # Where Y tells all labels apart there is nothing to draw.
    known = [y | {"part": [i % 4]} for i, y in enumerate(Y)]
    assert HIDDEN.bind_partial(HIDDEN.specify_partial(X, known), X, known).start(np.random.default_rng(0)).w is not None


def test_one_network_with_some_labels_known():
    random = np.random.default_rng(1)
    truth = {"page": np.repeat([0, 1], 30), "site": np.array([0, 0, 1, 1])}
    nodes = {kind: np.eye(2)[labels] + random.normal(size=(len(labels), 2)) for kind, labels in truth.items()}
    factors = {("page", "page"): [(i, i + 1) for i in range(59)], ("page", "site"): [(i, i // 15) for i in range(60)]}
    known = {"page": [int(y) if random.uniform() < 0.3 else None for y in truth["page"]], "site": [0, None, None, 1]}
    x = TypedNetwork(nodes, factors)
    svm = LatentStructuralSVM(TypedGraph(dict.fromkeys(factors, "potts")), C=6.0, random_state=0).fit([x], [known])
    (found,) = svm.predict([x])
    assert (np.array(found["page"]) == truth["page"]).mean() > 0.9
    (kept,) = svm.predict([x], allowed=[known])
    assert agrees(known, kept)


NODES = {"a": np.zeros((2, 1)), "b": np.zeros((1, 1))}


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([None], "Y says nothing about any node; training needs some labels"),
        ([{"a": [None, None]}], "Y says nothing about any node; training needs some labels"),
        ([{"a": [0, None]}], "Y has no labels of type 'b'; declare them: classes={'b': […]}"),
        ([{"a": [0, None], "b": [1], "c": [0]}], "Y[0] has labels of type 'c'; the types are 'a', 'b'"),
        ([{"a": [0], "b": [1]}], "Y[0]['a'] has 1 entries but X[0].nodes['a'] has 2 rows"),
        ([{"a": [0, 1], "b": 1}], "Y[0]['b'] is 1; expected a sequence of labels"),
        ([{"a": [0, 1], "b": [1]}] * 2, "X has 1 network but Y has 2 entries"),
        ([[0, 1]], "Y[0] is [0, 1]; expected a dict from types of nodes to labels"),
    ],
)
def test_what_is_wrong_with_labels_known_in_part_is_named(Y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        LatentStructuralSVM(TypedGraph()).fit([(NODES, {})], Y)


def test_restrictions_are_named_by_type():
    X, Y = [(NODES, {})], [{"a": [0, 1], "b": [1]}]
    svm = StructuralSVM(TypedGraph(classes={"b": [0, 1]})).fit(X, Y)
    assert svm.predict(X, allowed=[{"b": [0]}])[0]["b"] == [0]
    for allowed, message in (
        ([{"b": [7]}], "allowed[0]['b'][0] is 7, but 7 is not one of the labels"),
        ([{"c": [7]}], "allowed[0] has labels of type 'c'"),
        ([], "X has 1 network but allowed has 0 entries"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            svm.predict(X, allowed=allowed)
    with pytest.raises(ValueError, match=re.escape("Y[0]['b'][0] is 1, which is not allowed there")):
        StructuralSVM(TypedGraph(classes={"b": [0, 1]})).fit(X, Y, allowed=[{"b": [0]}])


def test_a_run_with_hidden_types_goes_on_from_its_checkpoint(tmp_path):
    X, Y = exclusive_or(30)
    svm = LatentStructuralSVM(HIDDEN, C=30.0, random_state=0)
    whole = clone(svm).fit(X, Y)
    stopped = clone(svm).set_callbacks(StopAt(1)).fit(X, Y, checkpoint=tmp_path / "run")
    assert len(stopped.history_) < len(whole.history_)
    np.testing.assert_array_equal(clone(svm).fit(X, Y, checkpoint=tmp_path / "run").w_, whole.w_)


def test_margins_of_levels_take_labels_known_in_part():
    X, Y = exclusive_or(20)
    problem = HIDDEN.bind_partial(HIDDEN.specify_partial(X, Y), X, Y)
    assert {"loss_levels", "second_best"} <= problem.oracles
    svm = LatentStructuralSVM(HIDDEN, rescaling="slack", C=20.0, random_state=0).fit(X, Y)
    assert svm.n_iter_ > 0
    assert Scaling("slack", "linear").oracle == "loss_levels"
