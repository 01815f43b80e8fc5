"""Folders that `structlearn prepare` wrote, for `train` and `evaluate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structlearn.cli.choices import Choice, chosen
from structlearn.cli.options import flag
from structlearn.cli.workers import are_asked, asked_for

if TYPE_CHECKING:
    from structlearn.persistence.model_file import Saved
    from structlearn.shards import Shards

#: What learns from features of tokens that are in files.
_LEARNERS = ("svm", "crf", "perceptron")


def opened(files: Sequence[str], **given: Any) -> Shards | None:
    """The corpus that a command was given instead of files; None if it was given files.

    How files are read, or what features they get (`given`), is no longer asked then.
    """
    from structlearn.shards.manifest import is_corpus

    if not any(is_corpus(Path(file)) for file in files):
        return None
    if len(files) > 1:
        raise ValueError(f"{files[0]} and others: of folders that prepare wrote, train takes one alone")
    for name, value in given.items():
        if value:
            raise ValueError(f"{flag(name)} has no effect here: {files[0]} holds features that prepare has made")
    from structlearn.shards import open_shards

    corpus = open_shards(files[0])
    if corpus.features is None or corpus.reader is None:
        raise ValueError(
            f"{files[0]} was written from Python and not by prepare; there fit and evaluate take corpus.X and corpus.Y"
        )
    return corpus


def choice_for(corpus: Shards, learner: str | None, model: str | None) -> Choice:
    """What learns from it, refused if that needs more than features of tokens."""
    choice = chosen("words", corpus.reader.described, learner, model)
    if choice.model != "chain" or choice.learner not in _LEARNERS:
        names = ", ".join(_LEARNERS)
        raise ValueError(f"{corpus.path} is for --model chain with one of --learner {names}; others learn from files")
    return choice


def build_for(corpus: Shards, choice: Choice, options: Mapping[str, Any]) -> Any:
    """Steps that begin with what made the features, and end with a learner."""
    from structlearn.cli.pipelines import build, check_effects, in_terms_of_the_data

    reader = corpus.reader
    for name in ("min_count", "n_hashed"):
        if name in options:
            raise ValueError(f"{flag(name)} has no effect here: {corpus.path} holds features that prepare has made")
    check_effects(options, reader, [choice])
    built = build(reader, choice, in_terms_of_the_data(reader, choice, [], [list(corpus.classes)], dict(options)))
    built.steps[0] = (built.steps[0][0], corpus.features)
    return built


def check_learnt_from(corpus: Shards, saved: Saved) -> None:
    """Refuses a model that gives words other features than the corpus has, or that needs more than these."""
    from structlearn.evaluation import kind_of
    from structlearn.features import TextFeatures
    from structlearn.persistence.model_file import steps_of

    steps, last = steps_of(saved.fitted)
    if not hasattr(last, "w_") or kind_of(last) != "sequences":
        raise ValueError(
            f"{corpus.path} is for models that label tokens by weights of their features; {saved.path} takes files"
        )
    makers = [*(step for _, step in steps[:-1]), corpus.features]
    digests = {each.digest() if isinstance(each, TextFeatures) else id(each) for each in makers}
    if len(makers) != 2 or len(digests) != 1:
        raise ValueError(
            f"{saved.path} has other features than {corpus.path}; evaluate the files that this was made of, or prepare "
            f"them with --features {saved.path}"
        )


@contextmanager
def on_workers(corpus: Shards, n_workers: int | None, address: str | None) -> Iterator[tuple[Any, Any]]:
    """The corpus as `fit` takes it: mapped here, or in parts on workers of this machine or of a cluster."""
    if not are_asked(n_workers, address):
        yield corpus.X, corpus.Y
        return
    from structlearn.distributed import distribute

    with asked_for(n_workers, address) as client:
        parts = distribute(client, corpus)
        yield parts.X, parts.Y
