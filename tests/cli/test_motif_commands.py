"""Motifs from the command line."""

import json

import pytest

from structlearn.datasets import make_motifs
from structlearn.io import LabelledFasta
from structlearn.io.pairs import NamedSequence


@pytest.fixture
def files(tmp_path):
    data = make_motifs(60, width=6, length=20, substitutions=0, random_state=0)
    rows = zip(range(60), data.X, data.Y, strict=True)
    text = "".join(LabelledFasta().write(NamedSequence(x, f"s{i}"), 2 * y - 1) for i, x, y in rows)
    (tmp_path / "train.fasta").write_text(text)
    (tmp_path / "new.fasta").write_text("".join(f">new{i}\n{x}\n" for i, x in enumerate(data.X)))
    return tmp_path, data


def test_a_motif_is_learnt_used_and_judged(files, run):
    folder, _ = files
    model = folder / "finder.slm"
    options = ["--width", "6", "--both-strands", "-c", "60", "--n-init", "3", "--random-state", "0", "--quiet"]
    assert run("train", folder / "train.fasta", "-o", model, *options)[0] == 0
    status, predicted, _ = run("predict", model, folder / "new.fasta")
    assert status == 0
    assert predicted.startswith(">new0 predicted=")
    judged = json.loads(run("evaluate", model, folder / "train.fasta", "--json")[1])
    assert judged["accuracy"] >= 0.9
    assert {row["label"] for row in judged["labels"]} == {-1, 1}
    assert run("report", model, folder / "train.fasta", "-o", folder / "report.html")[0] == 0
    page = (folder / "report.html").read_text()
    assert "1 for a wrong label" in page
    assert 'aria-label="sequence logo of' in page
    assert run("check", folder / "train.fasta")[0] == 0
    assert run("inspect", model)[0] == 0


def test_options_of_motifs_are_for_labelled_sequences_only(files, run, tmp_path):
    folder, _ = files
    _, _, refused = run("train", folder / "train.fasta", "-o", folder / "m.slm", "--learner", "crf")
    assert "--learner crf does not learn from fasta files; it may be latent" in refused
    (tmp_path / "words.txt").write_text("The DT\ndog NN\n")
    _, _, refused = run("train", tmp_path / "words.txt", "-o", folder / "m.slm", "--width", "3")
    assert "--width has no effect here: it is for files of labelled sequences" in refused
    _, _, refused = run("convert", folder / "train.fasta", "--to", "columns")
    assert "fasta holds labelled sequences, columns holds sequences: one cannot become the other" in refused
