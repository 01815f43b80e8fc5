"""Why an example of a file is predicted as it is."""

import numpy as np
import pytest

import structlearn
from structlearn.io import Letor, Pairs, read_examples
from tests.cli.test_pair_commands import pairs
from tests.cli.test_trees import OTHERS, TREES
from tests.io.test_conll2012 import TEXT


def test_a_wrong_prediction_is_explained_against_the_truth(tagger, run, run_json):
    pipeline = structlearn.load(tagger)
    _, examples = read_examples("test.txt")
    examples = list(examples)
    wrong = next(k for k, example in enumerate(examples) if pipeline.predict([example.x])[0] != list(example.y))
    found = run_json("explain", tagger, "test.txt", "--example", wrong)
    why = structlearn.explain(pipeline, examples[wrong].x, against=examples[wrong].y)
    assert (found["example"], found["compared_with"]) == (wrong, "the truth")
    assert found["place"] == f"test.txt:{examples[wrong].line}"
    assert found["against"] == list(examples[wrong].y)
    assert found["difference"] == pytest.approx(why.difference)
    assert [part["name"] for part in found["parts"]] == [part.name for part in why.parts]
    status, out, err = run("explain", tagger, "test.txt", "--example", wrong)
    assert (status, err) == (0, "")
    assert out == f"test.txt:{examples[wrong].line}, example {wrong}, compared with the truth\n{why}\n"
    at = next(t for t, label in enumerate(why.output) if label != examples[wrong].y[t])
    found = run_json("explain", tagger, "test.txt", "--example", wrong, "--token", at)
    assert (found["label"], found["against"], found["position"]) == (why.output[at], examples[wrong].y[at], at)


def test_a_right_prediction_is_explained_against_the_next_best(tagger, run, run_json):
    pipeline = structlearn.load(tagger)
    _, examples = read_examples("train.txt")
    (x, *_) = (example.x for example in examples)
    best = pipeline[-1].k_best(pipeline[:-1].transform([x]), 3)[0]
    found = run_json("explain", tagger, "train.txt")
    assert found["against"] == best[1][0]
    assert found["difference"] == pytest.approx(best[0][1] - best[1][1])
    assert run_json("explain", tagger, "train.txt", "--against", "second")["against"] == best[1][0]
    found = run_json("explain", tagger, "train.txt", "--against", "3")
    assert found["against"] == best[2][0]
    assert found["difference"] == pytest.approx(best[0][1] - best[2][1])
    assert "at token 0" in run("explain", tagger, "train.txt", "--token", "0")[1]


def test_examples_without_labels_are_explained(tagger, folder, run_json):
    lines = folder.joinpath("test.txt").read_text().splitlines()
    folder.joinpath("new.txt").write_text("".join(f"{line.split()[0] if line else ''}\n" for line in lines))
    assert run_json("explain", tagger, "new.txt", "--example", "2")["compared_with"] == "the second best"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--example", "40"], "--example is 40, but test.txt has 40 examples, counted from 0"),
        (["--token", "99"], "--token is 99, but test.txt:1 has"),
        (["--token", "0", "--against", "2"], "--against K is for whole outputs"),
    ],
)
def test_questions_that_make_no_sense_are_refused(tagger, run, words, told):
    status, out, err = run("explain", tagger, "test.txt", *words)
    assert (status, out) == (1, "")
    assert told in err


def test_the_truth_must_be_there_and_differ(tagger, folder, run):
    status, _, err = run("explain", tagger, "train.txt", "--against", "truth")
    assert (status, err) == (
        1,
        "structlearn: train.txt:1: the prediction is right; --against second compares it with the next best\n",
    )
    folder.joinpath("new.txt").write_text("dog\nbarks\n")
    status, _, err = run("explain", tagger, "new.txt", "--against", "truth")
    assert (status, err) == (
        1,
        "structlearn: new.txt:1: the example has no label, so that there is no truth to compare with\n",
    )


def test_trees_are_drawn_and_explained_by_rules(folder, run, run_json):
    folder.joinpath("trees.mrg").write_text("((S (NP (NN dogs)) (VB bark)))\n((S (NN dogs) (VP (VB bark))))\n")
    folder.joinpath("others.mrg").write_text(OTHERS)
    assert run("train", "trees.mrg", "-o", "parser.slm", "-c", "10", "--quiet")[0] == 0
    found = run_json("explain", "parser.slm", "trees.mrg", "--against", "second")
    assert found["difference"] == pytest.approx(sum(part["amount"] for part in found["parts"]))
    assert {part["name"] for part in found["parts"]} == {"S → NP VB", "NP → NN", "S → NN VP", "VP → VB"}
    status, out, err = run("explain", "parser.slm", "trees.mrg", "--against", "second")
    assert (status, err) == (0, "")
    assert "dogs" in out
    status, _, err = run("explain", "parser.slm", "others.mrg", "--against", "truth")
    assert status == 1
    assert err == "structlearn: others.mrg:1: the model has no output that is the truth; try --against second\n"
    status, _, err = run("explain", "parser.slm", "trees.mrg", "--token", "0")
    assert (status, err) == (
        1,
        "structlearn: --token is for the labels of tokens, which a Grammar does not give\n",
    )


