"""Pairs of sequences from FASTA, A3M and Stockholm, aligned or not."""

import io
import os
import pickle

import pytest

from structlearn.datasets import fetch_homstrad
from structlearn.io import FormatError, Lines, NamedSequence, Pairs, read_examples, recognise


def read(text, name="x.fasta"):
    return list(Pairs().read(Lines([text.encode()], name)))


def test_successive_sequences_are_a_pair():
    one, two = read(">a first\nAC-\nG\n>b\nA-TG\n\n>c\nGG\n>d\ng.\n")
    assert (one.x, one.y, one.place) == (("ACG", "ATG"), ((0, 0), (2, 2)), "x.fasta:1")
    assert (two.x, two.y, two.place) == (("GG", "G"), ((0, 0),), "x.fasta:7")


def test_sequences_keep_their_headers():
    (example,) = read(">a first of all\nAC\n>b|2\nA-\n")
    assert [sequence.header for sequence in example.x] == ["a first of all", "b|2"]
    assert Pairs().annotate(example, ((1, 0),)) == ">a first of all\nAC\n>b|2\n-A\n"
    assert [sequence.header for sequence in pickle.loads(pickle.dumps(example.x))] == ["a first of all", "b|2"]
    assert Pairs().write(("AC", "A"), None) == ">first\nAC\n>second\nA\n"


def test_what_has_no_gap_is_aligned_if_it_may_be():
    same, different = read(">a\nAC\n>b\nGT\n>c\nACG\n>d\nAC\n")
    assert same.y == ((0, 0), (1, 1))
    assert different.y is None


def test_the_first_of_a_family_is_paired_with_the_others():
    a3m = read(">q\nACG\n>r\nAttC-\n>s\ngA-G\n", "family.a3m")
    assert [(example.x, example.y, example.line) for example in a3m] == [
        (("ACG", "ATTC"), ((0, 0), (1, 3)), 3),
        (("ACG", "GAG"), ((0, 1), (2, 2)), 5),
    ]
    stockholm = read("# STOCKHOLM 1.0\nq A-CG\nr ATC-\ns A--G\n//\n", "family.sto")
    assert [(example.x[1], example.y) for example in stockholm] == [
        ("ATC", ((0, 0), (1, 2))),
        ("AG", ((0, 0), (2, 1))),
    ]
    assert stockholm[0].x[1].header == "r"


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (">a\nAC\n>b\nA?\n", "x.fa", "x.fa:4:2: the character '?' is no letter of a sequence"),
        (">a\nACG-\n>b\nACG\n", "x.fa", "x.fa:3:1: 'b' has 3 columns, but 'a' has 4"),
        (">a\nA-C\n>b\nA-G\n", "x.fa", "x.fa:3:1: column 2 is a gap in both 'a' and 'b'; sequences are aligned"),
        (">a\nAC\n>b\n--\n", "x.fa", "x.fa:3:1: 'b' is an empty sequence"),
        (">a\n>b\nAC\n", "x.fa", "x.fa:1:1: 'a' is an empty sequence"),
        (">a\nAC\n>b\nAC\n>c\nAC\n", "x.fa", "x.fa:5:1: 'c' is the last of an odd number of sequences"),
        (">a\nAC\n", "x.a3m", "x.a3m:2:1: the file holds one sequence only; a pair is needed"),
        (">a\nAC\n>b\nACG\n", "x.a3m", "x.a3m:3:1: 'b' has 3 capital letters and gaps, but 'a' has 2"),
        ("# STOCKHOLM 1.0\na AC\nb A\n//\n", "x.sto", "x.sto:3:1: 'b' has 1 columns, but 'a' has 2"),
        ("", "x.fa", "x.fa:1:1: the file holds no sequence"),
    ],
)
def test_what_is_no_pair_is_refused_with_its_place(text, name, message):
    with pytest.raises(FormatError) as error:
        read(text, name)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ([">a", "ACGT"], "pairs"),
        (["; a comment", ">a some words", "AC-GT"], "pairs"),
        ([">a", ">b two"], "pairs"),
        (["# STOCKHOLM 1.0", "a ACGT"], "pairs"),
        (["> SYM", "said VBD"], "columns"),
        (["> SYM", "> SYM"], "columns"),
        ([">", "said"], "columns"),
    ],
)
def test_fasta_is_told_from_columns_of_words(lines, name):
    assert recognise(lines).name == name


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (("ac", "A"), None, "cannot be written: it is no text of capitals"),
        ((["A", "C"], "A"), None, "cannot be written: it is no text of capitals"),
        (("AC", "AG"), None, "two sequences of one length cannot be written without an alignment"),
        (("AC", "A"), ((0, 1),), r"matches\[0\] is \(0, 1\), but the pair has sequences of 2 and 1 letters"),
        ((NamedSequence("AC", "a\nb"), "A"), (), "cannot be written in this format: it holds '\\\\n'"),
    ],
)
def test_what_cannot_be_read_again_is_not_written(x, y, message):
    with pytest.raises(ValueError, match=message):
        Pairs().write(x, y)


def test_files_of_pairs_are_recognised():
    form, examples = read_examples(io.BytesIO(b">a\nACGT\n>b\nAG\n"))
    assert (form, next(examples).x) == (Pairs(), ("ACGT", "AG"))


@pytest.mark.skipif(not os.environ.get("STRUCTLEARN_DATA"), reason="STRUCTLEARN_DATA names no folder of data sets")
@pytest.mark.slow
def test_proteins_that_were_written_to_one_file_are_read_again():
    families = [rows.pair() for rows in fetch_homstrad().values()]
    text = "".join(Pairs().write(x, y) for x, y in families)
    assert [(example.x, example.y) for example in read(text)] == families
    unaligned = "".join(Pairs().write(x, None) for x, _ in families if len(x[0]) != len(x[1]))
    assert {example.y for example in read(unaligned)} == {None}
