import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structlearn
from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM, StructuredPerceptron
from structlearn.data import Links, PairTable
from structlearn.inference import largest_matching
from structlearn.losses import MatchF1, MissedPairs
from structlearn.models import Matching, MatchingSpec
from structlearn.waist import Scaling
from tests.models.decoders import check_k_best, check_most_violating
from tests.models.enumerated import BEST, Twins, bound
from tests.models.instances import weights
from tests.models.matching.enumerated_matching import EnumeratedMatching, agrees, matchings
from tests.models.restrictions import check_partial_loss, restricted

HAMMING = (BEST, Scaling(None, "hard"), Scaling(None, "squared"), Scaling("margin", "linear"))
ZERO_ONE = (*HAMMING, Scaling("margin", "squared"), Scaling("slack", "linear"))


@st.composite
def instances(draw, *, restrict=False):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    unmatched = draw(st.booleans())
    fertility = draw(st.integers(1, 3)) if unmatched else 1
    further = fertility > 1 and draw(st.booleans())
    zero_one = draw(st.booleans())
    beta = 1.0 if zero_one else draw(st.sampled_from([1.0, 2.0]))
    options = {"unmatched": unmatched, "fertility": fertility, "further": further}
    reference = EnumeratedMatching(**options, zero_one=zero_one, beta=beta)
    shapes = [(draw(st.integers(0, 4)), draw(st.integers(0, 4))) for _ in range(draw(st.integers(1, 3)))]
    with_alone = unmatched and draw(st.booleans())
    X = [table(random, *shape, with_alone) for shape in shapes]
    every = [reference.outputs(x) for x in X]
    Y = [outputs[random.integers(len(outputs))] for outputs in every]
    model = Matching("zero_one" if zero_one else MissedPairs(beta), **options)
    if restrict:
        allowed = [known(random, y, *shape) for y, shape in zip(Y, shapes, strict=True)]
        twins = restricted(model, reference, X, Y, allowed, lambda y, said: agrees(said, y))
    else:
        twins = Twins(bound(model, X, Y), reference, X, Y)
    w = weights(random, twins, ties=draw(st.booleans()))
    if further:
        w[-1] = abs(w[-1])
    return twins, w


def table(random, n, m, with_alone=False):
    pairs = random.integers(-2, 3, (n, m, 2)).astype(float)
    alone = [random.integers(-2, 3, (size, 1)).astype(float) for size in (n, m)]
    return PairTable(pairs, *alone) if with_alone else pairs


def known(random, y, n, m):
    """Some of what a matching has, and some of what it has not."""
    alone = [(i, None) for i in range(n) if all(row != i for row, _ in y)]
    alone += [(None, j) for j in range(m) if all(column != j for _, column in y)]
    return [pair for pair in [*y, *alone] if random.uniform() < 0.4]


@settings(max_examples=100)
@given(instances(), st.integers(1, 9))
def test_oracles_agree_with_enumeration(instance, k):
    twins, w = instance
    check_most_violating(twins, w, ZERO_ONE if twins.reference.zero_one else HAMMING)
    check_k_best(twins, w, k)
    check_k_best(twins, w, 10**4)


@settings(max_examples=80)
@given(instances(restrict=True))
def test_known_pairs_are_kept(instance):
    twins, w = instance
    check_most_violating(twins, w, ZERO_ONE if twins.reference.zero_one else HAMMING)
    check_k_best(twins, w, 5)
    check_k_best(twins, w, 10**4)


@pytest.mark.parametrize("fertility", [1, 2])
def test_larger_tables_agree_with_enumeration(fertility):
    random = np.random.default_rng(0)
    shape = (6, 6) if fertility == 1 else (4, 6)
    model, reference = Matching(fertility=fertility), EnumeratedMatching(fertility=fertility)
    X = [random.normal(size=(*shape, 3))]
    features = np.array([reference.joint_feature(X[0], y) for y in reference.outputs(X[0])])
    problem = bound(model, X, [()])
    for _ in range(3):
        w = random.normal(size=problem.n_features)
        expected = np.sort(features @ w)[::-1][:30]
        ((*found,),) = problem.k_best(w, 30)
        np.testing.assert_allclose([score for _, score in found], expected)


def test_losses_of_what_is_known():
    random = np.random.default_rng(0)
    X, Y = [table(random, 2, 3), table(random, 3, 2)], [((0, 1), (1, 2)), ((2, 0),)]
    said = [[(0, 1), (None, 0)], [(1, None)]]

    def loss_of(y, known):
        pairs = [pair for pair in known if None not in pair]
        alone = [pair for pair in known if None in pair]
        wrong = sum(any(pair[0] in (None, i) and pair[1] in (None, j) for pair in alone) for i, j in y)
        return 4.0 * len(set(pairs) - set(y)) + wrong

    for fertility in (1, 2):
        model, reference = Matching(MissedPairs(2.0), fertility=fertility), EnumeratedMatching(fertility=fertility)
        w = random.normal(size=4)
        check_partial_loss(model, reference, X, Y, said, loss_of, w)


