"""From a file format and options to an estimator that learns from such files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structlearn.cli.options import CHAIN, FEATURES, LEARNERS, flag, owners_of

if TYPE_CHECKING:
    from structlearn.io.format import Format


def build(reader: Format, learner: str, options: dict[str, Any], templates: Any = None, *, verbose: int = 0) -> Any:
    """An estimator for the examples of a format, or a pipeline that ends with one.

    Sequences of words get features by templates, sequences of attributes are learnt as they are, single rows of
    attributes are classified.
    """
    from sklearn.pipeline import make_pipeline

    import structlearn
    from structlearn.models import Chain, Multiclass

    owner = LEARNERS[learner]
    used = [owner, *({"words": [CHAIN, FEATURES], "attributes": [CHAIN], "row": []}[reader.structure])]
    for name in options:
        if not any(name in user.parameters for user in used):
            needed = " or ".join(_when(other) for other in owners_of(name))
            raise ValueError(f"{flag(name)} has no effect here: it is for {needed}")

    def given(user: Any) -> dict[str, Any]:
        return {name: value for name, value in options.items() if name in user.parameters}

    model = Multiclass() if reader.structure == "row" else Chain(**given(CHAIN))
    estimator = getattr(structlearn, owner.name)(model, verbose=verbose, **given(owner))
    if reader.structure == "attributes":
        return estimator
    if reader.structure == "row":
        from sklearn.feature_extraction import DictVectorizer

        return make_pipeline(DictVectorizer(), estimator)
    from structlearn.features import TextFeatures

    return make_pipeline(TextFeatures(templates, columns=reader.inputs, **given(FEATURES)), estimator)


def _when(owner: Any) -> str:
    for name, learner in LEARNERS.items():
        if learner is owner:
            return f"--learner {name}"
    return "files of sequences" if owner is CHAIN else "files of words"


def read_templates(path: Path | None, reader: Format) -> tuple[str, ...] | None:
    """The templates of a file: CRF++'s, or one of ours a line."""
    if path is None:
        return None
    if reader.structure != "words":
        raise ValueError(f"--templates are for files of words; {reader.name} files bring their features with them")
    from structlearn.io.text import open_text

    with open_text(path) as lines:
        written = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not written:
        raise ValueError(f"{path} holds no template")
    return tuple(written)


def attributes(X: list[Any], templates: tuple[str, ...] | None, reader: Format) -> list[list[list[str]]]:
    """The names of the features of every token."""
    from structlearn.features import TextFeatures

    text = TextFeatures(templates, columns=reader.inputs)
    names = text.fit(X).get_feature_names_out()
    return [
        [names[row.indices[begin:end]].tolist() for begin, end in pairwise(row.indptr)] for row in text.transform(X)
    ]
