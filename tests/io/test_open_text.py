import bz2
import gzip
import io
import lzma
import pickle
import sys
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.io import EncodingError, FormatError, Lines, open_text
from structlearn.io import text as text_module

PACK = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


def read(content, encoding="utf-8"):
    with open_text(io.BytesIO(content), encoding) as lines:
        return list(lines)


class Endless(io.RawIOBase):
    """A stream that never ends, and counts what was taken from it."""

    def __init__(self, unit):
        self.unit = unit
        self.taken = 0

    def readable(self):
        return True

    def read(self, size=-1):
        self.taken += size
        return self.unit * (size // len(self.unit))


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"one", ["one"]),
        (b"one\n", ["one"]),
        (b"one\n\ntwo", ["one", "", "two"]),
        (b"one\r\ntwo\r\r\n\r\n", ["one", "two", ""]),
        (b"\xef\xbb\xbfone\n\xef\xbb\xbftwo", ["one", "two"]),
        ("a\u2028b\x0bc\x85d\x1ce\rf\n".encode(), ["a\u2028b\x0bc\x85d\x1ce\rf"]),
    ],
)
def test_lines_end_with_a_newline_and_nothing_else(content, lines):
    assert read(content) == lines


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0\ufeff"))), st.integers(1, 5))
def test_lines_are_the_same_in_pieces_of_any_size(texts, size):
    content = "".join(text + "\n" for text in texts).encode()
    pieces = [content[k : k + size] for k in range(0, len(content), size)]
    lines = Lines(pieces, "pieces", keep=True)
    assert list(lines) == texts
    assert lines.number == len(texts)
    assert "".join(lines.take_originals()).encode() == content


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
def test_packed_files_are_known_by_their_content_whatever_their_name(pack, tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(pack(b"one\ntwo\n" * 100_000))
    with open_text(path) as lines:
        assert sum(line in ("one", "two") for line in lines) == 200_000
        assert lines.name == str(path)


@pytest.mark.parametrize("pack", [pack for name, pack in PACK.items() if name != "plain"])
@pytest.mark.parametrize("padding", [b"", b"\0" * 512, b"\0" * 200_000])
def test_archives_of_several_members_are_one_text(pack, padding):
    assert read(pack(b"on") + padding + pack(b"e\ntwo")) == ["one", "two"]


@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
def test_empty_files_have_no_lines(pack):
    assert read(pack(b"")) == []


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_an_archive_that_is_cut_short_is_named(name):
    packed = PACK[name](bytes(range(1, 128)) * 50)
    for length in range(len(packed) - 1, 12, -7):
        with pytest.raises(FormatError, match=f"the {name} archive is cut short"):
            read(packed[:length])


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_a_damaged_archive_is_named(name):
    packed = bytearray(PACK[name](b"some text\n" * 1000))
    packed[len(packed) // 2 :] = bytes(reversed(packed[len(packed) // 2 :]))
    with pytest.raises(FormatError, match=f"the {name} archive is (damaged|cut short)"):
        read(bytes(packed))
    with pytest.raises(FormatError, match=f"the {name} archive is damaged"):
        read(PACK[name](b"some text") + b"and something else")


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_a_decompression_bomb_is_refused_soon(name):
    bomb = PACK[name](b"a b\n" * (3 << 19))
    with (
        open_text(io.BytesIO(bomb)) as lines,
        pytest.raises(FormatError, match=f"the {name} archive unpacks to more than 200 times its size, over 4 MiB"),
    ):
        deque(lines, maxlen=0)
    assert lines.number < 1.3 * (1 << 20)


def test_well_packed_text_below_the_limit_is_no_bomb():
    assert len(read(gzip.compress(b"a b\n" * 1_000_000))) == 1_000_000


def test_an_xz_archive_that_needs_much_memory_is_refused():
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 256 << 20, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3}]
    small = lzma.compress(b"text", filters=filters)
    with pytest.raises(FormatError, match="the xz archive is damaged: Memory usage limit exceeded"):
        read(small)


@pytest.mark.parametrize("unit", [b"a", b"\t1:1 "])
def test_a_line_without_end_is_refused_before_it_fills_the_memory(unit):
    stream = Endless(unit)
    with (
        open_text(stream) as lines,
        pytest.raises(FormatError, match=r"stream:1:1: a line of more than 16,777,216 char"),
    ):
        next(lines)
    assert stream.taken < 20 << 20


@pytest.mark.parametrize("unit", [b"\n", b" \r\n\t\r\n"])
def test_blank_lines_without_end_are_refused_before_they_fill_the_memory(unit, monkeypatch):
    monkeypatch.setattr(text_module, "MOST_BLANK", 100_000)
    for take in (Lines.head, list):
        stream = Endless(unit)
        with open_text(stream) as lines, pytest.raises(FormatError, match="more than 100,000 blank lines one after"):
            take(lines)
        assert stream.taken < 1 << 20


