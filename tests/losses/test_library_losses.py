"""The losses of the library in all formulations, against enumeration of all outputs and their definitions by sets."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import structlearn
from structlearn import StructuralSVM
from structlearn.data import brackets
from structlearn.losses import (
    AdditiveLoss,
    BracketF1,
    CountedLoss,
    FMeasure,
    Hamming,
    LabelCosts,
    LabelF1,
    MatchF1,
    MissedBrackets,
    MissedMatches,
    MissedParts,
    MissedSegments,
    PartF1,
    SpanF1,
)
from structlearn.models import Alignment, Chain, Grammar, Multiclass, Segments
from tests.models.alignment.enumerated_alignment import EnumeratedAlignment, plain_features
from tests.models.decoders import check_most_violating
from tests.models.enumerated import (
    EnumeratedChain,
    EnumeratedMulticlass,
    EnumeratedSecondOrder,
    EnumeratedSegments,
    Twins,
    bound,
)
from tests.models.grammar.enumerated_grammar import EnumeratedGrammar, twins_of
from tests.models.own.test_hypergraph_model import Bracketings, EnumeratedBracketings

LENGTHS = st.lists(st.integers(1, 4), min_size=1, max_size=3)
BETAS = st.sampled_from([0.5, 1.0, 2.0])
SEEDS = st.integers(0, 10**6)


def wrong(y, z, beta):
    """β² times what is missed, and what is made up."""
    return beta**2 * len(y - z) + len(z - y)


def f_loss(y, z, beta):
    """1 − F_β by precision and recall."""
    if not y and not z:
        return 0.0
    precision, recall = len(y & z) / max(len(z), 1), len(y & z) / max(len(y), 1)
    both = beta**2 * precision + recall
    return 1.0 - (1 + beta**2) * precision * recall / both if both else 1.0


def labels_of(y):
    return {(t, label) for t, label in enumerate(y) if label != 0}


def segments_of(y):
    return {segment for segment in y if segment[0] != 0}


def drawn(random, reference, X):
    return [reference.outputs(x)[random.integers(len(reference.outputs(x)))] for x in X]


def agrees(model, reference, loss, X, Y, random):
    reference.loss = loss
    problem = bound(model, X, Y)
    twins = Twins(problem, reference, X, Y)
    check_most_violating(twins, random.normal(size=problem.n_features) * random.choice([0.3, 1.0, 3.0]))
    np.testing.assert_allclose(problem.max_losses(), [each.losses.max() for each in twins.listed()])


@settings(max_examples=40)
@given(seed=SEEDS, lengths=LENGTHS, beta=BETAS, order=st.sampled_from([1, 2]), chosen=st.booleans())
def test_f_of_labels(seed, lengths, beta, order, chosen):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(length, 2)) for length in lengths]
    reference = EnumeratedChain(3) if order == 1 else EnumeratedSecondOrder(3)
    which = {"labels": [1]} if chosen else {"negative": 0}

    def counted(y):
        return {(t, label) for t, label in labels_of(y) if label == 1 or not chosen}

    Y = drawn(random, reference, X)
    model = Chain(classes=[0, 1, 2], loss=LabelF1(beta=beta, **which), order=order)
    agrees(model, reference, lambda y, z: f_loss(counted(y), counted(z), beta), X, Y, random)


@settings(max_examples=40)
@given(seed=SEEDS, lengths=LENGTHS, structure=st.sampled_from(["chain", "second order", "segments"]))
def test_costs_of_labels(seed, lengths, structure):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(length, 2)) for length in lengths]
    costs = {(y, z): float(random.integers(4)) / 2 for y in range(2) for z in range(3) if y != z}
    loss = LabelCosts(costs, other=0.5)
    model, reference = {
        "chain": (Chain(classes=[0, 1, 2], loss=loss), EnumeratedChain(3)),
        "second order": (Chain(classes=[0, 1, 2], loss=loss, order=2), EnumeratedSecondOrder(3)),
        "segments": (Segments(classes=[0, 1, 2], max_length=2, loss=loss), EnumeratedSegments(3, 2)),
    }[structure]

    def cost(y, z):
        if structure == "segments":
            y, z = ([label for label, begin, end in some for _ in range(begin, end)] for some in (y, z))
        return sum(costs.get(pair, 0.5) for pair in zip(y, z, strict=True) if pair[0] != pair[1])

    agrees(model, reference, cost, X, drawn(random, reference, X), random)


def test_costs_of_classes_by_their_names():
    random = np.random.default_rng(0)
    X, Y = list(random.normal(size=(6, 2))), [0, 1, 2, 2, 1, 0]
    for loss in (LabelCosts({(0, 1): 5.0, (2, 0): 0.0}), Hamming({1: 3.0})):
        reference = EnumeratedMulticlass(loss.cost([0, 1, 2]))
        agrees(Multiclass(classes=[0, 1, 2], cost=loss), reference, reference.loss, X, Y, random)


@settings(max_examples=60)
@given(
    seed=SEEDS,
    lengths=LENGTHS,
    beta=BETAS,
    max_length=st.integers(1, 4),
    f_measure=st.booleans(),
    which=st.sampled_from([{"negative": 0}, {"labels": [1]}, {"negative": None}]),
)
def test_losses_of_segments(seed, lengths, beta, max_length, f_measure, which):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(length, 2)) for length in lengths]
    reference = EnumeratedSegments(3, max_length)
    loss = (SpanF1 if f_measure else MissedSegments)(beta=beta, **which)

    def counted(y):
        return {segment for segment in y if loss.counted([segment[0]])[0]}

    def between(y, z):
        return (f_loss if f_measure else wrong)(counted(y), counted(z), beta)

    model = Segments(classes=[0, 1, 2], max_length=max_length, loss=loss)
    agrees(model, reference, between, X, drawn(random, reference, X), random)


class CountedSegments(CountedLoss):
    """`SpanF1`, in the form of one's own."""

    def counts(self, truth, local):
        return SpanF1(beta=2.0).counts(truth, local)

    def value(self, counts, true_counts):
        return SpanF1(beta=2.0).value(counts, true_counts)