def distances(random, n, m, fertility=1):
    """Points of two sides, the second near those of the first that they belong to, or far from all."""
    left = np.sort(random.uniform(0, 40, n))
    rows = random.permutation(np.repeat(np.arange(n), fertility))[:m]
    right = np.where(random.uniform(size=len(rows)) < 0.8, left[rows] + random.normal(0, 0.3, len(rows)), 80.0)
    pairs = tuple(sorted((int(i), j) for j, i in enumerate(rows) if right[j] < 80))
    return [[{"distance": float(abs(a - b))} for b in right] for a in left], pairs


@pytest.mark.parametrize("options", [{}, {"fertility": 2}, {"loss": "zero_one"}, {"loss": MissedPairs(2.0)}])
@pytest.mark.parametrize("learner", [StructuralSVM, StructuredPerceptron])
def test_learning(options, learner):
    random = np.random.default_rng(0)
    fertility = options.get("fertility", 1)
    X, Y = zip(*(distances(random, 5, 4 * fertility, fertility) for _ in range(30)), strict=True)
    fitted = learner(Matching(**options)).fit(X[:20], Y[:20])
    found = fitted.predict(X[20:])
    right, all_ = sum(len(set(a) & set(b)) for a, b in zip(found, Y[20:], strict=True)), sum(map(len, Y[20:]))
    assert right >= 0.7 * all_


def test_the_price_of_further_partners_is_learnt():
    random = np.random.default_rng(1)
    X, Y = zip(*(distances(random, 4, 4, 2) for _ in range(15)), strict=True)
    model = Matching(fertility=2, further=True)
    svm = StructuralSVM(model, nonnegative="further").fit(X, Y)
    assert svm.w_[-1] >= 0.0
    assert svm.converged_


def test_partial_matchings_teach_the_rest():
    random = np.random.default_rng(0)
    X, Y = zip(*(distances(random, 5, 5) for _ in range(30)), strict=True)
    partial = [[pair for pair in y if random.uniform() < 0.5] or None for y in Y]
    svm = LatentStructuralSVM(Matching(), C=10).fit(X, partial)
    truth = StructuralSVM(Matching(), C=10).fit(X, Y)
    assert svm.score(X, Y) >= truth.score(X, Y) - 0.3
    assert all(agrees(said, y) for said, y in zip(partial, svm.predict(X, allowed=partial), strict=True))


def test_possible_pairs_cost_nothing():
    model = Matching()
    X = [np.zeros((2, 2, 1))]
    problem = bound(model, X, [Links([(0, 0)], possible=[(1, 1)])])
    outputs = model.bind(model.specify(X, [()]), X * 4, [[(0, 0)], [(0, 0), (1, 1)], [(0, 1)], []]).truths
    assert [problem.losses([codes])[0] for codes in outputs] == [0.0, 0.0, 2.0, 1.0]
    links = Links([(1, 1)], possible=[(0, 1)])
    again = pickle.loads(pickle.dumps(links))
    assert (again, again.possible) == (links, {(1, 1), (0, 1)})


def test_truths_with_more_partners_are_judged_though_no_output_has_them():
    X, Y = [np.array([[[1.0], [0.0]], [[0.0], [0.0]]])], [[(0, 0), (0, 1)]]
    svm = StructuralSVM(Matching(), C=100).fit(X, [[(0, 0)]])
    (found,) = svm.predict(X)
    assert found == ((0, 0),)
    for model, loss in ((Matching(), 1.0), (Matching("zero_one"), 1.0)):
        problem = model.bind(model.specify(X, Y), X, Y, allow_unknown=True)
        assert problem.losses(problem.best(svm.w_, np.array([0]))).tolist() == [loss]
        assert problem.reachable().tolist() == [False]


@pytest.mark.parametrize("fertility", [1, 2])
def test_largest_matchings_have_as_many_pairs_as_any(fertility):
    random = np.random.default_rng(fertility)
    for n, m in ((3, 4), (4, 3), (1, 5), (3, 3), (0, 2), (2, 0)):
        given = [(i, j) for i in range(n) for j in range(m) if random.uniform() < 0.5]
        found = largest_matching(given, (n, m), fertility)
        every = [y for y in matchings(n, m, fertility=fertility) if set(y) <= set(given)]
        assert found in every
        assert len(found) == max(map(len, every))


