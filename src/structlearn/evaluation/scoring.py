"""How well a fitted estimator does on data: one prediction, all scores, and how sure they are."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.contract import check_is_fitted
from structlearn.data.arrays import FloatArray
from structlearn.data.examples import same_output
from structlearn.data.labels import LabelCodes, LabelSequences, plain
from structlearn.data.ragged import reduced
from structlearn.data.tokens.segments import checked_segments
from structlearn.data.tokens.tags import Scheme, are_tags
from structlearn.estimators.generative.hidden_markov import HiddenMarkov
from structlearn.evaluation.label_counts import (
    in_order,
    known_in_part,
    known_only,
    label_codes,
    label_counts,
    span_counts,
    token_labels,
)
from structlearn.evaluation.result import BUILT_IN, Evaluation
from structlearn.metrics import Confusion, Measures
from structlearn.metrics.resampled import Formula, ResampledSums, averages, quotient
from structlearn.models.base import Kind, Model
from structlearn.models.chain.chain import Chain
from structlearn.persistence.steps import Steps

if TYPE_CHECKING:
    from structlearn.estimators.vector_valued.base import VectorPredictor
    from structlearn.outputs import CodedOutputs


def evaluate(estimator: Any, X: Any, Y: Any, *, scheme: Scheme = "conlleval", random_state: int = 0) -> Evaluation:
    """Predicts X once and compares it with Y.

    Of label sequences and classes that are known in part, only what is known counts: a label that is one of several is
    right if the prediction is one of them, and spans are not counted.

    Labels in Y that training never saw count as wrong. Where a matrix prices mistakes, it has no price for them, and
    they cost as much as the worst of all mistakes.

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
    final = last_step(estimator)
    Y = Y.toarray() if sp.issparse(Y) else Y.listed() if isinstance(Y, LabelSequences) else Y
    inputs = Steps(estimator.steps).transform(X) if hasattr(estimator, "steps") else X
    model = model_of(final)
    kind = model.kind
    abilities = model.abilities if hasattr(final, "model_") else ()
    partial = "partial" in abilities and kind in ("sequences", "examples") and known_in_part(kind, Y)
    judged = _judged_in_part if partial else _judge_of(final)
    predicted, losses, margins = judged(final, inputs, Y)
    guesses = token_labels(kind, predicted)
    truths, guesses = known_only(kind, Y, guesses) if partial else (token_labels(kind, Y), guesses)
    measures = _measures(model, X, Y, predicted)
    if measures is None or measures.right is None:
        equal = same_output if kind == "outputs" else operator.eq
        right = np.array([equal(y, p) for y, p in zip(truths, guesses, strict=True)], bool)
    else:
        right = np.asarray(measures.right, bool)
    lengths = np.array([len(y) for y in truths]) if kind != "outputs" else np.ones(len(truths), np.int64)
    columns = [np.ones(len(losses)), losses, right, lengths]
    labels: tuple[Any, ...] = ()
    confusion = None
    if kind == "outputs":
        columns.append(right)
        blocks = [sp.csr_array(np.column_stack(columns))]
    else:
        labels = in_order(final.classes_.tolist(), truths, guesses)
        which = np.repeat(np.arange(len(lengths)), lengths)
        true, found = (label_codes(labels, sequences) for sequences in (truths, guesses))
        columns.append(np.bincount(which, true == found, len(lengths)))
        blocks = [sp.csr_array(np.column_stack(columns)), label_counts(which, true, found, len(lengths), len(labels))]
        counts = sp.coo_array((np.ones(len(true), np.int64), (true, found)), shape=(len(labels),) * 2)
        confusion = Confusion(labels, counts.toarray())
    types: tuple[str, ...] = ()
    if kind == "segments" or (kind == "sequences" and are_tags(final.classes_.tolist()) and not partial):
        types, of_types = span_counts(kind, Y, predicted, scheme)
        blocks.append(of_types)
    if measures is not None:
        blocks.append(sp.csr_array(measures.counts))
    sums = ResampledSums(sp.csr_array(sp.hstack(blocks)), random_state)
    middle = 5 + 3 * len(labels)
    last = middle + 3 * len(types)
    formulas: dict[str, Formula] = {"loss": quotient(1, 0), "accuracy": quotient(4, 3)}
    if kind in ("sequences", "segments"):
        formulas["sequence_accuracy"] = quotient(2, 0)
    if types:
        formulas |= zip(("precision", "recall", "f1"), averages(slice(middle, last)), strict=True)
    own = {} if measures is None else {name: _after(last, formula) for name, formula in measures.formulas.items()}
    intervals = {name: sums.interval(formula) for name, formula in formulas.items()}
    return Evaluation(
        kind=kind,
        **{name: intervals.get(name) for name in BUILT_IN},  # type: ignore[arg-type]
        scheme=scheme if types and kind == "sequences" else None,
        labels=sums.classes(labels, 5),
        spans=sums.classes(types, middle),
        scores={name: sums.interval(formula) for name, formula in own.items()},
        confusion=confusion,
        n_examples=len(losses),
        n_tokens=int(lengths.sum()),
        predicted=predicted,
        truths=truths,
        guesses=guesses,
        right=right,
        losses=losses,
        margins=margins,
        resampled={name: formula(sums.resampled) for name, formula in (formulas | own).items()},
        example=model.example,
        place=model.place,
    )


