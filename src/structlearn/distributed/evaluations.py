"""How well an estimator does on many files, by the workers of a cluster: the numbers of one process."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import Any

from structlearn.annotation.examples import as_taken, batches, labelled, places, searches
from structlearn.data.tokens.tags import Scheme
from structlearn.distributed.files import Progress, files_of, model_of, on_files
from structlearn.evaluation import Evaluation, evaluate_piece, evaluation_of
from structlearn.evaluation.pieces import Piece
from structlearn.io.formats import preferred, read_examples
from structlearn.io.paths import Given
from structlearn.persistence.model_file import steps_of


def evaluate_files(
    client: Any,
    model: Any,
    files: Given,
    *,
    format: Any = None,
    encoding: str = "utf-8",
    scheme: Scheme = "conlleval",
    random_state: int = 0,
    patience: float = 60.0,
    progress: Progress | None = None,
) -> Evaluation:
    """Compares predictions with the labels of files that workers see, with the numbers of `evaluate` on all of them.

    The model travels once to each worker. Of a worker that is lost, others do the files again, and none counts twice.
    What is found of each example comes back, some hundred bytes; inputs and outputs do not.

    Parameters
    ----------
    client, model, files, format, encoding, patience, progress
        As for `predict_files`.
    scheme, random_state
        As for `structlearn.evaluation.evaluate`.
    """
    estimator, reader = model_of(model)
    if searches(steps_of(estimator)[1]):
        raise ValueError("the model searches among the sequences of all files, which no worker has: use evaluate")
    listed = files_of(files)
    # As on one machine, the first file says how those are read of which the model does not say it.
    reader, _ = read_examples(listed[0], encoding=encoding, **preferred(format, reader))
    call = partial(_pieces, format=format, encoding=encoding, scheme=scheme)
    found: dict[int, list[Piece]] = {}
    with closing(on_files(client, listed, call, (estimator, reader), patience=patience)) as answers:
        for k, pieces in answers:
            found[k] = pieces
            if progress is not None:
                progress(len(found), len(listed))
    pieces = (piece for k in sorted(found) for piece in found[k])
    return evaluation_of(pieces, random_state=random_state)


def _pieces(model: Any, file: str, *, format: Any, encoding: str, scheme: Scheme) -> list[Piece]:
    """What a worker does with a file, some thousand examples at a time."""
    estimator, given = model
    reader, examples = read_examples(file, encoding=encoding, **preferred(format, given))
    found = []
    for batch in batches(examples):
        labelled(reader, batch)
        with places(batch):
            found.append(evaluate_piece(estimator, *as_taken(estimator, batch), scheme=scheme))
    return found
