import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.models import Alignment
from structlearn.waist import Scaling
from tests.models import sums
from tests.models.alignment.enumerated_alignment import EnumeratedAlignment, alignments, plain_features
from tests.models.decoders import check_most_violating
from tests.models.enumerated import Twins, bound
from tests.models.instances import weights

MARGIN = Scaling("margin", "linear")
ENDS = ["global", "semiglobal", "local"]


def twins_of(random, sizes, *, gaps="linear", normalise=False, **options):
    alphabet = "abc"
    X = [tuple("".join(random.choice(list(alphabet), size)) for size in pair) for pair in sizes]
    Y = [list(alignments(*pair))[random.integers(len(list(alignments(*pair))))] for pair in sizes]
    n_features, match, gap = plain_features(alphabet, gaps)
    scale = (lambda s, t: 1 / (len(s) + len(t))) if normalise else None
    reference = EnumeratedAlignment(n_features, match, gap, scale=scale, **options)
    problem = bound(Alignment(alphabet, gaps=gaps, normalise=normalise, **options), X, Y)
    return Twins(problem, reference, X, Y)


def codes_of(y, m):
    codes = np.full(m, -1, np.int32)
    for i, j in y:
        codes[i] = j
    return codes


@st.composite
def instances(draw, longest=4, losses=("q", "q_shift", "zero_one")):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    options = {
        "ends": draw(st.sampled_from(ENDS)),
        "gaps": draw(st.sampled_from(["linear", "affine"])),
        "loss": draw(st.sampled_from(losses)),
        "shift": draw(st.integers(0, 2)),
        "reading": draw(st.sampled_from(["figure", "text"])),
        "normalise": draw(st.booleans()),
    }
    sizes = draw(st.lists(st.tuples(st.integers(1, longest), st.integers(1, longest)), min_size=1, max_size=3))
    twins = twins_of(random, sizes, **options)
    ties = draw(st.booleans())
    return twins, weights(random, twins, ties=ties) * draw(st.sampled_from([1.0, 30.0]))


@settings(max_examples=150)
@given(instances())
def test_oracles_agree_with_enumeration(instance):
    check_most_violating(*instance)


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("gaps", ["linear", "affine"])
def test_every_decoder_agrees_with_all_alignments_of_strings_up_to_length_five(ends, gaps):
    random = np.random.default_rng(0)
    sizes = [(m, n) for m in range(1, 6) for n in range(1, 6)]
    twins = twins_of(random, sizes, ends=ends, gaps=gaps)
    w = random.normal(size=twins.problem.n_features)
    found = twins.problem.k_best(w, 7)
    for i, x in enumerate(twins.X):
        scores, _ = sums.scores_and_features(twins, i, w)
        expected = np.sort(scores)[::-1][:7]
        np.testing.assert_allclose([score for _, score in found[i]], expected, atol=1e-9)
        for y, score in found[i]:
            assert twins.reference.joint_feature(x, y) @ w == pytest.approx(score)
        assert len({y for y, _ in found[i]}) == len(expected)
    sums.check_log_partitions(twins, w)
    sums.check_expected_features(twins, w)


