"""Every structure names its weights and says why an output is chosen, against scores that others compute."""

import re
import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import structlearn
from structlearn import LatentStructuralSVM, StructuralSVM
from structlearn.data import ItemPairs
from structlearn.estimators.inspection import feature_names
from structlearn.models import (
    Alignment,
    Chain,
    Composed,
    CorrelationClustering,
    DependencyTree,
    Grammar,
    Homologues,
    HypergraphModel,
    LatentChain,
    MultivariateBinary,
    PrecisionAtK,
    Ranking,
    Segments,
)
from structlearn.models.explanation import Comparison
from structlearn.persistence import registry
from structlearn.persistence.model_file import steps_of
from tests.abuse.subjects import ARCS, PARSED
from tests.models.enumerated import EnumeratedChain
from tests.models.own.test_composed import N_INPUTS, N_LABELS, chain
from tests.models.own.test_hypergraph_model import Bracketings
from tests.persistence.version_2_cases import CASES, SVM, Case, dicts
from tests.persistence.version_2_data import NEW_TAGGED, TAGGED, TREES
from tests.solvers.latent_toy import OneOfSeveral, several


def hypergraph():
    random = np.random.default_rng(1)
    X = [random.normal(size=n) for n in (3, 4, 4)]
    Y = [Bracketings().output(x, [("node", 0, 1, len(x)), (0, 0, len(x))]) for x in X]
    Y = [
        y + tuple(part for k in range(1, len(x) - 1) for part in (("node", k, k + 1, len(x)), (0, k, len(x))))
        for x, y in zip(X, Y, strict=True)
    ]
    return Case(SVM(Bracketings()), X, Y, X)


def composed():
    random = np.random.default_rng(2)
    X = [random.normal(size=(n, N_INPUTS)) for n in (2, 3, 4)]
    Y = [np.arange(len(x)) % N_LABELS for x in X]
    return Case(SVM(chain()), X, Y, X)


def enumerated():
    random = np.random.default_rng(3)
    X = [random.normal(size=(n, 2)) for n in (2, 3)]
    return Case(SVM(EnumeratedChain(2)), X, [(0, 1), (1, 0, 1)], X)


def latent_toy():
    X, Y = several(np.random.default_rng(4), 8)
    return Case(LatentStructuralSVM(OneOfSeveral(3, 4), C=10, tol=0.3, random_state=0), X, Y, X)


#: A second one that only counts, and one with the label None, which says that a label is not known.
LEFT_OUT = ("grammar_frequencies", "chain_labels_of_any_type")
SUBJECTS = {name: case for name, case in CASES.items() if not name.startswith("solver_") and name not in LEFT_OUT} | {
    "hypergraph": hypergraph(),
    "composed": composed(),
    "enumerated": enumerated(),
    "latent_toy": latent_toy(),
    "segments_ends": CASES["segments"]._replace(estimator=SVM(Segments(ends=True), fit_intercept=True)),
    "chain_pairs": dicts(SVM(Chain(pair_features=True, order=2, balance=0.5))),
    "chain_allowed": dicts(SVM(Chain(allowed_transitions="BIO"))),
    "grammar_spans": Case(SVM(Grammar("words", spans=True, min_count=1)), TAGGED, TREES, NEW_TAGGED),
    "dependency_tree": Case(SVM(DependencyTree()), PARSED, ARCS, PARSED),
    "dependency_tree_siblings": Case(SVM(DependencyTree(order=2)), PARSED, ARCS, PARSED),
    "dependency_tree_hashed": Case(SVM(DependencyTree(projective=False, n_hashed=500)), PARSED, ARCS, PARSED),
    "alignment_sum": CASES["alignment_annotated"]._replace(
        estimator=SVM(Alignment(features="sum", gaps="affine", normalise=True))
    ),
}


