"""scikit-learn's pipeline for those who only predict with it, and need not wait until scikit-learn is imported."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from structlearn.persistence.steps import Steps

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


def pipeline_of(steps: Steps) -> Pipeline | LatePipeline:
    """scikit-learn's pipeline, or what becomes one where its import would have to be waited for."""
    if "sklearn.pipeline" not in sys.modules:
        return LatePipeline(steps.steps)
    from sklearn.pipeline import Pipeline

    return Pipeline(steps.steps)


class LatePipeline:
    """Fitted steps that predict by themselves, and become a `Pipeline` of scikit-learn when anything else is asked.

    From then on the object is of that class and nothing of this one is left.

    Parameters
    ----------
    steps : list of (name, object)
        Transformers, and last the estimator.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.features import TextFeatures
    >>> from structlearn.models import Chain
    >>> words, tagger = TextFeatures(), StructuralSVM(Chain())
    >>> rows = words.fit_transform([["the", "dog"], ["a", "cat"]])
    >>> made = LatePipeline([("words", words), ("tagger", tagger.fit(rows, [["DET", "NOUN"], ["DET", "NOUN"]]))])
    >>> made.predict([["a", "dog"]]), type(made).__name__
    ([['DET', 'NOUN']], 'LatePipeline')
    >>> made.get_params()["words__min_count"], type(made).__name__
    (1, 'Pipeline')
    """

    steps: list[tuple[str, Any]]

    def __init__(self, steps: list[tuple[str, Any]]):
        vars(self)["steps"] = steps

    def predict(self, X: Any, **options: Any) -> Any:
        if options:
            return self._pipeline().predict(X, **options)
        return Steps(self.steps).predict(X)

    def _pipeline(self) -> Pipeline:
        """This object, as a pipeline."""
        from sklearn.pipeline import Pipeline

        vars(self).update(vars(Pipeline(self.steps)))
        # Past the property below, which has no setter.
        object.__dict__["__class__"].__set__(self, Pipeline)
        return self

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        # `isinstance` asks for it.
        return type(self._pipeline())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipeline(), name)

    # Python asks the class, not the object, for the following.

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._pipeline(), name, value)

    def __dir__(self) -> list[str]:
        return dir(self._pipeline())

    def __repr__(self) -> str:
        return repr(self._pipeline())

    def __len__(self) -> int:
        return len(self._pipeline())

    def __getitem__(self, place: Any) -> Any:
        return self._pipeline()[place]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._pipeline().__reduce_ex__(protocol)
