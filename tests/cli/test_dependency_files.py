"""Files of dependency trees on the command line: what is said of them, and what they become."""

import json

import pytest

from structlearn.cli.data import layout
from structlearn.cli.summaries import dependencies, oddities
from structlearn.cli.summaries.dependencies import summarise_dependencies
from structlearn.io import ConllU
from structlearn.io.format import Example

ROWS = """# text = dogs bark
1 dogs dog NOUN NNS _ 2 nsubj _ _
2 bark bark VERB VBP _ 0 root _ _

1-2 don't _ _ _ _ _ _ _ _
1 do do AUX VBP _ 4 aux _ _
2 n't not PART RB _ 1 advmod _ _
3 so so ADV RB _ 1 nsubj _ _
4 bark bark VERB VB _ 0 root _ _
"""
CROSSING = ROWS.replace("RB _ 1 advmod", "RB _ 0 root").replace("VB _ 0 root", "VB _ 2 ccomp")


@pytest.fixture
def file(tmp_path):
    def written(text, name="a.conllu"):
        lines = [line if line.startswith("#") else line.replace(" ", "\t") for line in text.splitlines()]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return tmp_path / name

    return written


def test_check_counts_tokens_labels_and_trees_with_crossing_arcs(file, run):
    status, out, _ = run("check", file(ROWS), "--label", "tree")
    assert status == 1
    sizes = "2 sentences, 6 tokens, 2 to 4 tokens a sentence, 0 trees with arcs that cross"
    assert out.splitlines()[0].endswith(f": conllu, {sizes}")
    assert "a.conllu:6: the label 'aux' occurs only here" in out
    out = run("check", file(CROSSING), "--label", "tree")[1]
    assert "1 tree with arcs that cross" in out.splitlines()[0]
    found = json.loads(run("check", file(CROSSING), "--label", "tree", "--json")[1])
    assert (found["tokens"], found["heads"], found["crossing"]) == (6, 6, 1)
    assert found["labels"]["nsubj"] == 2


def test_check_says_how_much_of_trees_is_known(file, run):
    text = ROWS.replace("2 nsubj", "_ nsubj").replace("4 aux", "4 _").replace("1 advmod", "? ?")
    out = run("check", file(text), "--label", "tree", "--partial")[1]
    assert "of which 4 have a head, 4 a label" in out.splitlines()[0]


def test_a_broken_tree_is_named_by_file_and_line(file, run):
    status, _, err = run("check", file(ROWS.replace("4 aux", "2 aux")), "--label", "tree")
    assert status == 1
    assert "a.conllu:6:19: word 1 is in the cycle 1 → 2 → 1" in err


def test_trees_become_json_lines_and_come_back(file, run, tmp_path):
    given, lines, back = file(ROWS), tmp_path / "a.jsonl", tmp_path / "b.conllu"
    run("convert", given, "--label", "tree", "-o", lines)
    first = json.loads(lines.read_text().splitlines()[0])
    assert first == {
        "tokens": [["dogs", "NOUN"], ["bark", "VERB"]],
        "heads": [2, 0],
        "labels": ["nsubj", "root"],
    }
    assert "2 sentences, 6 tokens" in run("check", lines)[1]
    run("convert", lines, "--to", "conllu", "-o", back)
    again = tmp_path / "b.jsonl"
    run("convert", back, "--label", "tree", "-o", again)
    assert again.read_text() == lines.read_text()


def test_trees_become_nothing_else(file, run):
    status, _, err = run("convert", file(ROWS), "--label", "tree", "--to", "tagged")
    assert status != 0
    assert "conllu holds dependency trees, tagged holds sequences: one cannot become the other" in err


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ((None, None, None, "tree"), ConllU("tree")),
        ((None, "form,xpos", None, "tree"), ConllU("tree", ("form", "xpos"))),
        (("conllu", "form,xpos", None, "tree"), ConllU("tree", ("form", "xpos"))),
        ((None, "form,lemma", None, "upos"), ConllU("upos", ("form", "lemma"))),
    ],
)
def test_the_label_tree_tells_the_format(said, form):
    assert layout(*said) == form


def test_a_column_file_may_have_a_column_of_that_name():
    assert layout(None, "form,tree", None, "tree").name == "columns"
    with pytest.raises(ValueError, match="columns holds 'word', which CoNLL-U does not have"):
        layout(None, "word,pos", None, "tree")


def sentence(line, words, y):
    return Example(words.split(), y, line, tuple(words.split()), file="a.conllu")


def test_the_same_sentence_with_another_tree_and_endless_ones_are_odd(monkeypatch):
    monkeypatch.setattr(dependencies, "LONG", 4)
    words = "a b c d"
    found = summarise_dependencies([sentence(1, words, [0, 1, 1, 1]), sentence(6, words, [0, 1, 2, 1])])
    assert [(odd.line, odd.what) for odd in found.oddities] == [(6, "the same input as at line 1, with other labels")]
    found = summarise_dependencies([sentence(1, f"{words} e", None)])
    assert "a sentence of 5 tokens: are blank lines missing?" in found.oddities[0].what
    monkeypatch.setattr(oddities, "MOST_KEPT", 1)
    monkeypatch.setattr(dependencies, "MOST_REMEMBERED", 1)
    with pytest.raises(ValueError, match=r"^a.conllu:1: more than 1 different labels"):
        summarise_dependencies([sentence(1, "a b", [(0, "x"), (1, "y")])])
