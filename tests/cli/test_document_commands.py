"""Coreference from files of documents."""

import json

import pytest

from structlearn.io import read_examples
from tests.io.test_conll2012 import TEXT


@pytest.fixture
def documents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conll").write_text(TEXT * 2)
    return tmp_path


def labels(path):
    return [example.y for example in read_examples(path)[1]]


def test_clusters_are_learnt_predicted_and_judged(documents, run):
    train = ("train", "train.conll", "-o", "model.slm", "-c", "100", "--r", "0.5", "--window", "3", "--quiet")
    assert run(*train) == (0, "", "")
    status, out, err = run("predict", "model.slm", "train.conll")
    assert (status, err) == (0, "")
    (documents / "predicted.conll").write_text(out)
    assert labels("predicted.conll") == [[0, 1, 2, 0, 1]] * 2
    status, out, _ = run("evaluate", "model.slm", "train.conll")
    assert status == 0
    assert "conll" in out
    assert "pair loss" in out
    assert run("report", "model.slm", "train.conll", "-o", "report.html")[0] == 0


def test_links_between_mentions_are_a_table(documents, run):
    assert run("train", "train.conll", "-o", "model.slm", "-c", "100", "--window", "3", "--quiet")[0] == 0
    status, out, _ = run("predict", "model.slm", "train.conll", "--latent")
    assert status == 0
    heading, first, _ = [line.split("\t") for line in out.splitlines()]
    assert heading == ["name", "predicted", "latent"]
    assert json.loads(first[1]) == [0, 1, 2, 0, 1]
    assert json.loads(first[2]) == [[0, 3], [1, 4]]


def test_correlation_clustering_is_a_learner_of_documents(documents, run):
    assert run("train", "train.conll", "-o", "model.slm", "--learner", "svm", "--decoder", "lp", "--quiet")[0] == 0
    assert run("predict", "model.slm", "train.conll")[0] == 0


def test_wrong_learners_and_options_are_refused(documents, run):
    status, _, err = run("train", "train.conll", "-o", "model.slm", "--learner", "crf")
    assert status == 1
    assert "--learner crf does not learn from conll2012 files; it may be latent, svm" in err
    status, _, err = run("train", "train.conll", "-o", "model.slm", "--decoder", "lp")
    assert status == 1
    assert "--decoder has no effect here: it is for --model correlation-clustering" in err


def test_check_counts_mentions_and_entities(documents, run):
    status, out, _ = run("check", "train.conll")
    assert "2 documents, 14 tokens, 10 mentions of 6 entities, 5 mentions a document" in out
    assert "comes a second time" in out
    assert status == 1


def test_documents_become_nothing_else(documents, run):
    status, _, err = run("convert", "train.conll", "--to", "columns")
    assert status == 1
    assert "conll2012 holds documents, columns holds sequences: one cannot become the other" in err


def test_documents_of_three_columns_are_not_taken_for_labels_of_tokens(documents, run, run_json):
    rows = "Ann NNP (0)\nsaw VBD -\nBob NNP (1)\n\nShe PRP (0)\nlikes VBZ -\nhim PRP (1)\n"
    (documents / "short.conll").write_text(rows)
    option = "--format conll2012 --columns word,_,_ names another column of words"
    for command in ("check", "train"):
        status, _, err = run(command, "short.conll")
        assert (status, option in err) == (1, True)
        assert err.startswith("structlearn: short.conll:1:1: expected at least 5 columns, found 3")
    layout = ("--format", "conll2012", "--columns", "word,_,_")
    found = run_json("check", "short.conll", *layout)
    assert (found["format"], found["tokens"], found["mentions"], found["entities"]) == ("conll2012", 6, 4, 2)
    assert run("train", "short.conll", *layout, "-c", "100", "-q")[0] == 0
    status, out, _ = run("predict", "model.slm", "short.conll")
    assert (status, [line.split()[:2] for line in out.splitlines()]) == (
        0,
        [line.split()[:2] for line in rows.splitlines()],
    )
    status, _, err = run("check", "short.conll", "--format", "conll2012", "--columns", "_,_")
    assert (status, "it must name the column of the words, word" in err) == (1, True)
