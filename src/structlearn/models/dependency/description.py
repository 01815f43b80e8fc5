"""What the weights of dependency trees are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.models.dependency.spec import DependencySpec, Values
from structlearn.models.dependency.templates import Template, template_text, value_text
from structlearn.models.description import WeightBlock, blocks_of


class FeatureNames(Sequence[str]):
    """The names of the features of some templates, one template after another, made when they are asked for."""

    def __init__(
        self,
        templates: Sequence[Template],
        features: Sequence[Values],
        values: Sequence[Sequence[str]],
        columns: Sequence[str],
    ):
        self._templates, self._features, self._values = templates, features, values
        self._fields = [template_text(template, columns).split("|") for template in templates]
        self._ends = np.cumsum([len(rows) for rows in features], dtype=np.int64)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[j] for j in range(len(self))[k]]
        k = range(len(self))[k]
        t = int(np.searchsorted(self._ends, k, side="right"))
        row = self._features[t][k - self._ends[t]].tolist()
        named = zip(self._fields[t], self._templates[t], row, strict=True)
        return " ".join(f"{name}={value_text(field, value, self._values)}" for name, field, value in named)


class HashedNames(Sequence[str]):
    """Names of weights that features share by chance."""

    def __init__(self, size: int):
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[j] for j in range(len(self))[k]]
        return f"hashed feature {range(self._size)[k]}"


def feature_blocks(
    spec: DependencySpec,
    templates: Sequence[Sequence[Template]],
    columns: Sequence[str],
    n_hashed: int | None,
    w: FloatArray,
) -> tuple[WeightBlock, ...]:
    """w in its order: features of arcs, of labels and of siblings."""
    described: list[tuple[Any, ...]] = []
    labels = spec.labels or ("",)
    for g, (title, group) in enumerate(zip(("arcs", "labels", "siblings"), templates, strict=True)):
        if spec.features is None:
            assert n_hashed is not None
            names: Sequence[str] = HashedNames(max(1, n_hashed // len(labels)) if g == 1 else n_hashed if group else 0)
        else:
            names = FeatureNames(group, spec.features[g], spec.values, columns)
        if names:
            described.append((title, (names, labels), "features") if g == 1 and spec.labels else (title, (names,)))
    return blocks_of(w, *described)