def test_alignments_are_explained_by_matches(tmp_path, monkeypatch, run, run_json):
    monkeypatch.chdir(tmp_path)
    X, Y = pairs(12, 0)
    tmp_path.joinpath("train").mkdir()
    for k, (x, y) in enumerate(zip(X, Y, strict=True)):
        tmp_path.joinpath("train", f"{k:02}.fasta").write_text(Pairs().write(x, y))
    assert run("train", "train", "-o", "aligner.slm", "-q")[0] == 0
    found = run_json("explain", "aligner.slm", "train", "--example", "3", "--against", "second")
    assert {part["name"].split()[0] for part in found["parts"]} <= {"match", "letter"}
    status, out, _ = run("explain", "aligner.slm", "train", "--example", "3", "--against", "second")
    assert status == 0
    assert "s3" in out


def test_rankings_are_explained_by_two_documents(tmp_path, monkeypatch, run, run_json):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    written = []
    for _ in range(10):
        x = random.normal(size=(5, 2)).round(3)
        written.append(Letor().write([{str(k + 1): float(v) for k, v in enumerate(row)} for row in x], [0, 1, 0, 1, 0]))
    tmp_path.joinpath("queries.txt").write_text("".join(written))
    assert run("train", "queries.txt", "-o", "ranker.slm", "-q")[0] == 0
    ranker = structlearn.load("ranker.slm")
    for k, example in enumerate(read_examples("queries.txt")[1]):
        (order,) = ranker.predict([example.x])
        found = run_json("explain", "ranker.slm", "queries.txt", "--example", k)
        if found["compared_with"] == "the truth":
            assert example.y[found["output"]] < example.y[found["against"]]
            assert list(order).index(found["output"]) < list(order).index(found["against"])
        assert found["difference"] >= 0


def test_clusterings_need_a_truth_to_compare_with(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("train.conll").write_text(TEXT * 2)
    assert run("train", "train.conll", "-o", "model.slm", "-c", "100", "--window", "3", "--quiet")[0] == 0
    status, _, err = run("explain", "model.slm", "train.conll")
    assert status == 1
    assert "LatentForest finds no second best output" in err
    status, _, err = run("explain", "model.slm", "train.conll", "--against", "2")
    assert status == 1
    assert "--against 2: LatentForest cannot find the k best outputs" in err


def test_the_pattern_and_the_rules_are_among_the_weights(folder, run, run_json):
    folder.joinpath("trees.mrg").write_text(TREES)
    assert run("train", "trees.mrg", "-o", "parser.slm", "-c", "10", "--quiet")[0] == 0
    assert set(run_json("inspect", "parser.slm")["top_weights"]["features"]) == {"rules"}


def test_segments_are_explained_from_files_of_tags(folder, run):
    folder.joinpath("names.txt").write_text("Ann B-NAME\nLee I-NAME\nsleeps O\n\nhe O\nsleeps O\n\n")
    folder.joinpath("wrong.txt").write_text("Ann O\nLee O\nsleeps O\n\nAnn B-NAME\nLee I-NAME\nsleeps I-NAME\n\n")
    assert run("train", "names.txt", "--model", "segments", "-o", "names.slm", "-c", "10", "-q")[0] == 0
    status, out, err = run("explain", "names.slm", "wrong.txt")
    assert (status, err) == (0, "")
    assert "compared with the truth" in out
    out = run("explain", "names.slm", "wrong.txt", "--example", "1")[1]
    assert "compared with the second best, since the model has no output that is the truth" in out
    status, _, err = run("explain", "names.slm", "wrong.txt", "--example", "1", "--against", "truth")
    assert (status, err) == (
        1,
        "structlearn: wrong.txt:5: the model has no output that is the truth; try --against second\n",
    )


def test_a_sentence_that_the_grammar_does_not_derive_is_named(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("train.mrg").write_text(TREES)
    tmp_path.joinpath("new.mrg").write_text("(S (NP (XX odd)) (VP (YY words)))\n")
    assert run("train", "train.mrg", "-o", "parser.slm", "-q")[0] == 0
    status, _, err = run("explain", "parser.slm", "new.mrg")
    assert (status, err) == (
        1,
        "structlearn: new.mrg:1 cannot be parsed: the rules derive no tree of ['XX', 'YY']\n",
    )
