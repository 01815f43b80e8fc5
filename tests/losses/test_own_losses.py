"""Losses of one's own in every structure that takes them, against enumeration of all outputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.losses import AdditiveLoss, CountedLoss, Hamming, MissedMatches, MissedSegments
from structlearn.models import Alignment, Chain, Multiclass, Segments
from structlearn.waist import LocalParts, Scaling
from tests.models.alignment.enumerated_alignment import EnumeratedAlignment, plain_features
from tests.models.decoders import check_most_violating
from tests.models.enumerated import (
    EnumeratedChain,
    EnumeratedMulticlass,
    EnumeratedSecondOrder,
    EnumeratedSegments,
    Twins,
    bound,
    listed,
)
from tests.models.instances import SCALINGS

LENGTHS = st.lists(st.integers(1, 4), min_size=1, max_size=3)
MARGIN = Scaling("margin", "linear")


class Uneven(AdditiveLoss):
    """Every wrong part costs something else, true ones nothing."""

    def __init__(self, mark):
        self.mark = mark

    def parts(self, truth, local):
        size = int(np.prod(local.shape))
        losses = 0.5 + np.cos(np.arange(size)).reshape(local.shape) ** 2
        self.mark(losses, truth)
        return losses


def mark_labels(losses, truth):
    losses[np.arange(len(truth)), list(truth)] = 0.0


def mark_segments(losses, truth):
    for label, begin, end in truth:
        losses[begin, end - begin - 1, label] = 0.0


class LabelF1(CountedLoss):
    """1 − F1 of the label 0."""

    def counts(self, truth, local):
        found = np.zeros((2, *local.shape), np.int64)
        found[1, ..., 0] = 1
        found[0, ..., 0] = np.equal(truth, 0)
        return found

    def value(self, counts, true_counts):
        total = counts[:, 1] + true_counts[1]
        return np.where(total > 0, 1.0 - 2.0 * counts[:, 0] / np.maximum(total, 1), 0.0)


def label_f1(y, y_hat):
    y, y_hat = np.atleast_1d(y), np.atleast_1d(y_hat)
    total = np.sum(y == 0) + np.sum(y_hat == 0)
    return 1.0 - 2.0 * np.sum((y == 0) & (y_hat == 0)) / total if total else 0.0


def sequences(random, lengths, n_labels=3):
    X = [random.normal(size=(length, 2)) for length in lengths]
    return X, [tuple(random.integers(n_labels, size=length).tolist()) for length in lengths]


def agrees(problem, reference, X, Y, w, scalings):
    every = np.arange(len(X))
    for scaling in scalings:
        planes = problem.oracle(w, every, scaling)
        found = dict(zip(planes.examples.tolist(), planes.bounds, strict=True))
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            best = listed(reference, x, y).violations(w, scaling).max()
            assert found.get(i, -np.inf) == pytest.approx(best, abs=1e-9)
        losses = [
            reference.loss(Y[i], y) for i, y in zip(planes.examples, problem.present(planes.outputs), strict=True)
        ]
        np.testing.assert_allclose(planes.losses, losses, atol=1e-12)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    lengths=LENGTHS,
    order=st.sampled_from([1, 2]),
)
def test_an_additive_loss_of_labels(seed, lengths, order):
    random = np.random.default_rng(seed)
    X, Y = sequences(random, lengths)
    loss = Uneven(mark_labels)
    problem = bound(Chain(classes=[0, 1, 2], loss=loss, order=order), X, Y)

    class Reference(EnumeratedChain):
        def loss(self, y, y_hat):
            return loss.parts(y, LocalParts((len(y), 3)))[np.arange(len(y)), list(y_hat)].sum()

    w = random.normal(size=problem.n_features)
    if order == 1:
        agrees(problem, Reference(3), X, Y, w, [MARGIN, Scaling(None, "linear")])
    else:
        w[-27:] = 0.0
        reference = Reference(3)
        planes = problem.oracle(w, np.arange(len(X)), MARGIN)
        best = [listed(reference, x, y).violations(w[:-27], MARGIN).max() for x, y in zip(X, Y, strict=True)]
        np.testing.assert_allclose(planes.bounds, best, atol=1e-9)


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), lengths=LENGTHS)
def test_a_counted_loss_of_labels_in_all_formulations(seed, lengths):
    random = np.random.default_rng(seed)
    X, Y = sequences(random, lengths)
    problem = bound(Chain(classes=[0, 1, 2], loss=LabelF1()), X, Y)

    class Reference(EnumeratedChain):
        def loss(self, y, y_hat):
            return label_f1(y, y_hat)

    agrees(problem, Reference(3), X, Y, random.normal(size=problem.n_features), SCALINGS)
    np.testing.assert_allclose(
        problem.max_losses(), [max(label_f1(y, z) for z in Reference(3).outputs(x)) for x, y in zip(X, Y, strict=True)]
    )


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), lengths=LENGTHS)
def test_a_counted_loss_of_labels_in_chains_of_second_order(seed, lengths):
    random = np.random.default_rng(seed)
    X, Y = sequences(random, lengths)
    problem = bound(Chain(classes=[0, 1, 2], loss=LabelF1(), order=2), X, Y)
    reference = EnumeratedSecondOrder(3)
    reference.loss = label_f1
    check_most_violating(Twins(problem, reference, X, Y), random.normal(size=problem.n_features))


class SpanF1(CountedLoss):
    """1 − F1 of segments that have another label than 0."""

    def counts(self, truth, local):
        found = np.zeros((2, *local.shape), np.int64)
        found[1, ..., 1:] = 1
        for label, begin, end in truth:
            found[0, begin, end - begin - 1, label] = label > 0
        return found

    def value(self, counts, true_counts):
        return LabelF1().value(counts, true_counts)


def span_f1(y, y_hat):
    true, found = ({span for span in some if span[0] > 0} for some in (y, y_hat))
    return 1.0 - 2.0 * len(true & found) / (len(true) + len(found)) if true | found else 0.0


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), lengths=LENGTHS, max_length=st.integers(1, 4))
def test_a_counted_loss_of_segments_in_all_formulations(seed, lengths, max_length):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(length, 2)) for length in lengths]
    reference = EnumeratedSegments(2, max_length)
    Y = [reference.outputs(x)[random.integers(len(reference.outputs(x)))] for x in X]
    problem = bound(Segments(classes=[0, 1], max_length=max_length, loss=SpanF1()), X, Y)
    reference.loss = span_f1
    check_most_violating(Twins(problem, reference, X, Y), random.normal(size=problem.n_features))


class MatchF1(CountedLoss):
    """1 − F1 of matches."""

    def counts(self, truth, local):
        found = np.ones((2, *local.shape), np.int64)
        found[0] = 0
        for i, j in truth:
            found[0, i, j] = 1
        return found

    def value(self, counts, true_counts):
        return LabelF1().value(counts, true_counts)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=3),
    ends=st.sampled_from(["global", "semiglobal", "local"]),
)
def test_a_counted_loss_of_matches_in_all_formulations(seed, sizes, ends):
    random = np.random.default_rng(seed)
    X = [tuple("".join(random.choice(list("abc"), size)) for size in pair) for pair in sizes]
    n_features, match, gap = plain_features("abc", "affine")
    reference = EnumeratedAlignment(n_features, match, gap, ends=ends)
    Y = [reference.outputs(x)[random.integers(len(reference.outputs(x)))] for x in X]
    problem = bound(Alignment("abc", gaps="affine", ends=ends, loss=MatchF1()), X, Y)
    reference.loss = lambda y, z: 1.0 - 2.0 * len({*y} & {*z}) / (len(y) + len(z)) if len(y) + len(z) else 0.0
    check_most_violating(Twins(problem, reference, X, Y), random.normal(size=problem.n_features))


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_losses_of_single_labels(seed):
    random = np.random.default_rng(seed)
    X, Y = random.normal(size=(4, 2)), random.integers(3, size=4)
    uneven = Uneven(lambda losses, truth: losses.__setitem__(int(truth), 0.0))
    for loss, between, scalings in (
        (uneven, lambda y, z: uneven.parts(y, LocalParts((3,)))[z], [MARGIN, Scaling(None, "linear")]),
        (LabelF1(), label_f1, SCALINGS),
    ):
        problem = bound(Multiclass(classes=[0, 1, 2], cost=loss), X, Y)
        reference = EnumeratedMulticlass(np.zeros((3, 3)))
        reference.loss = between
        agrees(problem, reference, list(X), Y.tolist(), random.normal(size=problem.n_features), scalings)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    lengths=LENGTHS,
    max_length=st.integers(1, 4),
)
def test_an_additive_loss_of_segments(seed, lengths, max_length):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(length, 2)) for length in lengths]
    reference = EnumeratedSegments(2, max_length)
    Y = [reference.outputs(x)[random.integers(len(reference.outputs(x)))] for x in X]
    loss = Uneven(mark_segments)
    problem = bound(Segments(classes=[0, 1], max_length=max_length, loss=loss), X, Y)

    def between(y, y_hat):
        length = y[-1][2]
        losses = loss.parts(y, LocalParts((length, max_length, 2)))
        return sum(losses[begin, end - begin - 1, label] for label, begin, end in y_hat)

    reference.loss = between
    agrees(problem, reference, X, [tuple(y) for y in Y], random.normal(size=problem.n_features), [MARGIN])


def test_the_losses_of_the_library_are_what_they_say():
    random = np.random.default_rng(0)

    class Copy(AdditiveLoss):
        """Another loss, in the form of one's own."""

        def __init__(self, loss):
            self.parts = loss.parts

        def parts(self, truth, local):
            raise NotImplementedError

    X, Y = sequences(random, [5, 1, 7])
    segments = [[(label, t, t + 1) for t, label in enumerate(y)] for y in Y]
    pairs = [("acgta", "agta"), ("aac", "cca")]
    matches = [((0, 0), (2, 1), (3, 2)), ((0, 2),)]
    for model, option, inputs, outputs, loss in (
        (Chain(classes=[0, 1, 2]), "loss", X, Y, Hamming({1: 2.0})),
        (Segments(max_length=3), "loss", X, segments, MissedSegments()),
        (Alignment("acgt"), "loss", pairs, matches, MissedMatches()),
        (Alignment("acgt"), "loss", pairs, matches, MissedMatches(1)),
        (Alignment("acgt"), "loss", pairs, matches, MissedMatches(1, along_s=True)),
    ):
        problems = []
        for given_loss in (loss, Copy(loss)):
            setattr(model, option, given_loss)
            problems.append(bound(model, inputs, outputs))
        w = random.normal(size=problems[0].n_features)
        one, other = (problem.oracle(w, np.arange(len(inputs)), MARGIN) for problem in problems)
        np.testing.assert_allclose(one.bounds, other.bounds, atol=1e-9)
        np.testing.assert_allclose(one.losses, other.losses, atol=1e-12)
        np.testing.assert_allclose(*(problem.max_losses() for problem in problems), atol=1e-12)


