import gzip
import io
import json
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import structlearn
import structlearn.outputs
from structlearn import StructuralSVM
from structlearn.cli.choices import choices
from structlearn.cli.components import COMPONENTS, FROM_FILES, LEARNERS
from structlearn.cli.options import parameters
from structlearn.datasets import make_sentences
from structlearn.estimators import generative
from structlearn.features import TextFeatures
from structlearn.io.columns import Columns
from structlearn.io.formats import FORMATS
from structlearn.models import Chain, HypergraphModel
from structlearn.persistence import model_file


def test_the_shortest_path_needs_no_option(folder, run):
    assert run("train", "train.txt", "-o", "tagger.slm")[0] == 0
    status, out, _ = run("predict", "tagger.slm", "test.txt")
    assert status == 0
    lines = folder.joinpath("test.txt").read_text().splitlines()
    assert [line.rsplit(" ", 1)[0] for line in out.splitlines()] == lines
    status, out, _ = run("evaluate", "tagger.slm", "test.txt", "--json")
    assert {"loss", "accuracy", "f1"} <= json.loads(out).keys()


def test_the_command_line_learns_what_the_library_learns(folder, run_json):
    told = run_json("train", "train.txt", "-o", "tagger.slm", "--C", "7", "--tol", "1e-6")
    drawn = make_sentences(60, random_state=0)
    words = [[word for word, _ in x] for x in drawn.X]
    svm = structlearn.StructuralSVM(Chain(), C=7, tol=1e-6).fit(TextFeatures().fit_transform(words), drawn.Y)
    assert told["objective"] == svm.objective_
    assert (told["examples"], told["C"], told["converged"], told["files"]) == (60, 7.0, True, ["train.txt"])
    np.testing.assert_array_equal(structlearn.load("tagger.slm")[-1].w_, svm.w_)


def test_what_the_command_shows_of_its_run_is_not_kept_in_the_model(folder, run, capsys):
    for command in (["train"], ["tune", "--grid", "C=5", "--folds", "2", "-j", "1"]):
        assert "60 examples, " in run(*command, "train.txt", "-o", "tagger.slm")[2]
        tagger = structlearn.load("tagger.slm")
        assert tagger[-1].verbose == 0
        drawn = make_sentences(60, random_state=0)
        tagger.fit([[word for word, _ in x] for x in drawn.X], drawn.Y)
        assert capsys.readouterr().err == ""


def test_predictions_go_through_pipes(tagger, run, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"The\ndog\nsleeps\n")

    monkeypatch.setattr(sys, "stdin", Stdin)
    status, out, _ = run("predict", tagger)
    assert (status, out.split()[:3]) == (0, ["The", "B-NP", "dog"])


def test_compressed_files_are_read(folder, run):
    folder.joinpath("train.txt.gz").write_bytes(gzip.compress(folder.joinpath("train.txt").read_bytes()))
    assert run("train", "train.txt.gz", "-o", "a.slm", "-q")[0] == 0
    assert run("train", "train.txt", "-o", "b.slm", "-q")[0] == 0
    np.testing.assert_array_equal(structlearn.load("a.slm")[-1].w_, structlearn.load("b.slm")[-1].w_)


@pytest.mark.parametrize("learner", dict.fromkeys(choice.learner for choice in choices("words")))
def test_every_learner_learns(folder, run_json, learner):
    seed = ["--random-state", "3"] if "random_state" in LEARNERS[learner].options else []
    told = run_json("train", "train.txt", "--learner", learner, *seed)
    assert told["learner"] == LEARNERS[learner].name
    assert run_json("evaluate", "model.slm", "test.txt")["accuracy"] > 0.8


def test_options_reach_the_classes_that_declare_them(folder, run):
    words = ["--rescaling", "none", "--slack", "squared", "--order", "1", "--no-boundaries", "--min-count", "2"]
    assert run("train", "train.txt", "-q", *words, "--allowed-transitions", "BIO")[0] == 0
    features, svm = structlearn.load("model.slm")
    assert (svm.rescaling, svm.slack, features.min_count) == (None, "squared", 2)
    assert (svm.model.order, svm.model.boundaries, svm.model.allowed_transitions) == (1, False, "BIO")


