"""Column files in which some labels are missing or uncertain."""

from pathlib import Path

import pytest

import structlearn
from structlearn.io.conllu import ConllU
from structlearn.io.formats import read_examples
from structlearn.io.text import Lines


@pytest.fixture
def partly(folder):
    """Every third label is left out, and the one after it is one of two."""
    for name in ("train.txt", "test.txt"):
        lines = folder.joinpath(name).read_text().split("\n")
        for k, line in enumerate(lines):
            word, _, label = line.partition(" ")
            if label and k % 3 == 0:
                lines[k] = f"{word} {'_' if k % 2 else '?'}"
            elif label and k % 3 == 1:
                lines[k] = f"{word} {label}|{'NOUN' if label != 'NOUN' else 'VERB'}"
        folder.joinpath(f"partly_{name}").write_text("\n".join(lines))
    return folder


@pytest.mark.parametrize(("learner", "kind"), [("latent", "LatentStructuralSVM"), ("latent-crf", "LatentConditional")])
def test_partly_labelled_files_are_learnt_from(partly, run, run_json, learner, kind):
    facts = run_json("train", "partly_train.txt", "--partial", "--learner", learner, "-o", "m.slm", "--tol", "0.01")
    assert facts["model"] == "m.slm"
    model = structlearn.load("m.slm")[-1]
    assert type(model).__name__.startswith(kind)
    assert type(model.model_).__name__ == "Chain"
    assert not any("|" in label or label in "?_" for label in model.classes_)
    known = run_json("evaluate", "m.slm", "partly_test.txt")
    whole = run_json("evaluate", "m.slm", "test.txt")
    assert known["tokens"] < whole["tokens"]
    assert known["accuracy"] >= 0.7
    status, out, _ = run("predict", "m.slm", "test.txt")
    assert status == 0
    assert "?" not in {line.split()[-1] for line in out.splitlines() if line}


def test_check_counts_what_is_known(partly, run, run_json):
    status, out, _ = run("check", "partly_train.txt", "--partial")
    tokens = [line for line in (partly / "partly_train.txt").read_text().splitlines() if line]
    unknown = sum(line.split()[1] in "?_" for line in tokens)
    several = sum("|" in line for line in tokens)
    expected = (
        f"of which {len(tokens) - unknown - several:,} have a label, {several:,} one of several, {unknown:,} none"
    )
    assert expected in " ".join(out.split())
    assert status in (0, 1)
    assert "partly labelled" in run("train", "partly_train.txt", "--partial", "--learner", "crf")[2]


def test_what_is_not_asked_for_is_a_label(partly, run):
    reader, examples = read_examples(partly / "partly_train.txt")
    assert not reader.partial
    assert {"?", "_"} <= {label for example in examples for label in example.y}
    status, _, err = run("train", "partly_train.txt", "--partial", "--format", "svmlight")
    assert status
    assert "no labels that are known in part" in err


def test_conllu_files_may_be_labelled_in_part():
    rows = ["1 Go go VERB|NOUN VB _ 0 root _ _", "2 ! ! _ . _ 1 punct _ _", "3 now now ADV RB _ 1 advmod _ _"]
    lines = lines_of("\n".join(rows).replace(" ", "\t"))
    form = ConllU(partial=True)
    (example,) = form.read(lines)
    assert example.y == [{"VERB", "NOUN"}, None, "ADV"]
    (again,) = form.read(lines_of(form.write(example.x, example.y)))
    assert again.y == example.y


def lines_of(text):
    return Lines([text.encode()], "go.conllu")


def test_what_trains_but_may_not_be_meant_is_warned_of(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    Path("odd.txt").write_text("the DET\ndog ?\n\na DET\ncat NOUN\nsleeps NOUN|VERB\nnow VERB\n\n")
    warned = run("train", "odd.txt", "-o", "odd.slm", "-q")[2]
    assert warned == (
        "structlearn: warning: ? is taken for a label as all others; if it stands for one that is not known, "
        "say --partial\n"
    )
    assert run("train", "odd.txt", "-o", "odd.slm", "-q", "--partial")[2] == ""
    Path("plain.txt").write_text("the DET\ndog NOUN\n\n")
    warned = run("train", "plain.txt", "-o", "plain.slm", "-q", "--learner", "crf", "--loss", "zero_one")[2]
    assert warned == ("structlearn: warning: --loss counts in evaluations only: --learner crf maximises a likelihood\n")