def test_a_learner_minimises_it_and_scores_by_it():
    random = np.random.default_rng(1)
    X, Y = sequences(random, [4] * 12)
    svm = StructuralSVM(Chain(loss=LabelF1()), C=12, rescaling="slack").fit(X, Y)
    predicted = svm.predict(X)
    most = [1.0 if 0 in y or len(y) else 0.0 for y in Y]
    expected = 1.0 - sum(label_f1(y, z) for y, z in zip(Y, predicted, strict=True)) / sum(most)
    assert svm.score(X, Y) == pytest.approx(expected)
    assert ConditionalRandomField(Chain(loss=LabelF1()), C=12).fit(X, Y).converged_


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (np.zeros((2, 3)), r"Returns.parts of example 0 has shape \(2, 3\); expected \(3, 3\)"),
        (np.full((3, 3), np.nan), "Returns.parts of example 0 holds nan; expected finite numbers"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(returned, message):
    class Returns(AdditiveLoss):
        def parts(self, truth, local):
            return returned

    with pytest.raises(ValueError, match=message):
        StructuralSVM(Chain(classes="abc", loss=Returns())).fit([np.zeros((3, 1))], [["a", "b", "c"]])


def test_counts_that_do_not_fit_are_refused():
    class Counts(LabelF1):
        def __init__(self, returned):
            self.returned = returned

        def counts(self, truth, local):
            return self.returned

    for returned, message in (
        (np.zeros((3, 3), int), "Counts.counts of example 0 has shape"),
        (np.full((1, 3, 3), 0.5), "expected whole numbers"),
        (np.full((1, 3, 3), -1), "holds -1; expected whole numbers"),
        (np.full((1, 3, 3), 10**9), "of example 0 makes 3000000001 levels, whose table would take 201 GB"),
    ):
        with pytest.raises(ValueError, match=message):
            StructuralSVM(Chain(classes="abc", loss=Counts(returned))).fit([np.zeros((3, 1))], [["a", "b", "c"]])


def test_a_counted_loss_must_be_zero_on_the_truth():
    class Always(LabelF1):
        def value(self, counts, true_counts):
            return super().value(counts, true_counts) + 0.25

    with pytest.raises(
        ValueError, match=r"Always.value of the truth of example 0, with counts \[1, 1\], is 0.25; not 0"
    ):
        StructuralSVM(Chain(loss=Always())).fit([np.zeros((2, 1))], [[0, 1]])


@pytest.mark.parametrize("loss", [SpanF1(), Uneven(mark_segments)])
def test_true_segments_that_training_never_saw_are_missed(loss):
    X, Y = [np.eye(3)], [[(1, 0, 1), (0, 1, 2), (1, 2, 3)]]
    svm = StructuralSVM(Segments(loss=loss), C=10).fit(X, Y)
    assert svm.score(X, [[(1, 0, 3)]]) < 0.5
    assert svm.score(X, [[(2, 0, 1), (0, 1, 2), (1, 2, 3)]]) < 1.0


def test_losses_clone_and_those_of_the_library_are_saved(tmp_path):
    X, Y = [np.eye(2)], [["a", "b"]]
    for loss in (Hamming({"a": 2.0}), Hamming()):
        svm = StructuralSVM(clone(Chain(loss=loss))).fit(X, Y)
        assert "Hamming" in repr(svm)
        svm.save(tmp_path / "model.slm")
        loaded = structlearn.load(tmp_path / "model.slm")
        assert loaded.predict(X) == svm.predict(X)
        assert loaded.score(X, Y) == svm.score(X, Y)
        assert loaded.model.loss.label_weight == loss.label_weight
    own = StructuralSVM(Multiclass(cost=LabelF1())).fit(np.eye(2), [0, 1])
    with pytest.raises(TypeError, match=r"LabelF1 cannot be saved; predictions do not need it"):
        own.save(tmp_path / "model.slm")
