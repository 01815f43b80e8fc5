"""Kernels on the command line: features of every learner, the learner that has kernels itself, and the search for γ."""

import json

import numpy as np
import pytest

import structlearn
from structlearn.features import KernelMap
from structlearn.kernels import Polynomial, median_gamma

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.uniform(-1, 1, (60, 2)).round(3)
SAME = (ROWS[:, 0] * ROWS[:, 1] > 0).tolist()
PAIRS = list(zip(ROWS.tolist(), SAME, strict=True))


def network(rows):
    nodes = [{"id": i, "features": x, "label": "ab"[y]} for i, (x, y) in enumerate(rows)]
    return json.dumps({"nodes": nodes, "links": [{"source": 0, "target": 1}]})


def label_set(x, y):
    return json.dumps({"features": {"u": x[0], "v": x[1]}, "labels": ["same"] * y + ["right"] * (x[0] > 0)})


FILES = {
    "rows.svmlight": [f"{1 if y else -1} 1:{x[0]} 2:{x[1]}" for x, y in PAIRS],
    "tokens.svmhmm": [f"{y + 1} qid:{i // 5 + 1} 1:{x[0]} 2:{x[1]}" for i, (x, y) in enumerate(PAIRS)],
    "network.jsonl": [network(PAIRS[k : k + 10]) for k in range(0, 60, 10)],
    "sets.jsonl": [label_set(x, y) for x, y in PAIRS],
    "queries.letor": [f"{int(y)} qid:{i // 10 + 1} 1:{x[0]} 2:{x[1]}" for i, (x, y) in enumerate(PAIRS)],
    "words.txt": [f"{'aA'[x[0] > 0]} {'N' if y else 'D'}" for x, y in PAIRS],
    "trees.mrg": ["(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"],
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in FILES.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    image = ROWS.reshape(6, 10, 2)
    np.savez(tmp_path / "images.npz", images=image[None], labels=np.array(SAME, int).reshape(1, 6, 10))
    return tmp_path


def accuracy(run, model, file):
    status, out, err = run("evaluate", model, file, "--json")
    assert status == 0, err
    return json.loads(out)["accuracy"]


@pytest.mark.parametrize("file", ["rows.svmlight", "tokens.svmhmm", "network.jsonl", "sets.jsonl"])
def test_kernels_learn_from_all_files_with_rows_of_numbers(files, run, file):
    for name, words in (("linear.slm", []), ("kernel.slm", ["--kernel", "polynomial", "--degree", "2"])):
        status, _, err = run("train", file, "-o", name, "-q", "-c", "300", *words)
        assert status == 0, err
    assert accuracy(run, "kernel.slm", file) > max(0.85, accuracy(run, "linear.slm", file) + 0.15)


@pytest.mark.parametrize("learner", ["crf", "perceptron"])
def test_every_learner_has_them(files, run, learner):
    words = ["--kernel", "rbf", "--n-components", "20", "--basis", "k_means", "--learner", learner]
    status, _, err = run("train", "rows.svmlight", "-q", *words)
    assert status == 0, err
    *_, mapped, last = (step for _, step in structlearn.load("model.slm").steps)
    assert (mapped.n_components, mapped.method, mapped.random_state) == (20, "k_means", 0)
    assert mapped.kernel_.gamma == pytest.approx(median_gamma(ROWS))
    assert accuracy(run, "model.slm", "rows.svmlight") > 0.85
    assert type(last).__name__ == {"crf": "ConditionalRandomField", "perceptron": "StructuredPerceptron"}[learner]


@pytest.mark.parametrize("file", ["rows.svmlight", "tokens.svmhmm", "sets.jsonl"])
def test_the_learner_that_has_kernels_itself_takes_no_map(files, run, file):
    words = ["--learner", "kernel-svm", "--gamma", "2", "--solver", "subspace", "--n-components", "15"]
    assert run("train", file, "-q", "-c", "60", *words)[0] == 0
    loaded = structlearn.load("model.slm")
    steps = [step for _, step in getattr(loaded, "steps", [("svm", loaded)])]
    assert not any(isinstance(step, KernelMap) for step in steps)
    assert (steps[-1].kernel.gamma, steps[-1].basis_.shape[0]) == (2.0, 15)
    assert accuracy(run, "model.slm", file) > 0.8
    assert run("predict", "model.slm", file)[0] == 0


def test_words_queries_and_images_have_kernels(files, run):
    assert run("train", "queries.letor", "-q", "--kernel", "polynomial", "-c", "1")[0] == 0
    assert json.loads(run("evaluate", "model.slm", "queries.letor", "--json")[1])["loss"] < 0.1
    assert run("train", "words.txt", "-q", "--kernel", "polynomial", "-c", "10")[0] == 0
    assert isinstance(structlearn.load("model.slm")[1].kernel_, Polynomial)
    status, _, err = run("train", "images.npz", "-q", "--kernel", "rbf", "--n-components", "20", "-c", "60")
    assert status == 0, err
    assert accuracy(run, "model.slm", "images.npz") > 0.85


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rows.svmlight", "--gamma", "1"], "--gamma has no effect here: it is for --kernel rbf or --kernel laplacian"),
        (["rows.svmlight", "--kernel", "rbf", "--degree", "2"], "--degree has no effect here: it is for --kernel poly"),
        (["rows.svmlight", "--basis", "uniform"], "--basis has no effect here: it is for --kernel"),
        (["rows.svmlight", "--learner", "kernel-svm", "--basis", "uniform"], "--basis has no effect here"),
        (["trees.mrg", "--kernel", "rbf"], "--kernel has no effect here: it is for files of words, sequences"),
        (["words.txt", "--kernel", "rbf", "--learner", "hmm"], "--kernel has no effect here: --learner hmm"),
        (
            ["rows.svmlight", "--learner", "kernel-svm", "--solver", "exact", "--n-components", "9"],
            "n_components is 9; solver='exact' takes all rows",
        ),
    ],
)
def test_what_has_no_effect_is_refused(files, run, words, message):
    status, _, err = run("train", *words)
    assert (status, message in err) == (1, True), err


def test_tune_tries_kernels_and_gammas_around_what_distances_propose(files, run):
    words = ["tune", "rows.svmlight", "--folds", "2", "--jobs", "1", "--json"]
    status, out, err = run(*words, "--kernel", "rbf,polynomial", "--n-components", "20")
    assert status == 0, err
    settings = [result["setting"] for result in json.loads(out)["results"]]
    expected = [float(f"{factor * median_gamma(ROWS):.3g}") for factor in (0.25, 1.0, 4.0)]
    assert sorted({setting["gamma"] for setting in settings if setting["kernel"] == "rbf"}) == expected
    assert len(settings) == 5 * 3 + 5
    assert all("gamma" not in setting for setting in settings if setting["kernel"] == "polynomial")
    assert json.loads(out)["score"] > 0.7
    status, out, err = run(*words, "--kernel", "rbf", "--gamma", "1", "--grid", "C=1,60", "-o", "best.slm")
    assert status == 0, err
    assert [result["setting"] for result in json.loads(out)["results"]] == [{"C": 1.0}, {"C": 60.0}]
    assert structlearn.load("best.slm")[1].kernel.gamma == 1.0
