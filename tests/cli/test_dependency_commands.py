"""All commands on treebanks, small ones with all that CoNLL-U has, and a published one."""

import gzip
import json
import math
import os
from pathlib import Path

import pytest

ROWS = """# newdoc id = d1
# sent_id = 1
# text = Don't dogs bark?
1-2 Don't _ _ _ _ _ _ _ _
1 Do do AUX VBP Mood=Ind 4 aux 4:aux _
2 n't not PART RB _ 4 advmod 4:advmod _
3 dogs dog NOUN NNS Number=Plur 4 nsubj 4:nsubj _
4 bark bark VERB VB _ 0 root 0:root SpaceAfter=No
5 ? ? PUNCT . _ 4 punct 4:punct _

# sent_id = 2
1 Go go VERB VB _ 0 root _ _

# text = A cat sleeps and a dog eats.
1 A a DET DT _ 2 det _ _
2 cat cat NOUN NN _ 3 nsubj _ _
3 sleeps sleep VERB VBZ _ 0 root _ _
3.1 then then ADV RB _ _ _ 3:advmod _
4 and and CCONJ CC _ 7 cc _ _
5 a a DET DT _ 6 det _ _
6 dog dog NOUN NN _ 7 nsubj _ _
7 eats eat VERB VBZ _ 3 conj _ _
8 . . PUNCT . _ 3 punct _ _

"""
TEXT = "\n".join(line if line.startswith("#") else line.replace(" ", "\t") for line in ROWS.splitlines()) + "\n\n"
WRONG = TEXT.replace("4\tnsubj", "2\tnsubj").replace("3\tconj", "3\tparataxis")


@pytest.fixture
def treebank(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("trees.conllu").write_text(TEXT)
    tmp_path.joinpath("wrong.conllu").write_text(WRONG)
    return tmp_path


@pytest.fixture
def parser(treebank, run):
    assert run("train", "trees.conllu", "--label", "tree", "-o", "parser.slm", "-c", "10", "--quiet")[0] == 0
    return "parser.slm"


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--learner", "crf", "--order", "2"),
        ("--learner", "perceptron", "--n-hashed", "5000", "--no-single-root"),
        ("--no-projective", "--columns", "form,lemma,xpos,feats", "--loss", "unlabelled"),
    ],
)
def test_predicted_trees_are_written_into_the_file_and_nothing_else_is(treebank, run, run_json, options):
    assert run("train", "trees.conllu", "--label", "tree", "--quiet", *options)[0] == 0
    status, out, err = run("predict", "model.slm", "wrong.conllu")
    assert (status, err) == (0, "")
    assert without_trees(out) == without_trees(WRONG)
    if "--loss" not in options:
        assert out == TEXT
        assert run_json("evaluate", "model.slm", "trees.conllu")["las"] == 1.0


def without_trees(text):
    """All but HEAD and DEPREL of words."""
    rows = (line.split("\t") for line in text.split("\n"))
    return [row[:6] + row[8:] if row[0].isdecimal() else row for row in rows]


def test_evaluation_tells_attachment_scores(parser, run, run_json):
    found = run_json("evaluate", parser, "wrong.conllu")
    assert found["examples"] == 3
    assert found["las"] == pytest.approx(12 / 14)
    assert found["uas"] == pytest.approx(13 / 14)
    assert found["accuracy"] == pytest.approx(1 / 3)
    out = run("evaluate", parser, "wrong.conllu")[1]
    assert "las without punctuation" in out


def test_trees_with_crossing_arcs_are_told_of(treebank, run):
    treebank.joinpath("crossing.conllu").write_text(TEXT.replace("3\tpunct", "6\tpunct"))
    told = (
        "1 of 3 trees has crossing arcs; learning from the nearest projective ones (projective=False, --no-projective"
    )
    assert told in run("train", "crossing.conllu", "--label", "tree")[2]
    assert "crossing" not in run("train", "crossing.conllu", "--label", "tree", "--no-projective")[2]
    assert "crossing" not in run("train", "trees.conllu", "--label", "tree")[2]


