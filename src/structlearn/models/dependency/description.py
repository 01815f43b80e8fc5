"""What the weights of dependency trees are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structlearn.data.arrays import FloatArray
from structlearn.models.dependency.spec import DependencySpec, Values
from structlearn.models.dependency.templates import Template, template_text, value_text
from structlearn.models.description import WeightBlock, blocks_of


class FeatureNames(Sequence[str]):
    """The names of the features of a template, made when they are asked for."""

    def __init__(self, template: Template, rows: Values, spec: DependencySpec, columns: Sequence[str]):
        self._template, self._rows, self._spec = template, rows, spec
        self._fields = template_text(template, columns).split("|")

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[j] for j in range(len(self))[k]]
        values = zip(self._fields, self._template, self._rows[k].tolist(), strict=True)
        return " ".join(f"{name}={value_text(field, value, self._spec.values)}" for name, field, value in values)


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
    """w in its order: features of arcs, of labels and of siblings, template by template."""
    described: list[tuple[Any, ...]] = []
    labels = spec.labels or ("",)
    for g, (title, group) in enumerate(zip(("arcs", "labels", "siblings"), templates, strict=True)):
        if spec.features is None:
            assert n_hashed is not None
            size = max(1, n_hashed // len(labels)) if g == 1 else n_hashed if group else 0
            names: list[Sequence[str]] = [HashedNames(size)] if size else []
        else:
            pairs = zip(group, spec.features[g], strict=True)
            names = [FeatureNames(template, rows, spec, columns) for template, rows in pairs]
        if g == 1 and spec.labels:
            described += [(title, (each, labels), "features") for each in names]
        else:
            described += [(title, (each,)) for each in names]
    return blocks_of(w, *described)
