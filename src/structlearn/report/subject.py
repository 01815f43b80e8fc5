"""What a report is about: an estimator, data, and what the one says of the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sklearn.pipeline import Pipeline

from structlearn.drawing import Drawing
from structlearn.drawing.markup import Html
from structlearn.evaluation import Evaluation, evaluate, last_step, model_of
from structlearn.report.pictures import dense_rows


@dataclass(frozen=True, eq=False)
class Subject:
    """Everything the sections of a report are made of.

    Attributes
    ----------
    estimator : fitted estimator
        The last step of a pipeline.
    steps : tuple of str
        The names of the steps before it.
    evaluation : Evaluation
    X : inputs
        As they came, before any step of a pipeline.
    latent : list
        The latent parts of the predictions, None where a model has none.
    feature_names : sequence of str or None
    picture : (height, width) or None
        How a row of features is to be looked at.
    """

    estimator: Any
    steps: tuple[str, ...]
    evaluation: Evaluation
    X: Any
    latent: list[Any]
    feature_names: Sequence[str] | None
    picture: tuple[int, int] | None

    @classmethod
    def of(cls, estimator: Any, X: Any, Y: Any, picture: tuple[int, int] | None) -> Subject:
        last = last_step(estimator)
        if picture is not None:
            _check_picture(picture, X)
        steps: tuple[str, ...] = ()
        names = None
        if isinstance(estimator, Pipeline) and len(estimator) > 1:
            steps = tuple(type(step).__name__ for _, step in estimator.steps[:-1])
            names = _names_out(estimator)
        evaluation = evaluate(estimator, X, Y)
        latent: list[Any] = [None] * evaluation.n_examples
        if hasattr(last, "predict_latent"):
            latent = last.predict_latent(estimator[:-1].transform(X) if steps else X)
        return cls(last, steps, evaluation, X, latent, names, picture)

    @property
    def model(self) -> Any:
        return model_of(self.estimator)

    @property
    def sequential(self) -> bool:
        return self.evaluation.kind in ("sequences", "segments")

    def drawing(self, i: int) -> Drawing | None:
        """The predicted output of an example beside the true one, where the model can draw them."""
        guess = self.evaluation.predicted[i]
        drawing: Drawing | None = self._drawer.latent_drawing(self.input(i), guess, self.latent[i], self.truth(i))
        return drawing

    @cached_property
    def _drawer(self) -> Any:
        """The model, which knows all labels, so that they have the same colours in all pictures."""
        if getattr(self.model, "classes", ()) is not None or not hasattr(self.estimator.spec_, "classes"):
            return self.model
        drawer = copy(self.model)
        drawer.classes = self.estimator.spec_.classes
        return drawer

    def panels(self) -> Mapping[str, Html]:
        """The sections that only this model has."""
        predicted, n = self.evaluation.predicted, range(self.evaluation.n_examples)
        X, truths = [self.input(i) for i in n], [self.truth(i) for i in n]
        panels: Mapping[str, Html] = self.model.panels(X, predicted, self.latent, truths)
        return panels

    def truth(self, i: int) -> Any:
        """The true output of an example."""
        truth = self.evaluation.truths[i]
        return truth[0] if self.evaluation.kind == "examples" else truth

    def input(self, i: int) -> Any:
        return self.X.iloc[i] if hasattr(self.X, "iloc") else self.X[i]

    def most_frequent(self, n: int) -> list[Any]:
        """The labels of the model that are true most often, the most frequent first."""
        if self.evaluation.kind == "outputs":
            return []
        counts = Counter(label for y in self.evaluation.truths for label in y)
        return sorted(self.estimator.classes_.tolist(), key=lambda label: -counts[label])[:n]


def _check_picture(picture: tuple[int, int], X: Any) -> None:
    height, width = picture
    rows = dense_rows(X[0])
    if rows is None or rows.ndim != 2 or rows.shape[1] != height * width:
        found = "X[0] is no matrix of numbers" if rows is None else f"X[0] has {rows.shape[-1]} numbers a row"
        raise ValueError(f"picture is {picture}, {height * width} pixels, but {found}")


def _names_out(pipeline: Pipeline) -> Sequence[str] | None:
    """The names of the columns that the estimator sees; None where a step cannot tell them, as hashing cannot."""
    try:
        names: Sequence[str] = pipeline[:-1].get_feature_names_out()
    except (AttributeError, ValueError):
        return None
    return names