def test_blank_lines_before_the_first_token_do_not_hide_it():
    lines = Lines([b"\n" * 100_000 + b"one\n\ntwo"], "late")
    assert lines.head() == ["one", "", "two"]
    assert next(lines) == ""
    assert list(lines)[-3:] == ["one", "", "two"]


def test_of_blank_lines_the_head_has_no_more_than_of_others():
    stream = Endless(b"a" + b"\n" * 255)
    with open_text(stream) as lines:
        assert len(lines.head()) == 65280
    assert stream.taken <= 1 << 17


def test_an_endless_file_is_read_as_far_as_it_is_asked_for():
    stream = Endless(b"a b\n")
    with open_text(stream) as lines:
        assert [next(lines) for _ in range(3)] == ["a b"] * 3
    assert stream.taken <= 1 << 17


@pytest.mark.parametrize(
    ("content", "line", "column", "byte"),
    [
        (b"\xff", 1, 1, "0xff"),
        (b"caf\xe9\n", 1, 4, "0xe9"),
        ("schön\nok\nna".encode() + b"\xefve", 3, 3, "0xef"),
        (b"n\xc3", 1, 2, "0xc3"),
    ],
)
def test_bytes_that_are_no_text_are_named_with_their_place_and_a_way_out(content, line, column, byte):
    with pytest.raises(EncodingError, match=f"the byte {byte} is no text in utf-8; .* --encoding latin-1") as caught:
        read(content)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_file_that_says_its_encoding_is_told_to_be_read_in_it(encoding):
    with pytest.raises(
        EncodingError, match=f"^stream:1:1: .* it begins as files in {encoding} .* --encoding {encoding}$"
    ):
        read("the D\n".encode(encoding))


def test_the_place_counts_pieces_that_came_before():
    content = b"a" * 200_000 + b"\n" + b"b" * 100_000 + b"\xff"
    with pytest.raises(EncodingError, match=r"^stream:2:100001: "):
        read(content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_encodings_of_all_kinds_are_read(encoding):
    assert read("Ärger\nnaïve\n".encode(encoding), encoding) == ["Ärger", "naïve"]


@pytest.mark.parametrize("encoding", ["", "no-such", "zlib", "rot13", "hex", "a\0b", "undefined"])
def test_what_is_no_encoding_is_refused_by_name(encoding):
    with pytest.raises(ValueError, match="there is no encoding"):
        read(b"text", encoding)


def test_a_nul_character_is_refused_with_its_place():
    with pytest.raises(FormatError, match=r"^stream:2:4: a NUL character; is this a text file"):
        read(b"fine\nnot\0fine\n")
    with pytest.raises(FormatError, match="NUL"):
        read("UTF-16".encode("utf-16-le"))


def test_lone_surrogates_are_refused_in_encodings_that_let_them_through():
    with pytest.raises(EncodingError):
        read(b"\xed\xa0\x80")
    with pytest.raises(EncodingError, match="this is no text in utf-7"):
        read(b"+2AA-", "utf-7")


def test_standard_input_is_a_minus_sign(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"one\n"))))
    with open_text("-") as lines:
        assert list(lines) == ["one"]


def test_a_stream_of_text_is_refused():
    text = io.StringIO("a")
    with pytest.raises(ValueError, match="a file opened for reading bytes is needed, not StringIO"), open_text(text):
        pass


def test_files_are_closed_and_given_streams_are_not(tmp_path):
    stream = io.BytesIO(b"one")
    with open_text(stream) as lines:
        next(lines)
    assert not stream.closed
    with pytest.raises(FileNotFoundError), open_text(tmp_path / "nothing"):
        pass


def test_the_head_can_be_looked_at_without_taking_it():
    content = [f"{k} {'x' * 100}" for k in range(2000)]
    lines = Lines(["\n".join(content).encode()], "long")
    head = lines.head()
    assert head == content[: len(head)]
    assert 60_000 < sum(map(len, head)) <= text_module.HEAD
    assert lines.head() == head
    assert list(lines) == content


def test_the_head_has_at_least_one_line():
    assert Lines([b"a" * 100_000 + b"\nb"], "long").head() == ["a" * 100_000]


def test_errors_know_their_place_and_survive_pickling():
    error = Lines([b""], "train.txt").error("expected 3 columns", 5, 17)
    assert str(error) == "train.txt:17:5: expected 3 columns"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path, again.line, again.column, again.message) == (
        str(error),
        "train.txt",
        17,
        5,
        "expected 3 columns",
    )