def test_crowded_truths_teach_what_a_matching_can_have():
    X, Y = [np.zeros((2, 3, 1))], [Links([(0, 0), (0, 1), (1, 1)], possible=[(1, 2)])]
    with pytest.raises(ValueError, match="row 0 in 2 pairs"):
        StructuralSVM(Matching()).fit(X, Y)
    problem = bound(Matching(crowded="largest"), X, Y)
    assert problem.present(problem.true_outputs(np.array([0]))) == [((0, 0), (1, 1))]
    # The pair that was left out, and the possible one, cost nothing.
    outputs = Matching().bind(Matching().specify(X, Y), X * 3, [[(0, 0), (1, 1)], [(0, 1), (1, 2)], [(0, 2)]]).truths
    assert [problem.losses([codes])[0] for codes in outputs] == [0.0, 2.0, 3.0]
    judged = Matching(crowded="largest").bind(Matching().specify(X, Y), X, Y, allow_unknown=True)
    assert [judged.losses([codes])[0] for codes in outputs] == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_inputs": -1}, "a number of features"),
        ({"n_alone": (1,)}, "n_alone is .*; expected one for rows and one for columns"),
        ({"n_alone": [0, 0]}, "n_alone"),
        ({"vocabulary": ("a", "a")}, "vocabulary"),
        ({"vocabulary": ("a", "b")}, "a vocabulary has 2 names but there are 1 features"),
        ({"alone_vocabularies": (("a",), None)}, "a vocabulary has 1 names but there are 0 features"),
    ],
)
def test_specs_of_broken_files_are_refused(change, message):
    values = MatchingSpec(1).to_dict()
    assert MatchingSpec.from_dict(dict(values)) == MatchingSpec(1)
    with pytest.raises((TypeError, ValueError), match=message):
        MatchingSpec.from_dict(values | change)


def test_empty_sides_and_single_rows():
    X = [np.ones((1, 3, 2)), np.ones((0, 2, 2)), np.ones((2, 0, 2)), np.ones((1, 1, 2))]
    for unmatched in (True, False):
        Y = [[(0, 1)], [], [], [(0, 0)]]
        svm = StructuralSVM(Matching(unmatched=unmatched)).fit(X, Y)
        assert svm.predict(X)[1:3] == [(), ()]
        assert svm.k_best(X[1:3], 3)[0][0][0] == ()
    named = StructuralSVM(Matching()).fit([[[{"a": 1}]], []], [[(0, 0)], []])
    assert named.predict([[], [[], []], [[{"b": 1}]]])[:2] == [(), ()]


def test_features_by_name_and_of_those_alone():
    pairs = [[{"same": True}, {"same": False}], [{"same": False}, {"kind": "x"}]]
    X = [PairTable(pairs, rows=[{"stop": 1}, {"stop": 0}], columns=[{}, {"long": 2.0}])]
    svm = StructuralSVM(Matching(), C=10).fit(X, [[(0, 0)]])
    assert svm.predict(X) == [((0, 0),)]
    blocks = Matching().named_weights(Matching().specify(X, []), svm.w_)
    names = [str(block.name(k)) for block in blocks for k in range(block.weights.size)]
    assert names == [
        "kind=x",
        "same",
        "row alone: stop",
        "row alone: (intercept)",
        "column alone: long",
        "column alone: (intercept)",
    ]
    plain = StructuralSVM(Matching(), C=10).fit([PairTable(np.ones((1, 1, 1)), rows=[[1.0]])], [[(0, 0)]])
    assert "feature 0" in str(plain.top_weights())
    assert "row alone: feature 0" in str(plain.top_weights())


def test_saving_and_explaining(tmp_path):
    random = np.random.default_rng(0)
    X, Y = zip(*(distances(random, 4, 3) for _ in range(8)), strict=True)
    svm = StructuralSVM(Matching(MissedPairs(1.5), fertility=2, further=True), nonnegative="further").fit(X, Y)
    structlearn.save(svm, tmp_path / "m.slm")
    again = structlearn.load(tmp_path / "m.slm")
    assert again.predict(X) == svm.predict(X)
    np.testing.assert_array_equal(again.w_, svm.w_)
    explained = svm.explain(X[0])
    assert "with column" in str(explained)
    explained = svm.explain(X[0], against=[])
    assert "alone" in str(explained)


def test_likelihoods_and_levels_are_refused_by_name():
    X, Y = [np.ones((2, 2, 1))], [[(0, 0)]]
    with pytest.raises(ValueError, match=r"permanents.*; use StructuralSVM, which needs none"):
        ConditionalRandomField(Matching()).fit(X, Y)
    with pytest.raises(ValueError, match=r"nonnegative='further' needs Matching\(further=True\)"):
        StructuralSVM(Matching(), nonnegative="further").fit(X, Y)
    with pytest.raises(ValueError, match="one number of wrong pairs"):
        StructuralSVM(Matching(), rescaling="slack").fit(X, Y)
    StructuralSVM(Matching("zero_one"), rescaling="slack").fit(X, Y)


