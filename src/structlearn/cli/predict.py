"""`structlearn predict`"""

from __future__ import annotations

from typing import Annotated

import typer

from structlearn.cli import data, terminal

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
    draw: Annotated[
        bool, typer.Option("--draw", help="Draw trees and other structures for people to read, instead of the file.")
    ] = False,
) -> None:
    """Label new examples.

    Predictions are written as the examples were: a column file gets one column more, CoNLL-U its tags, JSON lines a
    field "predicted". Labels that are there already stay beside the predicted ones. Pairs of sequences are aligned.

    --draw shows trees and other structures as pictures of text; what is wrong is marked where the file has the truth.

    \b
        structlearn predict tagger.slm new.txt > labelled.txt
        zcat text.gz | structlearn predict tagger.slm
        structlearn predict tagger.slm new.conllu -o labelled.conllu
        structlearn predict parser.slm new.mrg --draw
        structlearn predict aligner.slm new.fasta > aligned.fasta
    """
    from structlearn.io.model_file import read

    saved = read(model)
    reader, examples = data.stream(file, format_name, encoding, given=saved.reader)
    if draw:
        drawn = terminal.artist(saved.estimator, to_file=output is not None)
    with data.writing(output, not_over=file) as write:
        for batch in data.batches(examples, BATCH):
            with data.places(batch):
                predicted = saved.estimator.predict([example.x for example in batch])
            for example, y in zip(batch, predicted, strict=True):
                write(drawn(example, y) if draw else reader.annotate(example, y))
