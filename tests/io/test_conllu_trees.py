import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.data.dependency_trees import tree_fault
from structlearn.io import ConllU, FormatError, JsonLines, Lines, beside, open_text
from tests.io.test_conllu import SENTENCE, complaint, conllu, read

TREES = ConllU("tree")
REAL = Path(os.environ.get("STRUCTLEARN_DATA", "/nowhere")) / "ud_english_ewt"


def words(*heads_and_labels):
    """A sentence with these heads and labels."""
    return [f"{t} w{t} _ X _ _ {entry} _ _" for t, entry in enumerate(heads_and_labels, 1)]


def test_a_tree_has_a_head_and_a_label_for_every_word_that_is_there():
    (example,) = read(conllu(*SENTENCE), TREES)
    assert example.x == [("do", "AUX"), ("n't", "PART"), ("go", "VERB")]
    assert example.y == [(3, "aux"), (3, "advmod"), (0, "root")]
    assert (TREES.structure, TREES.inputs) == ("dependencies", ("form", "upos"))


def test_predictions_replace_heads_and_labels_and_nothing_else():
    (example,) = read(conllu(*SENTENCE), TREES)
    expected = conllu(*SENTENCE).replace("3\taux", "0\tx").replace("3\tadvmod", "1\ty").replace("0\troot", "2\tz")
    assert TREES.annotate(example, [(0, "x"), (1, "y"), (2, "z")]) == expected


@pytest.mark.parametrize(
    ("form", "entries", "y"),
    [
        (TREES, ["0 root"], [(0, "root")]),
        (TREES, ["_ _", "_ _"], None),
        (TREES, ["_ det", "_ root"], None),
        (TREES, ["2 _", "0 _"], [2, 0]),
        (TREES, ["2 nsubj:pass", "0 root"], [(2, "nsubj:pass"), (0, "root")]),
        (ConllU("tree", subtypes=False), ["2 nsubj:pass", "0 :x"], [(2, "nsubj"), (0, ":x")]),
        (ConllU("tree", single_root=False), ["0 root", "0 root"], [(0, "root"), (0, "root")]),
        (ConllU("tree", partial=True), ["_ _", "0 _", "? det", "2 obj"], [None, (0, None), (None, "det"), (2, "obj")]),
        (ConllU("tree", partial=True), ["_ _"], [None]),
        (ConllU("deprel", subtypes=False), ["2 nsubj:pass", "0 root"], ["nsubj", "root"]),
    ],
)
def test_what_columns_say_is_read_and_written(form, entries, y):
    (example,) = read(conllu(*words(*entries)), form)
    assert example.y == y
    (again,) = read(form.write(example.x, y), form)
    assert (again.x, again.y) == (example.x, y)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["2 a", "3 b", "1 c", "0 d"], "en.conllu:1:14: word 1 is in the cycle 1 → 2 → 3 → 1"),
        (["0 a", "4 b", "2 c"], "en.conllu:2:14: word 2 has the head 4, but heads are 0 to 3"),
        (["0 a", "0 b"], "en.conllu:2:14: word 2 has the head 0, as word 1 has, but there may be one root only"),
        (["2 a", "1 b"], "en.conllu:1:14: no word has the head 0, which is the root"),
        (["0 a", "2 b"], "en.conllu:2:14: word 2 is its own head"),
        (["x a"], "en.conllu:1:14: expected the number of the head of word 1, 0 to 1, found 'x'"),
        (["0 a", "01 a"], "en.conllu:2:14: expected the number of the head of word 2, 0 to 2, found '01'"),
        (["0 a", "-1 a"], "en.conllu:2:14: expected the number"),
        (["0 a", "1.1 a"], "en.conllu:2:14: expected the number"),
        (["0 a", "² a"], "en.conllu:2:14: expected the number"),
        (["0 a", f"{10**40} a"], "en.conllu:2:14: expected the number"),
        (["0 a", "? a"], "en.conllu:2:14: expected the number"),
        (["0 a", "_ a"], "en.conllu:2:14: this word has no head, but others of the sentence do"),
        (["0 a", "1 _"], "en.conllu:2:16: this word has no deprel, but others of the sentence do"),
    ],
)
def test_a_broken_tree_is_named_with_file_line_and_word(entries, message):
    assert complaint(*words(*entries), form=TREES).startswith(message)


def test_the_line_of_a_broken_tree_counts_all_lines_of_the_file():
    with pytest.raises(FormatError, match=r"^en.conllu:13:30: word 3 is its own head"):
        read(conllu(*SENTENCE) + "\n" + conllu(*SENTENCE).replace("0\troot", "3\troot"), TREES)