@settings(max_examples=100)
@given(
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.sampled_from(ENDS),
    st.sampled_from(["linear", "affine"]),
    st.sampled_from(["plain", "context"]),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_the_best_of_longer_pairs_scores_as_the_first_of_the_k_best(sizes, ends, gaps, gap_features, normalise, seed):
    """Two programs: strips of rows that keep choices, and whole tables of scores; there are too many to list."""
    random = np.random.default_rng(seed)
    X = [tuple("".join(random.choice(list("abcd"), size)) for size in sizes) for _ in range(2)]
    model = Alignment("abcd", gaps=gaps, ends=ends, gap_features=gap_features, normalise=normalise)
    problem = bound(model, X, [()] * len(X))
    w = random.normal(random.choice([-1.0, 0.0, 0.5]), 1.0, problem.n_features)
    every = np.arange(len(X))
    found, scores = problem.best_scored(w, every)
    np.testing.assert_allclose(scores, [listed[0][1] for listed in problem.k_best(w, 1)], atol=1e-9)
    np.testing.assert_allclose(problem.joint_features(every, found).dot(w), scores, atol=1e-9)


@settings(max_examples=60)
@given(instances(longest=3))
def test_differences_and_losses_are_those_of_the_definition(instance):
    twins, _ = instance
    for i, listed in enumerate(twins.listed()):
        outputs = [codes_of(y, len(twins.X[i][0])) for y in listed.outputs]
        rows, losses = twins.problem.differences(np.full(len(outputs), i), outputs)
        assert twins.problem.present(outputs) == listed.outputs
        dense = np.zeros((len(outputs), twins.problem.n_features))
        for k, row in enumerate(dense):
            rows.take(np.array([k])).add_to(row, np.ones(1))
        np.testing.assert_allclose(dense, listed.rows, atol=1e-12)
        np.testing.assert_allclose(losses, listed.losses, atol=1e-12)


@settings(max_examples=60)
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


@settings(max_examples=15)
@given(instances(longest=3))
def test_gradients_are_those_of_finite_differences(instance):
    twins, w = instance
    sums.check_log_losses(twins, w / np.maximum(np.abs(w).max(), 1.0))


@settings(max_examples=30)
@given(instances())
def test_marginals_are_probabilities_of_matches_and_guide_the_decoder_of_expected_accuracy(instance):
    twins, w = instance
    decoded = twins.problem.present(twins.problem.most_probable_labels(w))
    for i, found in enumerate(twins.problem.label_probabilities(w)):
        scores, _ = sums.scores_and_features(twins, i, w)
        probabilities = np.exp(scores - np.logaddexp.reduce(scores))
        outputs = twins.reference.outputs(twins.X[i])
        expected = np.zeros_like(found)
        for y, probability in zip(outputs, probabilities, strict=True):
            for match in y:
                expected[match] += probability
        np.testing.assert_allclose(found, expected, atol=1e-9)
        right = [sum(expected[match] for match in y) for y in outputs]
        assert sum(expected[match] for match in decoded[i]) == pytest.approx(max(right), abs=1e-8)


@pytest.mark.parametrize("reading", ["figure", "text"])
def test_part_losses_are_the_loss_where_it_is_a_sum_over_parts(reading):
    random = np.random.default_rng(0)
    options = {"loss": "q_shift", "shift": 1, "reading": reading}
    twins = twins_of(random, [(3, 4), (4, 3)], **options)
    for i, listed in enumerate(twins.listed()):
        losses = twins.problem.part_losses(np.array([i]))
        for y, expected in zip(listed.outputs, listed.losses, strict=True):
            other = bound(Alignment("abc"), [twins.X[i]], [y])
            assert losses @ other.true_parts(np.array([0])) == pytest.approx(expected)
    assert twins_of(random, [(2, 2)], ends="local").problem.part_losses(np.arange(1)) is None
    assert twins_of(random, [(2, 2)], loss="zero_one").problem.part_losses(np.arange(1)) is None


@pytest.mark.parametrize("ends", ENDS)
def test_samples_follow_the_distribution(ends):
    twins = twins_of(np.random.default_rng(4), [(2, 3), (1, 1)], ends=ends, gaps="affine")
    w = 0.5 * np.random.default_rng(5).normal(size=twins.problem.n_features)
    sums.check_samples(twins, w, twins.reference.outputs(twins.X[0]))


def test_iterative_scaling_knows_the_largest_sum_of_features():
    twins = twins_of(np.random.default_rng(0), [(2, 3), (4, 2)], gaps="affine")
    totals = [max(twins.reference.joint_feature(x, y).sum() for y in twins.reference.outputs(x)) for x in twins.X]
    np.testing.assert_allclose(twins.problem.feature_totals(), totals)