#: Thousands of weights, of which every name is looked at; `alignment_sum` has some of each kind of theirs.
MANY = ("alignment_profiles",)


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=[pytest.mark.slow] * (name in MANY)) for name in SUBJECTS]
)
def subject(request):
    case = SUBJECTS[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator = clone(case.estimator, safe=False).fit(case.X, case.Y)
    last = steps_of(estimator)[1]
    # So that hardly any prediction is right, no weight is zero, and no two are equal.
    last.w_ = np.random.default_rng(7).normal(size=len(last.w_))
    return estimator, last, case


def whole_outputs(last):
    """Whether two outputs are compared, and not two labels or documents."""
    return not hasattr(last, "decision_function") and not isinstance(last.model_, (Ranking, PrecisionAtK))


def wrong_predictions(estimator, last, case):
    """Examples with a truth that says everything and is not predicted, and F(x, ŷ) − F(x, y)."""
    for x, y in zip(case.X, case.Y, strict=True):
        if isinstance(last.model_, LatentChain) and not all(isinstance(label, str) for label in y):
            continue
        problem = last._bind([x] if estimator is last else estimator[:-1].transform([x]), [y])
        (margin,) = problem.true_margins(last.w_, np.array([0]), problem.predict(last.w_))
        if abs(margin) > 1e-9:
            yield x, y, -margin


@pytest.mark.sample(2)
def test_the_blocks_of_named_weights_are_w_itself_with_a_name_for_every_weight(subject):
    _, last, _ = subject
    blocks = last.model_.named_weights(last.spec_, last.w_)
    assert np.array_equal(np.concatenate([block.weights.ravel() for block in blocks]), last.w_)
    for block in blocks:
        assert np.shares_memory(block.weights, last.w_)
        assert tuple(map(len, block.axes)) == block.whole().shape
        names = [block.names(k) for k in range(block.weights.size)]
        assert len(set(names)) == len(names)


@pytest.mark.sample(2)
def test_top_weights_have_every_weight_if_asked_for_all(subject):
    _, last, _ = subject
    top = last.top_weights(len(last.w_))
    lists = [*top.features.values(), top.transitions, top.start, top.stop, top.pairs]
    assert sorted(each[-1] for found in lists for each in found) == sorted(last.w_)


def test_the_amounts_add_up_to_the_difference_of_the_best_scores(subject):
    estimator, last, case = subject
    if not hasattr(last, "k_best") or not whole_outputs(last):
        pytest.skip("no list of the best outputs, or labels are compared")
    for x in list(case.X)[:3]:
        best = last.k_best([x] if estimator is last else estimator[:-1].transform([x]), 4)[0]
        if len(best) > 1:
            why = structlearn.explain(estimator, x)
            assert why.difference == pytest.approx(best[0][1] - best[1][1], abs=1e-9)
        if len(best) == 4:
            (third, score), (fourth, other) = best[2:]
            why = structlearn.explain(estimator, x, label=third, against=fourth)
            assert why.difference == pytest.approx(score - other, abs=1e-9)


@pytest.mark.sample(2)
def test_the_amounts_add_up_to_the_margin_of_a_wrong_prediction(subject):
    estimator, last, case = subject
    if not whole_outputs(last):
        pytest.skip("documents or labels are compared")
    blocks = last.model_.named_weights(last.spec_, last.w_, feature_names(estimator))
    names = {float(block.weights.ravel()[k]): block.name(k) for block in blocks for k in range(block.weights.size)}
    found = list(wrong_predictions(estimator, last, case))
    assert found
    for x, y, margin in found:
        why = structlearn.explain(estimator, x, against=y)
        assert why.difference == pytest.approx(margin, abs=1e-8)
        assert [abs(part.amount) for part in why.parts] == sorted(
            (abs(part.amount) for part in why.parts), reverse=True
        )
        for part in why.parts:
            assert part.amount == pytest.approx(sum(term.value * term.weight for term in part.terms), abs=1e-9)
            assert [names[term.weight] for term in part.terms] == [term.source for term in part.terms]
        assert str(why).splitlines()[0].endswith(f": {why.difference:+.4f}")
        assert why.to_dict()["parts"][0]["name"] == why.parts[0].name


def test_what_load_returns_explains_alike(subject, tmp_path):
    estimator, last, case = subject
    if isinstance(last.model_, (Composed, HypergraphModel)) or not isinstance(last.model, structlearn.models.Model):
        pytest.skip("the code of the model is not in the file")
    structlearn.save(estimator, tmp_path / "model.slm")
    own = None if registry.registered(type(last.model).__name__) is type(last.model) else last.model
    again = structlearn.load(tmp_path / "model.slm", model=own)
    assert str(structlearn.top_weights(again, 2)) == str(structlearn.top_weights(estimator, 2))
    against = (
        next(((x, y) for x, y, _ in wrong_predictions(estimator, last, case)), None) if whole_outputs(last) else None
    )
    x, y = against or (case.X[0], None)
    assert str(structlearn.explain(again, x, against=y)) == str(structlearn.explain(estimator, x, against=y))


def test_parts_say_where_they_are():
    X, Y = CASES["segments"].X, CASES["segments"].Y
    tagger = StructuralSVM(Segments(ends=True), C=10, max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tagger.fit(X, Y)
    n = len(X[0])
    label = tagger.spec_.classes[0]
    why = tagger.explain(X[0], label=[(label, t, t + 1) for t in range(n)], against=Y[0])
    names = {part.name for part in why.parts}
    assert f"{label} → {label}" in names
    assert f"{label}, 1 token" in names
    assert {name for name in names if "begins at token" in name}
    parser = StructuralSVM(Grammar(), C=10).fit(
        [["A", "B"], ["A", "B"]], ["(S (X (A A)) (B B))", "(S (A A) (Y (B B)))"]
    )
    why = parser.explain(["A", "B"])
    assert {part.name for part in why.parts} == {"S → X B", "X → A", "S → A Y", "Y → B"}
    aligner = StructuralSVM(Alignment(), C=10).fit([("AC", "AC")], [((0, 0), (1, 1))])
    why = aligner.explain(("AC", "AC"), against=((1, 1),))
    assert {part.name: part.times for part in why.parts} == {
        "match 0~0": 1.0,
        "letter 0 of the first without partner": -1.0,
        "letter 0 of the second without partner": -1.0,
    }


def test_rankings_explain_why_one_document_stands_before_another():
    X = [[{"length": 3.0, "links": 1.0}, {"length": 1.0}, {"links": 2.0}]]
    svm = StructuralSVM(Ranking(), C=10).fit(X, [[0, 1, 0]])
    (order,) = svm.predict(X)
    scores = np.array([[3.0, 1.0], [1.0, 0.0], [0.0, 2.0]]) @ svm.w_
    assert (why := svm.explain(X[0])).difference == pytest.approx(scores[order[0]] - scores[order[1]])
    assert (why.output, why.against) == (order[0], order[1])
    why = svm.explain(X[0], label=2, against=0)
    assert why.difference == pytest.approx(scores[2] - scores[0])
    assert {term.source for part in why.parts for term in part.terms} == {"length", "links"}
    for wrong in (3, -1, "first"):
        with pytest.raises(ValueError, match="expected the number of one of the 3 documents"):
            svm.explain(X[0], against=wrong)


def test_the_second_best_of_labels_that_score_by_themselves_is_that_of_enumeration():
    random = np.random.default_rng(0)
    x = random.normal(size=(4, 2))
    svm = StructuralSVM(MultivariateBinary(), C=10).fit([x], [[0, 1, 1, 0]])
    svm.w_ = random.normal(size=2)
    scores = {y: float((np.array(y) - 0.5) @ x @ svm.w_) / 4 for y in product((0, 1), repeat=4)}
    first, second = sorted(scores, key=scores.get, reverse=True)[:2]
    why = svm.explain(x)
    assert (tuple(why.output), tuple(why.against)) == (first, second)
    assert why.difference == pytest.approx(scores[first] - scores[second])


def test_a_motif_explains_the_other_label_by_its_best_site():
    case = CASES["motif"]
    finder = clone(case.estimator).fit(case.X, case.Y)
    scores = [row["score"] for row in finder.describe_latent(case.X)]
    for x, score in zip(case.X, scores, strict=True):
        why = finder.explain(x)
        assert why.difference == pytest.approx(abs(score))
        for term in why.parts[0].terms:
            assert re.fullmatch("[ACGT] at place [1-4]|background [ACGT]", term.source)


def test_a_homologue_is_compared_with_the_next_candidate():
    X = [("acca", ["acta", "tgtt", "cccc"])]
    svm = StructuralSVM(Homologues(), rescaling=None, C=10).fit(X, [(0, ((0, 0), (1, 1), (3, 3)))])
    svm.w_ = np.random.default_rng(1).normal(size=len(svm.w_))
    aligner = StructuralSVM(Alignment(ends="local"), C=10).fit([(X[0][0], z) for z in X[0][1]], [()] * 3)
    aligner.w_, aligner.spec_ = svm.w_, svm.spec_
    scores = [best[0][1] for best in aligner.k_best([(X[0][0], z) for z in X[0][1]], 1)]
    first, second = np.argsort(scores)[::-1][:2]
    why = svm.explain(X[0])
    assert (why.output[0], why.against[0]) == (first, second)
    assert why.difference == pytest.approx(scores[first] - scores[second])
    assert svm.explain(X[0], label=int(second)).against[0] == first


def test_questions_that_have_no_answer_are_refused():
    pairs = ItemPairs(3, [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    clusters = StructuralSVM(CorrelationClustering(), C=10).fit([pairs], [[0, 0, 1]])
    with pytest.raises(ValueError, match="CorrelationClustering finds no second best output: say what to compare with"):
        clusters.explain(pairs)
    with pytest.raises(ValueError, match="label and against are both"):
        clusters.explain(pairs, label=[0, 0, 1], against=[0, 0, 1])
    with pytest.raises(ValueError, match="t is 0, but a CorrelationClustering has no labels of tokens"):
        clusters.explain(pairs, 0)
    tagger = StructuralSVM(Chain(), C=10).fit([[[0.0], [1.0]]], [["a", "b"]])
    with pytest.raises(ValueError, match=r"^against has 1 labels but x has 2 rows"):
        tagger.explain([[0.0], [1.0]], against=["a"])
    with pytest.raises(ValueError, match="the inputs of Grammar have no columns"):
        StructuralSVM(Grammar(), C=10).fit([["A"]], ["(S (A A))"]).top_weights(feature_names=["a"])
    parser = StructuralSVM(Grammar(), C=10).fit([["A"]], ["(S (A A))"])
    with pytest.raises(ValueError, match="one possible output only"):
        parser.explain(["A"])


def test_a_model_of_ones_own_has_the_names_that_it_gives_its_features():
    class Named(EnumeratedChain):
        feature_names = tuple("abcdefghijkl")

    X, Y = [np.eye(2), np.eye(2)[::-1]], [(0, 1), (1, 0)]
    svm = StructuralSVM(Named(2), C=10).fit(X, Y)
    assert {feature for feature, _ in svm.top_weights().features["weights"]} <= set("abcdefghijkl")
    assert {term.source for term in svm.explain(X[0]).parts[0].terms} <= set("abcdefghijkl")
    assert svm.explain(X[0], feature_names=[f"w{k}" for k in range(12)]).parts[0].terms[0].source.startswith("w")
    with pytest.raises(ValueError, match="feature_names has 2 names but there are 12 features"):
        svm.top_weights(feature_names=["a", "b"])


def test_long_outputs_are_told_apart_by_what_differs():
    def header(output, against):
        return str(Comparison(output, against, ())).splitlines()[0]

    tags = [("O", t, t + 1) for t in range(40)]
    other = [*tags[:20], ("NP", 20, 22), *tags[22:]]
    assert header(tags, other) == "[…, ('O', 20, 21), ('O', 21, 22), …] against […, ('NP', 20, 22), …]: +0.0000"
    matches = tuple((k, k) for k in range(40))
    assert header(matches, (*matches[:9], (9, 10), *matches[11:])) == (
        "(…, (9, 9), (10, 10), …) against (…, (9, 10), …): +0.0000"
    )
    long = ("NP", *[("NN", f"word{k}") for k in range(30)])
    left, right = ("S", long, ("VP", ("VB", "is"), long)), ("S", long, ("VB", "is"), long)
    assert header(left, right) == "(S (NP …) (VP (VB is) (NP …))) against (S (NP …) (VB is) (NP …)): +0.0000"
    everything = header([f"a{k}" for k in range(99)], [f"b{k}" for k in range(99)])
    assert len(everything) < 200
