"""Two models on one file from the command line."""

from pathlib import Path

import pytest

import structlearn
from structlearn.cli import terminal
from structlearn.evaluation import compare
from structlearn.io import Columns, read_examples


def test_the_command_line_compares_as_the_library_does(tagger, run, run_json):
    assert run("train", "train.txt", "-o", "other.slm", "--learner", "perceptron", "--random-state", "0", "-q")[0] == 0
    found = run_json("compare", tagger, "other.slm", "test.txt")
    _, read = read_examples("test.txt", Columns())
    examples = list(read)
    X, Y = [example.x for example in examples], [example.y for example in examples]
    expected = compare(structlearn.load(tagger), structlearn.load("other.slm"), X, Y).to_dict()
    assert found == {"models": [str(tagger), "other.slm"]} | expected
    status, out, _ = run("compare", tagger, "other.slm", "test.txt")
    assert (status, "McNemar's test p" in out, "f1" in out) == (0, True, True)


def test_models_may_read_different_columns(folder, run, run_json):
    Path("three.txt").write_text("the DT B\ndog NN I\n\na DT B\ncat NN I\n\n" * 5)
    assert run("train", "three.txt", "-o", "both.slm", "-q")[0] == 0
    assert run("train", "three.txt", "-o", "words.slm", "-q", "--columns", "word,_,chunk")[0] == 0
    assert run("train", "three.txt", "-o", "segments.slm", "-q", "--model", "segments")[0] == 0
    for other in ("words.slm", "segments.slm"):
        found = run_json("compare", "both.slm", other, "three.txt")
        assert found["scores"]["accuracy"]["p_value"] == 1.0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["tagger.slm", "-"], "compare needs a file that can be read twice"),
        (["tagger.slm", "empty.txt"], "empty.txt:1:1: the file holds no example"),
        (
            ["parser.slm", "test.txt"],
            "test.txt:1:1: expected a file in the format brackets; this one looks like columns",
        ),
        (["nowhere.slm", "test.txt"], "there is no file nowhere.slm"),
        (["tagger.slm", "words.txt"], "words.txt, taken for columns, has no labels at line 1"),
    ],
)
def test_what_cannot_be_compared_is_named(tagger, run, words, told):
    Path("empty.txt").write_text("")
    Path("words.txt").write_text("the\ndog\n")
    Path("trees.mrg").write_text("(S (NP (DT the)) (VP (VBZ barks)))\n")
    assert run("train", "trees.mrg", "-o", "parser.slm", "-q")[0] == 0
    status, out, err = run("compare", "tagger.slm", *words)
    assert (status, out, told in err) == (1, "", True), err


def test_lines_stay_whole_where_no_terminal_shows_them(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal.console().width == terminal.WIDE
    assert terminal.picture_width() < terminal.WIDE
    monkeypatch.setenv("COLUMNS", "77")
    assert terminal.console().width == 77
