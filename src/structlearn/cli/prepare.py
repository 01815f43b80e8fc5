"""`structlearn prepare`"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from structlearn.cli import data, terminal
from structlearn.cli.components import TRANSFORMERS
from structlearn.cli.options import checked, flag, parameters
from structlearn.cli.train import Templates
from structlearn.wording import count

if TYPE_CHECKING:
    from structlearn.features import TextFeatures
    from structlearn.io.format import Reader
    from structlearn.shards import Shards

#: Sequences of a shard: with usual templates 60 MB of files, and three times that of memory while they are made.
CHUNK = 10_000
#: For counting features.
COUNTING_MEMORY = "500MB"

_WORDS = parameters(TRANSFORMERS["words"])


def _check_memory(text: str) -> None:
    from structlearn.data.memory import memory_option

    memory_option("--max-memory", text)


def prepare(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Labelled sequences, or folders of such files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder that is written.")],
    format_name: data.FormatName = None,
    columns: data.Columns = None,
    separator: data.Separator = None,
    label: data.Label = None,
    encoding: data.Encoding = "utf-8",
    templates: Templates = None,
    min_count: Annotated[int, typer.Option(min=1, help=_WORDS["min_count"].help, rich_help_panel="Features")] = 1,
    n_hashed: Annotated[
        int | None, typer.Option(min=1, help=_WORDS["n_hashed"].help, rich_help_panel="Features")
    ] = None,
    features_of: Annotated[
        str | None,
        typer.Option(
            "--features",
            metavar="FROM",
            help="A model, or a folder that [bold]prepare[/bold] wrote, whose features these files get: for evaluate.",
            rich_help_panel="Features",
        ),
    ] = None,
    max_memory: Annotated[
        str,
        typer.Option(
            metavar="BYTES",
            help="For counting features: where they take more, the rarest are forgotten, and a warning says which.",
            callback=checked(_check_memory),
            rich_help_panel="Features",
        ),
    ] = COUNTING_MEMORY,
    quiet: data.Quiet = False,
    as_json: data.Json = False,
) -> None:
    """Make features of files that are larger than memory, for train and evaluate.

    Words are counted in one pass and written with their features in another; with --n-hashed one pass does both. What
    train then holds in memory are weights, planes and a part of the files. If it is stopped, or the disk is full, the
    same command goes on.

    \b
        structlearn prepare part1.txt.gz part2.txt.gz -o corpus --min-count 3
        structlearn train corpus -o tagger.slm --max-memory 1GB
        structlearn prepare test.txt.gz -o held_out --features tagger.slm
        structlearn evaluate tagger.slm held_out
    """
    from structlearn.shards import open_shards
    from structlearn.shards.features_file import read_features
    from structlearn.shards.lock import claimed
    from structlearn.shards.manifest import NAME, read_manifest
    from structlearn.shards.writing import write_claimed

    listed = [path for file in files for path in data.files_of(file)]
    if "-" in listed:
        raise ValueError(
            "prepare reads its files more than once, and goes on with them later: standard input is no file"
        )
    learnt, given = None, None
    if features_of is not None:
        learnt, given = _features_of(
            features_of, {"templates": templates, "min_count": min_count, "n_hashed": n_hashed}
        )
    wanted = data.layout(format_name, columns, separator, label, given)
    reader, _ = data.stream(listed[0], wanted, encoding, given=given)
    if reader.structure != "words":
        raise ValueError(f"prepare is for sequences of words with labels; {listed[0]} is taken for {reader.name}")
    features = new_features(reader, templates, min_count, n_hashed) if learnt is None else learnt
    source = _source(listed, reader, repr(features.get_params()) if learnt is None else learnt.digest())
    show = not (quiet or as_json)
    begun = read_manifest(output) if (output / NAME).is_file() else None
    if begun is not None and begun.complete and begun.source != source:
        raise FileExistsError(
            f"{output} holds a finished corpus of other files, or of these with other options; give another folder, or "
            "remove it"
        )
    if begun is not None and begun.complete:
        corpus = open_shards(output)
        typer.echo(f"{output} was made of these files before", err=True) if show else None
    else:
        # Words are counted before anything is written, so that a second command would not learn of the first for long.
        with claimed(output):
            n_counted = 0
            if learnt is None and begun is not None and begun.source == source and begun.features is not None:
                features, _ = read_features(output, begun.features)
            elif learnt is None:
                progress = terminal.Progress("counting", show)
                counted = (X for X, _ in chunks(listed, wanted, encoding, reader, progress))
                features.fit_chunks(counted, max_memory=max_memory)
                n_counted = progress.n_sequences
            written = chunks(listed, wanted, encoding, reader, terminal.Progress("writing", show, n_counted))
            corpus = write_claimed(written, output, features=features, source=source, reader=reader)
    if as_json:
        terminal.print_json(facts_of(corpus))
    elif show:
        facts = facts_of(corpus)
        sizes = [count(number, name.removesuffix("s")) for name, number in facts.items() if isinstance(number, int)]
        typer.echo(", ".join(sizes))


def facts_of(corpus: Shards, *, classes: bool = False) -> dict[str, Any]:
    """How much it holds, and if asked for its labels."""
    sizes = {"sequences": corpus.n_examples, "tokens": corpus.n_tokens, "features": corpus.n_features}
    held = sizes | {"labels": len(corpus.classes), "shards": len(corpus), "corpus": str(corpus.path)}
    return held | ({"classes": list(map(str, corpus.classes))} if classes else {})


def new_features(reader: Reader, templates: Path | None, min_count: int, n_hashed: int | None) -> TextFeatures:
    """What has yet to count words."""
    from structlearn.cli.pipelines import read_templates
    from structlearn.features import TextFeatures
    from structlearn.features.crfpp import CrfppTemplates

    written = read_templates(templates, reader)
    if isinstance(written, CrfppTemplates):
        if written.pair_templates:
            told = "which are not made ahead of training, by prepare or for --workers"
            raise ValueError(f"{templates} has features of label pairs, B with values, {told}")
        written = written.templates
    features = TextFeatures(written, columns=reader.inputs, min_count=min_count, n_hashed=n_hashed)
    features.check_options()
    return features


def _features_of(path: str, others: dict[str, Any]) -> tuple[TextFeatures, Reader]:
    """What a model, or a corpus, makes of words, and the format of the files it learnt from."""
    from structlearn.cli.corpora import opened
    from structlearn.features import TextFeatures
    from structlearn.persistence.model_file import steps_of

    for name, value in others.items():
        if value not in (None, 1):
            raise ValueError(f"{flag(name)} has no effect here: the features are those of {path}")
    corpus = opened([path])
    if corpus is not None:
        return corpus.features, corpus.reader
    saved = data.read_model(path)
    steps, _ = steps_of(saved.fitted)
    if len(steps) != 2 or not isinstance(steps[0][1], TextFeatures) or saved.reader is None:
        raise ValueError(f"{path} has no features of words that prepare could make")
    return steps[0][1], saved.reader


def _source(files: list[str], reader: Reader, features: str) -> str:
    """What a corpus is made of: the same files, unchanged, read and taken in the same way."""
    stats = [(str(Path(file).resolve()), Path(file).stat()) for file in files]
    listed = [f"{path} ({stat.st_size} bytes, {stat.st_mtime_ns})" for path, stat in stats]
    return "; ".join([*listed, repr(reader), features])


def chunks(
    files: list[str], wanted: Any, encoding: str, reader: Reader, progress: terminal.Progress
) -> Iterator[tuple[list[Any], list[Any]]]:
    """Some thousand sequences at a time, of all files one after another."""
    from structlearn.annotation.examples import batches, labelled, weights

    try:
        for file in files:
            _, examples = data.stream(file, wanted, encoding, given=reader)
            for chunk in batches(examples, CHUNK):
                progress.add(len(chunk))
                if weights(chunk) is not None:
                    raise ValueError(f"{file} has weights of sequences, which prepare and --workers do not keep")
                yield labelled(reader, chunk)
    finally:
        progress.end()
