"""`structlearn check`"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from structlearn.cli import data, terminal

#: Labels, or letters of sequences, in the table.
MOST_LABELS = 30


def check(
    file: data.Data = "-",
    most: Annotated[int, typer.Option(metavar="N", help="How many odd places to show.")] = 20,
    format_name: data.FormatName = None,
    columns: data.Columns = None,
    separator: data.Separator = None,
    label: data.Label = None,
    encoding: data.Encoding = "utf-8",
    as_json: data.Json = False,
) -> None:
    """Look at a data file before training: counts, labels, and what is odd on which line.

    Exit status 1 if there is something odd or unreadable.

    \b
        structlearn check train.txt
        structlearn check train.txt --json
    """
    from dataclasses import asdict

    from structlearn.io.document_oddities import DocumentSummary, summarise_documents
    from structlearn.io.oddities import summarise
    from structlearn.io.pair_oddities import PairSummary, summarise_pairs

    reader, examples = data.stream(file, data.layout(format_name, columns, separator, label), encoding)
    count = {"pair": summarise_pairs, "document": summarise_documents}.get(reader.structure, summarise)
    summary: Any = count(examples)
    counts: Counter[Any]
    if isinstance(summary, PairSummary):
        what, counts = "letter", summary.letters
    elif isinstance(summary, DocumentSummary):
        what, counts = "size", summary.sizes
    else:
        what, counts = "label", summary.labels
    if as_json:
        found = asdict(summary) | {"format": reader.name}
        terminal.print_json(found | {f"{what}s": {str(label): n for label, n in counts.most_common()}})
    else:
        from rich.markup import escape

        console = terminal.console()
        console.print(f"{escape(file)}: {reader.name}, {_sizes(summary)}", highlight=False, soft_wrap=True)
        _print_counts(what, counts)
        for oddity in summary.oddities[:most]:
            place = f"{oddity.file or file}:{oddity.line}"
            console.print(f"{escape(place)}: {escape(oddity.what)}", highlight=False, soft_wrap=True)
        if len(summary.oddities) > most:
            console.print(f"and {len(summary.oddities) - most} odd places more")
    if summary.oddities:
        raise typer.Exit(1)


def _sizes(summary: Any) -> str:
    low, high = summary.lengths
    if hasattr(summary, "mentions"):
        entities = f"{summary.mentions:,} mentions of {summary.entities:,} entities"
        return f"{summary.examples:,} documents, {summary.tokens:,} tokens, {entities}, {low} to {high} a document"
    if hasattr(summary, "tokens"):
        return f"{summary.examples:,} examples, {summary.tokens:,} tokens, {low} to {high} tokens an example"
    sizes = f"{summary.examples:,} pairs, {summary.letters.total():,} letters, {low} to {high} letters a sequence"
    if not summary.aligned:
        return f"{sizes}, not aligned"
    aligned = "aligned" if summary.aligned == summary.examples else f"{summary.aligned:,} of them aligned"
    equal = f", {summary.equal / summary.matches:.0%} of them equal letters" if summary.matches else ""
    return f"{sizes}, {aligned} with {summary.matches:,} matches{equal}"


def _print_counts(what: str, counts: Counter[Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = terminal.console()
    table = Table(what, "count", "share", box=None, pad_edge=False)
    for label, count in counts.most_common(MOST_LABELS):
        table.add_row(escape(str(label)), f"{count:,}", f"{count / counts.total():.2%}")
    console.print(table if counts else f"no {what}s")
    if len(counts) > MOST_LABELS:
        console.print(f"and {len(counts) - MOST_LABELS} {what}s more")
