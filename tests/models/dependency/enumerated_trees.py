"""Dependency trees written out: all trees of a sentence, and their features by name."""

from __future__ import annotations

from itertools import product

import numpy as np

from structlearn.models import DependencyTree
from structlearn.models.dependency.templates import SPECIAL_VALUES
from tests.inference.enumerated_dependency import trees


class EnumeratedTrees:
    """What `DependencyTree` says, with counted features, one feature at a time."""

    def __init__(self, model: DependencyTree, spec):
        self.model, self.spec = model, spec
        self.templates = model._templates()
        self.numbers, self.n_features = [], 0
        for g, group in enumerate(spec.features):
            width = spec.n_labels if g == 1 else 1
            numbers = {}
            for t, rows in enumerate(group):
                for row in rows.tolist():
                    numbers[t, *row] = self.n_features
                    self.n_features += width
            self.numbers.append(numbers)

    def outputs(self, x):
        labels = self.spec.labels or (None,)
        for heads in trees(len(x), self.model.projective, self.model.single_root).tolist():
            for chosen in product(labels, repeat=len(x)):
                yield list(zip(heads, chosen, strict=True)) if self.spec.labels else heads

    def joint_feature(self, x, y):
        psi = np.zeros(self.n_features)
        arcs = [(entry if isinstance(entry, tuple) else (entry, None)) for entry in y]
        for token, (head, label) in enumerate(arcs, 1):
            for g in (0, 1):
                for key in self.features(x, self.templates[g], head, None, token):
                    if key in self.numbers[g]:
                        code = self.spec.labels.index(label) if g == 1 and label is not None else 0
                        psi[self.numbers[g][key] + code] += 1
            side = [t for t, (other, _) in enumerate(arcs, 1) if other == head and (head < t) == (head < token)]
            near = [t for t in side if min(head, token) < t < max(head, token)]
            sibling = min(near, key=lambda t: abs(t - token), default=head)
            for key in self.features(x, self.templates[2], head, sibling, token):
                if key in self.numbers[2]:
                    psi[self.numbers[2][key]] += 1
        return psi

    def features(self, x, templates, head, sibling, token):
        for t, template in enumerate(templates):
            between = sorted(
                {
                    self.value(x, k, field.column)
                    for field in template
                    if field.place == "between"
                    for k in range(min(head, token) + 1, max(head, token))
                }
            )
            if any(field.place == "between" for field in template):
                for value in between:
                    yield (t, *(self.field(x, field, head, sibling, token, value) for field in template))
            else:
                yield (t, *(self.field(x, field, head, sibling, token, None) for field in template))

    def field(self, x, field, head, sibling, token, between):
        if field.place == "between":
            return between
        if field.place in ("direction", "distance"):
            start = head if sibling is None else sibling
            left, apart = int(token < start), abs(token - start)
            nearness = next(k for k, least in reversed(list(enumerate((0, 1, 2, 3, 4, 5, 10)))) if apart >= least)
            return left if field.place == "direction" else 2 * nearness + left
        if field.place == "sibling" and sibling == head:
            return 0
        place = {"head": head, "modifier": token, "sibling": sibling}[field.place]
        return self.value(x, place + field.offset, field.column)

    def value(self, x, place, column):
        if place == 0:
            return SPECIAL_VALUES.index("(root)")
        if not 1 <= place <= len(x):
            return SPECIAL_VALUES.index("(outside)")
        known = self.spec.values[column]
        token = x[place - 1] if isinstance(x[place - 1], tuple) else (x[place - 1],)
        if token[column] not in known:
            return SPECIAL_VALUES.index("(rare)")
        return len(SPECIAL_VALUES) + known.index(token[column])

    def loss(self, y, other):
        return float(sum(a != b for a, b in zip(y, other, strict=True)))
