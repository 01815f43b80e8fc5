"""`structlearn convert`"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from structlearn.cli import data
from structlearn.cli.options import checked
from structlearn.cli.train import Templates

if TYPE_CHECKING:
    from structlearn.io.format import Example, Format, Reader


def convert(
    file: data.Data = "-",
    to: Annotated[
        str, typer.Option(metavar="NAME", help="The format that is written.", callback=checked(data.check_format))
    ] = "jsonl",
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Where it goes; standard output if left out.")
    ] = None,
    format_name: data.FormatName = None,
    columns: data.Columns = None,
    separator: data.Separator = None,
    label: data.Label = None,
    encoding: data.Encoding = "utf-8",
    templates: Templates = None,
    clean_trees: Annotated[
        bool,
        typer.Option(
            "--clean-trees",
            help="Trees of the Penn Treebank as parsers are trained on them: without traces, function tags and unary "
            "cycles.",
        ),
    ] = False,
) -> None:
    """Write examples in another format.

    Sequences of words become sequences of attributes, as crfsuite files have them, by their features: those of
    --templates, or the default ones.

    \b
        structlearn convert train.txt --to jsonl -o train.jsonl
        structlearn convert train.txt --to crfsuite --templates template.txt > train.crfsuite
        structlearn convert train.conllu.gz --to columns | structlearn check
        structlearn convert wsj.mrg --to brackets --clean-trees -o clean.mrg
    """
    from structlearn.cli.pipelines import attributes, read_templates
    from structlearn.io.format import STRUCTURES
    from structlearn.io.formats import FORMATS

    reader, examples = data.read([file], data.layout(format_name, columns, separator, label), encoding)
    if clean_trees:
        examples = _cleaned(reader, examples)
    X: list[Any] = [example.x for example in examples]
    if to not in FORMATS:
        raise ValueError(f"--to is {to}: images are written by predict alone")
    writer = _writer(reader, to)
    if templates is not None or (reader.structure == "words" and writer.structure == "attributes"):
        X = attributes(X, read_templates(templates, reader), reader)
    kinds = {reader.structure, writer.structure}
    if len(kinds) > 1 and (kinds - {"words", "attributes", "row"} or "row" in kinds):
        given, wanted = STRUCTURES[reader.structure], STRUCTURES[writer.structure]
        raise ValueError(f"{reader.name} holds {given}, {to} holds {wanted}: one cannot become the other")
    with data.writing(output, not_over=file) as write:
        for x, example in zip(X, examples, strict=True):
            write(_written(writer, x, example))


def _writer(reader: Reader, to: str) -> Format:
    """The format that is written, with columns and content as they are read."""
    from structlearn.io.columns import Columns
    from structlearn.io.conllu import NAMES, ConllU
    from structlearn.io.formats import FORMATS
    from structlearn.io.jsonl import JsonLines

    if to == Columns.name and reader.inputs:
        return Columns(reader.inputs)
    if to == JsonLines.name and reader.structure in ("row", "set", "dependencies"):
        content: Any = reader.structure
        return JsonLines(content)
    if to == ConllU.name and reader.structure == "dependencies":
        named = {*reader.inputs} <= {*NAMES}
        return ConllU("tree", reader.inputs if named else ("form", "upos", "xpos", "lemma")[: len(reader.inputs)])
    return FORMATS[to]()


def _cleaned(reader: Reader, examples: list[Example]) -> list[Example]:
    from structlearn.data.trees import clean_tree, leaves
    from structlearn.io.format import STRUCTURES

    if reader.structure != "tree":
        raise ValueError(f"--clean-trees is for files of trees; {reader.name} holds {STRUCTURES[reader.structure]}")
    cleaned = []
    for example in examples:
        tree = clean_tree(example.y)
        if tree is None:
            typer.echo(f"structlearn: warning: {example.place}: nothing is left of this tree", err=True)
        else:
            cleaned.append(replace(example, x=[(word, tag) for tag, word in leaves(tree)], y=tree))
    return cleaned


def _written(writer: Any, x: Any, example: Example) -> str:
    try:
        return str(writer.write(x, example.y))
    except ValueError as error:
        raise ValueError(f"{example.place}: {error}") from None
