"""How many arcs of dependency trees were found: attachment scores, with labels and without."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn.data.dependency_trees import split_tree
from structlearn.data.examples import is_listed
from structlearn.metrics.measures import Columns, Formulas, Measures
from structlearn.metrics.resampled import quotient
from structlearn.metrics.scores import Report, ratio, report

#: Of every sentence, which tokens do not count.
Ignored = Sequence[Sequence[bool]] | None


def uas(Y: Sequence[Any], Y_pred: Sequence[Any], *, ignore: Ignored = None) -> float:
    """Unlabelled attachment score: the share of tokens whose head is right.

    Parameters
    ----------
    Y, Y_pred : lists of trees
        True and predicted ones: for each token of a sentence (head, label), or its head.
    ignore : list of lists of bool, optional
        Of each sentence, which tokens do not count; `punctuation` gives those of punctuation marks.

    Examples
    --------
    >>> true, found = [(2, "nsubj"), (0, "root"), (2, "punct")], [(2, "obj"), (0, "root"), (1, "punct")]
    >>> round(uas([true], [found]), 4), uas([true], [found], ignore=punctuation([["I", "go", "."]]))
    (0.6667, 1.0)
    """
    counts = dependency_counts(Y, Y_pred, ignore=ignore).sum(axis=0)
    return float(ratio(counts[0], counts[3]))


def las(Y: Sequence[Any], Y_pred: Sequence[Any], *, ignore: Ignored = None) -> float:
    """Labelled attachment score: the share of tokens whose head and label are right; parameters as of `uas`.

    >>> true, found = [(2, "nsubj"), (0, "root")], [(2, "obj"), (0, "root")]
    >>> las([true], [found])
    0.5
    """
    counts = dependency_counts(Y, Y_pred, ignore=ignore).sum(axis=0)
    return float(ratio(counts[1], counts[3]))


def dependency_counts(Y: Sequence[Any], Y_pred: Sequence[Any], *, ignore: Ignored = None) -> npt.NDArray[np.int64]:
    """(n_sentences, 4): tokens with the right head, with right head and label, with the right label, and all tokens.

    For `bootstrap_counts`. Trees without labels have all labels right. Parameters are those of `uas`.

    >>> dependency_counts([[(2, "nsubj"), (0, "root")]], [[(2, "obj"), (0, "root")]])
    array([[2, 1, 1, 2]])
    """
    counts = np.zeros((len(Y), 4), np.int64)
    for i, pair in enumerate(_pairs(Y, Y_pred, ignore)):
        heads, labels = pair.right()
        counts[i] = heads.sum(), (heads & labels).sum(), labels.sum(), len(heads)
    return counts


def correct_dependency_trees(
    Y: Sequence[Any], Y_pred: Sequence[Any], *, labelled: bool = True, ignore: Ignored = None
) -> npt.NDArray[np.bool_]:
    """Whether all heads of each sentence are right, and with `labelled` all labels; for `mcnemar`.

    >>> correct_dependency_trees([[2, 0], [0, 1]], [[2, 0], [2, 0]])
    array([ True, False])
    """
    counts = dependency_counts(Y, Y_pred, ignore=ignore)
    return np.asarray(counts[:, 1 if labelled else 0] == counts[:, 3])


def dependency_report(Y: Sequence[Any], Y_pred: Sequence[Any], *, ignore: Ignored = None) -> Report:
    """Precision, recall and F1 of arcs by their labels; correct if head and label are. Over all, F1 is LAS.

    >>> report = dependency_report([[(2, "nsubj"), (0, "root")]], [[(2, "obj"), (0, "root")]])
    >>> report["root"].f1, report["nsubj"].recall, report.f1
    (1.0, 0.0, 0.5)
    """
    correct: Counter[Any] = Counter()
    true: Counter[Any] = Counter()
    found: Counter[Any] = Counter()
    for i, pair in enumerate(_pairs(Y, Y_pred, ignore)):
        if pair.labels is None or pair.found_labels is None:
            raise ValueError(f"Y[{i}] or Y_pred[{i}] has no labels; a report by label needs them")
        heads, labels = pair.right()
        true.update(pair.labels)
        found.update(pair.found_labels)
        correct.update(label for label, right in zip(pair.labels, (heads & labels).tolist(), strict=True) if right)
    names = sorted({*true, *found}, key=str)
    rows = [(correct[name], found[name], true[name]) for name in names]
    return report(names, np.array(rows, np.int64).reshape(-1, 3))


def dependency_measures(Y: Sequence[Any], Y_pred: Sequence[Any], X: Sequence[Any] | None = None) -> Measures:
    """Attachment scores of trees; with the sentences X, also without punctuation.

    las, uas and label_accuracy are shares of tokens whose head and label, head, or label is right; correct_roots of
    sentences of which exactly the right tokens have the root as head; unlabelled_trees of sentences without a wrong
    head. Sentences without any mistake are `right`, whose share `evaluate` calls accuracy. Where the truth has no
    labels, uas comes first, and there is nothing about labels.

    >>> true, found = [(2, "nsubj"), (0, "root"), (2, "punct")], [(2, "obj"), (0, "root"), (1, "punct")]
    >>> scores = dependency_measures([true], [found], [["I", "go", "."]]).scores()
    >>> {name: round(score, 4) for name, score in scores.items()} # doctest: +NORMALIZE_WHITESPACE
    {'las': 0.3333, 'uas': 0.6667, 'label_accuracy': 0.6667, 'las_without_punctuation': 0.5,
     'uas_without_punctuation': 1.0, 'correct_roots': 1.0, 'unlabelled_trees': 0.0}
    """
    counts = dependency_counts(Y, Y_pred)
    pairs = _pairs(Y, Y_pred, None)
    roots = [_roots(pair.heads) == _roots(pair.found_heads) for pair in pairs]
    whole = counts[:, :2] == counts[:, 3:]
    blocks = [counts, np.column_stack([roots, whole, np.ones(len(Y), bool)])]
    columns: list[Hashable] = list(range(8))
    if X is not None:
        blocks.append(dependency_counts(Y, Y_pred, ignore=punctuation(X)))
        columns += range(8, 12)
    labelled = np.array([pair.labels is not None for pair in pairs], bool)
    if labelled.any():
        blocks.append(labelled[:, None])
        columns.append(_LABELLED)
    return Measures(np.column_stack(blocks), _formulas, whole[:, 1], columns)


#: A column of sentences whose true tree has labels.
_LABELLED = "labelled"


def _formulas(columns: Columns) -> Formulas:
    formulas = {"las": quotient(1, 3), "uas": quotient(0, 3), "label_accuracy": quotient(2, 3)}
    if 8 in columns:
        formulas |= {"las_without_punctuation": quotient(9, 11), "uas_without_punctuation": quotient(8, 11)}
    formulas |= {"correct_roots": quotient(4, 7), "unlabelled_trees": quotient(5, 7)}
    about_labels = ("las", "label_accuracy", "las_without_punctuation", "unlabelled_trees")
    return {name: formula for name, formula in formulas.items() if _LABELLED in columns or name not in about_labels}


def punctuation(X: Sequence[Sequence[Any]]) -> list[list[bool]]:
    """Of each sentence, which tokens are punctuation: all characters of the word are, by their Unicode category P.

    A token is a word, or a tuple whose first entry is the word. This is the rule of the CoNLL shared tasks of 2006 and
    2007; currency signs and other symbols are no punctuation.

    >>> punctuation([[("Well", "INTJ"), ("...", "PUNCT"), ("$", "SYM")]])
    [[False, True, False]]
    """
    return [[_is_punctuation(token[0] if isinstance(token, (tuple, list)) else token) for token in x] for x in X]


@lru_cache(65536)
def _is_punctuation(word: Any) -> bool:
    text = str(word)
    return bool(text) and all(unicodedata.category(character).startswith("P") for character in text)


class _Pair(NamedTuple):
    """The tokens of a sentence that count: true and predicted heads and labels."""

    heads: list[Any]
    labels: list[Any] | None
    found_heads: list[Any]
    found_labels: list[Any] | None

    def without(self, ignored: Sequence[bool]) -> _Pair:
        """The tokens that are not ignored."""

        def kept(values: list[Any]) -> list[Any]:
            return [value for value, left_out in zip(values, ignored, strict=True) if not left_out]

        labels = (None if names is None else kept(names) for names in (self.labels, self.found_labels))
        return _Pair(kept(self.heads), next(labels), kept(self.found_heads), next(labels))

    def right(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Whether the head of each token is right, and whether its label is."""
        heads = [a == b for a, b in zip(self.heads, self.found_heads, strict=True)]
        names = [None] * len(heads)
        labels = [a == b for a, b in zip(self.labels or names, self.found_labels or names, strict=True)]
        return np.array(heads, bool), np.array(labels, bool)