def test_a_tree_known_in_part_may_not_have_a_cycle():
    assert complaint(*words("2 a", "1 b", "_ _"), form=ConllU("tree", partial=True)).startswith(
        "en.conllu:1:14: word 1 is in the cycle 1 → 2 → 1"
    )


def test_trees_and_sentences_without_are_not_mixed():
    with pytest.raises(FormatError, match=r"en.conllu:3:1: an example with no labels, where those before have some"):
        read(conllu(*words("0 a")) + "\n" + conllu(*words("_ _")), TREES)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([(0, "a")], "there are 1 heads for 2 tokens"),
        ([(0, "a"), (2, "b")], "y is no tree: token 2 is its own head"),
        ([(0, "a"), (0, "b")], "y is no tree: token 2 has the head 0, as token 1 has"),
        ([(0, "a"), (1, "_")], "the label '_' cannot be written"),
        ([(0, "a"), (1, "b\tc")], "cannot be written in this format: it holds"),
        ([(0, "a"), (1, "")], "it is empty"),
        ([(0, "a"), (1, 7)], "only a string can be written"),
        ([(0, "a"), None], "a head is a whole number"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(y, message):
    with pytest.raises(ValueError, match=message):
        TREES.write([("a", "X"), ("b", "X")], y)


def test_several_roots_may_be_predicted():
    (example,) = read(conllu(*words("0 a", "1 b")), TREES)
    assert TREES.annotate(example, [0, 0]) == conllu(*words("0 _", "0 _"))


@pytest.mark.parametrize("columns", [("head",), ("form", "deprel"), ("deps",)])
def test_what_tells_the_tree_is_no_input(columns):
    with pytest.raises(ValueError, match="beside the label there are form, lemma, upos, xpos, feats, misc"):
        ConllU("tree", columns)


TEXT = st.text("aé:|_?犬", min_size=1, max_size=3)
LABELS = TEXT.filter(lambda text: text not in ("_", "?"))


@st.composite
def sentences(draw):
    """The rows of a sentence, and its tree."""
    n = draw(st.integers(1, 6))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for before, token in pairwise([0, *order]):
        heads[token - 1] = draw(st.sampled_from([before, *order[: order.index(token)]])) if before else 0
    labels = draw(st.lists(LABELS, min_size=n, max_size=n))
    rows = draw(st.lists(st.sampled_from(["# text", "# newdoc"]), max_size=2))
    for t in range(1, n + 1):
        if t < n and draw(st.booleans()):
            rows.append(f"{t}-{t + 1} ab _ _ _ _ _ _ _ SpaceAfter=No")
        rows.append(f"{t} {draw(TEXT)} _ {draw(TEXT)} _ _ {heads[t - 1]} {labels[t - 1]} _ x=y")
        if draw(st.booleans()):
            rows.append(f"{t}.1 e _ X _ _ _ _ {t}:conj _")
    return rows, list(zip(heads, labels, strict=True))


@given(st.lists(sentences(), min_size=1, max_size=3))
def test_files_are_the_same_after_a_round_trip(made):
    text = "\n".join(conllu(*rows) for rows, _ in made)
    examples = read(text, TREES)
    assert [example.y for example in examples] == [y for _, y in made]
    lines = Lines([text.encode()], "en.conllu", keep=True)
    given_back = ((example, example.y) for example in TREES.read(lines))
    assert "".join(beside(lines, TREES, given_back)) == text
    for example in examples:
        (again,) = read(TREES.write(example.x, example.y), TREES)
        assert (again.x, again.y) == (example.x, example.y)
        form = JsonLines("dependencies", ("form", "upos"))
        (again,) = form.read(Lines([form.write(example.x, example.y).encode()], "x.jsonl"))
        assert (again.x, again.y) == (example.x, example.y)


@pytest.mark.skipif(not REAL.exists(), reason="needs $STRUCTLEARN_DATA")
@pytest.mark.parametrize(
    ("subset", "n"), [pytest.param("train", 12_544, marks=pytest.mark.slow), ("dev", 2001), ("test", 2077)]
)
def test_published_files_are_the_same_after_a_round_trip(subset, n):
    with open_text(REAL / f"en_ewt-ud-{subset}.conllu.gz", keep=True) as lines:
        trees = []

        def predicted():
            for example in TREES.read(lines):
                trees.append(example.y)
                yield example, example.y

        written = "".join(beside(lines, TREES, predicted()))
    with open_text(REAL / f"en_ewt-ud-{subset}.conllu.gz") as lines:
        assert written == "".join(f"{line}\n" for line in lines)
    assert len(trees) == n
    assert all(tree_fault([head for head, _ in tree], single_root=True) is None for tree in trees)
