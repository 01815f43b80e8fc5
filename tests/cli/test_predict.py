"""Probabilities, the k best outputs and samples from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

import structlearn
from structlearn.data import from_gapped, parse_tree
from structlearn.io import Columns, read_examples

TREES = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n(S (NP (PRP it)) (VP (VBZ has) (NP (DT a) (NN bone))))\n"
PAIRS = ">a1\nGAT-TACA\n>a2\nGCTATA-A\n>b1\nCATGA-CA\n>b2\nC-TGATCG\n"
ROWS = "1 1:1 2:3\n2 3:1\n1 1:2\n"


@pytest.fixture
def crf(folder, run):
    assert run("train", "train.txt", "-o", "crf.slm", "--learner", "crf", "-q")[0] == 0
    return folder / "crf.slm"


def lines(out):
    return [json.loads(line) for line in out.splitlines()]


def trained(run, tmp_path, monkeypatch, name, text, learner="crf"):
    """A model of that learner in m.slm, from a file of that text."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    assert run("train", name, "-o", "m.slm", "--learner", learner, "-q")[0] == 0
    return structlearn.load("m.slm")


def test_column_files_get_the_probability_of_the_predicted_label(crf, run, run_json):
    estimator = structlearn.load(crf)
    _, examples = read_examples("test.txt", Columns())
    X = [example.x for example in examples]
    marginals = estimator[-1].predict_marginals(estimator[:-1].transform(X))
    status, out, _ = run("predict", crf, "test.txt", "--probabilities", "-o", "labelled.txt")
    assert (status, out) == (0, "")
    rows = [line.split() for line in Path("labelled.txt").read_text().splitlines() if line]
    labels = [label for y in estimator.predict(X) for label in y]
    most = np.concatenate(marginals)
    places = [list(estimator[-1].classes_).index(label) for label in labels]
    assert [row[2] for row in rows] == labels
    np.testing.assert_allclose([float(row[3]) for row in rows], most[np.arange(len(most)), places], atol=1e-6)
    plain = run_json("evaluate", crf, "test.txt")
    assert run_json("evaluate", crf, "labelled.txt", "--columns", "word,chunk,_,_", "--label", "chunk") == plain


def test_json_lines_tell_what_the_library_tells(crf, run, run_json):
    asked = ["--probabilities", "--k-best", "3", "--samples", "2", "--seed", "5"]
    status, out, _ = run("predict", crf, "test.txt", *asked)
    assert status == 0
    estimator = structlearn.load(crf)
    found = lines(out)
    X = [told["tokens"] for told in found]
    rows, last = estimator[:-1].transform(X), estimator[-1]
    assert [told["predicted"] for told in found] == estimator.predict(X)
    np.testing.assert_allclose(
        [told["log_probability"] for told in found], last.predict_log_proba(rows, estimator.predict(X)), atol=1e-6
    )
    told = [[list(by_label.values()) for by_label in line["probabilities"]] for line in found]
    for tokens, marginals in zip(told, last.predict_marginals(rows), strict=True):
        np.testing.assert_allclose(tokens, marginals, atol=1e-6)
    best = [[(one["predicted"], one["log_probability"]) for one in line["k_best"]] for line in found]
    assert best == [[(y, round(score, 6)) for y, score in best] for best in last.k_best(rows, 3)]
    assert [line["samples"] for line in found] == last.sample(rows, 2, np.random.RandomState(5))
    assert run("predict", crf, "test.txt", *asked)[1] == out
    Path("out.jsonl").write_text(out)
    again = run_json("evaluate", crf, "out.jsonl", "--format", "jsonl")
    assert again == run_json("evaluate", crf, "test.txt")


def test_samples_go_on_from_batch_to_batch(crf, run, monkeypatch):
    Path("same.txt").write_text("the\ncan\n\n" * 40)
    monkeypatch.setattr("structlearn.annotation.examples.BATCH", 1)
    drawn = [tuple(map(tuple, told["samples"])) for told in lines(run("predict", crf, "same.txt", "--samples", "9")[1])]
    assert len(set(drawn)) > 1