def last_step(estimator: Any) -> Any:
    """The estimator that predicts: the last step of a pipeline, or the estimator itself."""
    # Not `estimator[-1]`, for which a loaded pipeline has to wait for scikit-learn.
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    if not (hasattr(last, "model") or _of_vectors(last) or isinstance(last, HiddenMarkov)):
        raise TypeError(
            f"estimator is a {type(last).__name__}; expected a StructuralSVM, ConditionalRandomField or "
            "StructuredPerceptron, or a pipeline that ends with one"
        )
    check_is_fitted(last)
    return last


def _of_vectors(estimator: Any) -> bool:
    """Whether it is a `VectorPredictor`, asked without an import that waits for scikit-learn."""
    return hasattr(estimator, "outputs")


def model_of(estimator: Any) -> Model:
    """What knows how the outputs of a fitted estimator, or of a pipeline that ends with one, are measured and drawn."""
    final = last_step(estimator)
    if isinstance(final, HiddenMarkov):
        return Chain(final.classes_.tolist())
    if not _of_vectors(final):
        model: Model = final.model_
        return model
    known: Model | None = final.outputs_.model()
    if known is None:
        raise TypeError(f"there are no metrics of the outputs of {type(final.outputs_).__name__}; score compares them")
    return known


def kind_of(estimator: Any) -> Kind:
    """What an output of a fitted estimator, or of a pipeline that ends with one, is; see `Evaluation`."""
    return model_of(estimator).kind


def loss_of(estimator: Any) -> str:
    """What the loss of a fitted estimator counts, in words."""
    return model_of(estimator).loss_in_words()


def _measures(model: Any, X: Any, Y: Any, predicted: Any) -> Measures | None:
    measures: Measures | None = model.measures(X, Y, predicted)
    if measures is None:
        return None
    n, n_counted = len(predicted), len(np.asarray(measures.counts))
    if n_counted != n:
        raise ValueError(f"measures has counts of {n_counted} examples, but there are {n}")
    taken = {"loss", "accuracy"} if model.kind == "outputs" else set(BUILT_IN)
    for name in measures.formulas:
        if name in taken:
            raise ValueError(f"measures has a score {name!r}, which every evaluation has; name it otherwise")
    return measures


def _after(begin: int, formula: Formula) -> Formula:
    """A formula of counts that stand in the columns from `begin` on."""
    return lambda sums: formula(sums[:, begin:])


def _judge_of(estimator: Any) -> Callable[[Any, Any, Any], tuple[Any, FloatArray, FloatArray]]:
    if isinstance(estimator, HiddenMarkov):
        return _judged_by_counting
    return _judged_by_vectors if _of_vectors(estimator) else _judged


