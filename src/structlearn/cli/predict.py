"""`structlearn predict`"""

from __future__ import annotations

from typing import Annotated

import typer

from structlearn.cli import data

#: Examples that are held in memory at once, so that a pipe without end can be labelled.
BATCH = 4096


def predict(
    model: data.Model,
    file: data.Data = "-",
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Where predictions go; standard output if left out.")
    ] = None,
    format_name: data.FormatName = None,
    encoding: data.Encoding = "utf-8",
) -> None:
    """Label new examples.

    Predictions are written as the examples were: a column file gets one column more, CoNLL-U its tags, JSON lines a
    field "predicted". Labels that are there already stay beside the predicted ones.

    \b
        structlearn predict tagger.slm new.txt > labelled.txt
        zcat text.gz | structlearn predict tagger.slm
        structlearn predict tagger.slm new.conllu -o labelled.conllu
    """
    from structlearn.io.model_file import read

    saved = read(model)
    reader, examples = data.stream(file, format_name, encoding, given=saved.reader)
    with data.writing(output, not_over=file) as write:
        for batch in data.batches(examples, BATCH):
            for example, y in zip(batch, saved.estimator.predict([example.x for example in batch]), strict=True):
                write(reader.annotate(example, y))
