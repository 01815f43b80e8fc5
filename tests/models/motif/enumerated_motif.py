"""Motifs by the formula, every output listed: a user's model, slow and independent of the library's."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

COMPLEMENT = {"A": "T", "C": "G", "G": "C", "T": "A"}


class EnumeratedMotif:
    """Labels are 1 and 0; latent parts (start, strand, width) or None."""

    def __init__(self, widths: tuple[int, ...], order: int, both_strands: bool):
        self.widths, self.order, self.both_strands = widths, order, both_strands
        self.places = [(width, j, base) for width in widths for j in range(width) for base in "ACGT"]
        self.contexts = ["".join(word) for word in product("ACGT", repeat=order + 1)]
        self.n_features = len(self.places) + len(self.contexts)

    def joint_feature(self, x: str, y: int, h: Any) -> Any:
        feature = np.zeros(self.n_features)
        inside = range(0)
        if y == 1:
            start, strand, width = h
            inside = range(start, start + width)
            site = [x[t] for t in inside]
            if strand == "-":
                site = [COMPLEMENT[base] for base in reversed(site)]
            for j, base in enumerate(site):
                feature[self.places.index((width, j, base))] += 1
        for t in range(self.order, len(x)):
            word = x[t - self.order : t + 1]
            if t not in inside and word in self.contexts:
                feature[len(self.places) + self.contexts.index(word)] += 1
        return feature

    def completions(self, x: str, y: int) -> list[Any]:
        if y == 0:
            return [None]
        return [
            (start, strand, width)
            for width in self.widths
            for strand in ("+-" if self.both_strands else "+")
            for start in range(len(x) - width + 1)
            if set(x[start : start + width]) <= set("ACGT")
        ]

    def outputs(self, x: str) -> list[tuple[int, Any]]:
        return [(y, h) for y in (0, 1) for h in self.completions(x, y)]

    def complete(self, x: str, y: int, w: Any) -> Any:
        return max(self.completions(x, y), key=lambda h: self.joint_feature(x, y, h) @ w)

    def loss(self, y: int, y_hat: int, h_hat: Any) -> float:
        return float(y != y_hat)
