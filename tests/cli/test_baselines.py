"""Learners that only count, and what files say about labels."""

import json
from pathlib import Path

import numpy as np
import pytest

import structlearn
from structlearn import HiddenMarkov, RelativeFrequencies, StructuralSVM
from structlearn.datasets import make_sentences
from structlearn.estimators.generative import Discrete
from structlearn.models import Grammar, Multiclass, Taxonomy

TREES = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n(S (NP (PRP it)) (VP (VBZ has) (NP (DT a) (NN bone))))\n"
ROWS = "1 1:1 2:3\n2 3:1\n3 1:2 3:2\n" * 4


@pytest.fixture
def sentences():
    drawn = make_sentences(60, random_state=0), make_sentences(40, random_state=1)
    return [([[word for word, _ in x] for x in each.X], each.Y) for each in drawn]


def test_a_hidden_markov_model_is_learnt_and_used(folder, sentences, run, run_json):
    (X, Y), (X_test, Y_test) = sentences
    told = run_json("train", "train.txt", "-o", "hmm.slm", "--learner", "hmm", "--smoothing", "0.1")
    assert (told["learner"], told["examples"], told["labels"]) == ("HiddenMarkov", 60, 7)
    hmm = HiddenMarkov(Discrete(smoothing=0.1), smoothing=0.1).fit(X, Y)
    status, out, _ = run("predict", "hmm.slm", "test.txt", "-o", "labelled.txt")
    assert (status, out) == (0, "")
    labels = [line.split()[2] for line in Path("labelled.txt").read_text().splitlines() if line]
    assert labels == [label for y in hmm.predict(X_test) for label in y]
    judged = run_json("evaluate", "hmm.slm", "test.txt")
    assert judged["accuracy"] == pytest.approx(hmm.score(X_test, Y_test))
    assert run_json("evaluate", "hmm.slm", "labelled.txt", "--columns", "word,chunk,_", "--label", "chunk") == judged
    assert run_json("inspect", "hmm.slm")["learner"] == "HiddenMarkov"


def test_a_hidden_markov_model_has_probabilities_and_k_best(folder, sentences, run):
    (X, Y), (X_test, _) = sentences
    run("train", "train.txt", "-o", "hmm.slm", "--learner", "hmm", "-q")
    hmm = HiddenMarkov(Discrete()).fit(X, Y)
    status, out, _ = run("predict", "hmm.slm", "test.txt", "--probabilities", "--k-best", "2")
    assert status == 0
    for told, marginals, best in zip(
        map(json.loads, out.splitlines()), hmm.predict_marginals(X_test), hmm.k_best(X_test, 2), strict=True
    ):
        np.testing.assert_allclose([list(row.values()) for row in told["probabilities"]], marginals, atol=1e-6)
        assert [(one["predicted"], one["score"]) for one in told["k_best"]] == [(y, round(s, 6)) for y, s in best]
        assert np.exp(told["log_probability"]) <= min(max(row) for row in marginals.tolist()) + 1e-6


def test_what_a_hidden_markov_model_cannot_do_is_named(folder, run):
    run("train", "train.txt", "-o", "hmm.slm", "--learner", "hmm", "-q")
    for words, told in (
        (["predict", "hmm.slm", "test.txt", "--samples", "2"], "HiddenMarkov draws sequences with their labels"),
        (["report", "hmm.slm", "test.txt"], "hmm.slm holds a HiddenMarkov, which has no weights to report on"),
        (["train", "train.txt", "--learner", "hmm", "--validation", "test.txt"], "--validation has no effect here"),
        (["train", "train.txt", "--learner", "hmm", "-c", "1"], "--C has no effect here"),
        (["train", "train.txt", "--learner", "hmm", "--min-count", "2"], "--min-count has no effect here"),
        (["train", "train.txt", "--learner", "hmm", "--templates", "t"], "--templates has no effect here"),
        (["train", "train.txt", "--learner", "pcfg"], "--learner pcfg does not learn from columns files"),
    ):
        Path("t").write_text("word[0]\n")
        status, _, err = run(*words)
        assert (status, told in err) == (1, True), err


