"""Probabilities, the k best outputs and samples, as JSON lines or as a further column."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from structlearn.annotation.examples import as_labels, batches, places
from structlearn.cli.pipelines import features
from structlearn.data.biosequences.matches import to_gapped
from structlearn.data.trees import brackets, format_tree
from structlearn.estimators.abilities import lacks
from structlearn.io.columns import Columns
from structlearn.io.format import Example, Reader
from structlearn.io.json_values import listed
from structlearn.io.jsonl import JsonLines
from structlearn.io.node_link import NodeLink
from structlearn.io.word_alignments import write_links
from structlearn.models.base import Ability
from structlearn.persistence.model_file import steps_of

#: Gives the texts of some examples with their predictions.
Writer = Callable[[Sequence[Example]], Iterator[str]]

#: Digits after the point of what is written.
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Wanted:
    """What shall be told of each example beside its prediction."""

    probabilities: bool = False
    k_best: int | None = None
    samples: int | None = None
    seed: int = 0

    def check(self, estimator: Any) -> None:
        """Refuses, before anything is read, what the estimator cannot tell."""
        _, last = steps_of(estimator)
        if self.probabilities:
            _check_ability(last, "--probabilities", "predict_marginals", "sums")
        if self.k_best is not None:
            _check_ability(last, "--k-best", "k_best", "k_best")
        if self.samples is not None:
            _check_ability(last, "--samples", "sample", "samples")


def _check_ability(last: Any, option: str, method: str, ability: Ability) -> None:
    reason = None
    if hasattr(last, "model"):
        reason = lacks(last, ability)
    elif hasattr(last, "outputs_"):
        reason = f"{type(last).__name__} finds the one best output; train with --learner svm or crf"
    elif ability == "samples":
        reason = f"{type(last).__name__} draws sequences with their labels, and not labels of given ones"
    if reason is None and not hasattr(last, method):
        reason = f"{type(last).__name__} has scores and no probabilities; train with --learner crf"
    if reason is not None:
        raise ValueError(f"{option} is not possible: {reason}")


def json_lines(estimator: Any, reader: Reader, wanted: Wanted) -> Writer:
    """A function that gives a line for each example, with its input and all that is wanted."""
    _, last = steps_of(estimator)
    random = np.random.RandomState(wanted.seed)

    def shown(examples: Sequence[Example], outputs: Any) -> list[Any]:
        written = zip(examples, as_labels(estimator, outputs), strict=True)
        return [_plain(reader, example, y) for example, y in written]

    def texts(batch: Sequence[Example]) -> Iterator[str]:
        X = features(estimator, [example.x for example in batch])
        outputs = last.predict(X)
        found = [{"predicted": y} for y in shown(batch, outputs)]
        if wanted.probabilities:
            logs = _log_probabilities(last, X, outputs)
            parts = _parts(reader, last, X, outputs)
            for told, log, part in zip(found, logs, parts, strict=True):
                told |= {"log_probability": _rounded(log), "probabilities": part}
        if wanted.k_best is not None:
            name = "log_probability" if hasattr(last, "predict_log_proba") else "score"
            for told, example, best in zip(found, batch, last.k_best(X, wanted.k_best), strict=True):
                written = zip(shown([example] * len(best), [y for y, _ in best]), best, strict=True)
                told["k_best"] = [{"predicted": y, name: _rounded(score)} for y, (_, score) in written]
        if wanted.samples is not None:
            for told, example, drawn in zip(found, batch, last.sample(X, wanted.samples, random), strict=True):
                told["samples"] = shown([example] * len(drawn), drawn)
        for told, example in zip(found, batch, strict=True):
            line = {"file": example.file, "line": example.line} | _input(reader, example) | told
            yield json.dumps(line, ensure_ascii=False) + "\n"

    return texts


def _log_probabilities(last: Any, X: Any, outputs: Any) -> Any:
    """log P(y | x) of some outputs."""
    if hasattr(last, "predict_log_proba"):
        return last.predict_log_proba(X, outputs)
    return last.log_proba(X, outputs) - last.log_likelihood(X)


def with_probability(estimator: Any, reader: Reader, examples: Iterator[Example]) -> Iterator[tuple[Example, Any]]:
    """Examples of column files with their predictions written, and the probabilities of these to be written beside."""
    if not isinstance(reader, Columns):
        raise ValueError(f"--probabilities has no place in {reader.name} files; with --json it is there")
    _, last = steps_of(estimator)
    for batch in batches(examples):
        with places(batch):
            X = features(estimator, [example.x for example in batch])
            outputs = last.predict(X)
            parts = _parts(reader, last, X, outputs)
        for example, y, told in zip(batch, as_labels(estimator, outputs), parts, strict=True):
            text = reader.annotate(example, y)
            beside = [f"{_of(label, by_label):.{DIGITS}f}" for by_label, label in zip(told, y, strict=True)]
            yield replace(example, source=tuple(text.removesuffix("\n").split("\n"))), beside


def _of(label: Any, by_label: dict[str, float]) -> float:
    """The probability of a label, or of the segment's label where it is a tag of one."""
    return by_label[label] if label in by_label else by_label[label.partition("-")[2] or "_"]


