"""What a fitted estimator makes of data: its predictions, what they cost, and by how much it prefers them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from structlearn.contract import check_is_fitted
from structlearn.data.arrays import Flags, FloatArray
from structlearn.data.labels import LabelCodes, plain
from structlearn.data.ragged import reduced
from structlearn.data.tokens.segments import checked_segments
from structlearn.estimators.generative.hidden_markov import HiddenMarkov
from structlearn.evaluation.label_counts import known_in_part, token_labels
from structlearn.models.base import Kind, Model
from structlearn.models.chain.chain import Chain

if TYPE_CHECKING:
    from structlearn.estimators.vector_valued.base import VectorPredictor
    from structlearn.outputs import CodedOutputs


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


class Judged(NamedTuple):
    """Predictions, their losses, and by how much each is preferred to the truth; whether some are known in part."""

    predicted: Any
    losses: FloatArray
    margins: FloatArray
    partial: bool = False


def judge(estimator: Any, X: Any, Y: Any) -> Judged:
    """What a fitted estimator, without steps before it, makes of X, beside Y."""
    if isinstance(estimator, HiddenMarkov):
        return _judged_by_counting(estimator, X, Y)
    if _of_vectors(estimator):
        return _judged_by_vectors(estimator, X, Y)
    model = estimator.model_
    if "partial" in model.abilities and model.kind in ("sequences", "examples"):
        partial = known_in_part(model.kind, Y)
        if partial.any():
            return _judged_in_part(estimator, X, Y, partial)
    return _judged(estimator, X, Y)


def _judged(estimator: Any, X: Any, Y: Any) -> Judged:
    """By a model with weights."""
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
    return Judged(problem.present(outputs), losses, margins)


def _judged_by_counting(estimator: HiddenMarkov, X: Any, Y: Any) -> Judged:
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
    return Judged(predicted, losses, margins)


def _judged_by_vectors(estimator: VectorPredictor, X: Any, Y: Any) -> Judged:
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
    return Judged(predicted, losses, np.where(unseen, np.nan, reduced(np.add, preferred - true, offsets)))


def _seen(kind: Kind, y: Any, classes: list[Any]) -> Any:
    if kind == "examples":
        return classes[0]
    return [label if plain(label) in classes else classes[0] for label in y]


def _judged_in_part(estimator: Any, X: Any, Y: Any, partial: Flags) -> Judged:
    """The same where some of Y are known in part: these have no one truth, and so no margin."""
    model, spec = estimator.model_, estimator.spec_
    problem = model.bind_partial(spec, X, Y, allow_unknown=True)
    outputs = problem.predict(estimator.w_)
    predicted = problem.present(outputs)
    whole = _judged(estimator, X, [p if part else y for y, p, part in zip(Y, predicted, partial, strict=True)])
    losses = np.where(partial, problem.losses(outputs), whole.losses)
    return Judged(predicted, losses, np.where(partial, np.nan, whole.margins), partial=True)


def _unseen(kind: Kind, spec: Any, Y: Any) -> Flags:
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
