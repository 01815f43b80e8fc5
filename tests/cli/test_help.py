"""Help of the commands that learn shows what the file at hand needs."""

import re
from pathlib import Path

import pytest

from structlearn.cli.choices import choices
from structlearn.cli.components import COMPONENTS, MODELS

FILES = {
    "words": ("train.txt", "the D\ndog N\n\n"),
    "row": ("rows.dat", "1 1:1\n2 2:1\n"),
    "tree": ("trees.mrg", "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n"),
    "pair": ("pairs.fasta", ">a\nAC-G\n>b\nA-CG\n"),
    "query": ("q.letor", "2 qid:1 1:1 #docid = a\n0 qid:1 1:0 #docid = b\n"),
    "sequence": ("motifs.fasta", ">a label=+1\nACGT\n>b label=-1\nAAAA\n"),
}


def options_in(text):
    return set(re.findall(r"(?<![\w-])--([a-z0-9A-Z-]+)", "\n".join(re.findall(r"^│ (--\S+.*?) {2,}", text, re.M))))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.values():
        Path(name).write_text(text)


@pytest.mark.parametrize("command", ["train", "tune"])
@pytest.mark.parametrize("structure", FILES)
def test_help_has_the_options_of_the_files_structure(files, run, command, structure):
    name, _ = FILES[structure]
    status, out, _ = run(command, name, "--help")
    used = {option for choice in choices(structure) for user in choice.components(structure) for option in user.options}
    every = {option for user in COMPONENTS for option in user.options}
    shown = {option.replace("-", "_") for option in options_in(out)}
    assert (status, every & shown) == (0, used)
    assert (f"{name} is a file of" in out, "--help-all" in out) == (True, True)
    assert ("templates" in shown) == (structure == "words")
    able = {choice.model for choice in choices(structure)}
    assert not [name for name in MODELS if "-" in name and name in out and name not in able]


def test_help_is_about_the_learner_that_was_named(files, run):
    _, out, _ = run("train", "train.txt", "--learner", "perceptron", "--model", "segments", "--help")
    shown = options_in(out)
    assert {"average", "max-length", "segment-ends"} <= shown
    assert not {"C", "l1-ratio", "boundaries"} & shown


def test_help_without_a_file_is_short_and_says_how_to_see_more(run):
    _, short, _ = run("train", "--help")
    _, whole, _ = run("train", "--help-all")
    assert len(short) < len(whole) / 2
    assert {"learner", "model", "C", "validation", "help-all"} <= options_in(short)
    assert not {"gaps", "vertical", "costs"} & options_in(short)
    assert {"gaps", "vertical", "costs", "encoding", "separator"} <= options_in(whole)
    assert "structlearn train FILE --help shows the options" in " ".join(short.split())
    assert run("train", "--help")[1] == short


def test_help_for_a_file_that_is_none_names_it(files, run):
    Path("empty.txt").write_text("")
    status, out, err = run("train", "empty.txt", "--help")
    assert (status, out, "empty.txt:1:1: the file holds no example" in err) == (1, "", True)
    status, out, err = run("train", "nowhere.txt", "--help")
    assert (status, "nowhere.txt: No such file" in err) == (1, True)
    assert run("train", "-", "--help")[0] == 2
