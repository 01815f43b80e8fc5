import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.base import clone

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.data import from_bio, spans, to_bio
from structlearn.models import Segments
from structlearn.waist import Scaling
from tests.models import sums
from tests.models.decoders import check_k_best, check_most_violating
from tests.models.enumerated import EnumeratedSegments, Twins, bound
from tests.models.instances import weights

MARGIN = Scaling("margin", "linear")


def segmentation(random, length, n_labels, max_length):
    segments, begin = [], 0
    while begin < length:
        end = min(begin + int(random.integers(1, max_length + 1)), length)
        segments.append((int(random.integers(n_labels)), begin, end))
        begin = end
    return tuple(segments)


def twins_of(random, *, sizes=(1, 2, 3, 4), n_labels=2, max_length=3, whole=False, **options):
    X = [random.normal(size=(length, 2)) for length in sizes]
    X = [x.round() for x in X] if whole else X
    Y = [segmentation(random, length, n_labels, max_length) for length in sizes]
    model = Segments(classes=list(range(n_labels)), max_length=max_length, **options)
    return Twins(bound(model, X, Y), EnumeratedSegments(n_labels, max_length, **options), X, Y)


def codes_of(y, n_labels):
    return np.array([label + n_labels * (t > begin) for label, begin, end in y for t in range(begin, end)], np.int32)