def _judged(estimator: Any, X: Any, Y: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Predictions, their losses, and by how much each is preferred to the truth."""
    model, spec = estimator.model_, estimator.spec_
    cost = model.unseen_cost(spec)
    if cost is None:
        problem = estimator._bind(X, Y)
        unseen = _unseen(model.kind, spec, Y)
    else:
        unseen = _unseen(model.kind, spec, Y)
        problem = estimator._bind(X, [spec.classes[0] if new else y for y, new in zip(Y, unseen, strict=True)])
    outputs = problem.predict(estimator.w_)
    losses = problem.losses(outputs)
    if cost is not None:
        losses[unseen] = cost
    unseen |= ~problem.reachable()
    margins = np.where(unseen, np.nan, 0.0)
    known = np.flatnonzero(~unseen)
    if len(known):
        # Rounding makes a right answer differ from itself by −0.
        margins[known] = 0.0 - problem.true_margins(estimator.w_, known, [outputs[i] for i in known])
    return problem.present(outputs), losses, margins


def _judged_by_counting(estimator: HiddenMarkov, X: Any, Y: Any) -> tuple[Any, FloatArray, FloatArray]:
    """The same of a hidden Markov model: wrong labels, and differences of log p(x, y)."""
    predicted = estimator.predict(X)
    known = set(estimator.classes_.tolist())
    losses, margins = np.zeros(len(predicted)), np.full(len(predicted), np.nan)
    for i, (y, p) in enumerate(zip(Y, predicted, strict=True)):
        if len(y) != len(p):
            raise ValueError(f"Y[{i}] has {len(y)} labels but X[{i}] has {len(p)} tokens")
        losses[i] = sum(plain(a) != b for a, b in zip(y, p, strict=True))
        if known.issuperset(map(plain, y)):
            best, truth = estimator.log_proba([X[i], X[i]], [p, y])
            margins[i] = best - truth if np.isfinite(truth) else np.nan
    return predicted, losses, margins


def _judged_by_vectors(estimator: VectorPredictor, X: Any, Y: Any) -> tuple[Any, FloatArray, FloatArray]:
    """The same of outputs that are vectors: wrong labels, and differences of what `predict` maximises."""
    outputs, kind, classes = cast("CodedOutputs", estimator.outputs_), kind_of(estimator), estimator.classes_.tolist()
    vectors, read = estimator._values(X)
    offsets = read.offsets
    predicted = estimator._found(vectors, read.places)
    unseen = _unseen(kind, SimpleNamespace(classes=classes), Y)
    # Other labels in the place of those that training never saw.
    seen = [_seen(kind, y, classes) if new else y for y, new in zip(Y, unseen, strict=True)]
    found, truths = outputs.encode(predicted, offsets), outputs.encode(seen if unseen.any() else Y, offsets)
    wrong = (found != truths).reshape(len(found), -1).sum(axis=1, dtype=np.float64)
    losses = reduced(np.add, wrong, offsets)
    for i in np.flatnonzero(unseen):
        (y,), (p,) = token_labels(kind, [Y[i]]), token_labels(kind, [predicted[i]])
        losses[i] = sum(a != b for a, b in zip(y, p, strict=True))
    preferred, true = (estimator._scores(vectors, outputs.vectors(codes, offsets)) for codes in (found, truths))
    return predicted, losses, np.where(unseen, np.nan, reduced(np.add, preferred - true, offsets))


def _seen(kind: Kind, y: Any, classes: list[Any]) -> Any:
    if kind == "examples":
        return classes[0]
    return [label if plain(label) in classes else classes[0] for label in y]


def _judged_in_part(estimator: Any, X: Any, Y: Any) -> tuple[Any, FloatArray, FloatArray]:
    """The same where Y is known in part; there is no one truth to have a margin."""
    model, spec = estimator.model_, estimator.spec_
    problem = model.bind_partial(spec, X, Y, allow_unknown=True)
    outputs = problem.predict(estimator.w_)
    return problem.present(outputs), problem.losses(outputs), np.full(len(Y), np.nan)


def _unseen(kind: Kind, spec: Any, Y: Any) -> npt.NDArray[np.bool_]:
    """Which true outputs the model cannot have, since training saw no such label or no so long segment."""
    if kind == "outputs":
        return np.zeros(len(Y), bool)
    codes = LabelCodes(spec.classes, allow_unknown=True)
    if kind == "examples":
        return np.asarray(codes.encode([plain(y) for y in Y], "Y") < 0)
    if kind == "segments":
        checked = [checked_segments(y, f"Y[{i}]") for i, y in enumerate(Y)]
        too_long = [any(end - begin > spec.max_length for _, begin, end in y) for y in checked]
        Y = [[label for label, _, _ in y] for y in checked]
        return np.array(too_long) | _unseen("sequences", spec, Y)
    return np.array([bool((codes.encode(y, f"Y[{i}]") < 0).any()) for i, y in enumerate(Y)])
