import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.models import Segments
from tests.models.enumerated import EnumeratedSegments
from tests.models.restrictions import check_partial_loss, check_restricted, restricted
from tests.models.segments.test_segments import segmentation


def fits(label, known):
    return known is None or (label in known if isinstance(known, (set, list)) else label == known)


def has(y, segment):
    known, begin, end = segment
    return any((b, e) == (begin, end) and fits(label, known) for label, b, e in y)


def agrees(y, known):
    return all(has(y, segment) for segment in known or ())


def partial(random, y, n_labels):
    """Some of the segments of y, with their labels or with less."""
    if random.integers(5) == 0:
        return None
    known = []
    for label, begin, end in y:
        others = {label, *np.flatnonzero(random.integers(2, size=n_labels)).tolist()}
        if random.integers(2):
            known.append(([label, None, others, list(others)][random.integers(4)], begin, end))
    return [known[k] for k in random.permutation(len(known))]


@st.composite
def instances(draw, losses=("segments", "hamming", "zero_one")):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_labels, max_length = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    options = {"lengths": draw(st.booleans()), "ends": draw(st.booleans()), "loss": draw(st.sampled_from(losses))}
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    X = [random.normal(size=(length, 2)).round(draw(st.sampled_from([0, 5]))) for length in sizes]
    Y = [segmentation(random, length, n_labels, max_length) for length in sizes]
    allowed = [partial(random, y, n_labels) for y in Y]
    model = Segments(classes=list(range(n_labels)), max_length=max_length, **options)
    size = model.n_weights(model.specify(X, Y))
    w = random.integers(-1, 2, size).astype(float) if draw(st.booleans()) else 5.0 * random.normal(size=size)
    return model, EnumeratedSegments(n_labels, max_length, **options), X, Y, allowed, w


@settings(max_examples=150)
@given(instances())
def test_every_decoder_keeps_to_known_segments(instance):
    *given, w = instance
    twins = restricted(*given, agrees)
    check_restricted(twins, w)
    for x, nodes in zip(twins.X, twins.problem.label_probabilities(w), strict=True):
        possible = {(t, label) for y in twins.reference.outputs(x) for label, b, e in y for t in range(b, e)}
        assert set(zip(*map(np.ndarray.tolist, np.nonzero(nodes)), strict=True)) <= possible


@settings(max_examples=100)
@given(instances())
def test_a_loss_of_known_segments_counts_what_is_missed(instance):
    *given, w = instance
    kind = given[0].loss

    def loss(y, known):
        if kind == "hamming":
            labels = [label for label, begin, end in y for _ in range(begin, end)]
            tokens = [(t, label) for label, begin, end in known or () for t in range(begin, end)]
            return float(sum(not fits(labels[t], label) for t, label in tokens))
        missed = sum(not has(y, segment) for segment in known or ())
        return float(missed if kind == "segments" else missed > 0)

    check_partial_loss(*given, loss, w)


def test_long_sequences_with_many_labels_keep_to_known_segments():
    random = np.random.default_rng(0)
    classes = list(range(13))
    Y = [segmentation(random, 60, 13, 6) for _ in range(20)]
    X = [random.normal(size=(60, 3)) for _ in Y]
    crf = ConditionalRandomField(Segments(classes=classes, max_length=6, ends=True), C=1).fit(X, Y)
    allowed = [[segment for segment in y if random.integers(3) == 0] for y in Y]
    for known, y, best, (drawn,) in zip(
        allowed,
        crf.predict(X, allowed=allowed),
        crf.k_best(X, 20, allowed=allowed),
        crf.sample(X, allowed=allowed, random_state=0),
        strict=True,
    ):
        assert agrees(y, known)
        assert agrees(drawn, known)
        assert all(agrees(other, known) for other, _ in best)
        assert best[0][0] == y
    for known, nodes in zip(allowed, crf.predict_marginals(X, allowed=allowed), strict=True):
        np.testing.assert_allclose(nodes.sum(axis=1), 1.0)
        for label, begin, end in known:
            np.testing.assert_allclose(nodes[begin:end, label], 1.0)
    assert np.all(crf.entropy(X, allowed=allowed) <= crf.entropy(X))


def test_training_aims_at_segmentations_with_the_known_segments_only():
    random = np.random.default_rng(1)
    Y = [segmentation(random, 6, 2, 3) for _ in range(8)]
    X = [random.normal(size=(6, 2)) for _ in Y]
    free = StructuralSVM(Segments(), C=5, tol=1e-6).fit(X, Y)
    held = StructuralSVM(Segments(), C=5, tol=1e-6).fit(X, Y, allowed=[[y[0]] for y in Y])
    whole = StructuralSVM(Segments(), C=5, tol=1e-6).fit(X, Y, allowed=Y)
    assert whole.objective_ == pytest.approx(0.0, abs=1e-9)
    assert whole.objective_ < held.objective_ < free.objective_


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([("NP", 0, 2), ("NP", 1, 3)], r"allowed\[0\]: no segmentation has \('NP', 0, 2\) and \('NP', 1, 3\)"),
        ([("NP", 0, 3)], r"allowed\[0\]\[0\] is \('NP', 0, 3\), 3 tokens long, but max_length is 2"),
        ([("NP", 2, 4)], r"allowed\[0\]\[0\] is \('NP', 2, 4\), but X\[0\] has 3 rows"),
        ([("NP", 2, 1)], r"allowed\[0\]\[0\] is \('NP', 2, 1\); it must end after it begins"),
        ([("NP", 1, 1)], r"allowed\[0\]\[0\] is \('NP', 1, 1\); it must end after it begins"),
        ([("NP", -1, 1)], r"allowed\[0\]\[0\] is \('NP', -1, 1\), but X\[0\] has 3 rows"),
        ([("NP", 0.5, 1)], "begin and end must be whole numbers"),
        ([("NP", 0)], r"expected a segment \(label, begin, end\)"),
        ("NP", r"expected None or a list of segments"),
        ([("VP", 0, 1)], r"the label of allowed\[0\]\[0\] is 'VP', but 'VP' is not one of the labels"),
        ([(set(), 0, 1)], "no label is left"),
    ],
)
def test_impossible_restrictions_name_the_segment(known, message):
    X, Y = [np.eye(3)], [[("NP", 0, 2), ("O", 2, 3)]]
    svm = StructuralSVM(Segments()).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        svm.predict(X, allowed=[known])


def test_a_truth_that_is_ruled_out_is_named():
    X, Y = [np.eye(3)] * 2, [[("NP", 0, 2), ("O", 2, 3)]] * 2
    with pytest.raises(ValueError, match=r"Y\[1\] has \('NP', 0, 2\), which allowed\[1\] rules out"):
        StructuralSVM(Segments()).fit(X, Y, allowed=[None, [("NP", 1, 2)]])


def test_a_loss_of_one_s_own_is_not_for_what_is_known_in_part():
    from structlearn.losses import AdditiveLoss

    class Own(AdditiveLoss):
        def parts(self, truth, local):
            return np.zeros(local.shape)

    model, X, Y = Segments(loss=Own()), [np.eye(3)], [[("NP", 0, 2), ("O", 2, 3)]]
    with pytest.raises(ValueError, match="is for whole segmentations"):
        model.partial_loss(model.specify(X, Y), X, Y)
