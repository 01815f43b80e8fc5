"""True trees, and what is known of trees, as compiled decoders take them: a head and a label for every token."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from structlearn.data.arrays import Flags, IntArray, LabelArray
from structlearn.data.dependency_trees import DependencyTrees, check_tree, is_projective, split_tree
from structlearn.data.examples import is_listed
from structlearn.data.labels import LabelCodes
from structlearn.inference.dependency import projectivised
from structlearn.models.dependency.spec import DependencySpec
from structlearn.wording import shown


def known_arcs(
    spec: DependencySpec, trees: DependencyTrees, offsets: IntArray, *, allow_unknown: bool = False
) -> LabelArray:
    """The head and the number of the label of every token, (n_tokens, 2).

    It is −1 where it is not known and −2 for a label that training never saw; see ``core/dependency/losses.hpp``.
    """
    if spec.labels and trees.labels is None and not any(None in heads for heads in trees.heads):
        raise ValueError("Y has no labels of arcs, but the model predicts some")
    known = np.full((int(offsets[-1]), 2), -1, np.int32)
    codes = LabelCodes(spec.labels, allow_unknown=allow_unknown)
    for i, (begin, heads) in enumerate(zip(offsets.tolist(), trees.heads, strict=False)):
        labels = None if trees.labels is None else trees.labels[i]
        _write(known[begin : begin + len(heads)], heads, labels, spec, codes, f"Y[{i}]")
    return known


def restriction(spec: DependencySpec, allowed: Any, offsets: IntArray, *, single_root: bool) -> LabelArray:
    """What `allowed` says of every token, in the same form."""
    n_sentences = len(offsets) - 1
    if not is_listed(allowed) or len(allowed) != n_sentences:
        raise ValueError(f"allowed is {shown(allowed)}; expected None or a list for each of {n_sentences} sentences")
    known = np.full((int(offsets[-1]), 2), -1, np.int32)
    codes = LabelCodes(spec.labels)
    for i, (given, (begin, end)) in enumerate(zip(allowed, pairwise(offsets.tolist()), strict=True)):
        if given is None:
            continue
        heads, labels = split_tree(given, f"allowed[{i}]", partial=True)
        if len(heads) != end - begin:
            raise ValueError(f"allowed[{i}] has {len(heads)} entries but X[{i}] has {end - begin} tokens")
        check_tree(heads, f"allowed[{i}]", single_root=single_root)
        _write(known[begin:end], heads, labels, spec, codes, f"allowed[{i}]")
    return known


def _write(
    out: LabelArray,
    heads: Sequence[int | None],
    labels: Sequence[Any] | None,
    spec: DependencySpec,
    codes: LabelCodes,
    where: str,
) -> None:
    out[:, 0] = [-1 if head is None else head for head in heads]
    if not spec.labels:
        out[:, 1] = 0
    elif labels is not None:
        given = [t for t, label in enumerate(labels) if label is not None]
        found = codes.encode([labels[t] for t in given], where)
        out[given, 1] = np.where(found < 0, -2, found)


def nearest_projective(known: LabelArray, offsets: IntArray) -> LabelArray:
    """The projective trees that have the most arcs of the given ones, with the labels as they are."""
    found = known.copy()
    for begin, end in pairwise(offsets.tolist()):
        heads = known[begin:end, 0].tolist()
        if not is_projective(heads):
            found[begin:end, 0] = projectivised(heads)
    return found


def contradictions(restricted: LabelArray, known: LabelArray, offsets: IntArray, *, refused: bool) -> Flags:
    """Which tokens have another head or label than they must have; the first one is named if that is refused."""
    against: Flags = np.any((restricted >= 0) & (restricted != known), axis=1)
    if refused and against.any():
        token = int(np.argmax(against))
        i = int(np.searchsorted(offsets, token, side="right")) - 1
        raise ValueError(f"Y[{i}] has another head or label of token {token - offsets[i] + 1} than allowed[{i}]")
    return against
