from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.estimators.inspection import FeatureWeight, TransitionWeight, top_weights
from structlearn.features import TextFeatures
from structlearn.models import Alignment, Chain, ClassAttributes, LinearSpec, Model, Multiclass, Spec

X = [
    [{"word": "the"}, {"word": "old"}, {"word": "man"}],
    [{"word": "the"}, {"word": "boats"}, {"word": "sail"}],
    [{"word": "old"}, {"word": "boats"}],
]
Y = [["DET", "ADJ", "NOUN"], ["DET", "NOUN", "VERB"], ["ADJ", "NOUN"]]


@pytest.fixture(scope="module")
def tagger():
    return StructuralSVM(Chain(), C=10, fit_intercept=True).fit(X, Y)


@st.composite
def chains(draw):
    """A chain with any options, a sequence and weights."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_labels, n_inputs = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    model = Chain(
        classes="abc"[:n_labels],
        boundaries=draw(st.booleans()),
        balance=draw(st.sampled_from([0.0, 0.5, 1.0])),
        pair_features=draw(st.sampled_from([False, True, list(range(n_inputs))[:0:-1]])),
    )
    spec = LinearSpec(tuple("abc"[:n_labels]), n_inputs, intercept=draw(st.booleans()))
    x = random.normal(size=(draw(st.integers(1, 4)), n_inputs)) * random.integers(0, 2, n_inputs)
    w = random.normal(size=model.bind(spec, [x]).n_features)
    return model, spec, x, w


def changed(labels, t, label):
    """The labels with another one at t."""
    return (*labels[:t], label, *labels[t + 1 :])


def scores(model, spec, x, w):
    """F(x, y) of all labellings, from the decoder."""
    found = model.bind(spec, [x]).k_best(w, len(spec.classes) ** len(x))[0]
    return {tuple(labels): score for labels, score in found}


@settings(max_examples=60)
@given(chains())
def test_the_parts_of_a_chains_weights_score_as_its_decoder_does(instance):
    model, spec, x, w = instance
    parts = model.unpack(spec, w)
    rows = np.hstack([x, np.ones((len(x), 1))]) if spec.intercept else x
    pair_rows = x[:, model.pair_columns(spec)]
    for labels, expected in scores(model, spec, x, w).items():
        y = [spec.classes.index(label) for label in labels]
        score = sum(rows[t] @ parts.emissions[:, label] for t, label in enumerate(y))
        score += model.balance * sum(parts.transitions[pair] for pair in pairwise(y))
        if model.boundaries:
            score += model.balance * (parts.start[y[0]] + parts.stop[y[-1]])
        if parts.pairs is not None:
            score += sum(pair_rows[t] @ parts.pairs[:, y[t], y[t + 1]] for t in range(len(y) - 1))
        assert score == pytest.approx(expected, abs=1e-9)


def test_the_parts_are_views():
    model, spec = Chain(pair_features=True), LinearSpec(("a", "b"), 1)
    w = np.zeros(2 + 4 + 4 + 4)
    for part in model.unpack(spec, w)[:5]:
        part += 1.0
    assert np.all(w == 1.0)


def test_a_chain_without_ends_and_pairs_says_so():
    parts = Chain(boundaries=False).unpack(LinearSpec(("a", "b"), 1), np.zeros(6))
    assert parts.start is parts.stop is parts.pairs is None


def test_weights_of_another_size_are_refused():
    with pytest.raises(ValueError, match="w has 5 weights but the model has 10"):
        Chain().unpack(LinearSpec(("a", "b"), 1), np.zeros(5))


@settings(max_examples=60)
@given(chains(), st.data())
def test_an_explanation_adds_up_to_the_difference_of_the_scores(instance, data):
    model, spec, x, w = instance
    if len(spec.classes) == 1:
        return
    every = scores(model, spec, x, w)
    best = max(every, key=every.get)
    t = data.draw(st.integers(0, len(x) - 1))
    label, against = data.draw(st.permutations(spec.classes))[:2]
    found = model.explain(spec, w, x, t, label, against)
    expected = every[changed(best, t, label)] - every[changed(best, t, against)]
    assert (found.label, found.against, found.position) == (label, against, t)
    assert found.difference == pytest.approx(expected, abs=1e-9)
    amounts = [abs(each.amount) for each in found.contributions]
    assert amounts == sorted(amounts, reverse=True)
    for each in found.contributions:
        assert each.amount == pytest.approx(each.value * (each.weight - each.other_weight), abs=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 5), st.data())
def test_triplets_are_explained_too(seed, length, data):
    random = np.random.default_rng(seed)
    model, spec = Chain(classes="abc", order=2), LinearSpec(tuple("abc"), 2)
    x = random.normal(size=(length, 2))
    w = random.normal(size=model.bind(spec, [x]).n_features)
    t = data.draw(st.integers(0, length - 1))
    found = model.explain(spec, w, x, t)
    (best,) = model.bind(spec, [x]).present(model.bind(spec, [x]).predict(w))
    other = list(changed(best, t, found.against))
    log_p = model.bind(spec, [x, x], [best, other]).log_probabilities(w)
    assert found.label == best[t]
    assert found.difference == pytest.approx(log_p[0] - log_p[1], abs=1e-9)


@settings(max_examples=60)
@given(chains(), st.data())
def test_the_prediction_is_compared_with_the_runner_up(instance, data):
    model, spec, x, w = instance
    if len(spec.classes) == 1:
        return
    every = scores(model, spec, x, w)
    best = max(every, key=every.get)
    t = data.draw(st.integers(0, len(x) - 1))
    found = model.explain(spec, w, x, t)
    others = {label: every[changed(best, t, label)] for label in spec.classes if label != best[t]}
    assert found.label == best[t]
    assert found.difference == pytest.approx(max(every.values()) - max(others.values()), abs=1e-9)
    assert found.difference >= -1e-9


@pytest.mark.parametrize("features", [None, ClassAttributes({"a": [1.0], "b": [2.0], "c": [-1.0]})])
@pytest.mark.parametrize("form", [list, np.array, sp.csr_array])
def test_a_classifier_is_explained_by_its_decision_function(features, form):
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(30, 4)), random.choice(["a", "b", "c"], 30)
    svm = StructuralSVM(Multiclass(output_features=features), C=10, fit_intercept=True).fit(rows, labels)
    decision = svm.decision_function(rows[:1])[0]
    x = form(rows[:1]) if form is sp.csr_array else form(rows[0])
    found = svm.explain(x)
    first, second = np.sort(decision)[::-1][:2]
    assert found.label == svm.predict(rows[:1])[0]
    assert found.difference == pytest.approx(first - second)
    assert {each.source for each in found.contributions} == {0, 1, 2, 3, "(intercept)"}
    assert svm.explain(x, label="a", against="c").difference == pytest.approx(decision[0] - decision[2])


def test_the_difference_is_the_log_odds_of_a_conditional_random_field():
    crf = ConditionalRandomField(Chain(), C=10).fit(X, Y)
    found = crf.explain(X[0], 1, against="VERB")
    predicted, changed = crf.predict_log_proba([X[0], X[0]], [["DET", "ADJ", "NOUN"], ["DET", "VERB", "NOUN"]])
    assert found.difference == pytest.approx(predicted - changed)


@settings(max_examples=60)
@given(chains(), st.integers(1, 4))
def test_the_strongest_weights_are_those_of_a_full_sort(instance, n):
    model, spec, _, w = instance
    w = w.round(1)
    parts, found = model.unpack(spec, w), top_weights(model, spec, w, n)

    def strongest(part):
        values = [] if part is None else np.sort(part, axis=None)[::-1].tolist()
        return [value for value in values if value > 0][:n] + [value for value in values if value < 0][-n:]

    for code, label in enumerate(spec.classes):
        assert [weight for _, weight in found.features[label]] == strongest(parts.emissions[:, code])
        for feature, weight in found.features[label]:
            column = spec.n_inputs if feature == "(intercept)" else feature
            assert weight == parts.emissions[column, code]
    assert [each.weight for each in found.start] == strongest(parts.start)
    assert [each.weight for each in found.stop] == strongest(parts.stop)
    assert [each.weight for each in found.transitions] == strongest(parts.transitions)
    assert [each.weight for each in found.pairs] == strongest(parts.pairs)
    for before, after, weight in found.transitions:
        assert weight == parts.transitions[spec.classes.index(before), spec.classes.index(after)]
    columns = model.pair_columns(spec)
    for feature, before, after, weight in found.pairs:
        pair = spec.classes.index(before), spec.classes.index(after)
        assert weight == parts.pairs[columns.index(feature), *pair]


def test_features_of_dicts_have_their_names(tagger):
    found = tagger.top_weights(1)
    assert found.features["DET"][0].feature == "word=the"
    assert found.start[0] == TransitionWeight(None, "DET", found.start[0].weight)
    assert "word=boats" in {each.source for each in tagger.explain(X[1], 1).contributions}


def test_names_are_taken_from_a_transformer():
    words = [[token["word"] for token in sentence] for sentence in X]
    features = TextFeatures(["word[0]"])
    perceptron = StructuredPerceptron(Chain()).fit(features.fit_transform(words), Y)
    names = features.get_feature_names_out()
    assert perceptron.top_weights(1, feature_names=names).features["ADJ"][0].feature == "word[0]=old"
    rows = features.transform([words[0]])[0]
    found = perceptron.explain(rows, 1, feature_names=names)
    assert "word[0]=old" in [each.source for each in found.contributions]
    assert perceptron.top_weights(1).features["ADJ"][0].feature == names.tolist().index("word[0]=old")


def test_names_are_taken_from_a_data_frame():
    svm = StructuralSVM(Multiclass(), C=10).fit(pd.DataFrame({"x": [0.0, 1.0], "y": [1.0, 0.0]}), ["north", "east"])
    assert svm.top_weights(1).features["north"] == (FeatureWeight("y", 0.5), FeatureWeight("x", -0.5))
    assert {each.source for each in svm.explain([2.0, 1.0]).contributions} == {"x", "y"}


def test_weights_that_are_zero_are_no_strong_weights():
    spec = LinearSpec(("a", "b"), 2)
    assert top_weights(Multiclass(), spec, np.zeros(4)).features == {"a": (), "b": ()}


def test_what_is_found_prints_as_a_table():
    model = Chain(pair_features=[1])
    spec = LinearSpec(("a", "b"), 2, intercept=True)
    w = model.unpack(spec, np.zeros(3 * 2 + 4 + 4 + 4))
    w.emissions[:, 0] = 0.5, -0.25, 1
    w.transitions[0, 1] = 2.0
    w.stop[1] = -1.0
    w.pairs[0, 0, 1] = 0.125
    flat = np.concatenate([part.ravel() for part in w[:5]])
    assert str(top_weights(model, spec, flat)) == (
        "a\n    +1.0000  (intercept)\n    +0.5000  column 0\n    -0.2500  column 1\n\n"
        "transitions\n    +2.0000  a → b\n\nstop\n    -1.0000  b\n\nlabel pairs\n    +0.1250  column 1: a → b"
    )
    assert str(model.explain(spec, flat, [[2.0, 0.0], [0.0, 4.0]], 0)) == (
        "a against b at token 0: +4.0000\n"
        "contribution     value         a         b  from\n"
        "     +2.0000         1   +2.0000   +0.0000  before b\n"
        "     +1.0000         2   +0.5000   +0.0000  column 0\n"
        "     +1.0000         1   +1.0000   +0.0000  (intercept)\n"
        "     +0.0000         1   +0.0000   +0.0000  start"
    )


def test_forbidden_labels_are_no_runners_up():
    spec = LinearSpec(("B-X", "I-X", "O"), 1)
    model = Chain(allowed_transitions="BIO")
    w = np.zeros(model.bind(spec, [[[1.0]]]).n_features)
    w[:3] = 1.0, 3.0, 2.0
    found = model.explain(spec, w, [[1.0]], 0)
    assert (found.label, found.against, found.difference) == ("O", "B-X", 1.0)
    with pytest.raises(ValueError, match="against is 'I-X', which the model does not allow beside the labels around"):
        model.explain(spec, w, [[1.0]], 0, against="I-X")


def test_a_place_with_one_possible_label_has_nothing_to_compare():
    model = Chain(ends="a", boundaries=False)
    spec = LinearSpec(("a", "b"), 1, intercept=True)
    w = np.arange(8.0)
    x = [[1.0], [1.0], [1.0]]
    with pytest.raises(ValueError, match="only 'a' is possible here"):
        model.explain(spec, w, x, 0)
    assert model.explain(spec, w, x, 1).label == "b"


@pytest.mark.parametrize("t", [3, -4])
def test_a_place_outside_the_sequence_is_refused(tagger, t):
    with pytest.raises(ValueError, match=f"t is {t} but x has 3 tokens"):
        tagger.explain(X[0], t)


def test_places_may_be_counted_from_the_end(tagger):
    assert tagger.explain(X[0], -1) == tagger.explain(X[0], 2)


def test_questions_that_make_no_sense_are_refused(tagger):
    with pytest.raises(ValueError, match="label is 'PREP', which is not one of the labels"):
        tagger.explain(X[0], 0, label="PREP")
    with pytest.raises(ValueError, match="label and against are both 'DET'"):
        tagger.explain(X[0], 0, label="DET", against="DET")
    with pytest.raises(ValueError, match="n is 0"):
        tagger.top_weights(0)
    with pytest.raises(ValueError, match="feature_names has 1 names but there are 5 features"):
        tagger.top_weights(feature_names=["a"])
    with pytest.raises(ValueError, match="not fitted"):
        StructuralSVM(Chain()).top_weights()
    classifier = StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"])
    with pytest.raises(ValueError, match="t is 0, but x has one label"):
        classifier.explain([1.0, 0.0], 0)


def test_a_model_that_lists_no_parts_is_not_explained_and_has_numbered_weights():
    class Own(Model):
        specify = bind = None

    with pytest.raises(AttributeError) as told:
        _ = StructuralSVM(Own()).explain
    assert str(told.value.__cause__).startswith("Own does not list the parts of its outputs")
    assert top_weights(Own(), Spec(), np.array([0.0, -2.0])).features == {"weights": ((1, -2.0),)}


def test_an_alignment_names_pairs_of_letters_and_gaps():
    model = Alignment("AC", gaps="affine")
    spec = model.specify([("A", "C")], None)
    top = top_weights(model, spec, np.array([2.0, -1.0, -3.0, 1.0, -0.5, -4.0]), 1)
    assert top.features == {
        "matches": (("A A", 2.0), ("C A", -3.0)),
        "gaps": (("each letter", -0.5), ("the first letter, on top", -4.0)),
    }


@pytest.mark.parametrize("order", ["as it was fitted", "as it was loaded"])
def test_pipelines_explain_what_they_take_by_the_names_of_their_steps(order, tmp_path):
    X, Y = [["the", "dog"], ["a", "cat"]], [["DET", "NOUN"], ["DET", "NOUN"]]
    tagger = make_pipeline(TextFeatures(["word[0]"]), StructuralSVM(Chain(), C=10)).fit(X, Y)
    rows = make_pipeline(DictVectorizer(), StructuralSVM(Multiclass(), C=10)).fit([{"w": "a"}, {"w": "b"}], ["A", "B"])
    if order == "as it was loaded":
        structlearn.save(tagger, tmp_path / "tagger.slm")
        structlearn.save(rows, tmp_path / "rows.slm")
        tagger, rows = structlearn.load(tmp_path / "tagger.slm"), structlearn.load(tmp_path / "rows.slm")
    why = structlearn.explain(tagger, ["the", "cat"], 1, against="DET")
    assert (why.label, why.against) == ("NOUN", "DET")
    assert "word[0]=cat" in [each.source for each in why.contributions]
    assert structlearn.top_weights(tagger, 1).features["DET"][0].feature.startswith("word[0]=")
    assert {each.source for each in structlearn.explain(rows, {"w": "b"}).contributions} == {"w=b"}
    alone = structlearn.explain(tagger[-1], tagger[:-1].transform([["the", "cat"]])[0], 1)
    assert alone.contributions[-1].amount == structlearn.explain(tagger, ["the", "cat"], 1).contributions[-1].amount
