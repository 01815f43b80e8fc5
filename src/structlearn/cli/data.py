"""Examples from files, for all commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from structlearn.cli.options import checked

if TYPE_CHECKING:
    from structlearn.io.format import Example, Reader
    from structlearn.persistence.model_file import Saved


def check_format(name: str) -> None:
    from structlearn.io.formats import check_format_name

    check_format_name(name)


def _check_encoding(name: str) -> None:
    if name != "utf-8":
        from structlearn.io.text import text_encoding

        text_encoding(name)


Model = Annotated[str, typer.Argument(metavar="MODEL", help="A file that [bold]train[/bold] wrote.")]
Data = Annotated[
    str,
    typer.Argument(metavar="[FILE]", help='Examples, or a folder of such files; "-", or nothing, is standard input.'),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="columns, tagged, conllu, conll2012, brackets, fasta, pairs, word_alignments, letor, svmlight, "
        "svmhmm, crfsuite, jsonl, multilabel, arff, nodelink, npz or png; left out, it is recognised.",
        callback=checked(check_format),
        rich_help_panel="Data",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="The columns of a column file, such as word,pos,_,chunk: _ is left out, the last one is the label unless "
        "--label names another. Of conll2012, where the words are, such as _,word,_.",
        rich_help_panel="Data",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help=r"What separates them, such as , or \t; left out: blanks. Of tagged text, what is between word and tag.",
        rich_help_panel="Data",
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Which of the columns is the label; of CoNLL-U upos, xpos, deprel or feats, or tree for heads and deprel "
        "together. Of ARFF, which attributes are labels, with commas between, or Mulan's XML file that names them.",
        rich_help_panel="Data",
    ),
]
Partial = Annotated[
    bool,
    typer.Option(
        "--partial",
        help="Labels are known in part: ? or _ where nothing is known, A|B for one of several. Learnt with --learner "
        "latent or latent-crf.",
        rich_help_panel="Data",
    ),
]
Encoding = Annotated[str, typer.Option(help="Of the text.", callback=checked(_check_encoding), rich_help_panel="Data")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but results and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]


def layout(
    name: str | None, columns: str | None, separator: str | None, label: str | None, given: Reader | None = None
) -> Reader | str | None:
    """What the user said about the format: all of it, its name, or nothing.

    What was not said of column files is as in those that a model learnt from (`given`).
    """
    if columns is separator is label is None:
        return name
    from structlearn.io.arff_sets import ArffSets
    from structlearn.io.columns import Columns as ColumnFile
    from structlearn.io.conll2012 import Conll2012
    from structlearn.io.conllu import LABELS, NAMES, ConllU
    from structlearn.io.mulan import read_label_names
    from structlearn.io.tagged import Tagged

    xml = label is not None and ".xml" in Path(label).suffixes
    if label is not None and (name == ArffSets.name or (name is None and xml)):
        if columns is not None or separator is not None:
            raise ValueError("--columns and --separator are for column files, not for arff")
        return ArffSets(tuple(read_label_names(label) if xml else label.split(",")))
    separator = None if separator is None else separator.encode().decode("unicode_escape")
    if separator is not None and columns is label is None and name in (None, Tagged.name, ColumnFile.name):
        if name == Tagged.name or (name is None and not isinstance(given, ColumnFile)):
            return Tagged(separator)
        return replace(given if isinstance(given, ColumnFile) else ColumnFile(), separator=separator)
    # Columns have names of their own only in CoNLL-U, and only there the label may be none of those that are named.
    listed = [] if columns is None else columns.split(",")
    named = label not in listed and (label == "tree" or {*listed} <= {*NAMES})
    if name == ConllU.name or (name is separator is None and label in LABELS and named):
        if separator is not None:
            raise ValueError("--separator is for column files, not for conllu")
        options: dict[str, Any] = {"columns": columns and tuple(columns.split(",")), "label": label}
        return ConllU(**{name: value for name, value in options.items() if value is not None})
    if name == Conll2012.name and columns is not None and separator is label is None:
        if "word" not in columns.split(","):
            raise ValueError(f"--columns is {columns!r}; of conll2012 files it must name the column of the words, word")
        return Conll2012(columns.split(",").index("word"))
    if name not in (None, ColumnFile.name):
        raise ValueError(f"--columns, --label and --separator do not go together with the format {name}")
    if columns is None:
        raise ValueError(
            f"--label is {label!r}; of CoNLL-U files it may be {', '.join(LABELS)}, of column files it is one of those "
            "that --columns names"
        )
    names = columns.split(",")
    label = names[-1] if label is None else label
    if label not in names:
        raise ValueError(f"--label is {label!r}, which is none of the columns {columns}")
    if label == "_":
        raise ValueError(f"--columns is {columns}, whose last column is left out; --label names that of the labels")
    k = names.index(label)
    form = given if isinstance(given, ColumnFile) else ColumnFile()
    form = replace(form, columns=(*names[:k], *names[k + 1 :]), label=k, separator=separator or form.separator)
    if given is not None and form.inputs != given.inputs:
        known, found = ", ".join(given.inputs), ", ".join(form.inputs)
        raise ValueError(f"--columns has {found} beside the label, but the model learnt from {known}")
    return form


def implied_label(label: str | None, model: str | None, name: str | None, files: Sequence[str]) -> str | None:
    """--label as given; a parser of CoNLL-U files learns from their trees."""
    conllu = name == "conllu" or (name is None and all(".conllu" in Path(file).suffixes for file in files))
    return "tree" if label is None and model == "dependency-tree" and conllu else label


def as_asked(wanted: Reader | str | None, options: Mapping[str, Any]) -> Reader | str | None:
    """The format, with what options of the model say that files may hold."""
    from structlearn.io.conllu import ConllU

    if isinstance(wanted, ConllU) and "single_root" in options:
        return replace(wanted, single_root=options["single_root"])
    return wanted


def stream(
    file: str, wanted: Reader | str | None, encoding: str, *, given: Reader | None = None, partial: bool = False
) -> tuple[Reader, Iterator[Example]]:
    """The format of a file, or of the first one of a folder, and its examples as they are read.

    The format is that of the model (`given`) unless another one is wanted; without either it is recognised.
    """
    first, *others = files_of(file)
    reader, examples = _stream(first, wanted, encoding, given, partial)
    rest = (example for other in others for example in _stream(other, wanted, encoding, reader, partial)[1])
    return reader, chain(examples, rest)


def files_of(file: str) -> list[str]:
    """The files of a folder; what is no folder is itself."""
    if file == "-" or not Path(file).is_dir():
        return [file]
    from structlearn.io.paths import in_folder
    from structlearn.shards.manifest import check_no_corpus

    check_no_corpus(Path(file))
    return in_folder(file)


def _stream(
    file: str, wanted: Reader | str | None, encoding: str, given: Reader | None, partial: bool
) -> tuple[Reader, Iterator[Example]]:
    from structlearn.io.formats import preferred, read_examples

    return read_examples(file, encoding=encoding, partial=partial, **preferred(wanted, given))


def read(
    files: Sequence[str],
    wanted: Reader | str | None,
    encoding: str,
    *,
    given: Reader | None = None,
    partial: bool = False,
) -> tuple[Reader, list[Example]]:
    """All examples of some files, which must have one format."""
    examples: list[Example] = []
    for file in files:
        given, found = stream(file, wanted, encoding, given=given, partial=partial)
        examples += found
    assert given is not None
    return given, examples


def read_model(path: str, *, to_look_at: bool = False) -> Saved:
    """What a model file holds, refused if it is one of the baselines that files cannot be given to."""
    from structlearn.estimators import HiddenMarkov
    from structlearn.persistence.model_file import read, steps_of

    saved = read(path, to_look_at=to_look_at)
    last = steps_of(saved.fitted)[1]
    judged = isinstance(last, HiddenMarkov) or (hasattr(last, "outputs_") and last.outputs_.model() is not None)
    if not hasattr(last, "model_") and not judged:
        raise ValueError(f"{path} holds a {type(last).__name__}, which is for Python only: structlearn.load reads it")
    return saved


@contextmanager
def writing(path: str | None, *, not_over: str, encoding: str = "utf-8") -> Iterator[Callable[[str], None]]:
    """A function that writes text to standard output as it comes, or to a file that appears when all is written."""
    from structlearn.io.text import text_writer

    if path is None or path == "-":
        sys.stdout.flush()
        yield text_writer(sys.stdout.buffer, encoding)
        sys.stdout.buffer.flush()
        return
    from structlearn.persistence import atomic

    atomic.check_writable(Path(path))
    if Path(path).exists() and not_over != "-" and any(map(Path(path).samefile, files_of(not_over))):
        raise ValueError(f"{path} is the file that is read; give the output another name")
    with atomic.writing(Path(path)) as file:
        yield text_writer(file, encoding)
