"""From a file format and options to an estimator that learns from such files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structlearn.cli.options import ALIGNMENT, CHAIN, FEATURES, GRAMMAR, LEARNERS, flag, owners_of, when

if TYPE_CHECKING:
    from structlearn.features import TextFeatures
    from structlearn.features.crfpp import CrfppTemplates
    from structlearn.io.format import Format

    Templates = CrfppTemplates | tuple[str, ...]

#: Whose options have an effect on what kind of examples.
USERS = {"words": (CHAIN, FEATURES), "attributes": (CHAIN,), "row": (), "tree": (GRAMMAR,), "pair": (ALIGNMENT,)}


def build(
    reader: Format, learner: str, options: dict[str, Any], templates: Templates | None = None, *, verbose: int = 0
) -> Any:
    """An estimator for the examples of a format, or a pipeline that ends with one.

    Sequences of words get features by templates, sequences of attributes are learnt as they are, single rows of
    attributes are classified, trees give a grammar, pairs of sequences are aligned.
    """
    from sklearn.pipeline import make_pipeline

    import structlearn
    from structlearn.features.crfpp import CrfppTemplates
    from structlearn.models import Alignment, Chain, Grammar, Multiclass

    owner = LEARNERS[learner]
    used = [owner, *USERS[reader.structure]]
    for name in options:
        if not any(name in user.parameters for user in used):
            needed = " or ".join(map(when, owners_of(name)))
            raise ValueError(f"{flag(name)} has no effect here: it is for {needed}")

    def given(user: Any) -> dict[str, Any]:
        return {name: value for name, value in options.items() if name in user.parameters}

    if reader.structure == "row":
        model: Any = Multiclass()
    elif reader.structure == "tree":
        model = Grammar(**given(GRAMMAR))
    elif reader.structure == "pair":
        model = Alignment(**given(ALIGNMENT))
    elif isinstance(templates, CrfppTemplates):
        model = templates.chain(**{"pair_features": False} | given(CHAIN))
    else:
        model = Chain(**given(CHAIN))
    estimator = getattr(structlearn, owner.name)(model, verbose=verbose, **given(owner))
    if reader.structure in ("attributes", "tree", "pair"):
        return estimator
    if reader.structure == "row":
        from sklearn.feature_extraction import DictVectorizer

        return make_pipeline(DictVectorizer(), estimator)
    return make_pipeline(_features(templates, reader, given(FEATURES)), estimator)


def with_alphabet(reader: Format, X: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options, with the letters of all pairs as the alphabet: a part of the pairs may lack some."""
    if reader.structure != "pair" or "alphabet" in options:
        return options
    return options | {"alphabet": "".join(sorted(set().union(*(sequence for x in X for sequence in x))))}


def _features(templates: Templates | None, reader: Format, options: dict[str, Any]) -> TextFeatures:
    from structlearn.features import TextFeatures
    from structlearn.features.crfpp import CrfppTemplates

    if isinstance(templates, CrfppTemplates):
        return templates.features(**options)
    return TextFeatures(templates, columns=reader.inputs, **options)


def read_templates(path: Path | None, reader: Format) -> Templates | None:
    """The templates of a file: CRF++'s, or one of ours a line."""
    if path is None:
        return None
    if reader.structure != "words":
        raise ValueError(f"--templates are for files of words; {reader.name} files bring their features with them")
    from structlearn.features.crfpp import read_crfpp_templates
    from structlearn.io.text import open_text

    with open_text(path) as lines:
        written = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not written:
        raise ValueError(f"{path} holds no template")
    if any("%x[" in line for line in written) or "B" in written:
        return read_crfpp_templates(path, reader.inputs)
    return tuple(written)


def fit_features(estimator: Any, X: Any, templates: Templates | None) -> Any:
    """Fits the steps of a pipeline before the estimator, and gives X as they make it."""
    from structlearn.features.crfpp import CrfppTemplates
    from structlearn.io.model_file import steps_of

    steps, last = steps_of(estimator)
    for _, step in steps[:-1]:
        X = step.fit_transform(X)
    if isinstance(templates, CrfppTemplates) and templates.pair_templates:
        # Which columns score pairs of labels is known only now.
        last.set_params(model__pair_features=templates.pair_columns(steps[0][1]))
    return X


def attributes(X: list[Any], templates: Templates | None, reader: Format) -> list[list[list[str]]]:
    """The names of the features of every token."""
    text = _features(templates, reader, {})
    names = text.fit(X).get_feature_names_out()
    return [
        [names[row.indices[begin:end]].tolist() for begin, end in pairwise(row.indptr)] for row in text.transform(X)
    ]