def test_a_margin_has_scores_but_no_probabilities(tagger, run):
    status, out, _ = run("predict", tagger, "test.txt", "--k-best", "2")
    best, second = lines(out)[0]["k_best"]
    assert (status, best["score"] >= second["score"], best["predicted"] != second["predicted"]) == (0, True, True)
    for option in (["--probabilities"], ["--samples", "2"]):
        status, out, err = run("predict", tagger, "test.txt", *option)
        assert (status, out) == (1, "")
        assert err == (
            f"structlearn: {option[0]} is not possible: StructuralSVM has scores and no probabilities; train with "
            "--learner crf\n"
        )


def test_trees_have_the_probabilities_of_their_phrases(tmp_path, monkeypatch, run):
    crf = trained(run, tmp_path, monkeypatch, "trees.mrg", TREES)
    told = lines(run("predict", "m.slm", "trees.mrg", "--probabilities", "--k-best", "2", "--samples", "1")[1])
    assert [parse_tree(line["predicted"]) for line in told] == [parse_tree(text) for text in TREES.splitlines()]
    X = [[("the", "DT"), ("dog", "NN"), ("barks", "VBZ")]]
    (expected,) = crf.predict_marginals(X)
    labels = list(crf.spec_.labels)
    for label, i, j, p in told[0]["probabilities"]:
        assert p == pytest.approx(expected[i, j, labels.index(label)], abs=1e-6)
    status, _, err = run("predict", "m.slm", "trees.mrg", "--probabilities")
    assert (status, err) == (
        1,
        "structlearn: --probabilities has no place in brackets files; with --json it is there\n",
    )


def test_alignments_have_the_probabilities_of_their_matches(tmp_path, monkeypatch, run):
    crf = trained(run, tmp_path, monkeypatch, "pairs.fasta", PAIRS)
    told = lines(run("predict", "m.slm", "pairs.fasta", "--probabilities", "--k-best", "4")[1])
    assert told[0]["names"] == ["a1", "a2"]
    (P,) = crf.predict_marginals([("GATTACA", "GCTATAA")])
    matches = from_gapped(*told[0]["predicted"])
    assert told[0]["probabilities"] == [[i, j, round(P[i, j], 6)] for i, j in matches]
    assert [from_gapped(*one["predicted"]) for one in told[0]["k_best"]] == [
        y for y, _ in crf.k_best([("GATTACA", "GCTATAA")], 4)[0]
    ]


def test_single_examples_have_the_probabilities_of_all_labels(tmp_path, monkeypatch, run):
    trained(run, tmp_path, monkeypatch, "rows.dat", ROWS)
    told = lines(run("predict", "m.slm", "rows.dat", "--json", "--probabilities")[1])
    for line in told:
        assert sum(line["probabilities"].values()) == pytest.approx(1.0, abs=1e-5)
        assert line["log_probability"] == pytest.approx(np.log(line["probabilities"][line["predicted"]]), abs=1e-4)
    assert told[0]["features"] == {"1": 1.0, "2": 3.0}


def test_structures_without_the_ability_are_named(tmp_path, monkeypatch, run):
    trained(run, tmp_path, monkeypatch, "q.letor", "2 qid:1 1:1 #docid = a\n0 qid:1 1:0 #docid = b\n", "svm")
    for option, told in ((["--k-best", "2"], "Ranking cannot find the k best"), (["--probabilities"], "cannot sum")):
        status, _, err = run("predict", "m.slm", "q.letor", *option)
        assert (status, option[0] in err, told in err) == (1, True, True)


def test_forms_of_output_exclude_each_other(tagger, run):
    status, _, err = run("predict", tagger, "test.txt", "--draw", "--k-best", "2")
    assert (status, err) == (1, "structlearn: --draw and JSON lines exclude each other\n")