def _pairs(Y: Sequence[Any], Y_pred: Sequence[Any], ignore: Ignored) -> list[_Pair]:
    if len(Y) != len(Y_pred):
        raise ValueError(f"Y has {len(Y)} trees but Y_pred has {len(Y_pred)}")
    if ignore is not None and len(ignore) != len(Y):
        raise ValueError(f"Y has {len(Y)} trees but ignore is about {len(ignore)} sentences")
    pairs = []
    for i, (y, p) in enumerate(zip(Y, Y_pred, strict=True)):
        if is_listed(y) and any(entry is None or (isinstance(entry, (tuple, list)) and None in entry) for entry in y):
            raise ValueError(f"Y[{i}] is known in part; scores need whole trees")
        pair = _Pair(*split_tree(y, f"Y[{i}]"), *split_tree(p, f"Y_pred[{i}]"))
        if len(pair.heads) != len(pair.found_heads):
            raise ValueError(f"Y[{i}] has {len(pair.heads)} tokens but Y_pred[{i}] has {len(pair.found_heads)}")
        if ignore is not None:
            if len(ignore[i]) != len(pair.heads):
                raise ValueError(f"Y[{i}] has {len(pair.heads)} tokens but ignore[{i}] has {len(ignore[i])}")
            pair = pair.without(ignore[i])
        pairs.append(pair)
    return pairs


def _roots(heads: Sequence[Any]) -> list[int]:
    return [t for t, head in enumerate(heads, 1) if head == 0]