def test_counting_is_compared_and_tuned(folder, run, run_json):
    run("train", "train.txt", "-o", "hmm.slm", "--learner", "hmm", "-q")
    run("train", "train.txt", "-o", "svm.slm", "-q")
    assert run_json("compare", "svm.slm", "hmm.slm", "test.txt")["scores"]["loss"]["difference"]["estimate"] < 0
    grid = ["--grid", "smoothing=0.01,1", "--grid", "C=1", "--learner", "hmm,svm", "--folds", "2", "-j", "1"]
    found = run_json("tune", "train.txt", *grid)
    assert [result["setting"] for result in found["results"]] == [
        {"learner": "hmm", "model": "hidden-markov", "smoothing": 0.01},
        {"learner": "hmm", "model": "hidden-markov", "smoothing": 1.0},
        {"learner": "svm", "model": "chain", "C": 1.0},
    ]


def test_a_treebank_gives_its_probabilistic_grammar(tmp_path, monkeypatch, run, run_json):
    monkeypatch.chdir(tmp_path)
    Path("trees.mrg").write_text(TREES)
    run_json("train", "trees.mrg", "-o", "pcfg.slm", "--learner", "pcfg", "--vertical", "2")
    loaded = structlearn.load("pcfg.slm")
    X = [
        [("the", "DT"), ("dog", "NN"), ("barks", "VBZ")],
        [("it", "PRP"), ("has", "VBZ"), ("a", "DT"), ("bone", "NN")],
    ]
    expected = RelativeFrequencies(Grammar(vertical=2)).fit(X, TREES.splitlines())
    np.testing.assert_array_equal(loaded.w_, expected.w_)
    status, out, _ = run("predict", "pcfg.slm", "trees.mrg")
    assert (status, out) == (0, TREES)
    assert run_json("evaluate", "pcfg.slm", "trees.mrg")["f1"] == 1.0
    status, _, err = run("predict", "pcfg.slm", "trees.mrg", "--probabilities")
    assert (status, "train with --learner crf" in err) == (1, True)


def rows():
    X = [{"1": 1.0, "2": 3.0}, {"3": 1.0}, {"1": 2.0, "3": 2.0}] * 4
    return X, ["1", "2", "3"] * 4


def test_costs_are_the_loss(tmp_path, monkeypatch, run_json):
    monkeypatch.chdir(tmp_path)
    Path("rows.dat").write_text(ROWS)
    Path("costs.csv").write_text("true,3,1,2\n1,2,0,5\n# a comment\n2,0.5,1,0\n3,0,1,1\n")
    told = run_json("train", "rows.dat", "--costs", "costs.csv", "-c", "3", "--tol", "1e-6")
    features, _ = structlearn.load("model.slm")
    X, y = rows()
    cost = [[0, 5, 2], [1, 0, 0.5], [1, 1, 0]]
    svm = StructuralSVM(Multiclass(["1", "2", "3"], cost=cost), C=3, tol=1e-6).fit(features.transform(X), y)
    assert told["objective"] == pytest.approx(svm.objective_, rel=1e-5)
    Path("wrong.dat").write_text("2 1:1 2:3\n")
    assert run_json("evaluate", "model.slm", "wrong.dat")["loss"] == 1.0


def test_costs_of_labels_of_sequences(folder, run, run_json):
    labels = ["B-ADVP", "B-NP", "B-PP", "B-VP", "I-NP", "I-VP", "O"]
    lines = [",".join([a, *("0" if a == b else "3" for b in labels)]) for a in labels]
    Path("costs.csv").write_text("\n".join([",".join(["", *labels]), *lines]))
    run_json("train", "train.txt", "--costs", "costs.csv", "-o", "costs.slm")
    judged = run_json("evaluate", "costs.slm", "test.txt")
    assert judged["loss"] == pytest.approx(3 * (1 - judged["accuracy"]) * judged["tokens"] / judged["examples"])
    status, _, err = run("train", "train.txt", "--costs", "costs.csv", "--loss", "hamming")
    assert (status, "--loss and --costs exclude each other" in err) == (1, True)


