"""Choosing options by cross-validation from the command line."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import structlearn
from structlearn.estimators.base import StructuredEstimator


def test_tuning_chooses_by_cross_validation(folder, run_json, run):
    found = run_json("tune", "train.txt", "--grid", "C=0.01,10", "--grid", "min_count=1,3", "--folds", "2", "-j", "1")
    assert [result["setting"] for result in found["results"]] == [
        {"min_count": 1, "C": 0.01},
        {"min_count": 1, "C": 10.0},
        {"min_count": 3, "C": 0.01},
        {"min_count": 3, "C": 10.0},
    ]
    assert found["best"]["C"] == 10.0
    assert "best: C=1.0" in run("tune", "train.txt", "--grid", "C=1", "--folds", "2", "-j", "1", "--quiet")[1]
    assert found["score"] == max(result["score"] for result in found["results"])
    assert found["metric"] == "f1 of spans by conlleval"
    status, out, _ = run("tune", "train.txt", "--folds", "2", "-j", "1", "-o", "best.slm", "-q")
    C = structlearn.load("best.slm")[-1].C_
    assert C in [0.6, 1.8, 6.0, 18.0, 60.0]
    assert (status, out.partition(",")[0].strip()) == (0, f"best: C={C}")


def test_a_path_over_C_ends_where_single_runs_end(folder, run_json):
    path = run_json("tune", "train.txt", "--grid", "C=1,10", "--folds", "2", "-j", "1", "--tol", "1e-5")
    alone = run_json("tune", "train.txt", "--grid", "C=10", "--folds", "2", "-j", "1", "--tol", "1e-5")
    assert path["results"][1]["score"] == pytest.approx(alone["results"][0]["score"], abs=0.01)


def test_tuning_heeds_the_weights_of_examples(tmp_path, monkeypatch, run, run_json):
    monkeypatch.chdir(tmp_path)
    rare = "@weight:10\nA\tw\n\n"
    often = "@weight:1\nB\tw\n\n"
    Path("train.crfsuite").write_text((rare + often * 3) * 4)
    found = run_json("tune", "train.crfsuite", "--format", "crfsuite", "--folds", "2", "-j", "1", "-o", "best.slm")
    assert found["score"] == pytest.approx(0.25)
    assert [result["setting"]["C"] for result in found["results"]] == [0.52, 1.56, 5.2, 15.6, 52.0]
    run("train", "train.crfsuite", "--format", "crfsuite", "-o", "same.slm", "-c", found["best"]["C"], "--quiet")
    assert np.array_equal(structlearn.load("best.slm").w_, structlearn.load("same.slm").w_)


@pytest.mark.parametrize("options", [["--learner", "latent", "--tol", "0.2"], ["--max-iter", "2"]])
def test_tuning_scores_what_train_would_make(folder, run_json, monkeypatch, options):
    fit, fitted = StructuredEstimator.fit, {}

    def noted(self, *data, **how):
        fit(self, *data, **how)
        fitted.setdefault(self.C, []).append(self.w_)
        return self

    monkeypatch.setattr(StructuredEstimator, "fit", noted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for grid in ("C=1,10", "C=10"):
            run_json("tune", "train.txt", "--grid", grid, "--folds", "2", "-j", "1", *options)
    on_the_path, alone = fitted[5.0][:2], fitted[5.0][2:]
    assert all(np.array_equal(w, v) for w, v in zip(on_the_path, alone, strict=True))


def test_tuning_says_which_values_are_best(folder, run):
    status, out, _ = run("tune", "train.txt", "--grid", "C=5", "--folds", "2", "-j", "1")
    assert (status, out.splitlines()[-1]) == (0, "best: C=5.0")


def test_learners_and_models_are_tried(folder, run_json, run):
    asked = ["--learner", "svm,perceptron", "--model", "chain,segments", "--grid", "C=1,10", "--folds", "2", "-j", "1"]
    found = run_json("tune", "train.txt", *asked, "-o", "best.slm")
    assert [result["setting"] for result in found["results"]] == [
        {"learner": "svm", "model": "chain", "C": 1.0},
        {"learner": "svm", "model": "chain", "C": 10.0},
        {"learner": "svm", "model": "segments", "C": 1.0},
        {"learner": "svm", "model": "segments", "C": 10.0},
        {"learner": "perceptron", "model": "chain"},
        {"learner": "perceptron", "model": "segments"},
    ]
    assert all(len(result["scores"]) == 2 for result in found["results"])
    for result in found["results"]:
        assert result["score"] == pytest.approx(np.mean(result["scores"]))
    learner = {"svm": "StructuralSVM", "perceptron": "StructuredPerceptron"}[found["best"]["learner"]]
    best = structlearn.load("best.slm")[-1]
    assert (type(best).__name__, type(best.model).__name__.lower()) == (learner, found["best"]["model"])
    status, out, _ = run("tune", "train.txt", *asked)
    assert (status, "part 1" in out, "part 2" in out) == (0, True, True)


def test_a_part_is_scored_as_evaluate_scores_it(folder, run, run_json):
    found = run_json("tune", "train.txt", "--validation", "test.txt", "--grid", "C=2,20", "-j", "1")
    assert found["validation"] == "test.txt"
    for result in found["results"]:
        run("train", "train.txt", "-q", "-c", result["setting"]["C"])
        judged = run_json("evaluate", "model.slm", "test.txt")
        assert result["scores"] == [result["score"]]
        assert result["score"] == pytest.approx(judged["f1"], abs=0.01)
        assert result["standard_error"] is None


def test_processes_find_what_one_process_finds(folder, run_json):
    asked = ["--grid", "C=1,10", "--folds", "2", "--seed", "1"]
    alone, together = (run_json("tune", "train.txt", *asked, "-j", jobs)["results"] for jobs in (1, 2))
    assert [result["scores"] for result in together] == [result["scores"] for result in alone]


def documents(n, size):
    """Sentences in documents, of which each has a word of its own that tells all labels."""
    return "".join(f"-DOCSTART- O\n\n{f'w{k} L{k % 2}{chr(10)}{chr(10)}' * size}" for k in range(n))


def test_documents_stay_together(tmp_path, monkeypatch, run, run_json):
    monkeypatch.chdir(tmp_path)
    Path("train.txt").write_text(documents(8, 6))
    asked = ["--grid", "C=100", "--folds", "4", "-j", "1", "--templates", "t"]
    Path("t").write_text("word[0]\n")
    assert run_json("tune", "train.txt", *asked)["score"] == 1.0
    apart = run_json("tune", "train.txt", *asked, "--groups", "documents")
    assert apart["score"] < 0.9
    Path("groups").write_text("".join(f"d{k}\n" * 6 for k in range(8)))
    assert (
        run_json("tune", "train.txt", *asked, "--groups", "groups")["results"][0]["scores"]
        == (apart["results"][0]["scores"])
    )
    for k in range(4):
        Path(f"{k}.txt").write_text(f"w{k} L{k % 2}\n\n" * 5)
    files = [f"{k}.txt" for k in range(4)]
    assert run_json("tune", *files, *asked, "--groups", "files")["score"] < 0.9


def test_documents_of_conllu_begin_within_a_sentence(tmp_path, monkeypatch, run_json):
    monkeypatch.chdir(tmp_path)
    word = "1\tw{0}\tw{0}\tL{1}\t_\t_\t0\troot\t_\t_\n\n"
    text = "".join(
        f"# sent_id = {k}\n# newdoc id = d{k}\n" + word.format(k, k % 2) + "# more\n" + word.format(k, k % 2)
        for k in range(4)
    )
    Path("train.conllu").write_text(text)
    Path("t").write_text("form[0]\n")
    asked = ["--grid", "C=100", "--folds", "4", "-j", "1", "--templates", "t"]
    assert run_json("tune", "train.conllu", *asked, "--groups", "documents")["score"] < 0.9


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--groups", "documents"], "train.txt: no line begins a document in columns files"),
        (["--groups", "files"], "1 group cannot be put into 2 parts"),
        (["--groups", "train.txt"], "train.txt names 561 groups, but there are 60 examples"),
        (["--groups", "files", "--validation", "test.txt"], "--groups and --validation exclude each other"),
        (["--model", "chain,grammar"], "--model grammar does not learn from columns files"),
        (["--learner", "crf", "--model", "latent-chain"], "--learner crf does not learn --model latent-chain"),
        (["--learner", "perceptron"], "--grid is missing: --learner perceptron has no C to choose"),
        (["--grid", "gaps=linear"], "--gaps has no effect here: it is for files of pairs"),
        (["--validation", "empty.txt"], "empty.txt:1:1: the file holds no example"),
    ],
)
def test_what_cannot_be_tried_is_named(folder, run, options, told):
    Path("empty.txt").write_text("")
    status, out, err = run("tune", "train.txt", "--folds", "2", "-j", "1", *options)
    assert (status, out, told in err) == (1, "", True), err
