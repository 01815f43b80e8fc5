import pytest

TREES = """((S (NP (DT the) (NN dog)) (VP (VBZ barks))))
((S (NP (PRP it)) (VP (VBZ has) (NP (DT a) (NN bone)))))
"""
OTHERS = """((S (NP (DT a) (NN cat)) (VP (VBZ has) (NEW (DT a) (NN dog)))))
((S (FW zut) (UH alors)))
((S (NP (PRP it)) (VP (VBZ barks))))
"""


@pytest.fixture
def parser(folder, run):
    folder.joinpath("trees.mrg").write_text(TREES)
    folder.joinpath("others.mrg").write_text(OTHERS)
    assert run("train", "trees.mrg", "-o", "parser.slm", "-c", "10", "--quiet")[0] == 0
    return "parser.slm"


def test_trees_are_learnt(folder, run, run_json):
    folder.joinpath("trees.mrg").write_text(TREES)
    assert run_json("train", "trees.mrg", "--loss", "f1", "--slack", "squared", "-c", "10")["structure"] == "Grammar"
    assert run("predict", "model.slm", "trees.mrg") == (0, TREES, "")
    assert run_json("evaluate", "model.slm", "trees.mrg")["accuracy"] == 1.0
    assert run("inspect", "model.slm")[0] == run("check", "trees.mrg")[0] == 0
    assert " trees, " in run("check", "trees.mrg")[1]
    assert run("report", "model.slm", "trees.mrg")[0] == 0
    status, _, err = run("convert", "trees.mrg", "--to", "jsonl")
    assert (status, err) == (
        1,
        "structlearn: brackets holds trees, jsonl holds sequences: one cannot become the other\n",
    )


def test_trees_are_drawn_with_what_is_wrong_in_them(parser, run):
    status, out, err = run("predict", parser, "others.mrg", "--draw")
    assert (status, err) == (0, "")
    assert (
        out
        == """predicted
S ┬ NP ┬ DT a
  │    └ NN cat
  └ VP ┬ VBZ has
       └ NP✗ ┬ DT a
             └ NN dog
true
S ┬ NP ┬ DT a
  │    └ NN cat
  └ VP ┬ VBZ has
       └ NEW✓ ┬ DT a
              └ NN dog

predicted
ROOT ┬ FW zut
     └ UH alors
true
S✓ ┬ FW zut
   └ UH alors

S ┬ NP ─ PRP it
  └ VP ─ VBZ barks

"""
    )


def test_drawings_go_to_a_file_too(parser, folder, run):
    assert run("predict", parser, "trees.mrg", "--draw", "-o", "drawn.txt") == (0, "", "")
    assert "\x1b" not in folder.joinpath("drawn.txt").read_text("utf-8")
    assert folder.joinpath("drawn.txt").read_text("utf-8").startswith("S ┬ NP ┬ DT the\n")


def test_sentences_without_a_tree_and_new_labels_are_judged(parser, run, run_json):
    found = run_json("evaluate", parser, "others.mrg")
    assert (found["examples"], found["accuracy"]) == (3, pytest.approx(1 / 3))
    assert found["precision"] == pytest.approx(6 / 7)
    assert found["recall"] == pytest.approx(6 / 8)
    assert found["crossing_brackets"] == 0
    status, out, _ = run("evaluate", parser, "others.mrg")
    assert (status, "unlabelled f1" in out) == (0, True)
    assert run("predict", parser, "others.mrg")[1].splitlines()[1] == "((ROOT (FW zut) (UH alors)))"


def test_labels_have_no_drawing(tagger, run):
    status, _, err = run("predict", tagger, "test.txt", "--draw")
    assert (status, err) == (1, "structlearn: --draw is not for Chain, whose outputs have no drawing\n")
