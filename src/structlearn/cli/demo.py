"""`structlearn demo`"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the files go: new or empty.")] = Path("structlearn-demo"),
    sentences: Annotated[int, typer.Option(min=2, help="How many sentences to learn from.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="Of the sentences.")] = 0,
) -> None:
    """Show the whole path on sentences of its own: files, training, evaluation, predictions, a report.

    \b
        structlearn demo
        structlearn demo somewhere --sentences 1000
    """
    from structlearn.cli.app import app
    from structlearn.datasets import make_sentences
    from structlearn.io.columns import Columns

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} is there already and is not an empty folder; name another one")
    folder.mkdir(parents=True, exist_ok=True)
    form = Columns()
    for k, (name, size) in enumerate({"train.txt": sentences, "test.txt": max(sentences // 2, 1)}.items()):
        drawn = make_sentences(size, random_state=2 * seed + k)
        examples = [([word for word, _ in x], y) for x, y in zip(drawn.X, drawn.Y, strict=True)]
        (folder / name).write_text("".join(form.write(x, y) for x, y in examples), "utf-8")
    new = "".join(f"{word}\n" for word in ("The", "old", "train", "can", "light", "a", "river", "."))
    (folder / "new.txt").write_text(new, "utf-8")
    typer.echo(f"{folder / 'train.txt'}, one word a line with its chunk tag, a blank line between sentences:\n")
    typer.echo("\n".join((folder / "train.txt").read_text("utf-8").split("\n")[:8]))
    train, test, model = folder / "train.txt", folder / "test.txt", folder / "tagger.slm"
    for command in (
        ["train", train, "-o", model],
        ["evaluate", model, test],
        ["predict", model, folder / "new.txt"],
        ["report", model, test, "-o", folder / "report.html"],
    ):
        words = list(map(str, command))
        typer.secho(f"\n$ structlearn {shlex.join(words)}", bold=True)
        app(words, standalone_mode=False)
