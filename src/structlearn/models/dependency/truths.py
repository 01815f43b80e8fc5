"""True trees, and what is known of trees, as compiled decoders take them: a head and a label for every token."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from structlearn.data.arrays import Flags, IntArray, LabelArray
from structlearn.data.dependency_trees import DependencyTrees, is_projective, read_dependency_trees
from structlearn.data.labels import LabelCodes
from structlearn.inference.dependency import projectivised
from structlearn.models.dependency.spec import DependencySpec
from structlearn.wording import having


def check_labelled(spec: DependencySpec, trees: DependencyTrees) -> None:
    """Refuses whole trees without labels where the model has some."""
    if spec.labels and trees.labels is None and any(trees.heads):
        raise ValueError("Y has no labels of arcs, but the model predicts some")


def known_arcs(
    spec: DependencySpec, trees: DependencyTrees, offsets: IntArray, *, allow_unknown: bool = False, name: str = "Y"
) -> LabelArray:
    """The head and the number of the label of every token, (n_tokens, 2).

    It is −1 where it is not known and −2 for a label that training never saw; see ``core/dependency/losses.hpp``.
    """
    known = np.full((int(offsets[-1]), 2), -1, np.int32)
    codes = LabelCodes(spec.labels, allow_unknown=allow_unknown)
    for i, (heads, (begin, end)) in enumerate(zip(trees.heads, pairwise(offsets.tolist()), strict=True)):
        known[begin:end, 0] = [-1 if head is None else head for head in heads]
        if not spec.labels:
            known[begin:end, 1] = 0
        elif trees.labels is not None:
            # With a label in the place of each that is not known, messages count all tokens.
            given = np.array([label is not None for label in trees.labels[i]], bool)
            labels = [spec.labels[0] if label is None else label for label in trees.labels[i]]
            found = codes.encode(labels, f"{name}[{i}]")
            known[begin:end, 1] = np.where(given, np.where(found < 0, -2, found), -1)
    return known


def restriction(
    spec: DependencySpec, allowed: Any, sentences: Sequence[Any], offsets: IntArray, *, single_root: bool
) -> LabelArray:
    """What `allowed` says of every token, in the same form."""
    trees = read_dependency_trees(allowed, sentences, single_root=single_root, partial=True, name="allowed")
    return known_arcs(spec, trees, offsets, name="allowed")


def nearest_projective(known: LabelArray, offsets: IntArray) -> LabelArray:
    """The projective trees that have the most arcs of the given ones, with the labels as they are."""
    found = known.copy()
    for begin, end in pairwise(offsets.tolist()):
        heads = known[begin:end, 0].tolist()
        if not is_projective(heads):
            found[begin:end, 0] = projectivised(heads)
    return found


def crossing_in_words(trees: DependencyTrees) -> str:
    """How many trees have arcs that cross, for who trains a projective model on them; nothing if none has."""
    n = sum(not is_projective(heads) for heads in trees.heads)
    told = "crossing arcs; learning from the nearest projective ones (projective=False, --no-projective, keeps them)"
    return f"{having(n, len(trees.heads), 'tree')} {told}" if n else ""


def contradictions(restricted: LabelArray, known: LabelArray, offsets: IntArray, *, refused: bool) -> Flags:
    """Which tokens have another head or label than they must have; the first one is named if that is refused."""
    against: Flags = np.any((restricted >= 0) & (restricted != known), axis=1)
    if refused and against.any():
        token = int(np.argmax(against))
        i = int(np.searchsorted(offsets, token, side="right")) - 1
        raise ValueError(f"Y[{i}] has another head or label of token {token - offsets[i] + 1} than allowed[{i}]")
    return against
