import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import ConditionalRandomField, LatentConditionalRandomField, LatentStructuralSVM, StructuralSVM
from structlearn.models import Alignment
from tests.models import partial_twins
from tests.models.alignment.enumerated_alignment import EnumeratedAlignment, alignments, plain_features
from tests.models.alignment.test_alignment import ENDS
from tests.models.restrictions import check_partial_loss, check_restricted, restricted


def agrees(y, known):
    return set(known or ()) <= set(y)


@st.composite
def instances(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    gaps = draw(st.sampled_from(["linear", "affine"]))
    options = {"ends": draw(st.sampled_from(ENDS)), "loss": draw(st.sampled_from(["q", "q_shift", "zero_one"]))}
    options |= {"shift": draw(st.integers(0, 1)), "reading": draw(st.sampled_from(["figure", "text"]))}
    sizes = draw(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=3))
    X = [tuple("".join(random.choice(list("abc"), size)) for size in pair) for pair in sizes]
    Y = [list(alignments(*pair))[random.integers(len(list(alignments(*pair))))] for pair in sizes]
    allowed = [{match for match in y if random.integers(2)} or [None, ()][random.integers(2)] for y in Y]
    n_features, match, gap = plain_features("abc", gaps)
    normalise = draw(st.booleans())
    scale = (lambda s, t: 1 / (len(s) + len(t))) if normalise else None
    reference = EnumeratedAlignment(n_features, match, gap, scale=scale, **options)
    w = random.integers(-1, 2, n_features).astype(float) if draw(st.booleans()) else random.normal(size=n_features)
    model = Alignment("abc", gaps=gaps, normalise=normalise, **options)
    return model, reference, X, Y, allowed, w * draw(st.sampled_from([1.0, 30.0]))


@settings(max_examples=200)
@given(instances())
def test_every_decoder_keeps_to_known_matches(instance):
    *given, w = instance
    twins = restricted(*given, agrees)
    check_restricted(twins, w)
    for x, probabilities in zip(twins.X, twins.problem.label_probabilities(w), strict=True):
        possible = {match for y in twins.reference.outputs(x) for match in y}
        assert set(zip(*map(np.ndarray.tolist, np.nonzero(probabilities)), strict=True)) <= possible


@settings(max_examples=100)
@given(instances())
def test_a_loss_of_known_matches_is_the_share_that_is_missed(instance):
    *given, w = instance
    reference = given[1]

    def loss(y, known):
        if reference.kind == "zero_one":
            return float(not agrees(y, known))
        return reference.loss(tuple(sorted(known or ())), y)

    check_partial_loss(*given, loss, w)


@settings(max_examples=60)
@given(instances())
def test_partly_known_alignments_agree_with_enumeration(instance):
    model, reference, X, _, known, _ = instance
    problem = model.bind_partial(model.specify_partial(X, known), X, known)

    def loss(said, y):
        if reference.kind == "zero_one":
            return float(not agrees(y, said))
        return reference.loss(tuple(sorted(said or ())), y)

    found = partial_twins.twins(problem, reference, X, known, loss, lambda said, y: agrees(y, said))
    partial_twins.check_all(found, np.random.default_rng(0))


@pytest.mark.parametrize("estimator", [LatentStructuralSVM, LatentConditionalRandomField])
def test_estimators_learn_from_some_of_the_matches(estimator):
    X = [("ACGT", "AGT"), ("GGAC", "GAC"), ("TTA", "TCTA")]
    Y = [((0, 0), (2, 1), (3, 2)), ((0, 0), (2, 1), (3, 2)), ((0, 0), (1, 2), (2, 3))]
    fitted = estimator(Alignment(), C=30).fit(X, [{Y[0][1]}, Y[1][1:], Y[2]])
    assert fitted.predict([("TACG", "TCG")]) == [((0, 0), (2, 1), (3, 2))]


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("gap_features", ["plain", "context"])
def test_long_pairs_keep_to_known_matches(ends, gap_features):
    random = np.random.default_rng(0)
    X = [tuple("".join(random.choice(list("abcd"), size)) for size in (50, 60)) for _ in range(6)]
    Y = [tuple((k, k + 5) for k in sorted(random.choice(45, 20, replace=False).tolist())) for _ in X]
    model = Alignment(ends=ends, gaps="affine", gap_features=gap_features)
    crf = ConditionalRandomField(model, C=1, solver="lbfgs").fit(X, Y)
    allowed = [y[::5] for y in Y]
    best = crf.k_best(X, 20, allowed=allowed)
    drawn = crf.sample(X, 5, random_state=0, allowed=allowed)
    for known, y, few, samples, posterior in zip(
        allowed,
        crf.predict(X, allowed=allowed),
        best,
        drawn,
        crf.predict(X, allowed=allowed, posterior=True),
        strict=True,
    ):
        assert few[0][0] == y
        assert all(agrees(other, known) for other in [y, posterior, *samples, *(other for other, _ in few)])
    for known, p in zip(allowed, crf.predict_marginals(X, allowed=allowed), strict=True):
        np.testing.assert_allclose(p[tuple(np.transpose(known))], 1.0)
    assert np.all(crf.entropy(X, allowed=allowed) <= crf.entropy(X))


def test_training_aims_at_alignments_with_the_known_matches_only():
    random = np.random.default_rng(0)
    X = [tuple("".join(random.choice(list("abc"), 5)) for _ in "st") for _ in range(8)]
    Y = [((0, 0), (2, 1), (4, 4))] * 8
    objectives = [
        StructuralSVM(Alignment(), C=5, tol=1e-6).fit(X, Y, allowed=allowed).objective_
        for allowed in (None, [[(2, 1)]] * 8, Y)
    ]
    assert objectives[2] < objectives[1] < objectives[0]


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([(0, 1), (1, 0)], r"allowed\[0\]\[1\] is \(1, 0\), which does not come after \(0, 1\) in both sequences"),
        ([(0, 9)], r"allowed\[0\]\[0\] is \(0, 9\), but X\[0\] has sequences of 4 and 3 letters"),
        ([(0,)], r"allowed\[0\]\[0\] is \(0,\); expected two places"),
        ([("a", "b")], "expected two places"),
        ([1, (0, 1)], "expected two places"),
        (3, r"allowed\[0\] is 3; expected matches"),
        ("AC", r"allowed\[0\] is 'AC'; expected matches"),
    ],
)
def test_impossible_restrictions_name_the_match(known, message):
    svm = StructuralSVM(Alignment()).fit([("ACGT", "AGT")], [((0, 0), (2, 1), (3, 2))])
    with pytest.raises(ValueError, match=message):
        svm.predict([("ACGT", "AGT")], allowed=[known])
    with pytest.raises(ValueError, match="each of the 1 pairs of sequences"):
        svm.predict([("ACGT", "AGT")], allowed=[known, None])


def test_a_truth_that_lacks_a_known_match_is_named():
    with pytest.raises(ValueError, match=r"Y\[0\] lacks the match \(1, 0\), which allowed\[0\] has"):
        StructuralSVM(Alignment()).fit([("ACGT", "AGT")], [((0, 0), (2, 1), (3, 2))], allowed=[[(1, 0)]])