@pytest.mark.parametrize("owner", COMPONENTS, ids=lambda owner: owner.name)
def test_declarations_are_those_of_the_classes(owner):
    homes = (
        *(structlearn, structlearn.models, structlearn.features, structlearn.losses, structlearn.kernels, generative),
        structlearn.outputs,
    )
    kind = next(getattr(home, owner.name) for home in homes if hasattr(home, owner.name))
    defaults = (kind(None) if owner in LEARNERS.values() else kind()).get_params(deep=False) | dict(owner.defaults)
    assert {name: declared.default for name, declared in parameters(owner).items() if name not in FROM_FILES} == {
        option: defaults[name] for option, name in owner.options.items() if option not in FROM_FILES
    }
    assert set(owner.options.values()) <= set(defaults)


def test_a_full_disk_does_not_lose_what_was_learnt(folder, run, monkeypatch, tmp_path_factory):
    save, rescued = model_file.save, tmp_path_factory.mktemp("rescued")

    def full(estimator, path, **options):
        if path.name == "model.slm" and path.parent != rescued:
            raise OSError(28, "model.slm was not written: No space left on device")
        save(estimator, path, **options)

    monkeypatch.setattr(model_file, "save", full)
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(rescued))
    status, _, err = run("train", "train.txt", "-q")
    assert status == 1
    assert f"the model was saved to {rescued / 'model.slm'} instead" in err
    assert structlearn.load(rescued / "model.slm").predict([["dog"]])


def test_held_out_examples_end_training_early(folder, run_json):
    run_json("train", "train.txt", "--validation", "test.txt", "--tol", "1e-12", "--n-iter-no-change", "2")
    assert "validation_loss" in structlearn.load("model.slm")[-1].history_[-1]


def test_inspection_names_features(tagger, run, run_json):
    found = run_json("inspect", tagger, "--top", "1")
    assert (found["learner"], found["labels"], found["reader"]) == ("StructuralSVM", 7, "columns")
    assert found["top_weights"]["features"]["B-NP"][0][0].startswith("word")
    status, out, _ = run("inspect", tagger)
    assert (status, "B-NP → I-NP" in out, "train.txt" in out) == (0, True, True)


@pytest.mark.parametrize("separator", ["/", "_"])
def test_tagged_text_is_learnt_from_and_written(tmp_path, run, run_json, separator):
    text = "the/DT dog/NN and/or/CC the/DT cat/NN sleep/VB ./.\nthe/DT cat/NN runs/VB ./.\n".replace("/", separator)
    train, model = tmp_path / "train.txt", tmp_path / "tagger.slm"
    train.write_text(text * 3)
    assert run_json("check", train)["format"] == "tagged"
    assert run("train", train, "-o", model, "-q", "-c", "100")[0] == 0
    assert run_json("evaluate", model, train)["accuracy"] == 1.0
    plain = tmp_path / "plain.txt"
    plain.write_text("the cat sleep .\n")
    assert run("predict", model, plain) == (0, "the/DT cat/NN sleep/VB ./.\n".replace("/", separator), "")
    assert run("predict", model, train) == (0, text * 3, "")
    status, out, _ = run("convert", train, "--to", "columns")
    assert (status, out[:14]) == (0, "the DT\ndog NN\n")
    train.write_text(text + f"the{separator}DT cat\n")
    status, _, err = run("train", train, "--format", "tagged", "--separator", separator)
    assert (status, err.startswith(f"structlearn: {train}:3:8: expected a word and a tag")) == (1, True)


def test_files_in_iob1_are_learnt_and_scored(tmp_path, run, run_json):
    path, model = tmp_path / "names.txt", tmp_path / "names.slm"
    path.write_text("Ann I-PER\nBell I-PER\nmet O\nBob I-PER\nAnn B-PER\n\nAcme I-ORG\nruns O\n\n" * 3)
    assert run("train", path, "-o", model, "-q", "--allowed-transitions", "IOB1")[0] == 0
    found = run_json("evaluate", model, path, "--scheme", "IOB1")
    assert (found["f1"], found["scheme"]) == (1.0, "IOB1")
    assert [span["support"] for span in found["spans"]] == [3, 9]


class Own(Chain):
    """A model that no file can hold."""


class Pieces(HypergraphModel):
    """Words in pieces, with features by name."""

    def steps(self, x):
        for end in range(1, len(x) + 1):
            for begin in range(end):
                yield end, [begin] if begin else [], [(begin, end)]

    def features(self, x, part):
        return {x[slice(*part)]: 1.0}

    def parts(self, x, y):
        ends = np.cumsum([len(piece) for piece in y]).tolist()
        return zip([0, *ends], ends, strict=False)

    def output(self, x, parts):
        return [x[slice(*part)] for part in parts]


