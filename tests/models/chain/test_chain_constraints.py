"""Allowed transitions, allowed labels, fixed ends: in decoding and in training."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.models import Chain, PythonModel
from structlearn.models.chain.transitions import transition_mask
from tests.models.enumerated import EnumeratedChain

TAGS = ["B-X", "I-X", "O", "B-Y", "I-Y"]


def valid_bio(labels):
    return all(
        not after.startswith("I") or (before is not None and before[0] in "BI" and before[1:] == after[1:])
        for before, after in pairwise([None, *labels])
    )


def sentences(random, n=12):
    """Random inputs with valid tags."""
    X, Y = [], []
    while len(Y) < n:
        y = [TAGS[k] for k in random.integers(len(TAGS), size=random.integers(1, 6))]
        if valid_bio(y):
            Y.append(y)
            X.append(random.normal(size=(len(y), 3)))
    return X, Y


@pytest.mark.parametrize("estimator", [StructuralSVM, ConditionalRandomField])
def test_predictions_are_valid_bio(estimator):
    random = np.random.default_rng(0)
    X, Y = sentences(random)
    noise = [random.normal(size=(8, 3)) for _ in range(50)]
    free = estimator(Chain(), C=20).fit(X, Y)
    held = estimator(Chain(allowed_transitions="BIO"), C=20).fit(X, Y)
    assert not all(map(valid_bio, free.predict(noise)))
    assert all(map(valid_bio, held.predict(noise)))
    assert all(valid_bio(y) for best in held.k_best(noise, 5) for y, _ in best)


def test_bioes_begins_and_ends_what_it_should():
    classes = ["B-X", "I-X", "E-X", "S-X", "O"]
    mask = transition_mask("BIOES", classes)
    assert mask.start.tolist() == [True, False, False, True, True]
    assert mask.stop.tolist() == [False, False, True, True, True]
    assert mask.moves.astype(int).tolist() == [
        [0, 1, 1, 0, 0],
        [0, 1, 1, 0, 0],
        [1, 0, 0, 1, 1],
        [1, 0, 0, 1, 1],
        [1, 0, 0, 1, 1],
    ]


@pytest.mark.parametrize("loss", ["hamming", "zero_one"])
def test_training_sees_allowed_outputs_only(loss):
    random = np.random.default_rng(1)
    allowed = [(None, 0), (None, 2), (0, 1), (1, 0), (1, 2), (2, 2), (2, 0), (1, None), (2, None)]
    Y = [(0, 1), (2,), (2, 2, 0, 1), (0, 1, 2)]
    X = [random.normal(size=(len(y), 2)) for y in Y]
    reference = EnumeratedChain(3, zero_one=loss == "zero_one", allowed_transitions=allowed)
    chain = Chain(classes=[0, 1, 2], loss=loss, allowed_transitions=allowed)
    expected = StructuralSVM(PythonModel(reference), C=7, tol=1e-8).fit(X, Y)
    found = StructuralSVM(chain, C=7, tol=1e-8).fit(X, Y)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    free = StructuralSVM(Chain(classes=[0, 1, 2], loss=loss), C=7, tol=1e-8).fit(X, Y)
    assert found.objective_ < free.objective_ - 1e-3


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_allowed_labels_restrict_every_decoder(seed):
    random = np.random.default_rng(seed)
    X, Y = [random.normal(size=(3, 2)) for _ in range(4)], random.integers(3, size=(4, 3)).tolist()
    crf = ConditionalRandomField(Chain(classes=[0, 1, 2]), C=5, tol=1e-2).fit(X, Y)
    allowed = [[None, 1, {0, 2}], None, [[0, 1], None, 2], [2, 2, 2]]
    sets = [[_choices(entry) for entry in (tokens or [None] * 3)] for tokens in allowed]
    reference = EnumeratedChain(3)
    marginals = crf.predict_marginals(X, allowed=allowed)
    best = crf.k_best(X, 30, allowed=allowed)
    for x, choices, nodes, found, predicted in zip(
        X, sets, marginals, best, crf.predict(X, allowed=allowed), strict=True
    ):
        outputs = list(product(*choices))
        scores = np.array([reference.joint_feature(x, y) @ crf.w_ for y in outputs])
        p = np.exp(scores - np.logaddexp.reduce(scores))
        assert len(found) == len(outputs)
        np.testing.assert_allclose([score for _, score in found], np.sort(np.log(p))[::-1], atol=1e-9)
        assert tuple(predicted) == outputs[int(scores.argmax())]
        for t, label in product(range(3), range(3)):
            share = sum(q for q, y in zip(p, outputs, strict=True) if y[t] == label)
            assert nodes[t, label] == pytest.approx(share, abs=1e-9)


def _choices(entry):
    if entry is None:
        return [0, 1, 2]
    return sorted(entry) if isinstance(entry, (set, list)) else [entry]


def test_training_with_a_tag_dictionary_aims_at_allowed_labels_only():
    random = np.random.default_rng(4)
    X, Y = [random.normal(size=(3, 2)) for _ in range(6)], [[0, 1, 2]] * 6
    dictionary = [[{0, 1}, {1, 2}, None]] * 6
    free = StructuralSVM(Chain(), C=5, tol=1e-6).fit(X, Y)
    held = StructuralSVM(Chain(), C=5, tol=1e-6).fit(X, Y, allowed=dictionary)
    assert held.objective_ < free.objective_


def test_ends_have_their_label_and_no_features():
    random = np.random.default_rng(2)
    Y = [[0, 1, 1, 0], [1, 1, 0, 1, 0], [1]]
    X = [np.eye(2)[y] + 0.1 * random.normal(size=(len(y), 2)) for y in Y]
    svm = StructuralSVM(Chain(ends=0), C=100).fit(X, Y)
    predicted = svm.predict(X)
    assert [y[0] for y in predicted] == [y[-1] for y in predicted] == [0, 0, 0]
    assert [y[1:-1] for y in predicted] == [y[1:-1] for y in Y]
    # The first label of the second sequence and the single token of the third are 1: out of reach.
    assert svm.score(X, Y) == pytest.approx(1 - 2 / 10)
    moved = [x.copy() for x in X]
    for x in moved:
        x[0] = x[-1] = 1e6
    assert svm.predict(moved) == predicted


def segmentations(length, kinds):
    """All ways to lay spans (kind, begin, end) over so many tokens, from left to right."""
    if length == 0:
        yield []
        return
    for rest in segmentations(length - 1, kinds):
        yield rest
    for kind in kinds:
        for size in range(1, length + 1):
            for rest in segmentations(length - size, kinds):
                yield [*rest, (kind, length - size, length)]


def written(found, length, scheme):
    """The tags that stand for spans, by the definition of the scheme."""
    tags, before = ["O"] * length, (None, None)
    for kind, begin, end in found:
        tags[begin:end] = [f"I-{kind}"] * (end - begin)
        if scheme != "IOB1" or before == (kind, begin):
            tags[begin] = f"B-{kind}"
        if scheme == "BIOES":
            tags[end - 1] = f"E-{kind}" if end - begin > 1 else f"S-{kind}"
        before = (kind, end)
    return tuple(tags)


@pytest.mark.parametrize(("scheme", "letters"), [("BIO", "BI"), ("IOB1", "BI"), ("BIOES", "BIES")])
def test_a_scheme_allows_exactly_the_tags_of_all_segmentations(scheme, letters):
    classes = ["O", *(f"{letter}-{kind}" for letter in letters for kind in "XY")]
    mask = transition_mask(scheme, classes)
    for length in (1, 2, 3, 4):
        allowed = {
            tuple(classes[k] for k in codes)
            for codes in product(range(len(classes)), repeat=length)
            if mask.start[codes[0]] and mask.stop[codes[-1]] and all(mask.moves[pair] for pair in pairwise(codes))
        }
        found = list(segmentations(length, "XY"))
        assert allowed == {written(spans, length, scheme) for spans in found}
        assert len(allowed) == len(found)


@pytest.mark.parametrize(
    ("options", "Y", "message"),
    [
        ({"allowed_transitions": "IOB1"}, [["I-X", "B-Y"]], r"Y\[0\]\[1\] is 'B-Y', which is not allowed after 'I-X'"),
        ({"allowed_transitions": "BIO"}, [["O", "I-X"]], r"Y\[0\]\[1\] is 'I-X', which is not allowed after 'O'"),
        ({"allowed_transitions": "BIO"}, [["O", "O"], ["I-X", "O"]], r"Y\[1\]\[0\] is 'I-X', .* at the beginning"),
        ({"allowed_transitions": "BIO"}, [["O", "noun"]], "does not fit the label 'noun'"),
        ({"allowed_transitions": "IOB"}, [["O", "O"]], "it may be 'BIO', 'IOB1', 'BIOES' or pairs"),
        ({"allowed_transitions": [("O", "Q")]}, [["O", "O"]], "'Q' is not one of the labels"),
        ({"allowed_transitions": [("O", "O"), ("O", None), ("B-X", "O")]}, [["O", "B-X"]], "not allowed after 'O'"),
        ({"ends": "Q"}, [["O", "O"]], "ends is 'Q'"),
        ({"pair_features": [7]}, [["O", "O"]], "pair_features holds 7"),
    ],
)
def test_impossible_options_are_named(options, Y, message):
    X = [np.eye(2)] * len(Y)
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Chain(**options)).fit(X, Y)


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        ([["I-X", None]], r"X\[0\] has no labelling that satisfies all constraints"),
        ([["O", "I-X"]], r"X\[0\] has no labelling"),
        ([["noun", None]], r"allowed\[0\]\[0\] is 'noun', but 'noun' is not one of the labels"),
        ([[None]], r"allowed\[0\] has 1 entries but X\[0\] has 2 rows"),
        ([[set(), None]], r"allowed\[0\]\[0\] is set\(\): no label is left"),
        ([], "each of the 1 sequences"),
    ],
)
def test_impossible_restrictions_name_the_sequence(allowed, message):
    X, Y = [np.eye(2), np.eye(2)], [["B-X", "I-X"], ["O", "O"]]
    svm = StructuralSVM(Chain(allowed_transitions="BIO")).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        svm.predict([np.eye(2)], allowed=allowed)


def test_a_sequence_too_short_for_the_transitions_is_named():
    allowed = [(None, "a"), ("a", "b"), ("b", None)]
    svm = StructuralSVM(Chain(allowed_transitions=allowed)).fit([np.eye(2)], [["a", "b"]])
    with pytest.raises(ValueError, match=r"X\[1\] has no labelling"):
        svm.predict([np.eye(2), np.eye(2)[:1]])
