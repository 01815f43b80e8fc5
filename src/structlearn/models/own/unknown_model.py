"""A model that a file names but does not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from structlearn.data.arrays import FloatArray
from structlearn.models.base import Model
from structlearn.models.description import WeightBlock
from structlearn.waist.problem import Problem


class UnknownModel(Model):
    """Stands for a model of the user's own where its code is not at hand: it can be looked at, but not used.

    Parameters
    ----------
    name : str
        Of the user's class.
    options : mapping
        With which it was trained, as far as a file can hold them.
    """

    in_files = False
    without_code = True

    def __init__(self, name: str, options: Mapping[str, Any]):
        self.name = name
        self.options = options

    @property
    def class_name(self) -> str:
        return self.name

    def facts(self, spec: Any, w: FloatArray) -> dict[str, Any]:
        return {"options": dict(self.options), "code": "not in the file"}

    def named_weights(
        self, spec: Any, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        """By the names that the file has, if there is one for each weight."""
        names = getattr(spec, "vocabulary", None)
        known = names if feature_names is None and names is not None and len(names) == len(w) else feature_names
        return super().named_weights(spec, w, known)

    def specify(self, X: Any, Y: Any) -> Any:
        raise self._refusal()

    def bind(self, spec: Any, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> Problem:
        raise self._refusal()

    def spec_from_dict(self, values: dict[str, Any]) -> Any:
        return SimpleNamespace(**values)

    def _refusal(self) -> TypeError:
        return TypeError(f"the code of {self.name} is not in the file: load it with load(path, model={self.name}())")