class AddedSegments(AdditiveLoss):
    """`MissedSegments`, in the form of one's own."""

    def parts(self, truth, local):
        return MissedSegments(negative="O", beta=0.5).parts(truth, local)


@pytest.mark.parametrize(
    "losses",
    [(SpanF1(beta=2.0), CountedSegments()), (MissedSegments(negative="O", beta=0.5), AddedSegments())],
)
def test_a_special_form_of_segment_losses_is_the_general_one(losses):
    random = np.random.default_rng(0)
    X = [random.normal(size=(length, 2)) for length in (5, 1, 7)]
    Y = [[("O", 0, 2), ("A", 2, 5)], [("B", 0, 1)], [("A", 0, 1), ("B", 1, 4), ("O", 4, 7)]]
    never_seen = [[("New", 0, 2), ("A", 2, 5)], [("B", 0, 1)], [("A", 0, 7)]]
    models = [Segments(classes=["O", "A", "B"], max_length=3, loss=loss) for loss in losses]
    every, w = np.arange(3), random.normal(size=2 * 3 + 9 + 9)
    for outputs in (Y, never_seen):
        problems = [model.bind(model.specify(X, Y), X, outputs, allow_unknown=True) for model in models]
        np.testing.assert_allclose(*(problem.losses(problem.best(w, every)) for problem in problems))
        np.testing.assert_allclose(*(problem.max_losses() for problem in problems))


@settings(max_examples=40)
@given(
    seed=SEEDS,
    sizes=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=2),
    ends=st.sampled_from(["global", "local"]),
    beta=BETAS,
    loss=st.sampled_from(["f", "missed", "near", "near along s"]),
)
def test_losses_of_matches(seed, sizes, ends, beta, loss):
    random = np.random.default_rng(seed)
    X = [tuple("".join(random.choice(list("abc"), size)) for size in pair) for pair in sizes]
    n_features, match, gap = plain_features("abc", "affine")
    reference = EnumeratedAlignment(n_features, match, gap, ends=ends)
    shift, along_s = int(loss.startswith("near")), loss.endswith("s")

    def near(match, others):
        moves = [(step, 0) if along_s else (0, step) for step in range(-shift, shift + 1)]
        return any((match[0] + i, match[1] + j) in others for i, j in moves)

    def between(y, z):
        if loss == "f":
            return f_loss({*y}, {*z}, beta)
        missed, made_up = sum(not near(m, z) for m in y), sum(not near(m, y) for m in z)
        return (beta**2 * missed + made_up) / max(len(y), 1)

    given_loss = MatchF1(beta) if loss == "f" else MissedMatches(shift, along_s=along_s, beta=beta)
    model = Alignment("abc", gaps="affine", ends=ends, loss=given_loss)
    agrees(model, reference, between, X, drawn(random, reference, X), random)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, beta=BETAS, f_measure=st.booleans(), root=st.booleans())
