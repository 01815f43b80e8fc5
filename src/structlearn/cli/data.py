"""Examples from files, for all commands."""

from __future__ import annotations

import codecs
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from structlearn.cli.options import checked

if TYPE_CHECKING:
    from structlearn.io.format import Example, Format, Reader
    from structlearn.io.text import Lines
    from structlearn.persistence.model_file import Saved

#: Examples that are held in memory at once, so that a pipe without end can be labelled.
BATCH = 4096


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
    first, *others = in_folder(file)
    reader, examples = _stream(first, wanted, encoding, given, partial)
    rest = (example for other in others for example in _stream(other, wanted, encoding, reader, partial)[1])
    return reader, chain(examples, rest)


def in_folder(file: str) -> list[str]:
    """The files of a folder in the order of their names, without hidden ones; what is no folder is itself."""
    if file == "-" or not Path(file).is_dir():
        return [file]
    from structlearn.io.formats import without_companions
    from structlearn.shards.manifest import is_corpus

    if is_corpus(Path(file)):
        raise ValueError(f"{file} was made by prepare, for train; give the files of words that it was made of")
    paths = sorted(path for path in Path(file).iterdir() if path.is_file() and not path.name.startswith("."))
    found = list(map(str, without_companions(paths)))
    if not found:
        raise ValueError(f"{file} is a folder without files")
    return found


def _stream(
    file: str, wanted: Reader | str | None, encoding: str, given: Reader | None, partial: bool
) -> tuple[Reader, Iterator[Example]]:
    from structlearn.io.formats import read_examples

    return read_examples(file, encoding=encoding, partial=partial, **_chosen(wanted, given))


@contextmanager
def kept(file: str, wanted: Reader | str | None, encoding: str, given: Reader | None) -> Iterator[tuple[Format, Lines]]:
    """The format of a file, chosen as by `stream`, and its lines, which can be written as they were."""
    from structlearn.io.formats import format_of
    from structlearn.io.text import open_text

    with open_text(file, encoding, keep=True) as lines:
        yield format_of(lines, **_chosen(wanted, given)), lines


def _chosen(wanted: Reader | str | None, given: Reader | None) -> dict[str, Any]:
    if given is not None and wanted in (None, given.name):
        return {"format": given, "check": wanted is None}
    return {"format": wanted}


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


def labelled(reader: Reader, examples: Sequence[Example]) -> tuple[list[Any], list[Any]]:
    """X and Y, refused if an example has no labels."""
    if reader.partial and reader.structure == "row":
        # Of single examples whose labels are known in part, those without one are not known.
        return [example.x for example in examples], [example.y for example in examples]
    for example in examples:
        if example.y is None and reader.structure == "pair":
            lengths = " and ".join(str(len(sequence)) for sequence in example.x)
            raise ValueError(f"{example.place}: these sequences are not aligned: {lengths} letters without a gap")
        if example.y is None:
            output = "HEAD and DEPREL" if reader.structure == "dependencies" else "a label"
            columns = f": expected the columns {', '.join(reader.inputs)} and {output}" if reader.inputs else ""
            where = f"{example.file or 'an example'}, taken for {reader.name},"
            line = f" at line {example.line}" if example.line else ""
            raise ValueError(f"{where} has no labels{line}{columns}")
    return [example.x for example in examples], [example.y for example in examples]


def as_taken(estimator: Any, examples: Sequence[Example]) -> tuple[list[Any], list[Any]]:
    """Inputs and labels of files as the model takes them.

    Tags such as B-NP and I-NP become segments where it predicts these. Where it searches, the first sequence of a pair
    is looked for among the second ones of all pairs.
    """
    from structlearn.persistence.model_file import steps_of

    _, last = steps_of(estimator)
    X, Y = [example.x for example in examples], [example.y for example in examples]
    if searches(last):
        return _among_all(X, Y)
    return X, _segments(examples) if predicts_segments(last) else Y


