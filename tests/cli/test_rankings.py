"""Rankings from the command line."""

import json

import numpy as np
import pytest

from structlearn.io import Letor, Lines
from structlearn.metrics import average_precision


@pytest.fixture
def queries(tmp_path, monkeypatch):
    """A folder with queries in LETOR files, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    for name in ("train.txt", "test.txt"):
        form, written = Letor(), []
        for _ in range(20):
            x = random.normal(size=(8, 3)).round(3)
            y = np.digitize(x @ [2, -1, 0] + 0.5 * random.normal(size=8), [0, 2])
            y[:2] = 0, 1
            written.append(form.write([{str(k + 1): float(v) for k, v in enumerate(row)} for row in x], y.tolist()))
        tmp_path.joinpath(name).write_text("".join(written))
    return tmp_path


def read(path):
    return list(Letor().read(Lines([path.read_bytes()], path.name)))


def test_a_ranker_is_trained_judged_and_used(queries, run, run_json):
    assert run("train", "train.txt", "-o", "ranker.slm", "--loss", "average_precision", "-c", "50", "-q") == (0, "", "")
    found = run_json("evaluate", "ranker.slm", "test.txt")
    status, out, _ = run("predict", "ranker.slm", "test.txt", "-o", "found.txt")
    assert (status, out) == (0, "")
    truths, predicted = read(queries / "test.txt"), read(queries / "found.txt")
    assert [example.x for example in truths] == [example.x for example in predicted]
    assert all(sorted(example.y) == list(range(1, 9)) for example in predicted)
    rankings = [np.argsort(-np.array(example.y)) for example in predicted]
    expected = average_precision([example.y for example in truths], rankings).mean()
    assert found["mean_average_precision"] == pytest.approx(expected)
    assert found["loss"] == pytest.approx(1 - expected)


def test_with_hidden_orders_precision_at_k_is_learnt(queries, run, run_json):
    assert run("train", "train.txt", "-o", "top.slm", "--learner", "latent", "--k", "2", "-c", "50", "-q")[0] == 0
    found = run_json("evaluate", "top.slm", "test.txt")
    assert found["precision_at_2"] > 0.7
    assert run("report", "top.slm", "test.txt", "-o", "report.html")[0] == 0


def test_the_first_k_are_a_table_and_rankings_are_drawn(queries, run):
    assert run("train", "train.txt", "-o", "top.slm", "--learner", "latent", "--k", "2", "-c", "50", "-q")[0] == 0
    status, out, _ = run("predict", "top.slm", "test.txt", "--latent")
    assert status == 0
    heading, first, *others = [line.split("\t") for line in out.splitlines()]
    assert (heading, len(others)) == (["name", "predicted", "latent"], 19)
    name, ranking, top = first[0], json.loads(first[1]), json.loads(first[2])
    assert (name, sorted(ranking), top) == ("qid:1", list(range(8)), ranking[:2])
    status, out, _ = run("predict", "top.slm", "test.txt", "--draw")
    assert status == 0
    lines = out.split("\n\n")[0].split("\n")
    assert lines[:2] == ["qid:1", "place  document  relevance"]
    assert lines[2].split()[:2] == ["1", str(ranking[0] + 1)]
    assert set(lines[4]) == {"-"}


def test_c_is_chosen_by_the_measure_that_is_learnt_for(queries, run_json):
    scores = {}
    for loss in ("ndcg", "average_precision"):
        k = ["--k", "3"] if loss == "ndcg" else []
        found = run_json("tune", "train.txt", "--grid", "C=0.001,100", "--loss", loss, *k, "--folds", "2", "-j", "1")
        scores[loss] = {result["setting"]["C"]: result["score"] for result in found["results"]}
        assert found["best"]["C"] == max(scores[loss], key=scores[loss].get)
        assert found["score"] == max(scores[loss].values()) > min(scores[loss].values())
    assert scores["ndcg"][100.0] != pytest.approx(scores["average_precision"][100.0], abs=1e-3)


def test_features_that_training_never_saw_are_passed_over(queries, run):
    assert run("train", "train.txt", "-o", "ranker.slm", "-c", "50", "-q")[0] == 0
    text = (queries / "test.txt").read_text()
    (queries / "more.txt").write_text("".join(f"{line} 99:7\n" for line in text.splitlines()))
    predicted = run("predict", "ranker.slm", "test.txt")[1]
    assert run("predict", "ranker.slm", "more.txt")[1].replace(" 99:7", "") == predicted


def test_check_speaks_of_queries_and_documents(queries, run, run_json):
    out = run("check", "train.txt")[1]
    assert out.startswith("train.txt: letor, 20 queries, 160 documents, 8 documents a query\n")
    assert "relevance  count" in out
    assert "1.0" not in out
    found = json.loads(run("check", "train.txt", "--json")[1])
    assert (found["documents"], sorted(found["labels"])) == (160, ["0", "1", "2"])


UNTEACHING = "0 qid:30 1:1 2:1 3:0\n0 qid:30 1:0 2:1 3:0\n"


@pytest.mark.filterwarnings("default")
def test_queries_that_teach_nothing_are_told_of_with_their_place(queries, run):
    text = (queries / "train.txt").read_text() + UNTEACHING
    (queries / "more.txt").write_text(text)
    status, out, err = run("train", "more.txt", "-o", "ranker.slm", "-c", "5", "-q")
    assert (status, out) == (0, "")
    assert err == (
        "structlearn: warning: 1 of 21 queries teaches nothing, more.txt:161: all rankings of the documents are "
        "equally good\n"
    )
    status, out, _ = run("check", "more.txt")
    assert status == 1
    assert "more.txt:161: all documents are equally relevant: this query teaches nothing" in out


def test_files_that_look_alike_are_told_of(queries, run):
    (queries / "alike.txt").write_text("2 qid:1 1:0.9\n1 qid:1 1:0.5\n2 qid:2 1:0.9\n1 qid:2 1:0.5\n")
    hint = "taken for sequences of tokens; for queries with documents to rank, say --format letor"
    assert hint in run("check", "alike.txt")[1]
    assert f"format svmhmm, 2 examples; {hint}" in run("train", "alike.txt", "-o", "m.slm")[2]
    assert hint not in run("check", "alike.txt", "--format", "svmhmm")[1]
    assert "--format" not in run("train", "alike.txt", "-o", "m.slm", "--format", "letor")[2]
    assert "format letor, 20 queries; taken for queries" in run("train", "train.txt", "-o", "m.slm")[2]


def test_what_does_not_rank_is_refused(queries, run):
    status, _, err = run("train", "train.txt", "--learner", "crf")
    assert status != 0
    assert "--learner crf does not learn from letor files; it may be svm, perceptron, kernel-svm, latent" in err
    status, _, err = run("train", "train.txt", "--loss", "precision_at_k")
    assert "loss 'precision_at_k' needs k" in err
    status, _, err = run("convert", "train.txt", "--to", "svmhmm")
    assert "letor holds queries, svmhmm holds sequences: one cannot become the other" in err


def test_checking_names_relevances_that_training_refuses(tmp_path, run):
    file = tmp_path / "large.txt"
    file.write_text("2000 qid:1 1:1\n0 qid:1 1:0\n1 qid:2 1:1\n0 qid:2 1:0\n")
    assert run("train", file, "-o", tmp_path / "m.slm", "--loss", "ndcg", "-q")[0] == 1
    status, out, _ = run("check", file)
    assert (status, "large.txt:1: a relevance of 2000: with gain='exponential'" in out) == (1, True)
