"""All formats by name, and which one a file has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from os import PathLike
from pathlib import Path
from typing import Any

from structlearn.io.arff_sets import ArffSets
from structlearn.io.brackets import Brackets
from structlearn.io.columns import Columns
from structlearn.io.conll2012 import Conll2012
from structlearn.io.conllu import ConllU
from structlearn.io.crfsuite import CrfSuite
from structlearn.io.format import Example, Format, Reader
from structlearn.io.image_arrays import ImageArrays
from structlearn.io.image_files import ImageFiles, is_label_image
from structlearn.io.images import ImageReader
from structlearn.io.jsonl import JsonLines
from structlearn.io.labelled_fasta import LabelledFasta
from structlearn.io.letor import Letor
from structlearn.io.multilabel import MultiLabelRows
from structlearn.io.node_link import NodeLink
from structlearn.io.pairs import Pairs
from structlearn.io.svmhmm import SvmHmm
from structlearn.io.svmlight import SvmLight
from structlearn.io.tagged import Tagged
from structlearn.io.text import Lines, Source, open_text
from structlearn.io.word_alignments import WordAlignments

#: In the order in which they are tried: from those that are hard to mistake to columns of anything.
FORMATS: dict[str, type[Format]] = {
    kind.name: kind
    for kind in (
        NodeLink,
        JsonLines,
        LabelledFasta,
        Pairs,
        WordAlignments,
        ConllU,
        Conll2012,
        ArffSets,
        Brackets,
        Letor,
        SvmHmm,
        SvmLight,
        MultiLabelRows,
        CrfSuite,
        Tagged,
        Columns,
    )
}

# Formats of other packages, by the entry points of this group; see the page on formats.
FORMATS |= {point.name: point.load() for point in entry_points(group="structlearn.formats")}

#: Files that are no text.
IMAGES: dict[str, type[ImageReader]] = {kind.name: kind for kind in (ImageArrays, ImageFiles)}


def recognise(head: Sequence[str], filename: str = "") -> Format:
    """The format of a file, with its options, from its first lines.

    >>> recognise(["The DT B-NP", "dog NN I-NP"])
    Columns(columns=('word', 'pos'), label=-1, separator=None, comment=None, partial=False)
    """
    for kind in FORMATS.values():
        found = kind.recognise(head, filename)
        if found is not None:
            return found
    if not any(line.strip() for line in head):
        raise ValueError("the file holds no example")
    raise ValueError(f"this looks like none of the formats {', '.join(FORMATS)}; name the one it is")


def check_format_name(name: str) -> None:
    if name not in FORMATS and name not in IMAGES:
        raise ValueError(f"there is no format {name!r}; there are {', '.join([*FORMATS, *IMAGES])}")


def format_of(lines: Lines, format: Format | str | None = None, *, check: bool = False) -> Format:
    """The format of lines of which none was taken yet; see `read_examples`."""
    if isinstance(format, str):
        check_format_name(format)
    if isinstance(format, Format) and not check:
        return format
    head = lines.head()
    if isinstance(format, str):
        kind = FORMATS[format]
        return kind.recognise(head, lines.name) or kind.recognise(head[:1], lines.name) or kind()
    if format is None:
        try:
            return recognise(head, lines.name)
        except ValueError as error:
            number, told = Columns.odd_line(head) or (1, str(error))
            raise lines.error(told, line=number) from None
    if not type(format).fits(head, lines.name):
        other = next((name for name, kind in FORMATS.items() if kind.recognise(head, lines.name)), None)
        if other is not None:
            raise lines.error(f"expected a file in the format {format.name}; this one looks like {other}")
    return format


def preferred(wanted: Reader | str | None, given: Reader | None) -> dict[str, Any]:
    """Options of `format_of` and `read_examples` for the format that is wanted, or else that of a model, `given`."""
    if given is not None and wanted in (None, given.name):
        return {"format": given, "check": wanted is None}
    return {"format": wanted}


def without_companions(paths: Sequence[Path]) -> list[Path]:
    """The files of a folder that hold examples: no label images, and no XML files with the labels of ARFF files.

    >>> [path.name for path in without_companions([Path("a.png"), Path("a_labels.png"), Path("b.arff"), Path("b.xml")])]
    ['a.png', 'b.arff']
    """
    arff = any(".arff" in path.suffixes for path in paths)
    return [path for path in paths if not (is_label_image(path) or (arff and ".xml" in path.suffixes))]


def image_reader(source: Source, format: Reader | str | None = None) -> ImageReader | None:
    """What reads a file of images, which the format or the name of the file tells; None for text."""
    path = Path(source) if isinstance(source, (str, PathLike)) and source != "-" else None
    named = IMAGES.get(format) if isinstance(format, str) else None
    if named is None and format is None and path is not None:
        named = next((kind for kind in IMAGES.values() if kind.recognise_file(path)), None)
    reader = format if isinstance(format, ImageReader) else None if named is None else named()
    if reader is not None and path is None:
        raise ValueError(f"{reader.name} files are read by their names, and not from a stream")
    if reader is not None and path is not None and not reader.recognise_file(path):
        raise ValueError(f"{path}: expected a file in the format {reader.name}, whose names end with {reader.suffix}")
    return reader


def read_examples(
    source: Source,
    format: Reader | str | None = None,
    encoding: str = "utf-8",
    *,
    check: bool = False,
    partial: bool = False,
) -> tuple[Reader, Iterator[Example]]:
    """A file's format, and its examples as they are read.

    Parameters
    ----------
    source : path, "-" or binary stream
        See `open_text`. A path's file is closed after the last example, or when the iterator is gone.
    format : Reader or str, optional
        The format, or its name if its options are to be found from the first lines. None finds the format as well.
    encoding : str
    check : bool
        Whether a file that does not look like the given format at all is refused.
    partial : bool
        Whether labels are known in part, see `Format.in_part`.

    Examples
    --------
    >>> import io
    >>> found, examples = read_examples(io.BytesIO(b"2 3:0.5\\n1 4:1\\n"))
    >>> found.name, [(example.x, example.y) for example in examples]
    ('svmlight', [({'3': 0.5}, '2'), ({'4': 1.0}, '1')])
    """
    reading = _read(source, format, encoding, check, partial)
    return next(reading), reading


def _read(source: Source, format: Reader | str | None, encoding: str, check: bool, partial: bool) -> Iterator[Any]:
    """The format first, then the examples."""
    if isinstance(format, str):
        check_format_name(format)
    images = image_reader(source, format)
    if images is not None:
        images = images.in_part() if partial else images
        yield images
        yield from images.read_file(Path(str(source)))
        return
    assert format is None or isinstance(format, (str, Format))
    with open_text(source, encoding) as lines:
        found = format_of(lines, format, check=check)
        found = found.in_part() if partial else found
        yield found
        yield from found.read(lines)
