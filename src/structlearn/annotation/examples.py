"""Examples of files as fitted estimators take them, and outputs of these as files have them."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from structlearn.data.tokens.segments import from_bio, to_bio
from structlearn.data.tokens.tags import is_tag
from structlearn.persistence.model_file import steps_of

if TYPE_CHECKING:
    from structlearn.io.format import Example, Reader

#: Examples that are held in memory at once, so that a pipe without end can be labelled.
BATCH = 4096


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
    _, last = steps_of(estimator)
    X, Y = [example.x for example in examples], [example.y for example in examples]
    if searches(last):
        return _among_all(X, Y)
    return X, _segments(examples) if predicts_segments(last) else Y


def _segments(examples: Sequence[Example]) -> list[Any]:
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
    """Errors about X[i] or Y[i] also name the file and the line of the example; warnings name these instead.

    Warnings are left as they are in other threads than the main one: how they are shown is a matter of the process.
    """
    show = warnings.showwarning

    def place(told: re.Match[str]) -> str:
        return examples[int(told[1])].place if int(told[1]) < len(examples) else told[0]

    def with_places(message: Warning | str, *where: Any, **more: Any) -> None:
        show(re.sub(r"\bX\[(\d+)\]", place, str(message)), *where, **more)

    try:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        with warnings.catch_warnings():
            warnings.showwarning = with_places
            yield
    except ValueError as error:
        told = re.match(r"[XY]\[(\d+)\]", str(error))
        if told is None or int(told[1]) >= len(examples):
            raise
        raise ValueError(f"{examples[int(told[1])].place}: {error}") from error


def batches(examples: Iterator[Example], size: int | None = None) -> Iterator[list[Example]]:
    while batch := list(islice(examples, BATCH if size is None else size)):
        yield batch
