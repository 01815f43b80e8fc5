"""Learners of outputs as vectors on the command line: sequences, label sets and single examples."""

import signal
from pathlib import Path

import numpy as np
import pytest

import structlearn
from structlearn import VectorValuedRidge, VectorValuedSVM
from structlearn.kernels import RBF, Decomposable
from structlearn.outputs import LabelSequenceOutputs, LabelSetOutputs
from tests.cli.test_kernels import PAIRS, ROWS, label_set

LEARNERS = ["vector-ridge", "vector-svm"]
TOKENS = [ROWS[k : k + 5] for k in range(0, 60, 5)]
TAGS = [[str(y + 1) for _, y in PAIRS[k : k + 5]] for k in range(0, 60, 5)]
SETS = [{*["same"] * y, *["right"] * (x[0] > 0)} for x, y in PAIRS]
FILES = {
    "rows.svmlight": [f"{1 if y else -1} 1:{x[0]} 2:{x[1]}" for x, y in PAIRS],
    "tokens.svmhmm": [f"{y + 1} qid:{i // 5 + 1} 1:{x[0]} 2:{x[1]}" for i, (x, y) in enumerate(PAIRS)],
    "sets.jsonl": [label_set(x, y) for x, y in PAIRS],
    "words.txt": [
        f"{'aA'[x[0] > 0]} {'N' if x[0] > 0 else 'D'}" + "\n" * (i % 3 == 2) for i, (x, _) in enumerate(PAIRS)
    ],
}
#: What makes the files quick to learn.
QUICK = {"vector-ridge": [], "vector-svm": ["-c", "20", "--tol", "0.1"]}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in FILES.items():
        Path(name).write_text("\n".join(lines) + "\n")


def last(path):
    loaded = structlearn.load(path)
    return loaded[-1] if hasattr(loaded, "steps") else loaded


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("file", FILES)
def test_they_are_trained_used_and_judged(files, run, run_json, learner, file):
    status, out, err = run("train", file, "-o", "model.slm", "--learner", learner, *QUICK[learner])
    assert status == 0, err
    assert ("method" in out, "gap" in out) == (learner == "vector-ridge", learner == "vector-svm")
    judged = run_json("evaluate", "model.slm", file)
    assert judged["accuracy"] > 0.8
    status, out, err = run("predict", "model.slm", file)
    assert (status, len(out.splitlines())) == (0, len(Path(file).read_text().splitlines())), err
    told = run_json("inspect", "model.slm")
    assert (told["operator"], told["reader"] is not None) == ("identity", True)
    assert ("left_out" in told, "gap" in told) == (learner == "vector-ridge", learner == "vector-svm")
    assert run("inspect", "model.slm")[0] == 0


def test_they_learn_what_python_learns(files, run):
    words = ["--kernel", "rbf", "--gamma", "0.7", "--operator", "covariance", "-q"]
    assert run("train", "tokens.svmhmm", "--learner", "vector-ridge", "--lam", "0.01", "--edges", "0.5", *words)[0] == 0
    kernel = Decomposable(RBF(0.7), "covariance")
    ridge = VectorValuedRidge(LabelSequenceOutputs(0.5), kernel, lam=0.01).fit(TOKENS, TAGS)
    np.testing.assert_allclose(last("model.slm").weights_[0], ridge.weights_[0], atol=1e-10)
    assert run("train", "sets.jsonl", "--learner", "vector-svm", "-c", "5", *words)[0] == 0
    svm = VectorValuedSVM(LabelSetOutputs(), kernel, C=5).fit(ROWS, SETS)
    assert last("model.slm").objective_ == pytest.approx(svm.objective_, rel=0.01)
    assert run("train", "sets.jsonl", "--learner", "vector-ridge", "--operator", "learnt", "-q")[0] == 0
    assert last("model.slm").method_ == "alternation"
    assert run("train", "rows.svmlight", "--learner", "vector-ridge", "--n-components", "10", "-q")[0] == 0
    assert last("model.slm").method_ == "nystroem"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tokens.svmhmm", "--operator", "learnt"], "--operator has no effect here: it is for --learner vector-ridge"),
        (["tokens.svmhmm", "--lam", "1"], "--lam has no effect here: it is for --learner vector-ridge"),
        (["tokens.svmhmm", "--edges", "1"], "--edges has no effect here: it is for --model label-sequences"),
        (["sets.jsonl", "--learner", "vector-ridge", "--edges", "1"], "--edges has no effect here"),
        (["sets.jsonl", "--learner", "vector-ridge", "-c", "1"], "--C has no effect here"),
        (["sets.jsonl", "--learner", "vector-ridge", "--loss", "f1"], "--loss has no effect here"),
        (["sets.jsonl", "--learner", "vector-ridge", "--basis", "uniform"], "--basis has no effect here"),
        (["sets.jsonl", "--learner", "vector-svm", "--lam", "1"], "--lam has no effect here"),
        (
            ["sets.jsonl", "--learner", "vector-svm", "--operator", "learnt"],
            "--operator learnt is for --learner vector-r",
        ),
        (["sets.jsonl", "--learner", "vector-svm", "--validation", "sets.jsonl"], "--validation has no effect here"),
        (["sets.jsonl", "--learner", "vector-ridge", "--checkpoint", "c"], "--checkpoint has no effect here"),
        (["sets.jsonl", "--learner", "vector-ridge", "--model", "multilabel"], "does not learn --model multilabel"),
        (["words.txt", "--learner", "vector-ridge", "--templates", "pairs"], "templates of label pairs exclude each"),
        (["weighted.txt", "-f", "crfsuite", "--learner", "vector-ridge"], "weights of examples have no effect here"),
    ],
)
def test_what_has_no_effect_is_refused(files, run, words, message):
    Path("pairs").write_text("U0:%x[0,0]\nB0:%x[0,0]\n")
    Path("weighted.txt").write_text("@weight:2\na\tx\nb\ty\n\na\tx\nb\ty\n")
    status, _, err = run("train", *words)
    assert (status, message in err) == (1, True), err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--learner", "vector-ridge", "--lam", "-1"], "'--lam': -1.0"),
        (["--learner", "vector-svm", "-c", "-1"], "'--C': -1.0"),
        (["--learner", "vector-ridge", "--edges", "-1"], "'--edges': -1.0"),
        (["--learner", "vector-ridge", "--operator", "own"], "--operator"),
    ],
)
def test_what_means_nothing_is_a_wrong_option(files, run, words, message):
    status, _, err = run("train", "tokens.svmhmm", *words)
    assert (status, message in err) == (2, True), err


