"""Values that mean nothing: wrong options, said before any file is read."""

import re

import pytest

from structlearn.cli.components import COMPONENTS, FROM_FILES
from structlearn.cli.options import flag

#: For every option of a class that is no flag and no choice of words, values that it cannot have.
WRONG = {
    "C": ["0", "-1", "nan", "inf", "much"],
    "tol": ["0", "-0.1", "nan"],
    "eps": ["0", "-0.1"],
    "solver": ["newton"],
    "max_iter": ["-1", "1.5"],
    "n_iter_no_change": ["0"],
    "random_state": ["-1", str(2**32)],
    "n_jobs": ["0", "100000"],
    "max_memory": ["lots", "0", "-1", "nan", "2 apples"],
    "l1_ratio": ["-0.1", "1.5", "nan"],
    "n_init": ["0"],
    "smoothing": ["-1", "inf"],
    "balance": ["-1", "nan"],
    "order": ["0", "3"],
    "max_length": ["0", "-1"],
    "states": ["0", "1001"],
    "horizontal": ["-1"],
    "vertical": ["0"],
    "min_count": ["0", "-1"],
    "max_chain": ["-1"],
    "alphabet": ["", "ACCA"],
    "shift": ["-1"],
    "width": ["0", "100000"],
    "background_order": ["-1", "7"],
    "k": ["0", "-1"],
    "threshold": ["nan"],
    "r": ["0", "-1", "nan"],
    "n_hashed": ["0", "-1"],
    "window": ["0"],
    "engine": ["magic"],
    "max_seconds": ["0", "-1", "nan"],
    "n_pairs": ["-1"],
    "fertility": ["0", "-1"],
    "n_components": ["0", "-1", "few"],
    "gamma": ["0", "-1", "nan"],
    "degree": ["0", "1.5"],
    "lam": ["0", "-1", "nan"],
    "edges": ["-1", "nan"],
}
#: Options that are labels, whatever these are.
LABELS = {"positive", "negative"}
#: Files that are looked for when they are read.
FILES = {"bitext"}


def test_all_options_that_can_have_a_wrong_value_are_tried():
    from structlearn.cli.options import parameters

    declared = [(name, parameters(component)[name]) for component in COMPONENTS for name in component.options]
    free = {name for name, parameter in declared if parameter.kind in (float, int, str) and not parameter.choices}
    assert free - WRONG.keys() == LABELS | FILES | FROM_FILES.keys()


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_value_that_means_nothing_is_a_wrong_option_and_no_file_is_read(tmp_path, monkeypatch, run, name, value):
    monkeypatch.chdir(tmp_path)
    for words in (["train", "nowhere.txt", flag(name), value], ["tune", "nowhere.txt", "--grid", f"{name}={value}"]):
        status, _, err = run(*words)
        assert status == 2, err
        assert (flag(name) if words[0] == "train" else "--grid") in err


def test_the_message_is_that_of_the_class_which_will_be_used(run):
    err = run("train", "nowhere.txt", "--max-memory", "lots")[2]
    told = "Invalid value for '--max-memory': 'lots'; it must be a number of bytes, or text such as '500MB' or '2GiB'"
    assert told in _unwrapped(err)
    assert "'block_coordinate'" in run("train", "nowhere.txt", "--solver", "newton")[2]
    assert "'lbfgs'" in run("train", "nowhere.txt", "--solver", "newton", "--learner", "crf")[2]


def test_a_value_of_some_classes_only_is_refused_when_the_file_has_told_which(folder, run):
    solver = ["train", "train.txt", "--solver", "lbfgs"]
    status, _, err = run(*solver)
    assert status == 2
    assert "Invalid value for '--solver': 'lbfgs'; it may be 'auto', 'block_coordinate'" in _unwrapped(err)
    assert run(*solver, "--learner", "crf", "-q")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ["train", "x", "--format", "word"],
        ["train", "x", "--encoding", "morse"],
        ["train", "x", "--checkpoint-every", "-1"],
        ["predict", "x", "y", "--format", "word"],
        ["predict", "x", "y", "--encoding", "zlib"],
        ["convert", "x", "--to", "word"],
        ["check", "x", "--most", "-1"],
        ["inspect", "x", "--top", "-1"],
        ["explain", "x", "y", "--example", "-1"],
        ["explain", "x", "y", "--against", "best"],
        ["explain", "x", "y", "--against", "1"],
        ["tune", "x", "--learner", "svm,forest"],
        ["tune", "x", "--model", "forest"],
        ["tune", "x", "--kernel", "rbf,gauss"],
        ["train", "x", "--kernel", "gauss"],
        ["train", "x", "--basis", "best"],
        ["tune", "x", "--jobs", "0"],
        ["tune", "x", "--seed", "-1"],
        ["tune", "x", "--folds", "1"],
        ["tune", "x", "--groups", "nowhere"],
        ["tune", "x", "--grid", "C"],
        ["tune", "x", "--grid", "C="],
        ["tune", "x", "--grid", "nonsense=1"],
        ["tune", "x", "--grid", "slack=soft"],
        ["tune", "x", "--grid", "boundaries=perhaps"],
        ["tune", "x", "--grid", "costs=1"],
    ],
    ids=" ".join,
)
def test_other_options_of_the_commands_are_checked_as_early(tmp_path, monkeypatch, run, words):
    monkeypatch.chdir(tmp_path)
    status, _, err = run(*words)
    assert status == 2, err
    assert words[-2] in err


def _unwrapped(err: str) -> str:
    """A message without the frame and the line breaks of a terminal."""
    return re.sub(r"[\s│]+", " ", err)
