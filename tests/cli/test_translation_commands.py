"""Word alignment from files of translations."""

import json

import pytest

from structlearn.io import read_examples

TEXT = """the house ||| la maison ||| 0-0 1-1
the cat . ||| le chat . ||| 0-0 1-1 2-2
a house . ||| une maison . ||| 0-0 1-1 2-2
do not ||| ne pas ||| 1-0 1-1 0?0
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(TEXT * 2)
    (tmp_path / "text.txt").write_text("a cat ||| un chat\nthe cat ||| le chat\n")
    return tmp_path


def test_links_are_learnt_predicted_and_judged(files, run):
    train = ("train", "train.txt", "-o", "model.slm", "-c", "100", "--bitext", "text.txt", "--quiet")
    assert run(*train) == (0, "", "")
    status, out, err = run("predict", "model.slm", "text.txt")
    assert (status, err) == (0, "")
    (files / "predicted.txt").write_text(out)
    assert [example.y for example in read_examples("predicted.txt")[1]] == [((0, 0), (1, 1))] * 2
    status, out, _ = run("evaluate", "model.slm", "train.txt")
    assert status == 0
    assert out.startswith("8 pairs of sentences")
    assert "alignment error rate" in out
    assert run("report", "model.slm", "train.txt", "-o", "report.html")[0] == 0
    assert "<line" in (files / "report.html").read_text()
    for command in ("inspect", "explain"):
        more = ("train.txt",) if command == "explain" else ()
        assert run(command, "model.slm", *more)[0] == 0
    status, out, _ = run("predict", "model.slm", "train.txt", "--json", "--k-best", "2")
    found = json.loads(out.splitlines()[0])
    assert (found["source"], found["links"]) == (["the", "house"], "0-0 1-1")


def test_several_partners_and_their_price(files, run):
    options = ("--fertility", "2", "--further", "--nonnegative", "further", "-c", "100")
    assert run("train", "train.txt", "-o", "model.slm", "--quiet", *options)[0] == 0
    status, out, _ = run("evaluate", "model.slm", "train.txt", "--json")
    assert status == 0
    assert json.loads(out)["loss"] == 0.0
    status, out, _ = run("tune", "train.txt", "--grid", "fertility=1,2", "--folds", "2", "--quiet")
    assert status == 0
    assert "f1" in out


def test_truths_beyond_the_fertility_are_told_of(files, run):
    told = "2 of 8 truths have more pairs than fertility=1 lets a matching have; learning from as many as fit"
    assert told in run("train", "train.txt", "-o", "model.slm")[2]
    assert "as many as fit" not in run("train", "train.txt", "-o", "model.slm", "--fertility", "2")[2]
    assert "[default: largest]" in run("train", "train.txt", "--help")[1]


def test_truths_beyond_the_fertility_are_refused_where_one_says_so(files, run):
    status, _, err = run("train", "train.txt", "-o", "model.slm", "--quiet", "--crowded", "refuse")
    assert status != 0
    assert "train.txt:4" in err
    assert "row 1 in 2 pairs" in err


def test_check(files, run):
    status, out, _ = run("check", "train.txt")
    assert (status, out.splitlines()[0]) == (
        0,
        "train.txt: word_alignments, 8 pairs of sentences, 40 words, 2 to 3 words a sentence, 20 links",
    )
    (files / "odd.txt").write_text("a ||| b ||| 0-0\na ||| b ||| 0?0\n ||| b |||\na ||| c |||\n")
    status, out, _ = run("check", "odd.txt")
    assert status == 1
    assert "odd.txt:2: the same sentences as at odd.txt:1, with other links" in out
    assert "odd.txt:3: a sentence without words" in out
    assert "odd.txt:4: sentences without a single link" in out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a ||| b ||| 0-1", "the link 0-1 leads out of sentences of 1 and 1 words"),
        ("a ||| b ||| x-1", "expected a link such as 0-1 or 0?1, found"),
        ("a ||| b ||| 0-0 ||| c", "expected two sentences and perhaps links"),
        ("a b", "expected two sentences and perhaps links"),
    ],
)
def test_lines_that_are_wrong_are_named(files, run, line, message):
    (files / "wrong.txt").write_text(f"a ||| b ||| 0-0\n{line}\n")
    status, _, err = run("check", "wrong.txt", "--format", "word_alignments")
    assert status != 0
    assert "wrong.txt:2" in err
    assert message in err
