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
    assert (status, out) == (0, "")
    assert structlearn.load("best.slm")[-1].C_ in [0.6, 1.8, 6.0, 18.0, 60.0]


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


@pytest.mark.parametrize("grid", ["C", "C=", "D=1", "C=x", "slack=soft"])
def test_a_grid_that_makes_no_sense_is_refused(folder, run, grid):
    assert run("tune", "train.txt", "--grid", grid)[0] == 1


def test_tuning_says_which_values_are_best(folder, run):
    status, out, _ = run("tune", "train.txt", "--grid", "C=5", "--folds", "2", "-j", "1")
    assert (status, out.splitlines()[-1]) == (0, "best: C=5.0")
