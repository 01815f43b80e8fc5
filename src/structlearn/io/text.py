"""Text files line by line: packed or not, from a path, a pipe or a stream, with errors that name the place."""

from __future__ import annotations

import codecs
import io
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from structlearn.io.compression import PIECE, CompressionError, unpacked

#: The longest line that is read, in characters.
LONGEST_LINE = 16 << 20
#: The most blank lines one after another, give or take those of a piece of the file, which are counted together.
MOST_BLANK = 1_000_000
#: How much of a file is looked at to recognise its format, in characters.
HEAD = 64 << 10
#: The byte order mark, which stands at the beginning of files, and within them where some were joined.
MARK = "\ufeff"
#: What files in other encodings begin with.
MARKED = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
#: The longest text that an error message quotes.
QUOTED = 60

Source = str | PathLike[str] | BinaryIO


class FormatError(ValueError):
    """A file that is not what it should be, and where: ``train.txt:17:5: expected 3 columns, found 2``.

    Attributes
    ----------
    message : str
    path : str
        The name of the file.
    line, column : int
        Counted from 1.
    """

    def __init__(self, message: str, path: str, line: int, column: int = 1):
        super().__init__(message, path, line, column)
        self.message = message
        self.path = path
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


class EncodingError(FormatError):
    """Bytes that are no text in the encoding."""


class Lines(Iterator[str]):
    """The lines of a text, without what ends them: ``\\n``, with any number of ``\\r`` before it, and nothing else.

    A text is refused that holds a NUL character, a lone surrogate, a line longer than 16 Mi characters, or bytes that
    are no text in the encoding. A byte order mark at the beginning of a line is dropped.

    Parameters
    ----------
    pieces : iterable of bytes
        The content, which may be packed.
    name : str
        What errors call it.
    encoding : str
    keep : bool
        Whether lines are also kept as they were, for `take_originals`.

    Attributes
    ----------
    number : int
        Of the last line given, from 1.

    Examples
    --------
    >>> lines = Lines([b"one\\r\\ntwo\\n", b"three"], "small.txt")
    >>> next(lines), list(lines), lines.number
    ('one', ['two', 'three'], 3)
    >>> str(lines.error("too short", column=2))
    'small.txt:3:2: too short'
    """

    def __init__(self, pieces: Iterable[bytes], name: str, encoding: str = "utf-8", *, keep: bool = False):
        self.name = name
        self.number = 0
        self._encoding = text_encoding(encoding)
        self._n_complete = 0
        self._originals: deque[str] | None = deque() if keep else None
        self._n_taken = 0
        self._blocks = self._split(unpacked(pieces))
        self._ahead: deque[list[str]] = deque()
        self._given = self._give()

    def __iter__(self) -> Iterator[str]:
        return self._given

    def __next__(self) -> str:
        return next(self._given)

    def error(self, message: str, column: int = 1, line: int | None = None) -> FormatError:
        """An error at a column of a line, by default of the last line given."""
        return FormatError(message, self.name, max(self.number, 1) if line is None else line, column)

    def head(self) -> list[str]:
        """The first lines to come from one on that is not blank, without taking them: 64 Ki characters, or one line."""
        head: list[str] = []
        size = 0
        for line in (line for block in self._coming() for line in block):
            if head or line.strip():
                size += len(line) + 1
                if size > HEAD and head:
                    break
                head.append(line)
        return head

    def take_originals(self, end: int | None = None) -> list[str]:
        """The lines before the one of number `end` that were not taken yet, as they were and with what ended them.

        >>> lines = Lines([b"one\\r\\n\\ntwo"], "small.txt", keep=True)
        >>> list(lines), lines.take_originals(2), lines.take_originals()
        (['one', '', 'two'], ['one\\r\\n'], ['\\n', 'two'])
        """
        if self._originals is None:
            raise ValueError(f"the lines of {self.name} were not kept")
        n = len(self._originals) if end is None else min(max(0, end - 1 - self._n_taken), len(self._originals))
        self._n_taken += n
        return [self._originals.popleft() for _ in range(n)]

    def _coming(self) -> Iterator[list[str]]:
        yield from tuple(self._ahead)
        while (block := next(self._blocks, None)) is not None:
            self._ahead.append(block)
            yield block

    def _give(self) -> Iterator[str]:
        while block := self._ahead.popleft() if self._ahead else next(self._blocks, None):
            for line in block:
                self.number += 1
                yield line

    def _split(self, pieces: Iterator[bytes]) -> Iterator[list[str]]:
        """Lists of complete lines."""
        begun: list[str] = []  # of the line whose end has not come yet
        size = n_blank = 0
        for text in self._decode(pieces, begun):
            lines = text.split("\n")
            begun.append(lines[0])
            size += len(lines[0])
            if size > LONGEST_LINE:
                raise self._here(f"a line of more than {LONGEST_LINE:,} characters; is this a text with lines?")
            if len(lines) == 1:
                continue
            lines[0] = "".join(begun)
            begun[:] = [lines.pop()]
            size = len(begun[0])
            n_blank = 0 if any(map(str.strip, lines)) else n_blank + len(lines)
            if n_blank > MOST_BLANK:
                raise self._here(f"more than {MOST_BLANK:,} blank lines one after another; is this a text?")
            self._n_complete += len(lines)
            if self._originals is not None:
                self._originals.extend(f"{line}\n" for line in lines)
            yield [line.rstrip("\r").lstrip(MARK) for line in lines]
        if last := "".join(begun):
            self._n_complete += 1
            if self._originals is not None:
                self._originals.append(last)
            yield [last.rstrip("\r").lstrip(MARK)]

    def _decode(self, pieces: Iterator[bytes], begun: list[str]) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder(self._encoding)("strict")
        ended = False
        while not ended:
            try:
                piece = next(pieces, b"")
                ended = not piece
                text = decoder.decode(piece, ended)
                if self._encoding != "utf-8":
                    text.encode("utf-8")
            except CompressionError as error:
                raise self._here(str(error)) from error
            except UnicodeDecodeError as error:
                before = "".join(begun) + error.object[: error.start].decode(self._encoding, "replace")
                place = self._place_after(before)
                marked = next((name for mark, name in MARKED.items() if error.object.startswith(mark)), None)
                if marked is not None and place == (self.name, 1, 1):
                    advice = f"it begins as files in {marked} do: say --encoding {marked}"
                else:
                    advice = "if the file is in another encoding, name it, as in --encoding latin-1"
                raise EncodingError(
                    f"the byte 0x{error.object[error.start]:02x} is no text in {self._encoding}; {advice}", *place
                ) from error
            except UnicodeError as error:
                raise EncodingError(f"this is no text in {self._encoding}: {error}", *self._place_after("")) from error
            if "\0" in text:
                before = "".join(begun) + text[: text.index("\0")]
                raise FormatError(
                    "a NUL character; is this a text file, and in the encoding that was said?",
                    *self._place_after(before),
                )
            yield text

    def _place_after(self, text: str) -> tuple[str, int, int]:
        """Name, line and column of what comes after a text that begins with the first line not complete."""
        return self.name, self._n_complete + 1 + text.count("\n"), len(text) - text.rfind("\n")

    def _here(self, message: str) -> FormatError:
        return FormatError(message, self.name, self._n_complete + 1)


