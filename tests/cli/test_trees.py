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
    assert (found["crossing_brackets"], found["parsed"]) == (0, pytest.approx(2 / 3))
    status, out, _ = run("evaluate", parser, "others.mrg")
    assert (status, "unlabelled f1" in out) == (0, True)
    assert run("predict", parser, "others.mrg")[1].splitlines()[1] == "((ROOT (FW zut) (UH alors)))"


CYCLES = TREES + "((S (NP (PRP it)) (VP (S (VP (VBZ barks))))))\n"


def test_unary_cycles_are_named_and_removed_where_asked(folder, run, run_json):
    folder.joinpath("cycles.mrg").write_text(CYCLES)
    told = "cycles.mrg:3: the unary cycle VP → S → VP, which training refuses; --unary-cycles remove trains without it"
    status, out, _ = run("check", "cycles.mrg")
    assert (status, told in out) == (1, True)
    status, _, err = run("train", "cycles.mrg", "-q")
    assert status == 1
    assert err.startswith("structlearn: cycles.mrg:3: Y[2] has the unary cycle VP → S → VP")
    status, _, err = run("train", "cycles.mrg", "--unary-cycles", "remove", "-c", "10")
    assert (status, "1 of 3 trees has unary cycles, removed in training" in err) == (0, True)
    assert run("predict", "model.slm", "cycles.mrg")[1].splitlines()[2] == "((S (NP (PRP it)) (VP (VBZ barks))))"
    found = run_json("evaluate", "model.slm", "cycles.mrg")
    assert (found["precision"], found["accuracy"]) == (1.0, pytest.approx(2 / 3))
    assert found["recall"] == pytest.approx(10 / 12)


def test_trees_are_cleaned_on_the_way(folder, run):
    folder.joinpath("raw.mrg").write_text(
        "((S (NP-SBJ-1 (PRP it)) (VP (VP (VBZ is) (NP (-NONE- *))))))\n((S (-NONE- *)))\n"
    )
    assert run("convert", "raw.mrg", "--to", "brackets", "--clean-trees") == (
        0,
        "((S (NP (PRP it)) (VP (VBZ is))))\n",
        "structlearn: warning: raw.mrg:2: nothing is left of this tree\n",
    )
    status, _, err = run("convert", "train.txt", "--clean-trees")
    assert (status, err) == (1, "structlearn: --clean-trees is for files of trees; columns holds sequences\n")


def test_labels_have_no_drawing(tagger, run):
    status, _, err = run("predict", tagger, "test.txt", "--draw")
    assert (status, err) == (1, "structlearn: --draw is not for Chain, whose outputs have no drawing\n")