def test_losses_of_brackets(seed, beta, f_measure, root):
    random = np.random.default_rng(seed)
    loss = (BracketF1 if f_measure else MissedBrackets)(beta)
    twins = twins_of(random, sizes=(2, 3), root=root, loss=loss)
    assume(all(len(twins.reference.outputs(x)) <= 200 for x in twins.X))

    class Reference(EnumeratedGrammar):
        def loss(self, y, z):
            y, z = set(brackets(y)), set(brackets(z))
            return (f_loss if f_measure else wrong)(y, z, beta)

    twins = twins._replace(reference=Reference(twins.reference.model, twins.reference.spec))
    check_most_violating(twins, random.normal(size=twins.problem.n_features))


@settings(max_examples=30)
@given(seed=SEEDS, beta=BETAS, f_measure=st.booleans())
def test_losses_of_parts(seed, beta, f_measure):
    random = np.random.default_rng(seed)
    reference = EnumeratedBracketings("missed")
    X = [random.normal(size=size) for size in (2, 4)]

    def between(y, z):
        return (f_loss if f_measure else wrong)(set(y), set(z), beta)

    model = Bracketings((PartF1 if f_measure else MissedParts)(beta))
    agrees(model, reference, between, X, drawn(random, reference, X), random)


def test_an_f_measure_of_ones_own_says_what_is_counted_and_no_more():
    class VowelF1(FMeasure):
        def counts(self, truth, local):
            found = np.broadcast_to([label in "aeiou" for label in local.labels], local.shape)
            right = np.array([[label == true for label in local.labels] for true in truth])
            return np.stack([found & right, found]).astype(int)

    X, Y = [np.eye(3), np.eye(3)[:2]], [list("abe"), list("ab")]
    svm = StructuralSVM(Chain(loss=VowelF1(beta=2.0)), C=10, rescaling="slack").fit(X, Y)
    assert svm.predict(X) == Y
    assert svm.score(X, [list("aaa"), list("ab")]) == pytest.approx(1 - (1 - 5 * 1 / (4 * 3 + 2)) / 2)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Chain(loss=LabelF1(beta=0)), "beta is 0; it must be a positive number"),
        (Chain(loss=LabelF1("PER")), "labels is 'PER'; it must be a list of the labels that count"),
        (Chain(loss=LabelF1(["PER"])), "labels names 'PER', which is not one of the labels: 'B-PER', 'O'"),
        (Chain(loss=LabelF1(negative="o")), "negative names 'o', which is not one of the labels: 'B-PER', 'O'; name"),
        (Chain(loss=SpanF1()), r"loss is SpanF1\(\), which is about whole spans.*use Segments, with `from_bio`"),
        (Chain(loss="span_f1"), "loss is 'span_f1', which is about whole spans.*use Segments, with `from_bio`"),
        (Chain(loss=LabelCosts({("O", "O"): 1.0})), "a right label costs nothing"),
        (Chain(loss=LabelCosts({"O": 1.0})), r"costs has the key 'O'; expected a pair \(true label, predicted label\)"),
        (Chain(loss=LabelCosts({("O", "x"): 1.0})), "costs names 'x', which is not one of the labels"),
        (Chain(loss=LabelCosts({("O", "B-PER"): -1.0})), r"costs\[\('O', 'B-PER'\)\] is -1.0; it must be a number ≥ 0"),
        (Chain(loss=LabelCosts([[0, 1], [1, 0]])), "LabelCosts.from_matrix makes one of a matrix"),
    ],
)
def test_options_that_cannot_be_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(model).fit([np.eye(2)], [["B-PER", "O"]])


