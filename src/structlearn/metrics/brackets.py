"""How many brackets of parse trees were found, as evalb counts them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.trees import ROOTS, Bracket, Tree, as_tree, leaves, nodes
from structlearn.metrics.measures import Columns, Formulas, Measures
from structlearn.metrics.resampled import quotient
from structlearn.metrics.scores import Report, f1, report

#: Tags of the Penn Treebank's punctuation, which evalb's usual parameters delete.
PUNCTUATION = (",", ":", "``", "''", ".")


def bracket_scores(
    Y: Sequence[Any],
    Y_pred: Sequence[Any],
    *,
    labelled: bool = True,
    delete: Collection[str] = (),
    equal: Mapping[str, str] | None = None,
) -> Report:
    """Precision, recall and F1 of brackets, by label and over all; correct if label, begin and end are.

    A tree's brackets are its nodes but for leaves and roots named "", ROOT, TOP or S1; chains of only children make
    several on the same words. With c correct, p predicted and t true ones: precision c/p, recall c/t, F1 = 2c/(p + t).
    A sentence that got no tree has no predicted brackets but counts in recall, where evalb would leave it out.

    Parameters
    ----------
    Y, Y_pred : sequences of trees
        True and predicted ones: brackets, nested tuples or nltk trees, over the same number of tokens.
    labelled : bool
        Whether labels must agree; otherwise only begin and end.
    delete : collection of str
        Tags of tokens that are taken out of both trees first. evalb with its usual parameters has `PUNCTUATION`, and
        `equal={"PRT": "ADVP"}`.
    equal : mapping, optional
        Labels that count as another.

    Examples
    --------
    >>> true = "(S (NP (PRP it)) (VP (VBZ has) (NP (NNS dogs))))"
    >>> scores = bracket_scores([true], ["(S (NP (PRP it)) (NP (VBZ has) (NNS dogs)))"])
    >>> round(scores.precision, 4), scores.recall, scores["NP"].f1
    (0.6667, 0.5, 0.5)
    """
    by_label: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for true, found in _true_and_found(Y, Y_pred, labelled, delete, equal):
        for column, some in enumerate((true & found, found, true)):
            for (label, _, _), count in some.items():
                by_label[label][column] += count
    labels = sorted(by_label)
    return report(labels, np.array([by_label[label] for label in labels], np.int64).reshape(-1, 3))


def bracket_counts(
    Y: Sequence[Any],
    Y_pred: Sequence[Any],
    *,
    labelled: bool = True,
    delete: Collection[str] = (),
    equal: Mapping[str, str] | None = None,
) -> npt.NDArray[np.int64]:
    """(n_sentences, 3): how many brackets of each sentence are correct, predicted and true; for `bootstrap_counts`.

    Parameters are those of `bracket_scores`.

    >>> bracket_counts(["(S (NP (PRP it)) (VP (VBZ is)))"], ["(S (NP (PRP it)) (NP (VBZ is)))"])
    array([[2, 3, 3]])
    """
    both = _true_and_found(Y, Y_pred, labelled, delete, equal)
    return np.array([((true & found).total(), found.total(), true.total()) for true, found in both], np.int64).reshape(
        -1, 3
    )


def correct_trees(
    Y: Sequence[Any], Y_pred: Sequence[Any], *, delete: Collection[str] = (), equal: Mapping[str, str] | None = None
) -> npt.NDArray[np.bool_]:
    """Whether all brackets of each sentence are right, evalb's complete match; for `mcnemar`.

    >>> true = "(S (NP (PRP it)) (VP (VBZ is)))"
    >>> correct_trees([true, true], [true, "(S (PRP it) (VBZ is))"])
    array([ True, False])
    """
    return np.array([true == found for true, found in _true_and_found(Y, Y_pred, True, delete, equal)], np.bool_)


def crossing_brackets(
    Y: Sequence[Any], Y_pred: Sequence[Any], *, delete: Collection[str] = ()
) -> npt.NDArray[np.int64]:
    """How many predicted brackets of each sentence overlap with a true one without one being within the other.

    >>> crossing_brackets(["(S (NP (DT a) (NN b)) (VB c))"], ["(S (DT a) (VP (NN b) (VB c)))"])
    array([1])
    """
    counts = []
    for true, found in _true_and_found(Y, Y_pred, False, delete, None):
        crossing = 0
        for (_, begin, end), count in found.items():
            if any(b < begin < e < end or begin < b < end < e for _, b, e in true):
                crossing += count
        counts.append(crossing)
    return np.array(counts, np.int64)


def bracket_measures(Y: Sequence[Any], Y_pred: Sequence[Any]) -> Measures:
    """F1, recall and precision of brackets, with labels and without, how many cross, and how many sentences have any.

    >>> true, found = "(S (NP (DT a) (NN b)) (VB c))", "(S (DT a) (VP (NN b) (VB c)))"
    >>> bracket_measures([true, true], [true, found]).scores()["f1"]
    0.75
    """
    labelled = bracket_counts(Y, Y_pred)
    counts = np.column_stack(
        [
            labelled,
            bracket_counts(Y, Y_pred, labelled=False),
            crossing_brackets(Y, Y_pred),
            labelled[:, 1] > 0,
            np.ones(len(Y), np.int64),
        ]
    )
    return Measures(counts, _formulas, correct_trees(Y, Y_pred))


def _formulas(columns: Columns) -> Formulas:
    return {
        "f1": lambda sums: f1(sums[..., :3]),
        "precision": quotient(0, 1),
        "recall": quotient(0, 2),
        "unlabelled_f1": lambda sums: f1(sums[..., 3:6]),
        "unlabelled_precision": quotient(3, 4),
        "unlabelled_recall": quotient(3, 5),
        "crossing_brackets": quotient(6, 8),
        "parsed": quotient(7, 8),
    }


def _true_and_found(
    Y: Sequence[Any], Y_pred: Sequence[Any], labelled: bool, delete: Collection[str], equal: Mapping[str, str] | None
) -> Iterator[tuple[Counter[Bracket], Counter[Bracket]]]:
    if len(Y) != len(Y_pred):
        raise ValueError(f"Y has {len(Y)} trees but Y_pred has {len(Y_pred)}")
    for i, (y, p) in enumerate(zip(Y, Y_pred, strict=True)):
        true, found = as_tree(y, f"Y[{i}]"), as_tree(p, f"Y_pred[{i}]")
        n_true, n_found = len(leaves(true)), len(leaves(found))
        if n_true != n_found:
            raise ValueError(f"Y[{i}] has {n_true} leaves but Y_pred[{i}] has {n_found}")
        # The truth says which tokens are deleted, so that both trees keep the same.
        kept = [tag not in delete for tag, _ in leaves(true)]
        yield _counted(true, kept, labelled, equal or {}), _counted(found, kept, labelled, equal or {})


def _counted(tree: Tree, kept: list[bool], labelled: bool, equal: Mapping[str, str]) -> Counter[Bracket]:
    place = np.concatenate([[0], np.cumsum(kept)]).tolist()
    found: Counter[Bracket] = Counter()
    for label, begin, end in nodes(tree):
        if label not in ROOTS and place[begin] < place[end]:
            found[equal.get(label, label) if labelled else "", place[begin], place[end]] += 1
    return found
