"""What `check` remembers of a file does not grow with it."""

import pytest

from structlearn.cli.summaries import oddities, tokens
from structlearn.cli.summaries.pairs import summarise_pairs
from structlearn.cli.summaries.tokens import summarise
from structlearn.io.format import Example


def sentence(line, words, labels):
    return Example(words.split(), labels.split(), line, tuple(words.split()), file="a.txt")


def test_of_many_odd_places_the_first_are_kept_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(oddities, "MOST_KEPT", 3)
    summary = summarise(sentence(line, "the dogs bark", "O B-NP I-VP") for line in range(1, 11))
    assert summary.odd == 10
    assert [oddity.line for oddity in summary.oddities] == [3, 4, 5]


def test_inputs_are_compared_with_the_first_of_the_file(monkeypatch):
    monkeypatch.setattr(oddities, "MOST_REMEMBERED", 2)
    inputs = ["a a a a", "b b b b", "c c c c", "b b b b", "c c c c"]
    labels = ["X X X X"] * 3 + ["Y Y Y Y"] * 2
    summary = summarise(map(sentence, range(1, 6), inputs, labels))
    assert [(oddity.line, oddity.what) for oddity in summary.oddities] == [
        (4, "the same input as at line 2, with other labels")
    ]


def test_labels_without_end_are_refused(monkeypatch):
    monkeypatch.setattr(tokens, "MOST_REMEMBERED", 3)
    with pytest.raises(ValueError, match=r"^a.txt:4: more than 3 different labels; are these labels at all\?"):
        summarise(sentence(line, "dog", f"L{line}") for line in range(1, 10))


def test_lengths_are_those_of_the_shortest_and_the_longest():
    assert summarise([sentence(1, "a b", "X Y"), sentence(4, "c", "X")]).lengths == (1, 2)
    pairs = [Example(("ACG", "A"), None, 1, ()), Example(("AC", "ACGT"), None, 5, ())]
    assert summarise_pairs(pairs).lengths == (1, 4)
