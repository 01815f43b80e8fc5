"""Column files in which some labels are missing or uncertain."""

import json
from pathlib import Path

import pytest

import structlearn
from structlearn.io import Columns, CrfSuite, JsonLines, SvmHmm, SvmLight, Tagged
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
    hint = "? is taken for a label as all others; if it stands for one that is not known, say --partial"
    assert hint in run("check", "odd.txt")[1]
    assert "taken for a label" not in run("check", "odd.txt", "--partial")[1]
    Path("plain.txt").write_text("the DET\ndog NOUN\n\n")
    warned = run("train", "plain.txt", "-o", "plain.slm", "-q", "--learner", "crf", "--loss", "zero_one")[2]
    assert warned == ("structlearn: warning: --loss counts in evaluations only: --learner crf maximises a likelihood\n")


@pytest.mark.parametrize(
    ("form", "x", "y"),
    [
        (Columns(partial=True), ["the", "dog", "barks"], ["D", None, frozenset("NV")]),
        (Tagged(partial=True), ["the", "dog", "and/or"], ["D", None, frozenset("NV")]),
        (Tagged("_", partial=True), ["the", "dog_"], ["D", None]),
        (CrfSuite(partial=True), [["w=the"], {"w:2": 0.5}, ["w=x"]], ["D", None, frozenset("NV")]),
        (SvmHmm(partial=True), [{"3": 1.0}, {"5": 0.5}, {"5": 1.0}], ["1", None, frozenset("12")]),
        (SvmLight(partial=True), {"3": 1.0}, frozenset({"1", "-2"})),
        (JsonLines(partial=True), ["the", "dog", "a|b"], ["D", None, frozenset("NV")]),
        (JsonLines("row", partial=True), {"3": 1.0}, frozenset({"1", "2|3"})),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "write") else "",
)
def test_every_format_that_can_holds_labels_known_in_part(form, x, y):
    (example,) = form.read(lines_of(form.write(x, y)))
    assert (example.x, example.y) == (x, y)
    predicted = "1" if form.structure == "row" else ["1"] * len(x)
    annotated = form.annotate(example, predicted)
    assert annotated.count("1") >= len(predicted)
    if not isinstance(form, (Columns, JsonLines)):
        assert "?" not in annotated


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "t.mrg",
            "(S (NP (DT the)) (VP (VB runs)))\n",
            "brackets files cannot be known in part: they hold whole trees",
        ),
        ("f.fasta", ">a\nAC-T\n>b\nACGT\n", "files cannot be known in part: they hold whole alignments"),
        ("l.txt", "2 qid:1 1:1\n1 qid:1 1:0\n", "letor files cannot be known in part: relevance is a number"),
    ],
)
def test_what_holds_whole_outputs_is_refused_with_the_reason(tmp_path, monkeypatch, run, name, content, told):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(content)
    words = ["--format", "letor"] if name == "l.txt" else []
    status, _, err = run("train", name, "--partial", *words)
    assert status == 1
    assert told in err


def test_features_of_words_cannot_be_known_in_part():
    with pytest.raises(ValueError, match=r"among features, '_' and '\|' are part of labels"):
        ConllU("feats").in_part()


@pytest.mark.parametrize("learner", ["latent", "latent-crf"])
def test_single_examples_may_be_labelled_in_part(tmp_path, monkeypatch, run, run_json, learner):
    monkeypatch.chdir(tmp_path)
    rows = [("1", "1:1"), ("2", "2:1"), ("?", "1:1 3:1"), ("1|2", "2:1 4:1"), ("2|3", "5:1"), ("3", "5:1 6:1")]
    Path("rows.dat").write_text("".join(f"{label} {features}\n" for label, features in rows * 4))
    facts = run_json("train", "rows.dat", "--partial", "--learner", learner, "-c", "100")
    assert facts["classes"] == ["1", "2", "3"]
    status, out, _ = run("predict", "model.slm", "rows.dat")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[:6]] == ["1", "2", "1", "2", "3", "3"]
    assert run_json("evaluate", "model.slm", "rows.dat")["accuracy"] == 1.0
    found = run_json(
        "tune", "rows.dat", "--partial", "--learner", learner, "--grid", "C=100", "--folds", "2", "-j", "1"
    )
    assert (found["metric"], found["score"]) == ("accuracy of known labels", 1.0)
    assert "3 labels, 1 one of several" not in run("check", "rows.dat", "--partial")[1]
    told = run("check", "rows.dat", "--partial")[1]
    assert "of which 12 have a label, 8 one of several, 4 none" in " ".join(told.split())


def test_tuning_scores_what_is_known(partly, run, run_json):
    words = ["--partial", "--folds", "2", "-j", "1", "--tol", "0.1"]
    found = run_json("tune", "partly_train.txt", *words, "--learner", "latent,latent-crf", "--grid", "C=1,100")
    assert found["metric"] == "accuracy of known labels"
    assert 0.5 < found["score"] <= 1.0
    assert {result["setting"]["learner"] for result in found["results"]} == {"latent", "latent-crf"}
    status, _, err = run("tune", "partly_train.txt", *words, "--learner", "crf")
    assert status == 1
    assert "does not learn from partly labelled columns files" in err


def test_what_is_latent_of_labels_known_in_part_is_the_prediction(partly, run):
    assert run("train", "partly_train.txt", "--partial", "-o", "m.slm", "-q", "--tol", "0.1")[0] == 0
    told = run("predict", "m.slm", "test.txt", "--latent")[2]
    assert "those of Chain have none: what was not known in training were outputs themselves" in told
    status, out, _ = run("predict", "m.slm", "partly_test.txt", "--json")
    assert status == 0
    assert any(isinstance(label, list) for line in out.splitlines() for label in json.loads(line)["labels"])
