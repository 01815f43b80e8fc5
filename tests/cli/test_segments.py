"""Segments from files of tags: the command line reads tags of any scheme, and writes them in the same one."""

import json
from pathlib import Path

import numpy as np
import pytest

import structlearn
from structlearn import StructuralSVM
from structlearn.data import from_bio, to_bio
from structlearn.datasets import make_sentences
from structlearn.features import TextFeatures
from structlearn.io.columns import Columns
from structlearn.losses import LabelCosts, LabelF1, SpanF1
from structlearn.models import Segments

NAMES = "Ann I-PER\nBell I-PER\nmet O\nBob I-PER\nCarl B-PER\n\nAcme I-ORG\nLtd I-ORG\nruns O\n\n"


@pytest.fixture
def segmenter(folder, run):
    assert run("train", "train.txt", "-o", "segments.slm", "--model", "segments", "-q")[0] == 0
    return folder / "segments.slm"


def test_the_command_line_learns_what_the_library_learns(folder, run, run_json):
    told = run_json("train", "train.txt", "--model", "segments", "-c", "7", "--tol", "1e-6", "--segment-ends")
    drawn = make_sentences(60, random_state=0)
    words = [[word for word, _ in x] for x in drawn.X]
    segments = [from_bio(y) for y in drawn.Y]
    svm = StructuralSVM(Segments(ends=True), C=7, tol=1e-6).fit(TextFeatures().fit_transform(words), segments)
    assert (told["objective"], told["structure"], told["tags"]) == (svm.objective_, "Segments", "BIO")


def test_predictions_are_tags_and_can_be_evaluated(segmenter, run, run_json):
    status, out, _ = run("predict", segmenter, "test.txt", "-o", "labelled.txt")
    assert (status, out) == (0, "")
    _, *rows = (line.split() for line in Path("labelled.txt").read_text().splitlines())
    assert all(len(row) in (0, 3) for row in rows)
    found = run_json("evaluate", segmenter, "test.txt")
    assert found["f1"] > 0.7
    assert run_json("evaluate", segmenter, "labelled.txt", "--columns", "word,chunk,_", "--label", "chunk") == found
    estimator = structlearn.load(segmenter)
    words = [[word for word, _ in x] for x in make_sentences(40, random_state=1).X]
    labels = [tag for segments in estimator.predict(words) for tag in to_bio(segments)]
    assert [line.split()[2] for line in Path("labelled.txt").read_text().splitlines() if line] == labels


@pytest.mark.parametrize("scheme", ["BIO", "IOB1", "BIOES"])
def test_tags_are_written_in_the_scheme_of_the_training_file(tmp_path, monkeypatch, run, scheme):
    monkeypatch.chdir(tmp_path)
    words = [sentence.split() for sentence in NAMES.strip().split("\n\n")]
    sentences = [(both[::2], to_bio(from_bio(both[1::2]), scheme)) for both in words]
    Path("train.txt").write_text("".join(Columns().write(x, y) for x, y in sentences) * 3)
    assert run("train", "train.txt", "--model", "segments", "--segment-ends", "-c", "1000", "-q")[0] == 0
    Path("new.txt").write_text("".join(Columns().write(x, None) for x, _ in sentences))
    expected = "".join(Columns().write(x, y) for x, y in sentences)
    assert run("predict", "model.slm", "new.txt") == (0, expected, "")


def test_probabilities_and_k_best_are_of_tags(folder, run):
    assert run("train", "train.txt", "--model", "segments", "--learner", "crf", "-q")[0] == 0
    status, out, _ = run("predict", "model.slm", "test.txt", "--probabilities", "--k-best", "2", "--samples", "1")
    assert status == 0
    for told in map(json.loads, out.splitlines()):
        assert told["k_best"][0]["predicted"] == told["predicted"]
        assert told["k_best"][0]["log_probability"] == pytest.approx(told["log_probability"], abs=1e-5)
        assert len(told["samples"][0]) == len(told["tokens"]) == len(told["probabilities"])
        assert set(told["probabilities"][0]) == {"NP", "VP", "PP", "ADVP", "O"}
    status, out, _ = run("predict", "model.slm", "test.txt", "--probabilities")
    assert (status, len(out.split("\n")[0].split())) == (0, 4)


def test_labels_that_are_no_tags_are_named(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    Path("pos.txt").write_text("the DET\ndog NOUN\n\n")
    status, _, err = run("train", "pos.txt", "--model", "segments", "-q")
    assert (status, err) == (
        1,
        "structlearn: pos.txt:1: the label 'DET' is no tag such as B-NP, I-NP and O, which are read as segments\n",
    )
    assert run("train", "pos.txt", "--model", "grammar", "-q")[2] == (
        "structlearn: --model grammar does not learn from columns files; it may be chain, segments, latent-chain, "
        "label-sequences, hidden-markov\n"
    )


def test_a_report_and_an_inspection_are_there(segmenter, run):
    assert run("report", segmenter, "test.txt", "-o", "report.html")[0] == 0
    assert run("inspect", segmenter)[0] == 0
    assert run("train", "train.txt", "--model", "segments", "--validation", "test.txt", "-q")[0] == 0


def test_costs_are_of_the_labels_of_segments(folder, run, run_json):
    drawn = make_sentences(60, random_state=0)
    segments = [from_bio(y) for y in drawn.Y]
    labels = sorted({label for y in segments for label, _, _ in y})
    costs = np.abs(np.subtract.outer(np.arange(len(labels)), 2.0 * np.arange(len(labels)))) * (1 - np.eye(len(labels)))
    rows = [",".join([label, *map(str, row)]) for label, row in zip(labels, costs.tolist(), strict=True)]
    Path("costs.csv").write_text("\n".join([",".join(["", *labels]), *rows]))
    words = ["--model", "segments", "--costs", "costs.csv", "-c", "7", "--tol", "1e-2"]
    told = run_json("train", "train.txt", *words)
    X = TextFeatures().fit_transform([[word for word, _ in x] for x in drawn.X])
    model = Segments(loss=LabelCosts.from_matrix(labels, costs))
    assert told["objective"] == StructuralSVM(model, C=7, tol=1e-2).fit(X, segments).objective_
    assert run("evaluate", "model.slm", "test.txt")[0] == 0
    found = run_json("tune", "train.txt", "--model", "chain,segments", "--loss", "f1", "-j", "1", "--folds", "2")
    assert {result["setting"]["model"] for result in found["results"]} == {"chain", "segments"}
    Path("costs.csv").write_text(",B-NP,O\nB-NP,0,1\nO,1,0\n")
    assert "costs.csv has no costs of the label" in run("train", "train.txt", *words)[2]


@pytest.mark.parametrize(("model", "kind"), [("chain", LabelF1), ("segments", SpanF1)])
def test_the_label_that_does_not_count_can_be_named(folder, run, run_json, model, kind):
    words = ["train", "train.txt", "--model", model, "--loss", "f1"]
    labels = run_json(*words, "-o", "default.slm", "--tol", "0.1")["classes"]
    assert structlearn.load("default.slm")[-1].model.loss == "f1"
    other = next(label for label in labels if label != "O")
    assert run(*words, "--negative", other, "-o", "named.slm", "-q", "--tol", "0.1")[0] == 0
    loss = structlearn.load("named.slm")[-1].model.loss
    assert (type(loss), loss.negative) == (kind, other)
    assert run(*words, "--negative", "none", "-o", "all.slm", "-q", "--tol", "0.1")[0] == 0
    assert structlearn.load("all.slm")[-1].model.loss.negative is None
    assert "negative names 'other', which is not one of the labels" in run(*words, "--negative", "other")[2]
