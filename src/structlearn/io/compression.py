"""Unpacking gzip, bzip2 and xz as a stream: recognised by their first bytes, in bounded memory, bombs refused."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Protocol

#: How the names of packed files end.
PACKED = (".gz", ".bz2", ".xz")
#: The most that is unpacked at a time, in bytes.
PIECE = 1 << 16
#: How much an archive may unpack to, in bytes, before its ratio is looked at, and the ratio that is then too much.
HARMLESS_SIZE = 4 << 20
HARMLESS_RATIO = 200
#: The most of an archive that is given to a decompressor at a time, so that the ratio is that of what it took.
SIP = 1 << 12
#: The most that unpacking xz may take; its strongest preset needs 65 MiB.
XZ_MEMORY = 128 << 20
#: As many bytes as tell an archive from a text.
N_MAGIC = 10


class CompressionError(ValueError):
    """An archive that is damaged, cut short or made to fill the memory."""


class Decompressor(Protocol):
    """What bz2 and lzma offer."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class Gzip:
    """zlib's decompressor with the interface that bz2's and lzma's have."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail and not self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(max_length, 0))


KINDS: tuple[tuple[str, re.Pattern[bytes], Callable[[], Decompressor]], ...] = (
    ("gzip", re.compile(rb"\x1f\x8b\x08"), Gzip),
    ("bzip2", re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.BZ2Decompressor),
    ("xz", re.compile(rb"\xfd7zXZ\x00"), lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)),
)


def unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The content of a stream, whether it is packed or not.

    >>> import gzip
    >>> b"".join(unpacked([b"as ", b"it is"])), b"".join(unpacked([gzip.compress(b"packed")]))
    (b'as it is', b'packed')
    """
    source = iter(pieces)
    start = b""
    while len(start) < N_MAGIC and (piece := next(source, b"")):
        start += piece
    whole = chain([start], source) if start else iter(())
    for name, magic, new in KINDS:
        if magic.match(start):
            return _unpack(whole, name, new)
    return whole


def _unpack(pieces: Iterator[bytes], name: str, new: Callable[[], Decompressor]) -> Iterator[bytes]:
    """The content of all members of an archive, one after another."""
    n_in = n_out = 0
    data = next(pieces, b"")
    while data:
        member = new()
        while not member.eof:
            ended = False
            if member.needs_input and not data:
                data = next(pieces, b"")
                ended = not data
            sip, data = (data[:SIP], data[SIP:]) if member.needs_input else (b"", data)
            n_in += len(sip)
            try:
                piece = member.decompress(sip, PIECE)
            except (zlib.error, OSError, lzma.LZMAError) as error:
                raise CompressionError(f"the {name} archive is damaged: {error}") from error
            n_out += len(piece)
            if n_out > HARMLESS_SIZE and n_out > HARMLESS_RATIO * n_in:
                raise CompressionError(
                    f"the {name} archive unpacks to more than {HARMLESS_RATIO} times its size, over "
                    f"{HARMLESS_SIZE >> 20} MiB; if that is right, unpack it first"
                )
            if piece:
                yield piece
            elif ended:
                raise CompressionError(f"the {name} archive is cut short")
        n_in -= len(member.unused_data)
        # Archives on tapes are filled up with zeros.
        data = (member.unused_data + data).lstrip(b"\0")
        while not data and (piece := next(pieces, b"")):
            data = piece.lstrip(b"\0")
