"""`structlearn check`"""

from __future__ import annotations

from typing import Annotated

import typer

from structlearn.cli import data, terminal


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

    from structlearn.io.oddities import summarise

    reader, examples = data.stream(file, data.layout(format_name, columns, separator, label), encoding)
    summary = summarise(examples)
    if as_json:
        found = asdict(summary) | {"format": reader.name}
        terminal.print_json(found | {"labels": {str(label): n for label, n in summary.labels.most_common()}})
    else:
        from rich.markup import escape
        from rich.table import Table

        console = terminal.console()
        console.print(
            f"{escape(file)}: {reader.name}, {summary.examples:,} examples, {summary.tokens:,} tokens, "
            f"{summary.lengths[0]} to {summary.lengths[1]} tokens an example",
            highlight=False,
            soft_wrap=True,
        )
        table = Table("label", "count", "share", box=None, pad_edge=False)
        for label, count in summary.labels.most_common(30):
            table.add_row(escape(str(label)), f"{count:,}", f"{count / sum(summary.labels.values()):.2%}")
        console.print(table if summary.labels else "no labels")
        if len(summary.labels) > 30:
            console.print(f"and {len(summary.labels) - 30} labels more")
        for oddity in summary.oddities[:most]:
            console.print(f"{escape(file)}:{oddity.line}: {escape(oddity.what)}", highlight=False, soft_wrap=True)
        if len(summary.oddities) > most:
            console.print(f"and {len(summary.oddities) - most} odd places more")
    if summary.oddities:
        raise typer.Exit(1)
