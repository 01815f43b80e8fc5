"""Dependency trees from end to end: what may enter, what is refused, and small and large sentences."""

import numpy as np
import pytest

from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.evaluation import evaluate
from structlearn.models import DependencyTree
from structlearn.models.dependency.templates import (
    default_label_templates,
    default_sibling_templates,
    default_templates,
    parse_templates,
    template_text,
)

X = [[("dogs", "NOUN"), ("bark", "VERB")], [("a", "DET"), ("cat", "NOUN"), ("sleeps", "VERB")]]
Y = [[(2, "nsubj"), (0, "root")], [(2, "det"), (3, "nsubj"), (0, "root")]]
HEADS = [[2, 0], [2, 3, 0]]
NEW = [[("a", "DET"), ("dog", "NOUN"), ("bark", "VERB")]]


def svm(**options):
    return StructuralSVM(DependencyTree(**options), C=10)


@pytest.fixture(scope="module")
def parser():
    return svm().fit(X, Y)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"columns": "word"}, r"columns is 'word'; expected names such as \('form', 'upos'\)"),
        ({"columns": 3}, "columns is 3; expected names"),
        ({"columns": ("a word", "tag")}, r"columns is \('a word', 'tag'\); expected names"),
        ({"columns": ()}, r"columns is \(\); expected different names, one at least"),
        ({"columns": ("word", "word")}, "expected different names"),
        ({"labels": []}, "labels is empty"),
        ({"labels": ["a", "a"]}, "labels has 'a' more than once"),
        ({"loss": "hamming"}, "loss is 'hamming'; it may be 'labelled', 'unlabelled' or 'zero_one'"),
        ({"projective": "yes"}, "projective is 'yes'"),
        ({"single_root": np.ones(2)}, "single_root is"),
        ({"order": 3}, "order is 3; it must be a whole number from 1 to 2"),
        ({"order": 2, "projective": False}, "order=2 needs projective=True"),
        ({"min_count": 0}, "min_count is 0"),
        ({"n_hashed": 0}, "n_hashed is 0"),
        (
            {"n_hashed": 2**31 - 1, "order": 2},
            "there would be 6,442,450,940 weights; with n_hashed, features share fewer",
        ),
        ({"templates": "head.form"}, "templates is 'head.form'; expected a list of texts such as 'head.form|distance'"),
        ({"templates": [1]}, r"templates is \[1\]; expected a list of texts"),
        (
            {"label_templates": ["head.upos", "head.upos"]},
            r"label_templates\[1\] is 'head.upos', which is there already",
        ),
        (
            {"templates": ["distance", "tail.upos"]},
            r"templates\[1\] is 'tail.upos', which cannot be read at 'tail.upos'",
        ),
        ({"templates": ["head.upos|"]}, "which cannot be read at ''; a field is like head.form"),
        ({"templates": ["head.upos[x]"]}, "which cannot be read at 'head.upos"),
        ({"templates": ["head|modifier.upos"]}, "head needs a column"),
        ({"templates": ["distance.upos"]}, "distance has no column"),
        ({"templates": ["head.lemma"]}, "is 'head.lemma', but the columns of tokens are form, upos"),
        ({"templates": ["sibling.upos"]}, "siblings are for sibling_templates, with order=2"),
        ({"templates": ["between.upos|between.form"]}, "only one field, of arcs, may be between"),
        ({"templates": ["between.upos[1]"]}, "only one field, of arcs, may be between"),
        ({"sibling_templates": ["sibling.upos"]}, "sibling_templates are features of siblings: .* order=2"),
        ({"sibling_templates": ["between.upos"], "order": 2}, "only one field, of arcs, may be between"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(options, told):
    with pytest.raises(ValueError, match=told):
        svm(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("sentences", "trees", "told"),
    [
        (3, Y, "X is 3"),
        (["dogs bark", X[1]], Y, r"X\[0\] is 'dogs bark'; expected a list of tokens"),
        (
            [X[0], [("a",), *X[1][1:]]],
            Y,
            r"X\[1\]\[0\] is \('a',\); expected the columns form, upos of a token; columns=",
        ),
        ([["dogs", "bark"], X[1]], Y, r"X\[0\]\[0\] is 'dogs'; expected the columns form, upos of a token"),
        ([X[0], [{"form": "a"}, *X[1][1:]]], Y, r"X\[1\]\[0\] is \{'form': 'a'\}, whose upos is no text"),
        ([[("dogs", 3), X[0][1]], X[1]], Y, r"X\[0\]\[0\] is \('dogs', 3\), whose upos is no text"),
        ([], [], "X is empty; at least one sentence is needed"),
        ([X[0], []], [Y[0], []], r"X\[1\] is a sentence without tokens"),
        (X, Y[:1], "X has 2 sentences but Y has 1"),
        (X, [Y[0], Y[0]], r"Y\[1\] has 2 entries but X\[1\] has 3 tokens"),
        (X, [HEADS[0], [2, 1, 0]], r"Y\[1\] is no tree: token 1 is in the cycle 1 → 2 → 1"),
        (X, [[0, 0], HEADS[1]], r"Y\[0\] is no tree: token 2 has the head 0, as token 1 has"),
        (X, [[2, 0], [4, 0, 2]], r"Y\[1\] is no tree: token 1 has the head 4, but heads are 0 to 3"),
        (X, [[-1, 0], HEADS[1]], r"Y\[0\] is no tree: token 1 has the head -1"),
        (X, [[1, 0], HEADS[1]], r"Y\[0\] is no tree: token 1 is its own head"),
        (X, [["2", 0], HEADS[1]], r"Y\[0\]\[0\] is '2'; a head is a whole number"),
        (X, [[None, 0], HEADS[1]], r"in trees known in part, which some learners take, None stands for any"),
        (X, [Y[0], HEADS[1]], r"Y\[1\] has no labels, but Y\[0\] has some"),
        (X, [[(2, []), (0, "root")], Y[1]], r"Y\[0\]\[0\] has the label \[\], which is not hashable"),
    ],
)
def test_data_that_cannot_be_are_refused_by_name(sentences, trees, told):
    with pytest.raises(ValueError, match=told):
        svm().fit(sentences, trees)


def test_labels_that_were_never_seen_are_refused_in_training_and_wrong_in_scores(parser):
    with pytest.raises(ValueError, match=r"Y\[0\]\[1\] is 'root', which is not among the 2 classes \('nsubj', 'det'\)"):
        svm(labels=["nsubj", "det"]).fit(X, Y)
    other = [[(2, "csubj"), (0, "root")], Y[1]]
    assert parser.score(X, Y) == 1.0
    assert parser.score(X, other) == 0.8
    found = evaluate(parser, X, other).scores
    assert (found["las"].estimate, found["uas"].estimate) == (0.8, 1.0)
    assert parser.classes_.tolist() == list(parser.spec_.labels)
    crf = ConditionalRandomField(DependencyTree()).fit(X, Y)
    assert np.isneginf(crf.predict_log_proba(X, other)).tolist() == [True, False]


def test_trees_with_several_roots_are_compared_even_if_the_model_has_one(parser):
    assert parser.score(X, [[(0, "root"), (0, "root")], Y[1]]) == 0.8
    free = svm(single_root=False).fit(X, [[0, 0], HEADS[1]])
    assert free.predict(X)[0] == [0, 0]


def test_labels_are_in_all_trees_or_in_none(parser):
    with pytest.raises(ValueError, match="Y has no labels of arcs, but the model predicts some"):
        parser.score(X, HEADS)
    with pytest.raises(ValueError, match="Y has no labels of arcs, but the model predicts some"):
        svm(labels=["root"]).fit(X, HEADS)


@pytest.mark.parametrize("learner", [StructuralSVM, ConditionalRandomField, StructuredPerceptron])
@pytest.mark.parametrize("options", [{}, {"order": 2}, {"projective": False}, {"n_hashed": 500, "single_root": False}])
def test_trees_without_labels_are_learnt_and_told_as_heads(learner, options):
    parser = learner(DependencyTree(**options)).fit(X, HEADS)
    assert parser.predict(X) == HEADS
    assert parser.predict([[], X[0]]) == [[], HEADS[0]]
    assert parser.score(X, HEADS) == 1.0
    assert parser.spec_.labels == ()
    assert parser.k_best(X[:1], 9)[0][0][0] == HEADS[0]
    scores = evaluate(parser, X, HEADS).scores
    assert scores["uas"].estimate == 1.0
    assert "las" not in scores


def test_too_many_values_between_two_tokens_are_refused_and_61_are_not():
    chain = [0, *range(1, 70)]
    x = [(f"w{k}", f"t{k}") for k in range(70)]
    with pytest.raises(
        ValueError, match=r"templates\[42\] is about upos of the tokens between two, of which .* 70; at"
    ):
        svm().fit([x], [chain])
    with pytest.raises(ValueError, match=r"label_templates\[0\] is about form"):
        svm(templates=["distance"], label_templates=["between.form"]).fit([x], [chain])
    parser = StructuralSVM(DependencyTree(templates=["between.upos", "distance"]), C=10).fit([x[:61]], [chain[:61]])
    assert parser.predict([x])[0] == chain
    # With rare values taken for one, they are few.
    svm(templates=["between.upos"], min_count=2).fit([x], [chain])


def test_sentences_of_one_token_and_of_300():
    one = svm().fit([X[0][:1]], [[(0, "root")]])
    assert one.predict([X[0][:1], X[1]]) == [[(0, "root")], [(0, "root"), (1, "root"), (2, "root")]]
    assert not one.w_.any()
    n = 300
    long, chain = [("w", f"t{k % 5}") for k in range(n)], [0, *range(1, n)]
    for options in ({}, {"projective": False}):
        parser = StructuredPerceptron(DependencyTree(**options), max_iter=1).fit([long, *X], [chain, *HEADS])
        assert parser.predict([long])[0] == chain


def test_dicts_tuples_and_arrays_are_tokens(parser):
    as_dicts = [[{"upos": tag, "form": word, "more": 1} for word, tag in x] for x in X]
    assert np.array_equal(svm().fit(as_dicts, Y).w_, parser.w_)
    assert np.array_equal(
        svm().fit([[list(token) for token in x] for x in X], [np.array(y) for y in HEADS]).w_, svm().fit(X, HEADS).w_
    )


def test_words_alone_are_enough():
    words = [[word for word, _ in x] for x in X]
    for options in ({}, {"order": 2}):
        parser = svm(columns=("word",), **options).fit(words, Y)
        assert parser.predict(words) == Y


def test_rare_words_share_their_weights():
    parser = svm(min_count=2).fit([*X, [*X[0], X[1][0]]], [*Y, [*Y[0], (2, "det")]])
    assert parser.spec_.values[0] == ("a", "bark", "dogs")
    odd = [[("never", "DET"), ("seen", "NOUN"), ("before", "VERB")]]
    assert parser.predict(odd) == parser.predict([[("cat", "DET"), ("sleeps", "NOUN"), ("!", "VERB")]])


def test_a_model_without_templates_has_no_weights_and_predicts():
    empty = svm(templates=[], label_templates=[]).fit(X, Y)
    assert len(empty.w_) == 0
    assert len(empty.predict(X)[1]) == 3
    assert svm(templates=["direction"], label_templates=["distance"]).fit(X, Y).score(X, Y) > 0.5


@pytest.mark.parametrize("columns", [["form"], ["form", "upos"], ["form", "upos", "feats"]])
def test_default_templates_are_different_and_read_back_as_they_are(columns):
    for make, siblings in (
        (default_templates, False),
        (default_label_templates, False),
        (default_sibling_templates, True),
    ):
        texts = make(columns)
        templates = parse_templates(texts, columns, "templates", siblings=siblings)
        assert [template_text(template, columns) for template in templates] == list(texts)