def test_of_a_model_of_ones_own_is_shown_what_the_file_tells(tmp_path, run, run_json):
    svm = StructuralSVM(Own(boundaries=False), C=10).fit([np.eye(2)], [["a", "b"]])
    svm.save(tmp_path / "own.slm")
    found = run_json("inspect", tmp_path / "own.slm")
    assert (found["structure"], found["options"]["boundaries"], found["code"]) == ("Own", False, "not in the file")
    assert (found["learner"], found["weights"], found["examples"]) == ("StructuralSVM", len(svm.w_), 1)
    assert found["classes"] == ["a", "b"]
    StructuralSVM(Pieces(), C=10).fit(["undo", "redo"], [["un", "do"], ["re", "do"]]).save(tmp_path / "pieces.slm")
    weights = run_json("inspect", tmp_path / "pieces.slm", "--top", "1")["top_weights"]["features"]["weights"]
    assert weights[0][0] == "do"
    status, out, _ = run("inspect", tmp_path / "own.slm")
    assert status == 0
    assert "boundaries=False" in out
    status, _, err = run("predict", tmp_path / "own.slm", tmp_path / "own.slm")
    assert (status, "model of your own" in err) == (1, True)


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line(folder, run):
    status, out, err = run("train", "train.txt", "-o", "tagger.slm", "--max-iter", "1", "-q")
    assert (status, out) == (0, "")
    assert re.fullmatch(r"structlearn: warning: stopped after max_iter=1 iterations .*\n", err)


def test_labels_that_training_never_saw_are_named(tagger, run, run_json):
    text = Path("test.txt").read_text()
    assert run("evaluate", tagger, "test.txt")[2] == ""
    Path("new.txt").write_text(text + "\nMaybe UH\n, O\n\nWell UH\n, XY\n")
    status, _, err = run("evaluate", tagger, "new.txt")
    assert status == 0
    assert err == (
        "structlearn: warning: 2 examples have labels that training never saw, which count as wrong: UH, XY\n"
    )


def test_after_an_interruption_the_model_so_far_is_there(folder, run, monkeypatch):
    def interrupted(self, estimator, record):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("structlearn.callbacks.Progress.show", interrupted)
    status, _, err = run("train", "train.txt", "-o", "tagger.slm", "--tol", "1e-9", "--checkpoint", "run.ckpt")
    assert status == 130
    told = r"training stopped after \d+ iterations?; the best model so far is in tagger.slm"
    assert re.fullmatch(rf"structlearn: {told}; the same command goes on from run.ckpt", err.splitlines()[-1])
    assert Path("tagger.slm").exists()


def test_single_examples_are_converted_with_their_features(folder, run):
    folder.joinpath("rows.txt").write_text("1 1:0.5 3:1\n2 2:1\n")
    assert run("convert", "rows.txt", "--to", "jsonl", "-o", "rows.jsonl")[0] == 0
    lines = [json.loads(line) for line in folder.joinpath("rows.jsonl").read_text().splitlines()]
    assert lines == [{"features": {"1": 0.5, "3": 1.0}, "label": "1"}, {"features": {"2": 1.0}, "label": "2"}]
    assert run("convert", "rows.jsonl", "--to", "svmlight") == (0, "1 1:0.5 3:1\n2 2:1\n", "")


def test_converting_there_and_back_keeps_the_examples(folder, run):
    assert run("convert", "train.txt", "--to", "jsonl", "-o", "train.jsonl")[0] == 0
    assert run("convert", "train.jsonl", "--to", "columns", "-o", "again.txt")[0] == 0
    assert folder.joinpath("again.txt").read_text() == folder.joinpath("train.txt").read_text()


def test_words_become_attributes_by_templates(folder, run):
    folder.joinpath("templates.txt").write_text("word[-1]|word[0]\nbias\n")
    status, out, _ = run("convert", "train.txt", "--to", "crfsuite", "--templates", "templates.txt")
    first = folder.joinpath("train.txt").read_text().split("\n")[0].split()
    assert (status, out.split("\n")[0]) == (0, f"{first[1]}\tword[-1]|word[0]=_B-1|{first[0]}\tbias")


def test_training_from_attributes_gives_the_same_objective(folder, run, run_json):
    told = run_json("train", "train.txt", "-c", "5", "--tol", "1e-8")
    run("convert", "train.txt", "--to", "crfsuite", "-o", "train.crfsuite")
    again = run_json("train", "train.crfsuite", "-c", "5", "--tol", "1e-8")
    assert again["objective"] == pytest.approx(told["objective"], rel=1e-7)


