"""Labelled sequences in FASTA."""

import pytest

from structlearn.io import FormatError, LabelledFasta, Lines, recognise


def read(text):
    return list(LabelledFasta().read(Lines([text.encode()], "x.fasta")))


def test_labels_and_weights_are_words_of_the_header():
    one, two, three = read(">a label=+1 and more\nAC\ngt\n>label=no\nA\n>c weight=2e-2\tlabel=01x\nC\n")
    assert [(example.x, example.y, example.weight) for example in (one, two, three)] == [
        ("ACGT", 1, 1.0),
        ("A", "no", 1.0),
        ("C", "01x", 0.02),
    ]
    assert (one.x.header, two.place) == ("a label=+1 and more", "x.fasta:4")


def test_other_words_are_no_labels():
    (example,) = read(">nolabel=1 labels=2 Label=3\nA\n")
    assert example.y is None


def test_predictions_come_after_what_was_read():
    (example,) = read(">a label=+1\nAC\n")
    assert LabelledFasta().annotate(example, -1) == ">a label=+1 predicted=-1\nAC\n"
    assert LabelledFasta().write(example.x, -1) == ">a label=-1\nAC\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (">a label=\nA\n", "x.fasta:1:1: label= has nothing behind it in the header 'a label='"),
        (">a\nA\n>b label=1 label=2\nA\n", "x.fasta:3:1: label= stands there twice in the header"),
        (">a label=1 weight=-1\nA\n", "x.fasta:1:1: the weight is -1.0; it must be at least 0"),
        (">a label=1 weight=x\nA\n", "x.fasta:1:1: expected a finite number, found 'x' as the weight"),
        (">a label=1\nA-\n", "x.fasta:2:2: the character '-' is no letter of a sequence"),
        (">a label=1\nA\n>b\nA\n", "x.fasta:3:1: an example with no labels, where those before have some"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(text, message):
    with pytest.raises(FormatError) as error:
        read(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("y", ["1", "a b", 1.5])
def test_labels_that_would_not_come_back_are_refused(y):
    with pytest.raises(ValueError, match="cannot be written: it would be read as another one"):
        LabelledFasta().write("ACGT", y)


def test_fasta_without_labels_is_taken_for_pairs():
    assert recognise([">a", "ACG"]).name == "pairs"
    assert recognise(["; comment", ">a label=x", "ACG"]).name == "fasta"
