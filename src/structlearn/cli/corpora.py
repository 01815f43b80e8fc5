"""Folders that `structlearn prepare` wrote, for `train` and `evaluate`, and files that workers read, for `train`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structlearn.cli import data, terminal
from structlearn.cli.choices import Choice, chosen
from structlearn.cli.components import FROM_FILES
from structlearn.cli.options import flag
from structlearn.cli.workers import are_asked, asked_for

if TYPE_CHECKING:
    from structlearn.features import TextFeatures
    from structlearn.io.format import Reader
    from structlearn.persistence.model_file import Saved
    from structlearn.shards import Shards

#: What learns from features of tokens that are in files.
_LEARNERS = ("svm", "crf", "perceptron")
#: What learns on workers.
_LEARNERS_ELSEWHERE = ("svm", "crf")
#: How features are counted.
COUNTING = ("min_count", "n_hashed")


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


def elsewhere(
    files: Sequence[str],
    wanted: Reader | str | None,
    encoding: str,
    learner: str | None,
    model: str | None,
    templates: Path | None,
    options: Mapping[str, Any],
    *,
    show: bool,
) -> Elsewhere:
    """Files that workers will read.

    Words are counted here, in one pass and bounded memory, as `prepare` does it; hashed features need no such pass.
    """
    from structlearn.cli.pipelines import check_effects, read_templates
    from structlearn.cli.prepare import COUNTING_MEMORY, chunks, new_features
    from structlearn.data.labels import observed_classes
    from structlearn.io.paths import matching

    if "-" in files:
        raise ValueError("--workers and --cluster read files, not standard input")
    listed = matching(files)
    reader, _ = data.stream(listed[0], wanted, encoding)
    if reader.structure not in ("words", "attributes"):
        raise ValueError(
            f"--workers and --cluster train on sequences of words or attributes; {listed[0]} is taken for {reader.name}"
        )
    found = Elsewhere(listed, reader, encoding, None, ())
    # Before all the files are read.
    check_effects(options, reader, [choice_for(found, learner, model)])
    features = None
    if reader.structure == "words":
        features = new_features(reader, templates, options.get("min_count", 1), options.get("n_hashed"))
    else:
        read_templates(templates, reader)
    labels: set[Any] = set()

    def read_here() -> Iterator[list[Any]]:
        for X, Y in chunks(listed, wanted, encoding, reader, terminal.Progress("counting", show)):
            labels.update(label for y in Y for label in y)
            yield X

    if features is not None:
        features.fit_chunks(read_here(), max_memory=options.get("max_memory") or COUNTING_MEMORY)
    if not labels and options.keys() & {*FROM_FILES, "negative"}:
        # What these say is about labels.
        for _ in read_here():
            pass
    return replace(found, features=features, classes=observed_classes(labels))


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Files that workers read, and what was learnt of them before."""

    files: list[str]
    reader: Reader
    encoding: str
    features: TextFeatures | None
    classes: Sequence[Any]

    @property
    def path(self) -> str:
        return self.files[0] + (", …" if len(self.files) > 1 else "")


def choice_for(corpus: Shards | Elsewhere, learner: str | None, model: str | None) -> Choice:
    """What learns from it, refused if that needs more than features of tokens."""
    choice = chosen(corpus.reader.structure, corpus.reader.described, learner, model)
    learners = _LEARNERS_ELSEWHERE if isinstance(corpus, Elsewhere) else _LEARNERS
    if choice.model != "chain" or choice.learner not in learners:
        others = "on one machine" if isinstance(corpus, Elsewhere) else "from files"
        raise ValueError(
            f"{corpus.path} is for --model chain with one of --learner {', '.join(learners)}; others learn {others}"
        )
    return choice


def build_for(corpus: Shards | Elsewhere, choice: Choice, options: Mapping[str, Any]) -> Any:
    """Steps that begin with what made the features, and end with a learner."""
    from structlearn.cli.pipelines import build, check_effects, in_terms_of_the_data
    from structlearn.shards import Shards

    reader = corpus.reader
    for name in COUNTING if isinstance(corpus, Shards) else ():
        if name in options:
            raise ValueError(f"{flag(name)} has no effect here: {corpus.path} holds features that prepare has made")
    check_effects(options, reader, [choice])
    built = build(reader, choice, in_terms_of_the_data(reader, choice, [], [list(corpus.classes)], dict(options)))
    if corpus.features is not None:
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
def on_workers(corpus: Shards | Elsewhere, n_workers: int | None, address: str | None) -> Iterator[tuple[Any, Any]]:
    """The corpus as `fit` takes it: mapped here, or in parts on workers of this machine or of a cluster."""
    if not isinstance(corpus, Elsewhere) and not are_asked(n_workers, address):
        yield corpus.X, corpus.Y
        return
    from structlearn.distributed import distribute

    with asked_for(n_workers, address) as client:
        if isinstance(corpus, Elsewhere):
            how: Any = {"format": corpus.reader, "encoding": corpus.encoding, "features": corpus.features}
            parts = distribute(client, corpus.files, **how)
        else:
            parts = distribute(client, corpus)
        yield parts.X, parts.Y
