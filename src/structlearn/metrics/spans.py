"""How many spans (chunks, entities) were found; what a span is, see `structlearn.data.tokens.tags`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from structlearn.data.tokens.tags import Scheme, Span, spans
from structlearn.metrics._checks import paired
from structlearn.metrics.scores import Report, report


def span_scores(Y: Sequence[Sequence[str]], Y_pred: Sequence[Sequence[str]], scheme: Scheme = "conlleval") -> Report:
    """Precision, recall and F1 of spans, by type and on average; a span is correct if type, begin and end are.

    With c correct, p predicted and t true spans: precision c/p, recall c/t, F1 = 2c/(p + t); 0 where that is 0/0.

    Parameters
    ----------
    Y, Y_pred : sequences of sequences of str
        True and predicted tags.
    scheme : {"conlleval", "BIO", "IOB1", "BIOES"}
        See `spans`. The default is the rule of published results on CoNLL data, of `evaluate`, and of seqeval as it
        comes; the others are strict. The report carries it as `scheme`.

    Examples
    --------
    >>> scores = span_scores([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "B-VP", "I-VP"]])
    >>> scores.precision, scores.recall, scores.f1, scores["NP"].f1
    (0.5, 0.5, 0.5, 1.0)
    """
    by_type: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for true, found in _true_and_found(Y, Y_pred, scheme):
        for column, some in enumerate((true & found, found, true)):
            for kind, _, _ in some:
                by_type[kind][column] += 1
    types = sorted(by_type)
    return report(types, np.array([by_type[kind] for kind in types], np.int64).reshape(-1, 3), scheme)


def span_counts(
    Y: Sequence[Sequence[str]], Y_pred: Sequence[Sequence[str]], scheme: Scheme = "conlleval"
) -> npt.NDArray[np.int64]:
    """(n_sequences, 3): how many spans of each sequence are correct, predicted and true; for `bootstrap_counts`.

    Examples
    --------
    >>> span_counts([["B-NP", "O", "B-VP"], ["O"]], [["B-NP", "O", "O"], ["B-NP"]])
    array([[1, 1, 2],
           [0, 1, 0]])
    """
    both = _true_and_found(Y, Y_pred, scheme)
    return np.array([(len(true & found), len(found), len(true)) for true, found in both], np.int64)


def _true_and_found(
    Y: Sequence[Sequence[str]], Y_pred: Sequence[Sequence[str]], scheme: Scheme
) -> Iterator[tuple[set[Span], set[Span]]]:
    for i, (y, p) in enumerate(paired(Y, Y_pred)):
        yield set(spans(y, scheme, f"Y[{i}]")), set(spans(p, scheme, f"Y_pred[{i}]"))