def _parts(reader: Reader, last: Any, X: Any, outputs: Any) -> Iterator[Any]:
    """The probabilities of what outputs are made of.

    Of sequences, networks, sets and single examples all labels; of trees, dependency trees and alignments the phrases,
    arcs and matches that are predicted.
    """
    marginals = last.predict_marginals(X)
    if reader.structure == "tree":
        places = {label: k for k, label in enumerate(last.spec_.labels)}
        for tree, P in zip(outputs, marginals, strict=True):
            yield [[label, i, j, _rounded(P[i, j, places[label]])] for label, i, j in brackets(tree)]
    elif reader.structure == "dependencies":
        places = {label: k for k, label in enumerate(last.spec_.labels)}
        for tree, P in zip(outputs, marginals, strict=True):
            arcs = ((*entry, places[entry[1]]) if isinstance(entry, tuple) else (entry,) for entry in tree)
            yield [[*arc[:2], _rounded(P[arc[0], token, *arc[2:]])] for token, arc in enumerate(arcs, 1)]
    elif reader.structure == "pair":
        for matches, P in zip(outputs, marginals, strict=True):
            yield [[i, j, _rounded(P[i, j])] for i, j in matches]
    else:
        labels = [str(label) for label in last.classes_]
        for P in marginals:
            rows = [dict(zip(labels, map(_rounded, row), strict=True)) for row in np.atleast_2d(P).tolist()]
            yield rows[0] if reader.structure in ("row", "set") else rows


def _plain(reader: Reader, example: Example, y: Any) -> Any:
    """An output as JSON holds it: labels as they are, sets as lists, trees in brackets, alignments as two rows."""
    if reader.structure == "tree":
        return format_tree(y)
    if reader.structure == "pair":
        s, t = example.x
        return list(to_gapped(s, t, y))
    return y.tolist() if hasattr(y, "tolist") else listed(y)


def _input(reader: Reader, example: Example) -> dict[str, Any]:
    """Input and truth as JSON lines have them, which can be read again; the names of two sequences."""
    if reader.structure in ("words", "attributes", "row", "set", "dependencies", "network"):
        content: Any = reader.structure
        form = NodeLink() if content == "network" else JsonLines(content)
        found: dict[str, Any] = json.loads(form.write(example.x, example.y))
        return found
    if reader.structure == "translation":
        links = {} if example.y is None else {"links": write_links(example.y)}
        return {"source": list(example.x.source), "target": list(example.x.target)} | links
    return {"names": [sequence.header for sequence in example.x]} if reader.structure == "pair" else {}


def _rounded(number: Any) -> float | None:
    """A number that JSON can hold; −∞, the score of what is impossible, is null."""
    # Rounding may make −0.
    return round(float(number), DIGITS) + 0.0 if math.isfinite(number) else None