def test_probabilities_of_predicted_arcs(treebank, run, run_json):
    run("train", "trees.conllu", "--label", "tree", "--learner", "crf", "--quiet")
    lines = run("predict", "model.slm", "trees.conllu", "--json", "--probabilities", "--k-best", "2")[1].splitlines()
    first, second, _ = map(json.loads, lines)
    assert [row[:2] for row in first["probabilities"]] == first["predicted"]
    assert all(0 < p <= 1 for _, _, p in first["probabilities"])
    # One token with one tree but for labels.
    assert second["probabilities"][0][:2] == [0, "root"]
    assert second["log_probability"] == pytest.approx(math.log(second["probabilities"][0][2]), abs=1e-5)
    assert first["k_best"][0]["predicted"] == first["predicted"]
    status, _, err = run("predict", "model.slm", "trees.conllu", "--probabilities")
    assert status == 1
    assert "--probabilities has no place in conllu files; with --json it is there" in err


def test_probabilities_of_heads_alone(treebank, run):
    bare = "\n".join("\t".join([*row[:7], "_", *row[8:]]) if len(row) > 1 else row[0] for row in tab_rows(TEXT))
    treebank.joinpath("heads.conllu").write_text(bare)
    assert run("train", "heads.conllu", "--label", "tree", "--learner", "crf", "--quiet")[0] == 0
    assert run("predict", "model.slm", "heads.conllu")[1] == bare
    lines = run("predict", "model.slm", "heads.conllu", "--json", "--probabilities")[1].splitlines()
    assert json.loads(lines[1])["probabilities"] == [[0, 1.0]]
    assert [head for head, _ in json.loads(lines[0])["probabilities"]] == [4, 4, 4, 0, 4]


def tab_rows(text):
    return [line.split("\t") for line in text.split("\n")]


def test_explanations_draw_the_tree_and_name_features(parser, run):
    status, out, _ = run("explain", parser, "wrong.conllu")
    assert status == 0
    assert "bark" in out
    assert "4 → 3: nsubj" in out
    assert "head.upos=VERB modifier.upos=NOUN distance=1 left" in out
    assert "compared with the second best" in run("explain", parser, "trees.conllu")[1]


def test_the_report_shows_trees_with_what_is_wrong_in_them(parser, treebank, run):
    assert run("report", parser, "wrong.conllu", "-o", "report.html")[0] == 0
    page = treebank.joinpath("report.html").read_text("utf-8")
    assert "This model gives each token of a sentence a head" in page
    assert "2 of 3 sentences have a mistake" in page
    assert "parataxis" in page
    out = run("inspect", parser)[1]
    assert "head.form=(root) direction=right" in out


def test_parsers_are_tuned_and_compared(parser, run, run_json):
    found = run(
        "tune", "trees.conllu", "--label", "tree", "--grid", "order=1,2", "--folds", "3", "-j", "1", "-o", "tuned.slm"
    )
    assert found[0] == 0
    assert "order=" in found[1]
    out = run("compare", parser, "tuned.slm", "wrong.conllu")[1]
    assert "las" in out


def test_trees_known_in_part_are_learnt(treebank, run):
    treebank.joinpath("part.conllu").write_text(TEXT.replace("4\taux", "_\t_").replace("2\tdet", "_\tdet"))
    status, _, err = run("train", "part.conllu", "--label", "tree", "--quiet")
    assert status == 1
    assert "part.conllu:5" in err
    assert "this word has no head, but others of the sentence do (train --partial takes such trees)" in err
    for learner in ("latent", "latent-crf"):
        options = ("--label", "tree", "--partial", "--learner", learner, "--quiet")
        assert run("train", "part.conllu", *options)[0] == 0
        assert without_trees(run("predict", "model.slm", "trees.conllu")[1]) == without_trees(TEXT)
    status, _, err = run("evaluate", "model.slm", "part.conllu")
    assert status == 1
    assert "part.conllu:1: Y[0] is known in part; scores need whole trees" in err


@pytest.mark.parametrize(
    ("old", "new"),
    [("4\tnsubj", "9\tnsubj"), ("4\tnsubj", "0\tnsubj"), ("3\tconj", "6\tconj"), ("2\tdet", "_\tdet")],
)
def test_what_predictions_replace_may_be_broken(parser, treebank, run, old, new):
    treebank.joinpath("broken.conllu").write_text(TEXT.replace(old, new))
    assert run("evaluate", parser, "broken.conllu")[0] == 1
    assert run("predict", parser, "broken.conllu") == (0, TEXT, "")
    for form in ("--draw", "--json"):
        assert run("predict", parser, "broken.conllu", form)[0] == 0
    treebank.joinpath("broken.conllu").write_text(TEXT.replace("4\tnsubj\t", "4\t"))
    assert run("predict", parser, "broken.conllu")[0] == 1


