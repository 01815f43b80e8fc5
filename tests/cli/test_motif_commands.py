"""Motifs from the command line."""

import json
import re

import pytest

import structlearn
from structlearn import LatentStructuralSVM
from structlearn.data.biosequences.dna import reverse_complement
from structlearn.datasets import make_motifs
from structlearn.io import LabelledFasta
from structlearn.io.pairs import NamedSequence
from structlearn.models import Motif


@pytest.fixture
def files(tmp_path):
    data = make_motifs(60, width=6, length=20, substitutions=0, random_state=1)
    assert data.consensus != reverse_complement(data.consensus)
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


@pytest.fixture
def finder(files, trained, monkeypatch):
    folder, data = files
    monkeypatch.chdir(folder)
    options = ["--width", "6", "--both-strands", "-c", "60", "--n-init", "3", "--random-state", "0"]
    return folder, data, trained(folder / "finder.slm", "train.fasta", *options)


def test_sites_are_written_as_a_table(finder, run):
    folder, data, model = finder
    X = [reverse_complement(x) if i % 2 else x for i, x in enumerate(data.X)]
    (folder / "new.fasta").write_text("".join(f">new{i}\n{x}\n" for i, x in enumerate(X)))
    status, out, err = run("predict", model, folder / "new.fasta", "--latent")
    assert (status, err) == (0, "")
    heading, *lines = out.splitlines()
    assert heading.split("\t") == ["name", "predicted", "start", "end", "strand", "letters", "score"]
    loaded = structlearn.load(model)
    sites, labels = loaded.predict_latent(X), loaded.predict(X)
    assert [line.split("\t")[:2] for line in lines] == [[f"new{i}", str(y)] for i, y in enumerate(labels)]
    for x, site, line in zip(X, sites, lines, strict=True):
        start, end, strand, letters, score = line.split("\t")[2:]
        assert (float(score) > 0) == (site is not None)
        if site is None:
            assert (start, end, strand, letters) == ("", "", "", "")
        else:
            assert (int(start), int(end), strand) == (site.start + 1, site.start + 6, site.strand)
            found = x[int(start) - 1 : int(end)]
            assert letters == (found if strand == "+" else reverse_complement(found))
    assert {site.strand for site in sites if site} == {"+", "-"}


def test_the_table_may_go_to_a_file_and_has_one_heading_however_many_batches(finder, run, monkeypatch):
    monkeypatch.setattr("structlearn.annotation.examples.BATCH", 7)
    folder, _, model = finder
    assert run("predict", model, folder / "new.fasta", "--latent", "-o", folder / "sites.tsv") == (0, "", "")
    lines = (folder / "sites.tsv").read_text().splitlines()
    assert len(lines) == 61
    assert sum(line.startswith("name\t") for line in lines) == 1


def test_sites_are_drawn_below_the_letters(finder, run):
    folder, data, model = finder
    status, out, _ = run("predict", model, folder / "new.fasta", "--draw")
    assert status == 0
    sites = structlearn.load(model).predict_latent(data.X)
    first = next(i for i, site in enumerate(sites) if site)
    drawn = out.split("\n\n")[first].split("\n")
    assert drawn[0].startswith(f"new{first}: 1, site {sites[first].start + 1} to ")
    assert drawn[1] == f" 1 {data.X[first]} 20"
    assert drawn[2] == " " * (3 + sites[first].start) + {"+": ">", "-": "<"}[sites[first].strand] * 6


def test_the_pattern_is_shown_by_inspect(finder, run, run_json):
    _, data, model = finder
    (pattern,) = run_json("inspect", model)["patterns"]
    assert pattern["letters"] in (data.consensus, reverse_complement(data.consensus))
    assert pattern["score"] > 0
    assert [row["ACGT".index(letter)] for row, letter in zip(pattern["changes"], pattern["letters"], strict=True)] == [
        0
    ] * 6
    assert f"pattern {pattern['letters']}: the letters of the best site" in run("inspect", model)[1]