@contextmanager
def open_text(source: Source, encoding: str = "utf-8", *, keep: bool = False) -> Iterator[Lines]:
    """The lines of a text file, for a ``with`` statement.

    Parameters
    ----------
    source : path, "-" or binary stream
        "-" is standard input. What is packed with gzip, bzip2 or xz is unpacked, whatever its name. A stream that was
        given is not closed.
    encoding : str
    keep : bool
        See `Lines`.

    Examples
    --------
    >>> import bz2, io
    >>> with open_text(io.BytesIO(bz2.compress("Ärger NOUN".encode()))) as lines:
    ...     print(*lines)
    Ärger NOUN
    """
    if isinstance(source, (str, PathLike)) and source != "-":
        with Path(source).open("rb") as file:
            yield Lines(_pieces(file), str(source), encoding, keep=keep)
        return
    stream: BinaryIO = sys.stdin.buffer if isinstance(source, (str, PathLike)) else source
    if isinstance(stream, io.TextIOBase) or not hasattr(stream, "read"):
        raise ValueError(f"a path, '-' or a file opened for reading bytes is needed, not {type(source).__name__}")
    name = getattr(stream, "name", None)
    yield Lines(_pieces(stream), name if isinstance(name, str) else "stream", encoding, keep=keep)


def text_writer(file: BinaryIO, encoding: str) -> Callable[[str], None]:
    """A function that writes text to a file in an encoding."""
    encoder = codecs.getincrementalencoder(text_encoding(encoding))("surrogateescape")

    def write(text: str) -> None:
        try:
            file.write(encoder.encode(text))
        except UnicodeEncodeError as error:
            line = text[: error.start].count("\n")
            raise ValueError(f"this cannot be written in {encoding}: {text.splitlines()[line]!r}") from error

    return write


def quoted(text: str) -> str:
    """A text as messages show it: on one line, and not too long of it.

    >>> quoted("tab\\tand\\u2028line"), quoted("9" * 1000)
    ("'tab\\\\tand\\\\u2028line'", "'99999999999999999999999999999999999999999999999999999999999…'")
    """
    return repr(text if len(text) <= QUOTED else text[: QUOTED - 1] + "…")


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    # read1 gives what a pipe holds already, without waiting for more.
    read = getattr(stream, "read1", stream.read)
    while piece := read(PIECE):
        yield piece


def text_encoding(encoding: str) -> str:
    """The encoding's own name."""
    try:
        "a".encode(encoding)  # refuses codecs that do not make text of bytes, such as zlib
        codecs.getincrementaldecoder(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise ValueError(f"there is no encoding {quoted(encoding)}, as utf-8 and latin-1 are") from error