def test_a_matrix_of_costs_has_a_row_and_a_column_for_each_label():
    with pytest.raises(ValueError, match=r"matrix has shape \(2, 2\); 3 labels need a row and a column each"):
        LabelCosts.from_matrix("abc", np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"matrix\[1, 1\] is 1; a right label costs nothing"):
        LabelCosts.from_matrix("ab", [[0, 1], [1, 1]])


def test_too_many_levels_are_refused_with_the_example_and_their_size():
    n = 800
    Y = [[("A", t, t + 1) for t in range(n)]]
    with pytest.raises(ValueError, match=r"SpanF1.counts of example 0 makes 641601 levels, whose table would take"):
        StructuralSVM(Segments(classes=["O", "A"], max_length=1, loss="f1")).fit([np.ones((n, 1))], Y)


@pytest.mark.parametrize(
    ("model", "Y", "words"),
    [
        (Chain(loss=LabelF1(labels=["A"], beta=2.0)), ["A", "O"], "1 − F2 of the labels"),
        (Chain(loss="f1"), ["A", "O"], "1 − F1 of the labels"),
        (Chain(loss=LabelCosts({("A", "O"): 2.0})), ["A", "O"], "the cost of taking one label for another"),
        (Segments(loss="f1"), [("A", 0, 1), ("O", 1, 2)], "1 − F1 of the segments"),
        (
            Segments(loss=MissedSegments(negative="O", beta=0.5)),
            [("A", 0, 1), ("O", 1, 2)],
            "segments that are missed or made up, those missed 0.25 times",
        ),
    ],
)
def test_losses_clone_and_are_saved_and_described(model, Y, words, tmp_path):
    X, Y = [np.eye(2)], [Y]
    svm = StructuralSVM(clone(model), rescaling="slack").fit(X, Y)
    svm.save(tmp_path / "model.slm")
    loaded = structlearn.load(tmp_path / "model.slm")
    assert loaded.predict(X) == svm.predict(X)
    assert loaded.score(X, Y) == svm.score(X, Y)
    assert loaded.model.loss_in_words() == model.loss_in_words() == words
    if not isinstance(model.loss, str):
        assert loaded.model.loss.get_params() == model.loss.get_params()


def test_fingerprints_tell_losses_apart():
    X, Y = [np.eye(3)], [["A", "O", "A"]]
    prints = {
        bound(Chain(loss=loss), X, Y).fingerprint()
        for loss in (LabelF1(), LabelF1(beta=2.0), LabelF1(["O"]), LabelCosts({("A", "O"): 2.0}), "hamming")
    }
    assert len(prints) == 5


@pytest.mark.parametrize(
    ("model", "X", "whole", "known"),
    [
        (
            Segments(max_length=2, loss=MissedSegments(negative="O")),
            np.eye(2),
            [("O", 0, 1), ("A", 1, 2)],
            [("A", 1, 2)],
        ),
        (Segments(max_length=2, loss=MissedSegments(beta=2.0)), np.eye(2), [("O", 0, 1), ("A", 1, 2)], [("A", 1, 2)]),
        (Segments(max_length=2, loss="f1"), np.eye(2), [("O", 0, 1), ("A", 1, 2)], [("A", 1, 2)]),
        (Alignment("ab", loss=MissedMatches(beta=1.0)), ("ab", "ab"), ((0, 0), (1, 1)), ((0, 0),)),
        (Alignment("ab", loss="f1"), ("ab", "ab"), ((0, 0), (1, 1)), ((0, 0),)),
        (Grammar(loss=MissedBrackets(beta=2.0)), ["a"], "(S (a a))", [("S", 0, 1)]),
        (Bracketings(MissedParts(beta=2.0)), np.ones(2), [("node", 0, 1, 2), (0, 0, 2)], None),
    ],
)
def test_what_is_made_up_is_known_of_whole_outputs_only(model, X, whole, known):
    spec = model.specify([X], [whole])
    with pytest.raises(ValueError, match=r"is for whole \w+; (those|with outputs) known in part"):
        model.partial_loss(spec, [X], [known])


def test_the_class_of_a_loss_is_no_loss():
    with pytest.raises(ValueError, match=r"loss is the class LabelF1; give an object, LabelF1\(\)"):
        Chain(loss=LabelF1).check_options()
