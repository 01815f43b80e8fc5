"""Files of sequences and alignments: what is read, and what is refused with its place."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.io import FormatError, read_aligned_pairs, read_alignment, write_aligned_pair
from structlearn.io.fasta import read_fasta, write_fasta
from structlearn.io.text import Lines


def named(text, name):
    stream = io.BytesIO(text.encode() if isinstance(text, str) else text)
    stream.name = name
    return stream


def test_aligned_fasta_gives_matches():
    found = read_alignment(named(">one some words\r\nac-\r\nGT\r\n\n>two\nA-CGT\n", "pair.fasta"))
    assert found.names == ("one", "two")
    assert found.rows == ("AC-GT", "A-CGT")
    assert found.pair() == (("ACGT", "ACGT"), ((0, 0), (2, 2), (3, 3)))


def test_a3m_gets_columns_for_what_is_inserted():
    found = read_alignment(named(">q\nACG\n>r\nAttC-\n>s\ngA-G.\n", "family.a3m"))
    assert found.rows == ("-A--CG", "-ATTC-", "GA---G")


def test_stockholm_has_blocks_and_structures():
    text = "# STOCKHOLM 1.0\n#=GF ID x\n\na AC.\n#=GR a SS HH.\nb A~G\n\na t\n#=GR a SS C\nb T\n//\nrubbish"
    found = read_alignment(named(gzip.compress(text.encode()), "x.sto.gz"))
    assert (found.names, found.rows) == (("a", "b"), ("AC-T", "A-GT"))
    assert found.structures == {"a": "HH.C"}


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (">a\nAC1T\n>b\nACGT\n", "x.fa", r"x.fa:2:3: the character '1' is no letter of a sequence"),
        ("ACGT\n", "x.fa", r"x.fa:1:1: expected a line with '>' and a name, found 'ACGT'"),
        (">a\n>b\nA\n", "x.fa", r"x.fa:1:1: 'a' is an empty sequence"),
        (">a\nACG\n>b\nAC\n", "x.fa", r"x.fa:3:1: 'b' has 2 columns, but 'a' has 3"),
        (">a\nACG\n>b\n---\n", "x.fa", r"x.fa:3:1: 'b' is an empty sequence"),
        ("", "x.fa", r"x.fa:1:1: the file holds no sequence"),
        (">a\nACG\n>b\nACgG-\n", "x.a3m", r"x.a3m:3:1: 'b' has 4 capital letters and gaps, but 'a' has 3"),
        ("# STOCKHOLM 1.0\na AC\n", "x.sto", r"x.sto:2:1: the file ends without '//'"),
        ("# STOCKHOLM 1.0\na A?\n//", "x.sto", r"x.sto:2:4: the character '\?' is no letter of a sequence"),
        ("# STOCKHOLM 1.0\na A C\n//", "x.sto", r"x.sto:2:1: expected a name and a row of letters, found 'a A C'"),
        ("# STOCKHOLM 1.0\n//", "x.sto", r"x.sto:2:1: the file holds no sequence"),
    ],
)
def test_what_is_no_alignment_is_refused_with_its_place(text, name, message):
    with pytest.raises(FormatError, match=message):
        read_alignment(named(text, name))


LONG = "n" * 5000


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f">{LONG}\n", "x.fa"),
        (f">{LONG}\nA\n>b\nAC\n", "x.fa"),
        (f">b\nA\n>{LONG}\n-\n", "x.fa"),
        (f">{LONG}\nA\n>b\nAC\n", "x.a3m"),
    ],
)
def test_a_message_does_not_repeat_a_name_without_end(text, name):
    with pytest.raises(FormatError) as refused:
        read_alignment(named(text, name))
    assert len(str(refused.value)) < 300


def test_insertions_that_would_fill_the_memory_are_refused():
    rows = (f">s{k}\n{'A' * k}{'c' * 2000}{'A' * (800 - k)}\n" for k in range(800))
    with pytest.raises(FormatError, match=r"with a column for every insertion these are 1,\d{3},\d{3},\d{3} letters"):
        read_alignment(named("".join(rows), "stairs.a3m"))


def test_stockholm_is_read_in_time_that_grows_as_its_length():
    block = "a " + "A" * 10 + "\n#=GR a SS " + "H" * 10 + "\n"
    found = read_alignment(named("# STOCKHOLM 1.0\n" + block * 50_000 + "//\n", "x.sto"))
    assert found.structures == {"a": "H" * 500_000}
    assert found.rows == ("A" * 500_000,)


@given(st.lists(st.tuples(st.text("abcXYZ0_", min_size=1), st.text("ACGT", min_size=1, max_size=200)), min_size=1))
def test_fasta_that_was_written_is_read_again(rows):
    lines = Lines([write_fasta(rows).encode()], "x.fasta")
    assert [(row.name, row.sequence) for row in read_fasta(lines)] == rows


def test_a_folder_of_pairs_is_read_in_order(tmp_path):
    (tmp_path / "b.fasta").write_text(write_aligned_pair(["s", "t"], "ACG", "AG", ((0, 0), (2, 1))))
    (tmp_path / "a.fasta").write_text(">s\nAC\n>t\nAC\n>u\nA-\n")
    assert list(read_aligned_pairs(tmp_path)) == [(("AC", "AC"), ((0, 0), (1, 1))), (("ACG", "AG"), ((0, 0), (2, 1)))]
    (tmp_path / "c.fasta").write_text(">s\nAC\n")
    with pytest.raises(ValueError, match=r"c.fasta holds one sequence only"):
        list(read_aligned_pairs(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="empty holds no file"):
        list(read_aligned_pairs(tmp_path / "empty"))
