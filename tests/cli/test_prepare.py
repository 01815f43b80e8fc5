"""Files that are prepared first give the model that they give at once."""

import errno
import os
import shutil

import numpy as np
import pytest

from structlearn import load, open_shards, write_shards
from structlearn.cli import prepare
from structlearn.shards.lock import claimed


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(prepare, "CHUNK", 13)


def weights(path):
    tagger = load(path)
    return tagger.steps[-1][1].w_, tagger.steps[0][1].transform([["the", "dog"]]).tokens.toarray()


@pytest.mark.parametrize("features", [[], ["--min-count", 2], ["--n-hashed", 500]])
@pytest.mark.parametrize("learner", [["--learner", "crf"], ["-c", 5]])
def test_prepared_files_give_the_same_model(folder, run, features, learner):
    assert run("prepare", "train.txt", "test.txt", "-o", "corpus", *features)[0] == 0
    assert run("train", "corpus", "-o", "prepared.slm", *learner)[0] == 0
    assert run("train", "train.txt", "test.txt", "-o", "at_once.slm", *features, *learner)[0] == 0
    for one, other in zip(weights("prepared.slm"), weights("at_once.slm"), strict=True):
        assert np.array_equal(one, other)
    status, output, _ = run("evaluate", "prepared.slm", "test.txt")
    assert status == 0
    assert "accuracy" in output


def test_validation_and_templates(folder, run):
    (folder / "templates.txt").write_text("word[0]\nword.suffix2[-1..0]\n")
    assert run("prepare", "train.txt", "-o", "corpus", "--templates", "templates.txt")[0] == 0
    assert open_shards("corpus").features.templates_ == ("word[0]", "word.suffix2[-1]", "word.suffix2[0]")
    assert run("train", "corpus", "-o", "tagger.slm", "--validation", "test.txt")[0] == 0
    assert run("predict", "tagger.slm", "test.txt")[0] == 0


def test_a_full_disk_is_said_and_the_same_command_goes_on(folder, run, monkeypatch):
    sync, left = os.fsync, iter([True] * 20)

    def full(file):
        if not next(left, False):
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(file)

    monkeypatch.setattr(os, "fsync", full)
    status, _, errors = run("prepare", "train.txt", "-o", "corpus")
    assert status == 1
    assert "of corpus was not written: No space left on device; the same call goes on" in errors
    monkeypatch.setattr(os, "fsync", sync)
    status, _, errors = run("train", "corpus")
    assert (status, "corpus is unfinished" in errors) == (1, True)
    status, output, errors = run("prepare", "train.txt", "-o", "corpus")
    assert (status, "counting" in errors) == (0, False)
    assert run("prepare", "train.txt", "-o", "whole")[1] == output
    for path in (folder / "whole").glob("*.bin"):
        assert path.read_bytes() == (folder / "corpus" / path.name).read_bytes()
    assert "made of these files before" in run("prepare", "train.txt", "-o", "corpus")[2]


def test_a_second_command_is_refused_before_it_counts(folder, run):
    with claimed("corpus"):
        status, _, errors = run("prepare", "train.txt", "-o", "corpus")
    assert (status, "counting" in errors) == (1, False)
    assert "corpus is being written by another process" in errors
    (folder / "odd.txt").write_text("the DET\ndog\n")
    assert run("prepare", "odd.txt", "-o", "corpus")[0] == 1
    assert not (folder / "corpus").exists()
    assert run("prepare", "train.txt", "-o", "corpus")[0] == 0


def test_progress_says_of_how_many(folder, run):
    told = run("prepare", "train.txt", "-o", "corpus")[2]
    counted = told[: told.index("\n")].rpartition("\r")[2]
    assert counted.startswith("counting: ")
    n = counted.split()[1]
    assert f"writing: {n} of {n} sequences" in told


def test_other_files_do_not_go_into_a_finished_corpus(folder, run):
    run("prepare", "train.txt", "-o", "corpus")
    status, _, errors = run("prepare", "test.txt", "-o", "corpus")
    assert (status, "holds a finished corpus" in errors) == (1, True)
    assert "counting" not in errors


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["prepare", "-", "-o", "c"], "standard input is no file"),
        (["prepare", "none.txt", "-o", "c"], "none.txt"),
        (["prepare", "train.txt", "-o", "c", "--max-memory", "lots"], "--max-memory is 'lots'"),
        (["prepare", "train.txt", "-o", "c", "--min-count", 2, "--n-hashed", 9], "min_count needs a vocabulary"),
        (["prepare", "rows.svmlight", "-o", "c"], "prepare is for sequences of words with labels"),
        (["prepare", "train.txt", "-o", "c", "--templates", "pairs.txt"], "features of label pairs"),
        (["train", "corpus", "train.txt"], "train takes one alone"),
        (["train", "corpus", "--columns", "word,tag"], "--columns has no effect here"),
        (["train", "corpus", "--min-count", 2], "--min-count has no effect here"),
        (["train", "corpus", "--model", "segments"], "is for --model chain"),
        (["train", "corpus", "--kernel", "rbf"], "--kernel has no effect here"),
    ],
)
def test_what_cannot_be(folder, run, words, told):
    (folder / "rows.svmlight").write_text("1 1:1\n2 2:1\n")
    (folder / "pairs.txt").write_text("U00:%x[0,0]\nB00:%x[0,0]\n")
    if "corpus" in words:
        run("prepare", "train.txt", "-o", "corpus")
    status, _, errors = run(*words)
    assert status in (1, 2)
    assert told in " ".join(errors.split())
    assert not (folder / "c").exists()


