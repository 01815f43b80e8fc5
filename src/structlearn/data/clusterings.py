"""Clusterings in the two forms in which people have them: a label for every item, or lists of items.

The canonical form, which predictions have, is an array of labels numbered in the order in which they appear.
"""

from __future__ import annotations

import numbers
from collections.abc import Set
from typing import Any

import numpy as np

from structlearn.data.arrays import LabelArray
from structlearn.data.examples import is_listed
from structlearn.wording import shown


def to_labels(y: Any, n_items: int, where: str = "the clustering") -> LabelArray:
    """The canonical labels of a clustering of the items 0, …, n − 1, given as labels or as lists of items.

    Items that are in no list stand alone.

    >>> to_labels(["b", "a", "b"], 3)
    array([0, 1, 0], dtype=int32)
    >>> to_labels([[1, 3]], 4)
    array([0, 1, 2, 1], dtype=int32)
    """
    if not (is_listed(y) or isinstance(y, Set)):
        raise ValueError(f"{where} is {shown(y)}; expected a label for every item, or lists of items")
    items = list(y)
    if isinstance(y, Set) or (items and not _is_label(items[0])) or (not isinstance(y, np.ndarray) and not items):
        return _from_lists(items, n_items, where)
    if len(items) != n_items:
        raise ValueError(f"{where} has {len(items)} labels, but there are {n_items} items")
    numbers_of: dict[Any, int] = {}
    labels = np.empty(n_items, np.int32)
    for i, label in enumerate(items):
        if not _is_label(label) or label != label:
            raise ValueError(f"{where}[{i}] is {shown(label)}; expected a label, a text or a number")
        labels[i] = numbers_of.setdefault(label, len(numbers_of))
    return labels


def to_clusters(y: Any, n_items: int | None = None) -> list[list[int]]:
    """The clusters of a clustering as lists of items, in the order of their first items.

    >>> to_clusters([0, 1, 0, 2])
    [[0, 2], [1], [3]]
    """
    clusters: list[list[int]] = []
    for i, label in enumerate(to_labels(y, len(y) if n_items is None else n_items)):
        if label == len(clusters):
            clusters.append([])
        clusters[label].append(i)
    return clusters


def _from_lists(clusters: list[Any], n_items: int, where: str) -> LabelArray:
    owner = np.full(n_items, -1, np.int64)
    for k, cluster in enumerate(clusters):
        if not (is_listed(cluster) or isinstance(cluster, Set)):
            raise ValueError(f"{where}[{k}] is {shown(cluster)}; expected a list of items")
        for item in cluster:
            if not isinstance(item, numbers.Integral) or not 0 <= int(item) < n_items:
                raise ValueError(f"{where}[{k}] has the item {shown(item)}, but items are numbered 0 to {n_items - 1}")
            if owner[int(item)] >= 0:
                raise ValueError(f"{where} has the item {item} twice, in clusters {owner[int(item)]} and {k}")
            owner[int(item)] = k
    alone = owner < 0
    owner[alone] = len(clusters) + np.arange(np.count_nonzero(alone))
    return to_labels(owner, n_items, where)


def _is_label(value: Any) -> bool:
    return isinstance(value, (str, bytes, numbers.Number, np.generic))