def test_a_taxonomy_shares_weights_and_is_the_loss(tmp_path, monkeypatch, run_json):
    monkeypatch.chdir(tmp_path)
    Path("rows.dat").write_text(ROWS)
    Path("above.csv").write_text("1,low\n2,low\nlow,all\n3,all\n")
    told = run_json("train", "rows.dat", "--taxonomy", "above.csv", "-c", "3", "--tol", "1e-6")
    features, last = structlearn.load("model.slm")
    X, y = rows()
    above = Taxonomy({"1": "low", "2": "low", "low": "all", "3": "all"})
    model = Multiclass(cost=above, output_features=above)
    svm = StructuralSVM(model, C=3, tol=1e-6).fit(features.transform(X), y)
    assert told["objective"] == pytest.approx(svm.objective_, rel=1e-5)
    assert last.predict(features.transform(X)).tolist() == y
    Path("wrong.dat").write_text("2 1:1 2:3\n3 1:1 2:3\n")
    assert run_json("evaluate", "model.slm", "wrong.dat")["loss"] == 1.5


@pytest.mark.parametrize(
    ("option", "text", "told"),
    [
        ("--costs", "", "side.csv:1:1: expected a cell and then the labels"),
        ("--costs", ",1,2\n1,0,1\n2,1,0\n", "side.csv has no costs of the label '3', which the examples have"),
        ("--costs", ",1,2,3\n1,0,1,1\n2,1,0,1\n", "there is no line for the true label '3'"),
        ("--costs", ",1,2,3\n1,0,1\n", "side.csv:2:1: expected 3 costs of '1', found 2"),
        ("--costs", ",1,2,3\n1,0,x,1\n", "side.csv:2:1: 'x' is no cost of '1' as '2': a number ≥ 0"),
        ("--costs", ",1,2,3\n1,0,-1,1\n", "'-1' is no cost"),
        ("--costs", ",1,2,3\n1,2,1,1\n", "'1' as itself costs 2; a right label costs nothing"),
        ("--costs", ",1,1,3\n", "side.csv:1:1: the label '1' is there twice"),
        ("--costs", ",1,2,3\n4,0,1,1\n", "the label '4' is none of those in the first line"),
        ("--taxonomy", "", "side.csv:1:1: the file holds no node"),
        ("--taxonomy", "1,a\n2,a\n", "side.csv: class '3' is missing from the taxonomy"),
        ("--taxonomy", "1,a\n2,a\n3,b\n", "have no common ancestor; add a root"),
        ("--taxonomy", "1,a\n2,a\n3,a\na,1\n", "side.csv: the taxonomy has a cycle through"),
        ("--taxonomy", "1 a\n", "side.csv:1:1: expected a node and its parent, found '1 a'"),
        ("--taxonomy", "1,a\n1,a\n", "side.csv:2:1: '1' below 'a' is there twice"),
    ],
)
def test_what_a_file_of_labels_lacks_is_named(tmp_path, monkeypatch, run, option, text, told):
    monkeypatch.chdir(tmp_path)
    Path("rows.dat").write_text(ROWS)
    Path("side.csv").write_text(text)
    status, _, err = run("train", "rows.dat", option, "side.csv", "-q")
    assert (status, told in err, err.count("\n")) == (1, True, 1), err
    assert not Path("model.slm").exists()


def test_files_of_labels_are_for_models_that_take_them(folder, run):
    Path("above.csv").write_text("a,b\n")
    status, _, err = run("train", "train.txt", "--taxonomy", "above.csv")
    assert (status, "--taxonomy has no effect here: it is for files of single examples" in err) == (1, True)
    status, _, err = run("tune", "train.txt", "--grid", "costs=a,b")
    assert (status, "--costs is a file; give it to all settings" in err) == (2, True)
