"""`structlearn check`"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from structlearn.cli import data, terminal
from structlearn.wording import count, several

if TYPE_CHECKING:
    from structlearn.cli.summaries.dependencies import DependencySummary
    from structlearn.cli.summaries.documents import DocumentSummary
    from structlearn.cli.summaries.labelled import LabelledSummary
    from structlearn.cli.summaries.oddities import Counts
    from structlearn.cli.summaries.pairs import PairSummary
    from structlearn.cli.summaries.tokens import Summary, Terms
    from structlearn.cli.summaries.translations import TranslationSummary

#: Labels, or letters and words of sequences, in the table.
MOST_LABELS = 30


def check(
    file: data.Data = "-",
    most: Annotated[int, typer.Option(min=0, metavar="N", help="How many odd places to show.")] = 20,
    format_name: data.FormatName = None,
    columns: data.Columns = None,
    separator: data.Separator = None,
    label: data.Label = None,
    partial: data.Partial = False,
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

    from structlearn.cli.summaries.dependencies import summarise_dependencies
    from structlearn.cli.summaries.documents import summarise_documents
    from structlearn.cli.summaries.labelled import summarise_labelled
    from structlearn.cli.summaries.pairs import summarise_pairs
    from structlearn.cli.summaries.tokens import TERMS, TOKENS, summarise
    from structlearn.cli.summaries.translations import summarise_translations

    wanted = data.layout(format_name, columns, separator, label)
    reader, examples = data.stream(file, wanted, encoding, partial=partial)
    terms = TERMS.get(reader.structure, TOKENS)
    summary: Any
    counts: Counter[Any]
    if reader.structure == "pair":
        summary = summarise_pairs(examples)
        what, counts, sizes = "letter", summary.letters, _pair_sizes(summary)
    elif reader.structure == "translation":
        summary = summarise_translations(examples)
        what, counts, sizes = "word", summary.words, _translation_sizes(summary)
    elif reader.structure == "document":
        summary = summarise_documents(examples)
        what, counts, sizes = "size", summary.sizes, _document_sizes(summary)
    else:
        if reader.structure in ("set", "network", "image"):
            summary = summarise_labelled(examples, terms)
        elif reader.structure == "dependencies":
            summary = summarise_dependencies(examples)
        else:
            summary = summarise(examples, terms)
        what, counts, sizes = terms.label, summary.labels, _sizes(summary, terms)
        sizes += f", {count(summary.edges, 'edge')}" if reader.structure == "network" else ""
        sizes += _crossing(summary) if reader.structure == "dependencies" else ""
        sizes += f", tags in {summary.scheme}" if getattr(summary, "scheme", None) else ""
        if partial and reader.structure == "dependencies":
            sizes += f", of which {summary.heads:,} have a head, {summary.labels.total():,} a label"
        elif partial:
            known = summary.labels.total(), summary.ambiguous, summary.unknown
            sizes += ", of which {:,} have a label, {:,} one of several, {:,} none".format(*known)
    shown = {f"{label:g}" if isinstance(label, float) else str(label): n for label, n in counts.most_common()}
    if as_json:
        found = {several(terms.part) if name == "parts" else name: value for name, value in asdict(summary).items()}
        kind = "labels" if "labels" in found else several(what)
        terminal.print_json(found | {"format": reader.name, kind: shown})
    else:
        from rich.markup import escape

        console = terminal.console()
        console.print(f"{escape(file)}: {reader.name}, {sizes}", highlight=False, soft_wrap=True)
        told = [reader.look_alike if wanted is None else "", reader.hint(counts) if what == "label" else ""]
        for hint in filter(None, told):
            console.print(escape(hint), highlight=False, soft_wrap=True)
        if reader.structure != "tree":
            _print_counts(what, Counter(shown))
        for oddity in summary.oddities[:most]:
            place = f"{oddity.file or file}:{oddity.line}" if oddity.line else oddity.file
            console.print(f"{escape(place)}: {escape(oddity.what)}", highlight=False, soft_wrap=True)
        if summary.odd > most:
            console.print(f"and {summary.odd - most:,} odd places more")
    if summary.odd:
        raise typer.Exit(1)


def _sizes(summary: Summary | LabelledSummary | DependencySummary, terms: Terms) -> str:
    sizes = count(summary.examples, terms.example)
    if terms.part == terms.example:
        return sizes
    article = "an" if terms.example[0] in "aeiou" else "a"
    return f"{sizes}, {count(summary.parts, terms.part)}, {_each(summary, terms.part)} {article} {terms.example}"


def _crossing(summary: DependencySummary) -> str:
    return f", {count(summary.crossing, 'tree')} with arcs that cross" if summary.heads else ""


def _document_sizes(summary: DocumentSummary) -> str:
    entities = f"{count(summary.mentions, 'mention')} of {count(summary.entities, 'entity')}"
    sizes = f"{count(summary.examples, 'document')}, {count(summary.tokens, 'token')}"
    return f"{sizes}, {entities}, {_each(summary, 'mention')} a document"


def _translation_sizes(summary: TranslationSummary) -> str:
    words = f"{count(summary.words.total(), 'word')}, {_each(summary, 'word')} a sentence"
    sizes = f"{count(summary.examples, 'pair of sentences')}, {words}"
    return f"{sizes}, {count(summary.links, 'link')}" if summary.aligned else f"{sizes}, not aligned"


def _pair_sizes(summary: PairSummary) -> str:
    sizes = f"{count(summary.examples, 'pair')}, {count(summary.letters.total(), 'letter')}"
    sizes += f", {_each(summary, 'letter')} a sequence"
    if not summary.aligned:
        return f"{sizes}, not aligned"
    aligned = "aligned" if summary.aligned == summary.examples else f"{summary.aligned:,} of them aligned"
    equal = f", {summary.equal / summary.matches:.0%} of them equal letters" if summary.matches else ""
    return f"{sizes}, {aligned} with {count(summary.matches, 'match', 'matches')}{equal}"


def _each(summary: Counts, part: str) -> str:
    low, high = summary.lengths
    return count(low, part) if low == high else f"{low} to {count(high, part)}"


def _print_counts(what: str, counts: Counter[str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = terminal.console()
    table = Table(what, "count", "share", box=None, pad_edge=False)
    for label, n in counts.most_common(MOST_LABELS):
        table.add_row(escape(label), f"{n:,}", f"{n / counts.total():.2%}")
    console.print(table if counts else f"no {several(what)}")
    if len(counts) > MOST_LABELS:
        console.print(f"and {count(len(counts) - MOST_LABELS, what)} more")