def test_trees_of_several_roots_are_read_where_one_says_so(treebank, run):
    treebank.joinpath("roots.conllu").write_text(TEXT.replace("3\tconj", "0\troot"))
    status, _, err = run("train", "roots.conllu", "--label", "tree", "--quiet")
    assert status == 1
    assert "word 7 has the head 0, as word 3 has, but there may be one root only; --no-single-root takes several" in err
    assert run("train", "roots.conllu", "--model", "dependency-tree", "--quiet", "--no-single-root")[0] == 0
    assert run("evaluate", "model.slm", "roots.conllu")[0] == 0


def test_sentences_without_trees_are_refused_in_training(treebank, run):
    bare = "\n".join("\t".join([*row[:6], "_", "_", *row[8:]]) if len(row) > 1 else row[0] for row in tab_rows(TEXT))
    treebank.joinpath("bare.conllu").write_text(bare)
    err = run("train", "bare.conllu", "--label", "tree", "--quiet")[2]
    assert "has no labels at line 1: expected the columns form, upos and HEAD and DEPREL" in err
    assert (
        "--model dependency-tree does not learn from"
        not in run("train", "trees.conllu", "--model", "dependency-tree")[2]
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--order", "2", "--no-projective"), "order=2 needs projective=True"),
        (("--order", "3"), "--order"),
        (("--loss", "hamming"), "'hamming'; it may be 'labelled', 'unlabelled' or"),
        (("--max-length", "3"), "--max-length has no effect here"),
        (
            ("--model", "chain"),
            "--model chain does not learn from conllu (--label tree) files; it may be dependency-tree",
        ),
        (("--columns", "form,head"), "columns holds 'head'; beside the label there are form, lemma, upos"),
        (
            ("--columns", "word,upos"),
            "columns holds 'word', which CoNLL-U does not have; beside the label there are form",
        ),
        (
            ("--learner", "latent"),
            "--learner latent learns from conllu (--label tree) files that are known in part: say",
        ),
        (
            ("--templates", "trees.conllu"),
            "those of dependency trees are given from Python, DependencyTree(templates=…)",
        ),
        (("--n-hashed", "0"), "--n-hashed"),
    ],
)
def test_options_that_do_not_fit_are_refused(treebank, run, options, told):
    status, _, err = run("train", "trees.conllu", "--label", "tree", "--quiet", *options)
    assert status != 0
    assert told in err


def test_help_for_a_treebank_shows_the_options_of_the_model(treebank, run):
    out = run("train", "trees.conllu", "--label", "tree", "--help")[1]
    for option in ("--projective", "--order", "--single-root", "--n-hashed", "--min-count"):
        assert option in out
    assert "--max-length" not in out


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("STRUCTLEARN_DATA"), reason="STRUCTLEARN_DATA names no folder of data sets")
def test_a_published_treebank_goes_through_predict_and_evaluate(tmp_path, monkeypatch, run, run_json):
    monkeypatch.chdir(tmp_path)
    files = sorted(Path(os.environ["STRUCTLEARN_DATA"], "ud_english_ewt").glob("*.conllu.gz"))
    assert len(files) == 3
    sentences = gzip.decompress(files[0].read_bytes()).decode().split("\n\n")[:300]
    tmp_path.joinpath("small.conllu").write_text("\n\n".join(sentences) + "\n\n")
    options = ("--label", "tree", "--learner", "perceptron", "--max-iter", "3", "--quiet")
    assert run("train", "small.conllu", *options, "-o", "parser.slm")[0] == 0
    for file in files:
        assert run("predict", "parser.slm", file, "-o", "predicted.conllu")[0] == 0
        text = gzip.decompress(file.read_bytes()).decode()
        predicted = tmp_path.joinpath("predicted.conllu").read_bytes().decode()
        assert without_trees(predicted) == without_trees(text)
        assert predicted != text
        assert run_json("evaluate", "parser.slm", file)["las"] > 0.55
        # What was predicted is a treebank again, and all of it is predicted once more.
        assert run_json("evaluate", "parser.slm", "predicted.conllu")["las"] == 1.0