X = [np.ones((2, 3, 2)), np.ones((2, 2, 2))]
Y = [[(0, 2), (1, 0)], [(0, 0), (1, 1)]]


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ([(0, 1), (0, 0)], "Y[1] has row 0 in 2 pairs, with columns [0, 1], but it can have 1 partner"),
        ([(0, 1), (1, 1)], "Y[1] has column 1 in 2 pairs, with rows [0, 1], but it can have 1 partner"),
        ([(0, 2)], "Y[1] has the pair (0, 2), but X[1] has 2 rows and 2 columns"),
        ([(-1, 0)], "Y[1] has the pair (-1, 0), but X[1] has 2 rows and 2 columns"),
        ([(0, 0), (0, 0)], "Y[1] has the pair (0, 0) twice"),
        ([(0, None)], "Y[1] has pairs with None"),
        ([(None, None)], "which says nothing"),
        ([(0, 0.5)], "Y[1] has (0, 0.5); expected pairs (row, column)"),
        ([0, 1], "Y[1] has 0; expected pairs (row, column)"),
        ("ab", "Y[1] is 'ab'; expected pairs (row, column)"),
        (None, "Y[1] is None; expected pairs (row, column)"),
    ],
)
def test_truths_that_are_no_matchings_are_named(truth, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StructuralSVM(Matching()).fit(X, [Y[0], truth])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((2, 2)), "X[1] has 2 dimensions; a table of pairs is an array (rows, columns, features)"),
        (np.ones((2, 2, 3)), "X[1] has 3 features a pair but X[0] has 2"),
        (np.array([[[1, 2], [1, np.nan]]]), "X[1][0, 1, 1] is nan"),
        (3, "X[1] is 3; a table of pairs"),
        (PairTable(np.ones((2, 2, 2)), rows=np.ones((3, 1))), "X[0] has no features of rows, but X[1] has"),
    ],
)
def test_tables_that_are_wrong_are_named(table, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StructuralSVM(Matching()).fit([X[0], table], Y)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[{"a": 1}, {"a": np.nan}]], "X[0][0][1]['a'] is nan"),
        ([[{"a": 1}, {}], [{"a": 1}]], "X[0][1] has 1 pair, but X[0][0] has 2"),
        ([[{"a": 1}], [{"a": object()}]], "X[0][1][0]['a'] is <object"),
        (PairTable([[{"a": 1}]], rows=[{}, {}]), "X[0].rows has 2 entries, but there are 1 rows"),
        (PairTable([[{"a": 1}]], columns=[{"b": np.inf}]), "X[0].columns[0]['b'] is inf"),
    ],
)
def test_dicts_that_are_wrong_are_named(table, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StructuralSVM(Matching()).fit([table], [[]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fertility": 0}, "fertility is 0"),
        ({"fertility": 2, "unmatched": False}, "fertility=2 needs unmatched=True"),
        ({"further": True}, "say how many, fertility=…"),
        ({"unmatched": "yes"}, "unmatched is 'yes'"),
        ({"loss": "f1"}, "loss is 'f1'"),
        ({"loss": MatchF1()}, "a matching has additive losses and 'zero_one'"),
        ({"unmatched": False}, "Y[0] has 1 of the 2 pairs that X[0] can have"),
    ],
)
def test_options_that_mean_nothing_are_named(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StructuralSVM(Matching(**options)).fit(X, [[(0, 0)], Y[1]])


@pytest.mark.parametrize(
    ("allowed", "unmatched", "message"),
    [
        ([(0, 1), (0, 0)], True, "allowed[0] has row 0 in 2 pairs"),
        ([(0, 1), (0, None)], True, "allowed[0] has the pair (0, 1), and row 0 without partner"),
        ([(0, 1), (None, 1)], True, "allowed[0] has the pair (0, 1), and column 1 without partner"),
        ([(0, None)], False, "allowed[0] leaves 1 pair, but as many are matched as can be, 2"),
        ([(5, None)], True, "allowed[0] has the pair (5, None), but X[0] has 2 rows and 3 columns"),
    ],
)
def test_what_cannot_be_known_is_named(allowed, unmatched, message):
    svm = StructuralSVM(Matching(unmatched=unmatched)).fit(X, Y)
    with pytest.raises(ValueError, match=re.escape(message)):
        svm.predict(X, allowed=[allowed, None])


def test_other_features_than_in_training_are_named():
    svm = StructuralSVM(Matching()).fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features a pair but training had 2"):
        svm.predict([np.ones((1, 1, 3))])
    with pytest.raises(ValueError, match="X has features by name, but training had columns"):
        svm.predict([[[{"a": 1, "b": 1}]]])
    with pytest.raises(ValueError, match="has features of rows, but training had no"):
        svm.predict([PairTable(np.ones((1, 1, 2)), rows=np.ones((1, 1)))])