def test_what_they_cannot_do_is_named(files, run):
    assert run("train", "tokens.svmhmm", "--learner", "vector-ridge", "--lam", "0.1", "-q")[0] == 0
    for words, message in (
        (["explain", "model.slm", "tokens.svmhmm"], "model.slm holds a VectorValuedRidge, whose scores are no sums"),
        (["predict", "model.slm", "tokens.svmhmm", "--k-best", "2"], "--k-best is not possible: VectorValuedRidge"),
        (["predict", "model.slm", "tokens.svmhmm", "--samples", "2"], "--samples is not possible: VectorValuedRidge"),
        (["predict", "model.slm", "tokens.svmhmm", "--probabilities"], "--probabilities is not possible"),
        (["predict", "model.slm", "tokens.svmhmm", "--latent"], "--latent is for models whose outputs have latent"),
    ):
        status, _, err = run(*words)
        assert (status, message in err) == (1, True), err


def test_after_an_interruption_the_model_so_far_is_there(files, run, monkeypatch):
    monkeypatch.setattr(
        "structlearn.callbacks.Progress.show", lambda self, estimator, record: signal.raise_signal(signal.SIGINT)
    )
    status, _, err = run("train", "sets.jsonl", "--learner", "vector-svm", "--tol", "1e-9")
    assert (status, "the best model so far is in model.slm" in err) == (130, True), err
    assert last("model.slm").converged_ is False


def test_they_are_compared_tuned_and_reported_on(files, run, run_json):
    # The last label comes once: parts of the examples lack it.
    Path("sets.jsonl").write_text(
        Path("sets.jsonl").read_text() + '{"features": {"u": 9, "v": 9}, "labels": ["far"]}\n'
    )
    assert run("train", "sets.jsonl", "--learner", "vector-ridge", "--operator", "covariance", "-q")[0] == 0
    assert run("train", "sets.jsonl", "-o", "linear.slm", "-q")[0] == 0
    found = run_json("compare", "model.slm", "linear.slm", "sets.jsonl")
    assert found["scores"]["label_accuracy"]["difference"]["estimate"] > 0.1
    words = [
        "--learner",
        "vector-ridge,svm",
        "--kernel",
        "rbf",
        "--gamma",
        "1",
        "--grid",
        "C=1",
        "--grid",
        "lam=0.001,1",
    ]
    tuned = run_json("tune", "sets.jsonl", *words, "--folds", "2", "-j", "1")
    assert [(result["setting"]["learner"], result["setting"].get("lam")) for result in tuned["results"]] == [
        ("vector-ridge", 0.001),
        ("vector-ridge", 1.0),
        ("svm", None),
    ]
    assert tuned["best"]["lam"] == 0.001 if tuned["best"]["learner"] == "vector-ridge" else tuned["score"] > 0.8
    status, _, err = run("report", "model.slm", "sets.jsonl", "-o", "page.html")
    assert status == 0, err
    page = Path("page.html").read_text("utf-8")
    assert all(f"<h2>{title}</h2>" in page for title in ("Shared by labels", "Left-out errors"))