def _segments(examples: Sequence[Example]) -> list[Any]:
    from structlearn.data.tokens.segments import from_bio
    from structlearn.data.tokens.tags import is_tag

    for example in examples:
        wrong = next((label for label in example.y if not is_tag(label)), None)
        if wrong is not None:
            raise ValueError(
                f"{example.place}: the label {wrong!r} is no tag such as B-NP, I-NP and O, which are read as segments"
            )
    return [from_bio(example.y, f"Y[{i}]") for i, example in enumerate(examples)]


def _among_all(X: Sequence[tuple[Any, Any]], Y: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Queries with all second sequences as candidates, and the place of the right one with its alignment."""
    if len(X) < 2:
        raise ValueError("a search needs at least two pairs: the others are what the right one is told from")
    inputs, outputs = [], []
    for i, ((query, own), matches) in enumerate(zip(X, Y, strict=True)):
        # The same sequence in another pair is no decoy.
        places = [j for j, (_, other) in enumerate(X) if j == i or other != own]
        inputs.append((query, [X[j][1] for j in places]))
        outputs.append((places.index(i), matches))
    return inputs, outputs


def as_labels(estimator: Any, outputs: Any) -> Any:
    """Outputs of the model as labels of files: segments become tags, in the scheme of the training file."""
    from structlearn.data.tokens.segments import to_bio
    from structlearn.persistence.model_file import steps_of

    _, last = steps_of(estimator)
    if not predicts_segments(last):
        return outputs
    return [to_bio(segments, last.training_.get("tags", "BIO")) for segments in outputs]


def searches(estimator: Any) -> bool:
    """Whether a learner's inputs are queries with candidates, of which it finds one."""
    return hasattr(getattr(estimator, "model", None), "ranked")


def predicts_segments(estimator: Any) -> bool:
    """Whether outputs are segments, which files have as tags."""
    return getattr(getattr(estimator, "model", None), "kind", None) == "segments"


def weights(examples: Sequence[Example]) -> list[float] | None:
    """What the examples cost in training; None if all cost the same, 1."""
    given = [example.weight for example in examples]
    return None if all(weight == 1.0 for weight in given) else given


@contextmanager
def places(examples: Sequence[Example]) -> Iterator[None]:
    """Errors about X[i] or Y[i] also name the file and the line of the example; warnings name these instead."""
    show = warnings.showwarning

    def place(told: re.Match[str]) -> str:
        return examples[int(told[1])].place if int(told[1]) < len(examples) else told[0]

    def with_places(message: Warning | str, *where: Any, **more: Any) -> None:
        show(re.sub(r"\bX\[(\d+)\]", place, str(message)), *where, **more)

    try:
        with warnings.catch_warnings():
            warnings.showwarning = with_places
            yield
    except ValueError as error:
        told = re.match(r"[XY]\[(\d+)\]", str(error))
        if told is None or int(told[1]) >= len(examples):
            raise
        raise ValueError(f"{examples[int(told[1])].place}: {error}") from error


def batches(examples: Iterator[Example], size: int = BATCH) -> Iterator[list[Example]]:
    while batch := list(islice(examples, size)):
        yield batch


@contextmanager
def writing(path: str | None, *, not_over: str, encoding: str = "utf-8") -> Iterator[Callable[[str], None]]:
    """A function that writes text to standard output as it comes, or to a file that appears when all is written."""
    if path is None or path == "-":
        sys.stdout.flush()
        yield _encoded(sys.stdout.buffer, encoding)
        sys.stdout.buffer.flush()
        return
    from structlearn.persistence import atomic

    atomic.check_writable(Path(path))
    if Path(path).exists() and not_over != "-" and any(map(Path(path).samefile, in_folder(not_over))):
        raise ValueError(f"{path} is the file that is read; give the output another name")
    with atomic.writing(Path(path)) as file:
        yield _encoded(file, encoding)


def _encoded(file: BinaryIO, encoding: str) -> Callable[[str], None]:
    from structlearn.io.text import text_encoding

    encoder = codecs.getincrementalencoder(text_encoding(encoding))("surrogateescape")

    def write(text: str) -> None:
        try:
            file.write(encoder.encode(text))
        except UnicodeEncodeError as error:
            line = text[: error.start].count("\n")
            raise ValueError(f"this cannot be written in {encoding}: {text.splitlines()[line]!r}") from error

    return write