def test_a_damaged_corpus_is_named(folder, run):
    run("prepare", "train.txt", "-o", "corpus")
    shutil.copy("corpus/columns.bin", "corpus/labels.bin")
    status, _, errors = run("train", "corpus")
    assert status == 1
    assert "labels.bin has" in errors


def test_a_finished_corpus_that_is_damaged_is_not_taken_for_good(folder, run):
    assert run("prepare", "train.txt", "-o", "corpus", "-q")[0] == 0
    os.truncate("corpus/columns.bin", 3)
    status, _, errors = run("prepare", "train.txt", "-o", "corpus")
    assert (status, "made of these files before" in errors) == (1, False)
    assert "cut short or changed; remove corpus and write it again" in errors


def test_a_corpus_is_inspected(folder, run, run_json):
    assert run("prepare", "train.txt", "-o", "corpus", "-q")[0] == 0
    held, corpus = run_json("inspect", "corpus"), open_shards("corpus")
    assert (held["sequences"], held["features"]) == (60, corpus.n_features)
    assert held["classes"] == list(corpus.classes)
    assert "sequences  60" in run("inspect", "corpus")[1]


@pytest.mark.parametrize("command", [("prepare", "train.txt", "-o", "corpus"), ("evaluate", "tagger.slm", "test.txt")])
def test_ctrl_c_is_answered(folder, run, monkeypatch, command):
    def interrupted(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("structlearn.cli.data.files_of", interrupted)
    monkeypatch.setattr("structlearn.cli.data.read_model", interrupted)
    assert run(*command) == (130, "", "structlearn: stopped\n")


@pytest.mark.parametrize("features", [[], ["--n-hashed", 500]])
def test_a_prepared_corpus_is_evaluated_as_its_files(folder, run, run_json, monkeypatch, features):
    monkeypatch.setattr("structlearn.evaluation.scoring.PART", 40)
    run("train", "train.txt", "-o", "tagger.slm", "-c", 5, *features)
    run("prepare", "train.txt", "-o", "corpus", *features)
    run("prepare", "test.txt", "-o", "held_out", "--features", "tagger.slm")
    run("prepare", "test.txt", "-o", "like", "--features", "corpus")
    for corpus, file in (("corpus", "train.txt"), ("held_out", "test.txt"), ("like", "test.txt")):
        assert run_json("evaluate", "tagger.slm", corpus) == run_json("evaluate", "tagger.slm", file)
    assert open_shards("held_out").n_features == open_shards("corpus").n_features
    told = run("evaluate", "tagger.slm", "held_out")[2]
    n = open_shards("held_out").n_examples
    assert told.rpartition("\r")[2].startswith(f"evaluating: {n} of {n} sequences")
    assert told.count("\r") > 3
    assert "made of these files before" in run("prepare", "test.txt", "-o", "held_out", "--features", "tagger.slm")[2]


def test_labels_that_training_never_saw_are_told_of_a_corpus_as_well(folder, run):
    run("train", "train.txt", "-o", "tagger.slm", "-c", 5)
    (folder / "new.txt").write_text("dog NEVER\n")
    run("prepare", "new.txt", "-o", "corpus", "--features", "tagger.slm")
    status, _, errors = run("evaluate", "tagger.slm", "corpus")
    assert (status, "1 example has labels that training never saw" in errors) == (0, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["evaluate", "tagger.slm", "corpus"], "tagger.slm has other features than corpus; evaluate the files that"),
        (["evaluate", "hmm.slm", "corpus"], "corpus is for models that label tokens by weights of their features"),
        (["evaluate", "segments.slm", "corpus"], "corpus is for models that label tokens by weights of their features"),
        (["evaluate", "tagger.slm", "corpus", "--columns", "word,tag"], "--columns has no effect here"),
        (["evaluate", "tagger.slm", "python"], "python was written from Python and not by prepare"),
        (["predict", "tagger.slm", "corpus"], "it holds features and no words; give the files of words"),
        (["compare", "tagger.slm", "tagger.slm", "corpus"], "it holds features and no words"),
        (["report", "tagger.slm", "corpus"], "it holds features and no words"),
        (["tune", "corpus"], "it holds features and no words"),
        (["prepare", "test.txt", "-o", "c", "--features", "corpus", "--n-hashed", 9], "--n-hashed has no effect here"),
        (["prepare", "test.txt", "-o", "c", "--features", "hmm.slm"], "hmm.slm has no features of words"),
        (["prepare", "test.txt", "-o", "c", "--features", "train.txt"], "train.txt"),
    ],
)
def test_what_a_corpus_is_not_for(folder, run, words, told, tagger):
    run("prepare", "train.txt", "-o", "corpus", "--min-count", 2)
    run("train", "train.txt", "-o", "hmm.slm", "--learner", "hmm")
    run("train", "train.txt", "-o", "segments.slm", "--model", "segments", "--tol", 0.9)
    write_shards([([np.eye(2)], [["a", "b"]])], "python")
    status, _, errors = run(*words)
    assert status in (1, 2)
    assert told in " ".join(errors.split())
    assert not (folder / "c").exists()
