"""Looking inside a fitted estimator: its weights by name, and why it chose an output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structlearn.contract import check_is_fitted
from structlearn.data.arrays import FloatArray
from structlearn.estimators import inspection
from structlearn.estimators.abilities import needs
from structlearn.models.explanation import Comparison, Explanation


class Inspectable:
    """What every estimator with weights can show of them."""

    model_: Any
    spec_: Any
    w_: FloatArray

    def top_weights(self, n: int = 10, *, feature_names: Sequence[str] | None = None) -> inspection.TopWeights:
        """The strongest weights, by the names that the model gives them.

        Parameters
        ----------
        n : int
            How many above and how many below zero, of each kind.
        feature_names : (n_features,), optional
            Names of the columns, such as `TextFeatures.get_feature_names_out` gives. None takes the names that came
            with the training data, as dicts or as a data frame; columns without names are numbered. For a model of
            one's own, names of all weights; None takes its `feature_names`, if it has any.

        Examples
        --------
        >>> from structlearn import StructuralSVM
        >>> from structlearn.models import Multiclass
        >>> svm = StructuralSVM(Multiclass(), C=10).fit([[0.0, 1.0], [1.0, 0.0]], ["north", "east"])
        >>> print(svm.top_weights(1, feature_names=["x", "y"]))
        east
            +0.5000  x
            -0.5000  y
        <BLANKLINE>
        north
            +0.5000  y
            -0.5000  x
        """
        check_is_fitted(self)
        return inspection.top_weights(self.model_, self.spec_, self.w_, n, self._feature_names(feature_names))

    @needs("explain")
    def explain(
        self,
        x: Any,
        t: int | None = None,
        label: Any = None,
        against: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Explanation | Comparison:
        """Why an output is chosen: F(x, y) − F(x, y') part by part, where y is the prediction and y' another output.

        The amounts add up to the difference of the two scores. Of a classifier, and of the token t of a chain, it is
        the difference between two labels, everything else being as predicted: an `Explanation`, with a line for each
        feature. Everywhere else it is that between two whole outputs: a `Comparison`, with the parts that only one of
        them has and the features of each.

        Parameters
        ----------
        x : one input
            A sequence for a chain, a row for a classifier, a sentence for a grammar.
        t : int
            For a chain, the token whose label is to be explained; None explains the whole labelling.
        label : label or output, optional
            y: a label where labels are compared, otherwise a whole output. None is the predicted one. Of rankings, a
            document, by its number; None is the first.
        against : label or output, optional
            y', likewise; None is the best of the others, which only some models can find for whole outputs.
        feature_names : (n_features,), optional
            As for `top_weights`.

        Examples
        --------
        >>> from structlearn import StructuralSVM
        >>> from structlearn.models import Multiclass
        >>> svm = StructuralSVM(Multiclass(), C=10).fit([[0.0, 1.0], [1.0, 0.0]], ["north", "east"])
        >>> print(svm.explain([3.0, 1.0], feature_names=["x", "y"]))
        east against north: +2.0000
        contribution     value      east     north  from
             +3.0000         3   +0.5000   -0.5000  x
             -1.0000         1   -0.5000   +0.5000  y
        """
        check_is_fitted(self)
        names = self._feature_names(feature_names)
        why: Explanation | Comparison = self.model_.explain(self.spec_, self.w_, x, t, label, against, names)
        return why

    def _feature_names(self, given: Sequence[str] | None) -> Sequence[str] | None:
        return getattr(self, "feature_names_in_", None) if given is None else given


def top_weights(estimator: Any, n: int = 10) -> inspection.TopWeights:
    """`top_weights` of an estimator, or of a pipeline that ends with one, with the names that its steps give.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from structlearn import StructuralSVM
    >>> from structlearn.features import TextFeatures
    >>> from structlearn.models import Chain
    >>> tagger = make_pipeline(TextFeatures(["word[0]"]), StructuralSVM(Chain(), C=10))
    >>> tagger = tagger.fit([["the", "dog"], ["a", "cat"]], [["DET", "NOUN"], ["DET", "NOUN"]])
    >>> top_weights(tagger, 1).features["NOUN"][0].feature
    'word[0]=cat'
    """
    found: inspection.TopWeights = _last(estimator).top_weights(n, feature_names=inspection.feature_names(estimator))
    return found


def explain(
    estimator: Any, x: Any, t: int | None = None, label: Any = None, against: Any = None
) -> Explanation | Comparison:
    """`explain` of an estimator, or of a pipeline that ends with one: x is then what the pipeline takes.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from structlearn import StructuralSVM
    >>> from structlearn.features import TextFeatures
    >>> from structlearn.models import Chain
    >>> tagger = make_pipeline(TextFeatures(["word[0]"]), StructuralSVM(Chain(), C=10))
    >>> tagger = tagger.fit([["the", "dog"], ["a", "cat"]], [["DET", "NOUN"], ["DET", "NOUN"]])
    >>> why = explain(tagger, ["the", "cat"], 1)
    >>> why.label, sorted(each.source for each in why.contributions)
    ('NOUN', ['after DET', 'stop', 'word[0]=cat'])
    """
    if len(getattr(estimator, "steps", ())) > 1:
        rows = estimator[:-1].transform([x])
        # A table keeps its two dimensions; of sequences there is one.
        x = rows[[0]] if hasattr(rows, "shape") else rows[0]
    names = inspection.feature_names(estimator)
    found: Explanation | Comparison = _last(estimator).explain(x, t, label, against, names)
    return found


def _last(estimator: Any) -> Any:
    return estimator[-1] if hasattr(estimator, "steps") else estimator