@st.composite
def instances(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_labels = draw(st.integers(1, 3))
    options = {
        "lengths": draw(st.booleans()),
        "ends": draw(st.booleans()),
        "loss": draw(st.sampled_from(["segments", "hamming", "zero_one"])),
    }
    ties = draw(st.booleans())
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    max_length = draw(st.integers(1, 5))
    twins = twins_of(random, sizes=sizes, n_labels=n_labels, max_length=max_length, whole=ties, **options)
    return twins, weights(random, twins, ties=ties) * draw(st.sampled_from([1.0, 30.0]))


@settings(max_examples=150)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    check_most_violating(*instance)


@settings(max_examples=60)
@given(instances(), st.integers(1, 9))
def test_k_best_lists_different_segmentations_with_the_highest_scores(instance, k):
    check_k_best(*instance, k)


@settings(max_examples=80)
@given(instances())
def test_differences_and_losses_are_those_of_the_definition(instance):
    twins, _ = instance
    for i, listed in enumerate(twins.listed()):
        outputs = [codes_of(y, twins.reference.n_labels) for y in listed.outputs]
        rows, losses = twins.problem.differences(np.full(len(outputs), i), outputs)
        assert [tuple(y) for y in twins.problem.present(outputs)] == listed.outputs
        for k, expected in enumerate(listed.rows[:40]):
            row = np.zeros(twins.problem.n_features)
            rows.take(np.array([k])).add_to(row, np.ones(1))
            np.testing.assert_allclose(row, expected, atol=1e-12)
        np.testing.assert_array_equal(losses, listed.losses)


@settings(max_examples=80)
@given(instances())
def test_largest_losses_are_exact_and_radii_are_upper_bounds(instance):
    twins, _ = instance
    listed = twins.listed()
    np.testing.assert_array_equal(twins.problem.max_losses(), [each.losses.max() for each in listed])
    radii = np.array([np.linalg.norm(each.rows, axis=1).max() for each in listed])
    assert np.all(twins.problem.radii() >= radii - 1e-12)


@settings(max_examples=80)
@given(instances())
def test_sums_agree_with_enumeration(instance):
    twins, w = instance
    sums.check_log_partitions(twins, w)
    sums.check_expected_features(twins, w)
    sums.check_truths(twins)


@settings(max_examples=20)
@given(instances())
def test_gradients_are_those_of_finite_differences(instance):
    twins, w = instance
    sums.check_log_losses(twins, w / np.maximum(np.abs(w).max(), 1.0))


@settings(max_examples=30)
@given(instances())
def test_marginals_are_probabilities_of_a_token_s_label(instance):
    twins, w = instance
    for i, nodes in enumerate(twins.problem.label_probabilities(w)):
        scores, _ = sums.scores_and_features(twins, i, w)
        probabilities = np.exp(scores - np.logaddexp.reduce(scores))
        expected = np.zeros_like(nodes)
        for y, probability in zip(twins.reference.outputs(twins.X[i]), probabilities, strict=True):
            for label, begin, end in y:
                expected[begin:end, label] += probability
        np.testing.assert_allclose(nodes, expected, atol=1e-9)


@pytest.mark.parametrize("loss", ["segments", "hamming"])
def test_part_losses_are_the_loss_where_it_is_a_sum_over_parts(loss):
    twins = twins_of(np.random.default_rng(0), loss=loss)
    found = twins.problem.part_losses(np.arange(4))
    if loss == "segments":
        assert found is None
        return
    for i, listed in enumerate(twins.listed()):
        losses = twins.problem.part_losses(np.array([i]))
        for y, expected in zip(listed.outputs, listed.losses, strict=True):
            other = bound(Segments(classes=[0, 1], max_length=3, loss=loss), [twins.X[i]], [y])
            assert losses @ other.true_parts(np.array([0])) == expected


@pytest.mark.parametrize("n_labels", [*range(4, 24), 33])
def test_any_number_of_labels_is_summed_and_decoded(n_labels):
    random = np.random.default_rng(0)
    twins = twins_of(random, sizes=(9,), n_labels=n_labels, max_length=4)
    w = 3.0 * random.normal(size=twins.problem.n_features)
    emission, transition, length = np.split(w, [2 * n_labels, 2 * n_labels + n_labels**2])
    scores = twins.X[0] @ emission.reshape(2, n_labels)
    transition, length = transition.reshape(n_labels, n_labels), length.reshape(4, n_labels)

    def value(combine):
        left = []
        for end in range(1, 10):
            options = []
            for begin in range(max(0, end - 4), end):
                entered = combine(left[begin - 1][:, None] + transition, axis=0) if begin else 0.0
                options.append(entered + scores[begin:end].sum(axis=0) + length[end - begin - 1])
            left.append(combine(np.array(options), axis=0))
        return combine(left[-1], axis=0)

    (found,) = twins.problem.present(twins.problem.predict(w))
    assert twins.reference.joint_feature(twins.X[0], found) @ w == pytest.approx(value(np.max))
    assert twins.problem.log_partitions(w)[0] == pytest.approx(value(logsumexp), rel=1e-12)
    np.testing.assert_allclose(twins.problem.label_probabilities(w)[0].sum(axis=1), 1.0)


def test_samples_follow_the_distribution():
    twins = twins_of(np.random.default_rng(4), sizes=(3, 1), ends=True)
    w = 0.5 * np.random.default_rng(5).normal(size=twins.problem.n_features)
    sums.check_samples(twins, w, twins.reference.outputs(twins.X[0]))


def test_iterative_scaling_knows_the_largest_sum_of_features():
    twins = twins_of(np.random.default_rng(0), whole=True, ends=True)
    X = [np.abs(x) for x in twins.X]
    problem = bound(Segments(classes=[0, 1], max_length=3, ends=True), X, twins.Y)
    totals = [max(twins.reference.joint_feature(x, y).sum() for y in twins.reference.outputs(x)) for x in X]
    np.testing.assert_allclose(problem.feature_totals(), totals)


def stretches(random, n=30):
    """Segments "a" of three tokens among "b" of any length: single tokens say little."""
    X, Y = [], []
    for _ in range(n):
        y, begin = [], 0
        for _ in range(random.integers(2, 6)):
            label = "ab"[random.integers(2)]
            end = begin + (3 if label == "a" else int(random.integers(1, 3)))
            y.append((label, begin, end))
            begin = end
        signal = np.concatenate([np.full(end - begin, 1.0 if label == "a" else -1.0) for label, begin, end in y])
        X.append(np.column_stack([signal + random.normal(size=begin), np.ones(begin)]))
        Y.append(y)
    return X, Y


@pytest.mark.parametrize("learner", [StructuralSVM, StructuredPerceptron, ConditionalRandomField])
def test_lengths_of_segments_are_learnt(learner):
    X, Y = stretches(np.random.default_rng(0), n=60)
    X_test, Y_test = stretches(np.random.default_rng(1))
    without = learner(Segments(lengths=False)).fit(X, Y).score(X_test, Y_test)
    with_lengths = learner(Segments()).fit(X, Y).score(X_test, Y_test)
    assert with_lengths > without + 0.03


@pytest.mark.parametrize("loss", ["segments", "hamming"])
def test_training_ends_with_a_certificate(loss):
    X, Y = stretches(np.random.default_rng(0))
    svm = StructuralSVM(Segments(loss=loss), C=10.0, tol=1e-3).fit(X, Y)
    assert svm.converged_
    assert 0 <= svm.duality_gap_ <= 1e-3


def test_all_solvers_of_a_likelihood_agree():
    X, Y = stretches(np.random.default_rng(0), n=8)
    solvers = ["dual_coordinate", "lbfgs", "exponentiated_gradient"]
    sums.check_same_optimum(Segments(ends=True), X, Y, solvers)


def test_exponentiated_gradient_reaches_the_optimum_of_the_margin():
    X, Y = stretches(np.random.default_rng(0), n=8)
    planes = StructuralSVM(Segments(loss="hamming"), C=5.0, tol=1e-5).fit(X, Y)
    solver = {"solver": "exponentiated_gradient", "max_iter": 3000}
    parts = StructuralSVM(Segments(loss="hamming"), C=5.0, tol=1e-3, **solver).fit(X, Y)
    assert parts.objective_ == pytest.approx(planes.objective_, rel=2e-3)
    with pytest.raises(ValueError, match="needs a loss that is a sum over parts"):
        StructuralSVM(Segments(), C=5.0, **solver).fit(X, Y)


def test_threads_change_nothing():
    X, Y = stretches(np.random.default_rng(0))
    one, two = (ConditionalRandomField(Segments(ends=True), n_jobs=n).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.w_, two.w_)
    assert one.predict(X) == two.predict(X)


def test_saved_models_come_back(tmp_path):
    X, Y = stretches(np.random.default_rng(0), n=8)
    crf = ConditionalRandomField(Segments(max_length=5, ends=True)).fit(X, Y)
    crf.save(tmp_path / "segments.slm")
    loaded = structlearn.load(tmp_path / "segments.slm")
    assert loaded.spec_ == crf.spec_
    assert loaded.spec_.max_length == 5
    assert loaded.predict(X) == crf.predict(X)
    assert clone(crf.model).get_params() == loaded.model.get_params()


def test_the_longest_segment_of_the_training_data_is_the_longest_there_is():
    X, Y = stretches(np.random.default_rng(0), n=8)
    svm = StructuralSVM(Segments()).fit(X, Y)
    assert svm.spec_.max_length == 3
    assert max(end - begin for y in svm.predict(X) for _, begin, end in y) <= 3


def test_segments_that_cannot_be_predicted_are_wrong_and_impossible():
    X, Y = [np.eye(4)], [[("a", 0, 1), ("b", 1, 3), ("a", 3, 4)]]
    crf = ConditionalRandomField(Segments()).fit(X, Y)
    assert np.isfinite(crf.predict_log_proba(X, Y)[0])
    for strange in ([("a", 0, 3), ("b", 3, 4)], [("new", 0, 2), ("a", 2, 4)]):
        assert crf.predict_log_proba(X, [strange])[0] == -np.inf
        predicted = crf.predict(X)[0]
        loss = len(set(strange) ^ set(predicted))
        problem = crf.model_.bind(crf.spec_, X, [strange], allow_unknown=True)
        assert problem.losses(problem.predict(crf.w_))[0] == loss


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ("aaa", r"Y\[0\] is 'aaa'; expected a list of segments"),
        (["a", "b", "c"], r"Y\[0\]\[0\] is 'a'; expected a segment \(label, begin, end\)"),
        ([("a", 0, 1.5), ("a", 1.5, 3)], r"Y\[0\]\[0\] is .*; begin and end must be whole numbers"),
        ([("a", 1, 3)], r"Y\[0\]\[0\] begins at 1, but the segments before it end at 0: a gap"),
        ([("a", 0, 1), ("b", 2, 3)], r"Y\[0\]\[1\] begins at 2, but the segments before it end at 1: a gap"),
        ([("a", 0, 2), ("b", 1, 3)], r"Y\[0\]\[1\] begins at 1, but the segments before it end at 2: an overlap"),
        ([("a", 0, 0), ("b", 0, 3)], r"Y\[0\]\[0\] is \('a', 0, 0\); it must end after it begins"),
        ([("a", 0, 2)], r"Y\[0\] ends at 2 but X\[0\] has 3 rows"),
        ([], r"Y\[0\] ends at 0 but X\[0\] has 3 rows"),
        ([("a", 0, 3)], r"Y\[0\]\[0\] is \('a', 0, 3\), 3 tokens long, but max_length is 2"),
        ([("c", 0, 2), ("a", 2, 3)], r"Y\[0\]\[0\] is 'c', which is not among the 2 classes"),
    ],
)
def test_segments_that_do_not_cover_a_sequence_are_refused_by_name(y, message):
    with pytest.raises(ValueError, match=message):
        bound(Segments(classes=["a", "b"], max_length=2), [np.eye(3)], [y])


def test_impossible_options_are_refused():
    X, Y = [np.eye(2)], [[("a", 0, 2)]]
    with pytest.raises(ValueError, match="loss is 'f2'"):
        bound(Segments(loss="f2"), X, Y)
    for longest in (0, 2.5):
        with pytest.raises(ValueError, match=f"max_length is {longest}"):
            bound(Segments(max_length=longest), X, Y)


@given(st.lists(st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"])))
def test_tags_and_segments_say_the_same(tags):
    segments = from_bio(tags)
    assert [segment for segment in segments if segment[0] != "O"] == spans(tags, "conlleval")
    assert from_bio(to_bio(segments)) == segments
    assert len(to_bio(segments)) == len(tags)
