"""Homologue search from the command line."""

import json
from pathlib import Path

import pytest

import structlearn
from structlearn import StructuralSVM
from structlearn.data import from_gapped
from structlearn.datasets import make_homologues
from structlearn.io import Pairs
from structlearn.models import Alignment, Homologues

LETTERS = "ACDEFGHIKLMNPQRSTVWYX"


def written(letters):
    return "".join(LETTERS[k] for k in letters)


@pytest.fixture
def searches(tmp_path, monkeypatch):
    """Aligned pairs of natives and their homologues, and queries and candidates of other ones."""
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("train.fasta", "test.fasta")):
        drawn = make_homologues(8, n_decoys=0, length=30, n_operations=20, random_state=seed)
        pairs = [((written(x), written(others[0])), y) for (x, others), (_, y) in zip(drawn.X, drawn.Y, strict=True)]
        Path(name).write_text("".join(Pairs().write(*pair) for pair in pairs))
        Path(f"queries{seed}.fasta").write_text("".join(f">q{k}\n{x[0]}\n" for k, (x, _) in enumerate(pairs)))
        Path(f"database{seed}.fasta").write_text("".join(f">d{k}\n{x[1]}\n" for k, (x, _) in enumerate(pairs)))
    return tmp_path


@pytest.fixture
def ranker(searches, run):
    assert run("train", "train.fasta", "-o", "ranker.slm", "--model", "homologues", "-c", "10", "-q")[0] == 0
    return searches / "ranker.slm"


def test_the_command_line_learns_what_the_library_learns(searches, run_json):
    told = run_json("train", "train.fasta", "--model", "homologues", "-c", "10", "--tol", "1e-6", "--gaps", "affine")
    drawn = make_homologues(8, n_decoys=0, length=30, n_operations=20, random_state=0)
    seconds = [written(others[0]) for _, others in drawn.X]
    X = [(written(x), seconds) for x, _ in drawn.X]
    Y = [(k, matches) for k, (_, matches) in enumerate(drawn.Y)]
    alphabet = "".join(sorted(set("".join([*seconds, *(x for x, _ in X)]))))
    model = Homologues(Alignment(alphabet, ends="local", gaps="affine"))
    svm = StructuralSVM(model, C=10, tol=1e-6).fit(X, Y)
    assert (told["objective"], told["structure"]) == (pytest.approx(svm.objective_, rel=1e-6), "Homologues")


def test_candidates_are_ranked_with_scores_and_alignments(ranker, run):
    status, out, _ = run("predict", ranker, "queries1.fasta", "--candidates", "database1.fasta")
    heading, *rows = (line.split("\t") for line in out.splitlines())
    assert (status, heading) == (0, ["query", "rank", "candidate", "score", "query_row", "candidate_row"])
    assert len(rows) == 64
    estimator = structlearn.load(ranker)
    queries, database = (Path(f"{name}1.fasta").read_text().split()[1::2] for name in ("queries", "database"))
    X = [(query, database) for query in queries]
    expected = estimator.model_.ranked(estimator.spec_, estimator.w_, X)
    for k, row in enumerate(rows):
        place, matches, score = expected[k // 8][k % 8]
        assert row[:3] == [f"q{k // 8}", str(k % 8 + 1), f"d{place}"]
        assert float(row[3]) == pytest.approx(score, rel=1e-5)
        assert from_gapped(*row[4:]) == matches
    assert [best[0][0] for best in expected] == estimator.predict(X)
    asked = ["--candidates", "database1.fasta", "--json", "--k-best", "3"]
    told = list(map(json.loads, run("predict", ranker, "queries1.fasta", *asked)[1].splitlines()))
    assert [[one["candidate"] for one in line["ranking"]] for line in told] == [
        [row[2] for row in rows[8 * k : 8 * k + 3]] for k in range(8)
    ]


def test_the_share_of_found_homologues_is_evaluated(ranker, run, run_json):
    found = run_json("evaluate", ranker, "train.fasta")
    assert found["found"] == found["accuracy"] == 1.0 - found["loss"]
    assert found["found"] > 0.8
    asked = ["--model", "homologues,alignment", "--grid", "C=10", "--folds", "2", "-j", "1"]
    tuned = run_json("tune", "train.fasta", *asked)
    assert [result["setting"]["model"] for result in tuned["results"]] == ["homologues", "alignment"]


def test_what_a_search_lacks_is_named(ranker, run):
    Path("bad.fasta").write_text(">b\nCCJ\n")
    Path("one.fasta").write_text(">a\nAC-G\n>b\nA-CG\n")
    Path("empty.fasta").write_text("")
    run("train", "train.fasta", "-o", "aligner.slm", "-q", "-c", "1")
    for words, told in (
        (["predict", "ranker.slm", "queries1.fasta"], "the model in ranker.slm needs --candidates FILE to search in"),
        (["predict", "aligner.slm", "test.fasta", "--candidates", "test.fasta"], "has no use for --candidates"),
        (
            ["predict", "ranker.slm", "queries1.fasta", "--candidates", "bad.fasta"],
            "bad.fasta:1:1: b has the letter 'J'",
        ),
        (["predict", "ranker.slm", "empty.fasta", "--candidates", "database1.fasta"], "the file holds no sequence"),
        (["train", "one.fasta", "--model", "homologues"], "a search needs at least two pairs"),
        (["train", "train.fasta", "--model", "homologues", "--learner", "crf"], "does not learn --model homologues"),
    ):
        status, _, err = run(*words)
        assert (status, told in err) == (1, True), err
