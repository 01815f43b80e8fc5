import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.models import Chain
from structlearn.waist import Scaling
from tests.models import sums
from tests.models.decoders import check_k_best, check_most_violating
from tests.models.enumerated import EnumeratedSecondOrder, Twins, bound
from tests.models.instances import weights

MARGIN = Scaling("margin", "linear")


def twins_of(random, *, lengths=(1, 2, 3, 4), n_labels=3, whole=False, **options):
    X = [random.normal(size=(length, 2)) for length in lengths]
    X = [x.round() for x in X] if whole else X
    Y = [tuple(random.integers(n_labels, size=length).tolist()) for length in lengths]
    problem = bound(Chain(order=2, classes=list(range(n_labels)), **options), X, Y)
    zero_one = options.pop("loss", "hamming") == "zero_one"
    return Twins(problem, EnumeratedSecondOrder(n_labels, zero_one=zero_one, **options), X, Y)


@st.composite
def instances(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_labels = draw(st.integers(1, 3))
    options = {"boundaries": draw(st.booleans()), "balance": draw(st.sampled_from([0.0, 0.5, 1.0]))}
    if draw(st.booleans()):
        options["label_weight"] = {label: 0.3 * label for label in range(n_labels)}
    if draw(st.booleans()):
        options = {"loss": "zero_one"}
    ties = draw(st.booleans())
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    twins = twins_of(random, lengths=lengths, n_labels=n_labels, whole=ties, **options)
    return twins, weights(random, twins, ties=ties) * draw(st.sampled_from([1.0, 30.0]))


@settings(max_examples=120)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    check_most_violating(*instance)


@settings(max_examples=60)
@given(instances(), st.integers(1, 9))
def test_k_best_lists_different_sequences_with_the_highest_scores(instance, k):
    check_k_best(*instance, k)


@settings(max_examples=60)
@given(instances())
def test_differences_and_losses_are_those_of_the_definition(instance):
    twins, _ = instance
    for i, listed in enumerate(twins.listed()):
        rows, losses = twins.problem.differences(np.full(len(listed.outputs), i), listed.outputs)
        written = rows.sparse()
        for k, expected in enumerate(listed.rows[:40]):
            row, again = np.zeros((2, twins.problem.n_features))
            rows.take(np.array([k])).add_to(row, np.ones(1))
            written.take(np.array([k])).add_to(again, np.ones(1))
            np.testing.assert_allclose(row, expected, atol=1e-12)
            np.testing.assert_allclose(again, expected, atol=1e-12)
        np.testing.assert_allclose(losses, listed.losses, rtol=1e-12)


@settings(max_examples=60)
@given(instances())
def test_largest_losses_are_exact_and_radii_are_upper_bounds(instance):
    twins, _ = instance
    listed = twins.listed()
    np.testing.assert_allclose(twins.problem.max_losses(), [each.losses.max() for each in listed], rtol=1e-12)
    radii = np.array([np.linalg.norm(each.rows, axis=1).max() for each in listed])
    assert np.all(twins.problem.radii() >= radii - 1e-12)


@settings(max_examples=80)
@given(instances())
def test_sums_agree_with_enumeration(instance):
    twins, w = instance
    sums.check_log_partitions(twins, w)
    sums.check_expected_features(twins, w)
    sums.check_truths(twins)


@settings(max_examples=15)
@given(instances())
def test_gradients_are_those_of_finite_differences(instance):
    twins, w = instance
    sums.check_log_losses(twins, w / np.maximum(np.abs(w).max(), 1.0))


@pytest.mark.parametrize("size", [300.0, 3e4])
def test_sums_are_exact_for_very_large_weights(size):
    random = np.random.default_rng(0)
    twins = twins_of(random)
    w = size * random.normal(size=twins.problem.n_features)
    sums.check_log_partitions(twins, w)
    sums.check_expected_features(twins, w)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([1.0, 300.0]))
def test_what_is_forbidden_is_neither_found_nor_counted(seed, pair_features, size):
    random = np.random.default_rng(seed)
    lengths, L = (1, 2, 4), 3
    X = [random.normal(size=(length, 2)) for length in lengths]
    moves = [(0, 1), (1, 0), (1, 2), (2, 2), (0, 0), (None, 0), (None, 1), (2, None), (1, None), (0, None)]
    allowed = [[{0, 1}] * length for length in lengths]
    allowed[2] = [None, {1, 0}, None, {0, 2}]
    options = {"classes": list(range(L)), "allowed_transitions": moves, "pair_features": pair_features}
    first, second = Chain(**options), Chain(**options, order=2)
    spec = second.specify(X, [[0] * length for length in lengths])
    problem = second.bind(spec, X, allowed=allowed)
    chain = first.bind(spec, X, allowed=allowed)
    w = size * random.normal(size=problem.n_features)
    without = chain.n_features
    for i, length in enumerate(lengths):
        listed = {tuple(y): score for y, score in chain.k_best(w[:without], L**length)[i]}
        for y in listed:
            for before, middle, after in zip(y, y[1:], y[2:], strict=False):
                listed[y] += w[without:].reshape(L, L, L)[middle, before, after]
        best = max(listed, key=listed.get)
        assert tuple(problem.predict(w)[i]) == best
        assert problem.log_partitions(w)[i] == pytest.approx(np.logaddexp.reduce(list(listed.values())), abs=1e-7)
        nodes = problem.label_probabilities(w)[i]
        np.testing.assert_allclose(nodes.sum(axis=1), 1.0)
        probability = {y: np.exp(score - problem.log_partitions(w)[i]) for y, score in listed.items()}
        for t in range(length):
            expected = [sum(p for y, p in probability.items() if y[t] == label) for label in range(L)]
            np.testing.assert_allclose(nodes[t], expected, atol=1e-7)
        assert {tuple(y) for y in problem.samples(w, 20, random)[i]} <= set(listed)


