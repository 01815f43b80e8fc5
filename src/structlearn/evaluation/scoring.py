"""How well a fitted estimator does on data: one prediction, all scores, and how sure they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.labels import LabelSequences
from structlearn.data.tokens.sequences import Sequences
from structlearn.data.tokens.tags import Scheme
from structlearn.evaluation.judging import Judged, judge, last_step, model_of
from structlearn.evaluation.pieces import Outputs, Piece, counted, evaluation_of
from structlearn.evaluation.result import Evaluation
from structlearn.kernels.base import length
from structlearn.persistence.steps import Steps

#: Tokens that are evaluated together, of a corpus in files.
PART = 2**18


def evaluate(estimator: Any, X: Any, Y: Any, *, scheme: Scheme = "conlleval", random_state: int = 0) -> Evaluation:
    """Predicts X once and compares it with Y.

    Of label sequences and classes that are known in part, only what is known counts: a label that is one of several is
    right if the prediction is one of them, and spans are not counted.

    Labels in Y that training never saw count as wrong. Where a matrix prices mistakes, it has no price for them, and
    they cost as much as the worst of all mistakes.

    Of a corpus in files, see `structlearn.open_shards`, a part is in memory at a time, and outputs are not kept.

    Parameters
    ----------
    estimator : fitted estimator
        Or a scikit-learn pipeline that ends with one.
    X, Y : what `estimator.predict` takes, and the true outputs
    scheme : {"conlleval", "BIO", "IOB1", "BIOES"}
        How tags such as B-NP and I-NP are read as spans, see `structlearn.data.spans`.
    random_state : int
        Seed of the resampling.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Chain
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}, {"word": "sleeps"}]]
    >>> Y = [["DET", "NOUN"], ["DET", "NOUN", "VERB"]]
    >>> tagger = StructuralSVM(Chain(), C=10).fit(X, Y)
    >>> found = evaluate(tagger, X, [["DET", "NOUN"], ["DET", "NOUN", "ADJ"]])
    >>> found.accuracy.estimate, found.sequence_accuracy.estimate, found.loss.estimate
    (0.8, 0.5, 0.5)
    >>> found.predicted[1]
    ['DET', 'NOUN', 'VERB']
    """
    if isinstance(X, Sequences) and isinstance(Y, LabelSequences):
        return evaluation_of(pieces_of(estimator, X, Y, scheme=scheme), random_state=random_state)
    piece, outputs = _counted(estimator, X, Y, scheme)
    return replace(evaluation_of([piece], random_state=random_state), **outputs._asdict())


def evaluate_piece(estimator: Any, X: Any, Y: Any, *, scheme: Scheme = "conlleval") -> Piece:
    """The part of an evaluation that some of the examples make, from which `evaluation_of` finds the scores of all.

    For examples that are not in memory, or not on one machine, all at the same time. Scores and intervals are exactly
    those of `evaluate` on all of them at once.

    Parameters
    ----------
    estimator, X, Y, scheme
        As for `evaluate`; there may be no examples.
    """
    return _counted(estimator, X, Y, scheme)[0]


def pieces_of(estimator: Any, X: Sequences, Y: LabelSequences, *, scheme: Scheme = "conlleval") -> Iterator[Piece]:
    """The pieces that neighbouring sequences of a corpus make, so many that a part of its files is in memory at a time.

    Parameters
    ----------
    estimator, X, Y, scheme
        As for `evaluate`.
    """
    Y.check_lengths(X.offsets)
    begin = 0
    while begin < len(X):
        end = max(begin + 1, int(np.searchsorted(X.offsets, X.offsets[begin] + PART, "right")) - 1)
        try:
            yield evaluate_piece(estimator, X.between(begin, end), Y.between(begin, end), scheme=scheme)
        except ValueError as error:
            raise ValueError(f"of sequences {begin} to {end - 1}, {error}") from error
        begin = end


def _counted(estimator: Any, X: Any, Y: Any, scheme: Scheme) -> tuple[Piece, Outputs]:
    final = last_step(estimator)
    model = model_of(final)
    Y = Y.toarray() if sp.issparse(Y) else Y.listed() if isinstance(Y, LabelSequences) else Y
    if not length(X) and not length(Y):
        judged = Judged([], np.empty(0), np.empty(0))
    else:
        judged = judge(final, Steps(estimator.steps).transform(X) if hasattr(estimator, "steps") else X, Y)
    return counted(model, final.classes_.tolist() if model.kind != "outputs" else [], X, Y, judged, scheme)