def test_each_width_has_a_pattern(files, run_json):
    folder, data = files
    finder = LatentStructuralSVM(Motif(width=(3, 6)), C=60, random_state=0).fit(data.X, data.Y)
    finder.save(folder / "both.slm")
    patterns = run_json("inspect", folder / "both.slm")["patterns"]
    assert [len(pattern["letters"]) for pattern in patterns] == [3, 6]


def test_the_report_marks_sites(finder, run):
    folder, _, model = finder
    assert run("report", model, folder / "train.fasta", "-o", folder / "report.html", "--quiet")[0] == 0
    page = (folder / "report.html").read_text()
    section = page[page.index('id="motif"') :]
    assert section.count("<mark>") >= 8


def test_latent_is_for_models_with_latent_variables(finder, tagger, run):
    folder, _, model = finder
    _, _, refused = run("predict", tagger, folder / "train.txt", "--latent")
    assert "--latent is for models whose outputs have latent parts; those of Chain have none\n" in refused
    _, _, refused = run("predict", model, folder / "new.fasta", "--latent", "--draw")
    assert "--draw and --latent exclude each other" in refused


def test_check_speaks_of_sequences_and_letters(files, run, run_json):
    folder, _ = files
    out = run("check", folder / "train.fasta")[1]
    assert "train.fasta: fasta, 60 sequences, 1,200 letters, 20 letters a sequence" in out
    found = run_json("check", folder / "train.fasta")
    assert (found["examples"], found["letters"], found["lengths"]) == (60, 1200, [20, 20])
    (folder / "one.fasta").write_text(">a label=1\nACGTA\n")
    assert "fasta, 1 sequence, 5 letters, 5 letters a sequence" in run("check", folder / "one.fasta")[1]


def test_the_positive_label_is_told_and_can_be_named(files, run, run_json):
    folder, data = files
    words = ["bound" if y else "unbound" for y in data.Y]
    text = "".join(LabelledFasta().write(NamedSequence(x, "s"), y) for x, y in zip(data.X, words, strict=True))
    (folder / "words.fasta").write_text(text)
    train = ["train", folder / "words.fasta", "-o", folder / "m.slm", "--width", "6", "-c", "60", "--random-state", "0"]
    status, out, err = run(*train, "--max-iter", "500")
    assert status == 0
    assert "sequences labelled unbound are taken to hold the motif; --positive names others" in err
    assert re.search(r"^positive +unbound", out, re.M)
    assert run_json(*train, "--positive", "bound")["positive"] == "bound"
    assert run_json("evaluate", folder / "m.slm", folder / "words.fasta")["accuracy"] > 0.9
    assert "are taken to hold" not in run(*train, "--positive", "bound")[2]
    number = ["train", folder / "train.fasta", *train[2:], "--positive", "-1"]
    assert run_json(*number)["positive"] == -1
    _, _, refused = run(*train, "--positive", "Bound")
    assert "two are needed, one of them positive='Bound'" in refused


def test_a_third_label_counts_as_wrong_and_is_named(finder, run):
    folder, data, model = finder
    (folder / "third.fasta").write_text(f">a label=1\n{data.X[0]}\n>b label=2\n{data.X[1]}\n")
    status, _, err = run("evaluate", model, folder / "third.fasta")
    assert status == 0
    assert "1 example has labels that training never saw, which count as wrong: 2" in err


def test_options_of_motifs_are_for_labelled_sequences_only(files, run, tmp_path):
    folder, _ = files
    _, _, refused = run("train", folder / "train.fasta", "-o", folder / "m.slm", "--learner", "crf")
    assert "--learner crf does not learn from fasta files; it may be latent" in refused
    (tmp_path / "words.txt").write_text("The DT\ndog NN\n")
    _, _, refused = run("train", tmp_path / "words.txt", "-o", folder / "m.slm", "--width", "3")
    assert "--width has no effect here: it is for files of labelled sequences" in refused
    _, _, refused = run("convert", folder / "train.fasta", "--to", "columns")
    assert "fasta holds labelled sequences, columns holds sequences: one cannot become the other" in refused