def test_classification_files_are_learnt(folder, run, run_json):
    folder.joinpath("train.dat").write_text("".join(f"{k % 3 + 1} {k % 3 + 1}:1 9:0.5\n" for k in range(30)))
    told = run_json("train", "train.dat")
    assert (told["structure"], told["labels"], told["features"]) == ("Multiclass", 3, 4)
    assert run_json("evaluate", "model.slm", "train.dat")["accuracy"] == 1.0
    status, out, _ = run("predict", "model.slm", "train.dat")
    assert (status, out.split("\n")[0]) == (0, "1 1:1 9:0.5")


def test_a_report_is_written(tagger, run):
    status, out, _ = run("report", tagger, "test.txt", "-o", "report.html")
    assert (status, out) == (0, "report.html\n")
    assert tagger.parent.joinpath("report.html").read_text().lower().startswith("<!doctype html>")


def test_the_demo_shows_the_whole_path(tmp_path, run):
    status, out, err = run("demo", tmp_path / "demo", "--sentences", "20")
    assert status == 0, err
    assert {file.name for file in tmp_path.joinpath("demo").iterdir()} == {
        "new.txt",
        "report.html",
        "tagger.slm",
        "test.txt",
        "train.txt",
    }
    assert "$ structlearn evaluate" in out
    status, _, err = run("demo", tmp_path / "demo")
    assert (status, "is there already" in err) == (1, True)


def test_the_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"structlearn {structlearn.__version__}\n", "")


@pytest.mark.parametrize(
    "command", ["train", "predict", "evaluate", "compare", "report", "inspect", "tune", "check", "convert", "demo"]
)
def test_help_has_an_example(run, command):
    status, out, _ = run(command, "--help")
    assert (status, f"structlearn {command}" in out.split("Usage")[1].split("\n", 1)[1]) == (0, True)


@pytest.mark.parametrize(
    ("template", "pairs", "balance"),
    [("U0:%x[0,0]\n", 0, 0.0), ("U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB\nB1:%x[0,0]\n", 1, 1.0)],
)
def test_templates_of_crfpp_are_taken(folder, run_json, run, template, pairs, balance):
    folder.joinpath("template").write_text(template)
    run_json("train", "train.txt", "--templates", "template")
    chain = structlearn.load("model.slm")[-1].model
    assert (bool(chain.pair_features), chain.balance, chain.boundaries) == (bool(pairs), balance, False)
    assert run_json("evaluate", "model.slm", "test.txt")["accuracy"] > 0.7
    assert run("tune", "train.txt", "--templates", "template", "--folds", "2", "-j", "1", "--grid", "C=1", "-q")[0] == 0


def test_devices_are_not_replaced_by_files(folder, run):
    status, _, err = run("train", "train.txt", "-o", "/dev/null")
    assert (status, err) == (1, "structlearn: /dev/null is no ordinary file; it cannot be replaced by one\n")


def test_all_columns_are_converted(folder, run):
    text = "the DT B\ndog NN I\n\n"
    folder.joinpath("three.txt").write_text(text)
    assert run("convert", "three.txt", "--to", "columns") == (0, text, "")
    status, _, err = run("convert", "three.txt", "--to", "svmlight")
    assert (status, "columns holds sequences, svmlight holds single examples" in err) == (1, True)


@dataclass(frozen=True)
class OwnColumns(Columns):
    pass


def test_a_model_loads_without_the_format_it_was_trained_from(tagger, run, monkeypatch):
    saved = model_file.read(tagger)
    monkeypatch.setitem(FORMATS, "own", OwnColumns)
    model_file.save(saved.estimator, "own.slm", reader=OwnColumns())
    assert isinstance(model_file.read("own.slm").reader, OwnColumns)
    monkeypatch.delitem(FORMATS, "own")
    assert model_file.read("own.slm").reader is None
    assert run("predict", "own.slm", "test.txt")[0] == 0


def test_a_separator_alone_is_that_of_tagged_text(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    for name, mark in (("slash.txt", "/"), ("bar.txt", "|")):
        tmp_path.joinpath(name).write_text("the/D dog/N\na/D cat/N barks/V\n".replace("/", mark))
    assert run("train", "slash.txt", "-o", "tagger.slm", "-c", "10", "--quiet")[0] == 0
    status, out, _ = run("predict", "tagger.slm", "bar.txt", "--separator", "|")
    assert (status, out) == (0, "the|D dog|N\na|D cat|N barks|V\n")


def test_training_on_one_label_says_so(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("same.txt").write_text("a X\nb X\n\nc X\n")
    status, _, err = run("train", "same.txt", "-o", "same.slm", "--quiet")
    assert (status, err) == (0, "structlearn: warning: every label is X: there was nothing to learn\n")