@pytest.mark.parametrize("n_labels", [*range(4, 24), 33])
@pytest.mark.parametrize("size", [1.0, 400.0])
def test_any_number_of_labels_is_summed_and_decoded(n_labels, size):
    random = np.random.default_rng(0)
    twins = twins_of(random, lengths=(5,), n_labels=n_labels, boundaries=False)
    w = size * random.normal(size=twins.problem.n_features)
    emission, transition, triplet = np.split(w, [2 * n_labels, 2 * n_labels + n_labels**2])
    scores = twins.X[0] @ emission.reshape(2, n_labels)
    transition, triplet = transition.reshape(n_labels, n_labels), triplet.reshape((n_labels,) * 3).transpose(1, 0, 2)

    def value(combine):
        message = scores[0][:, None] + transition + scores[1]
        for here in scores[2:]:
            message = combine(message[:, :, None] + triplet, axis=0) + transition + here
        return combine(message, axis=None)

    (found,) = twins.problem.predict(w)
    assert twins.reference.joint_feature(twins.X[0], found.tolist()) @ w == pytest.approx(value(np.max))
    assert twins.problem.log_partitions(w)[0] == pytest.approx(value(logsumexp), rel=1e-12)
    np.testing.assert_allclose(twins.problem.label_probabilities(w)[0].sum(axis=1), 1.0)


def test_samples_follow_the_distribution():
    twins = twins_of(np.random.default_rng(4), lengths=(3, 1), n_labels=2)
    w = np.random.default_rng(5).normal(size=twins.problem.n_features)
    sums.check_samples(twins, w, twins.reference.outputs(twins.X[0]))


def test_only_observed_triplets_have_a_weight():
    X, Y = [np.eye(4)], [[0, 1, 0, 0]]
    problem = bound(Chain(order=2, classes=[0, 1], observed_only=True), X, Y)
    rows, _ = problem.differences(np.array([0]), [np.array([0, 1, 1, 1])])
    row = np.zeros(problem.n_features)
    rows.add_to(row, np.ones(1))
    # Two rows of transitions, the first and the last label come before them, and all of them before the features.
    places = slice(8, 16)
    triplets = row[places].reshape(2, 2, 2)
    assert triplets[1, 0, 0] == triplets[0, 1, 0] == 1
    assert np.abs(triplets).sum() == 2
    gradient = np.zeros(problem.n_features)
    problem.log_losses(np.zeros(problem.n_features), np.ones(1), gradient)
    kept = gradient[places].reshape(2, 2, 2) != 0
    assert set(zip(*np.nonzero(kept), strict=True)) == {(1, 0, 0), (0, 1, 0)}


def alternating(random, n=40):
    """y_t depends on y_{t-2}, which pairs of neighbours cannot say: 0 0 1 1 0 0 1 1 …, seen through noise."""
    X, Y = [], []
    for _ in range(n):
        phase, length = random.integers(4), random.integers(8, 15)
        y = ((np.arange(length) + phase) // 2 % 2).tolist()
        X.append(random.normal(size=(length, 1)) + 1.5 * np.array(y)[:, None])
        Y.append(y)
    return X, Y


@pytest.mark.parametrize("learner", [StructuralSVM, StructuredPerceptron, ConditionalRandomField])
def test_patterns_of_three_labels_are_learnt(learner):
    X, Y = alternating(np.random.default_rng(0))
    X_test, Y_test = alternating(np.random.default_rng(1))
    first = learner(Chain(), fit_intercept=True).fit(X, Y).score(X_test, Y_test)
    second = learner(Chain(order=2), fit_intercept=True).fit(X, Y).score(X_test, Y_test)
    assert second > 0.93 > first + 0.05


def test_all_solvers_of_a_likelihood_agree():
    X, Y = alternating(np.random.default_rng(0), n=8)
    solvers = ["dual_coordinate", "lbfgs", "exponentiated_gradient"]
    sums.check_same_optimum(Chain(order=2), X, Y, solvers)


def test_exponentiated_gradient_reaches_the_optimum_of_the_margin():
    X, Y = alternating(np.random.default_rng(0), n=8)
    planes = StructuralSVM(Chain(order=2), C=5.0, tol=1e-5).fit(X, Y)
    parts = StructuralSVM(Chain(order=2), C=5.0, tol=1e-3, solver="exponentiated_gradient", max_iter=3000).fit(X, Y)
    assert parts.objective_ == pytest.approx(planes.objective_, rel=2e-3)


def test_saved_chains_keep_their_order(tmp_path):
    X, Y = alternating(np.random.default_rng(0), n=8)
    crf = ConditionalRandomField(Chain(order=2)).fit(X, Y)
    crf.save(tmp_path / "chain.slm")
    loaded = structlearn.load(tmp_path / "chain.slm")
    assert loaded.model.order == 2
    assert loaded.predict(X) == crf.predict(X)


def test_orders_that_there_are_not_are_refused():
    X, Y = [np.eye(3)], [["a", "b", "a"]]
    with pytest.raises(ValueError, match="order is 3"):
        bound(Chain(order=3), X, Y)
