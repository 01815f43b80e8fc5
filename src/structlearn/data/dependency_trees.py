"""Dependency trees, as they enter: for each token of a sentence its head, and the label of the arc from there.

Tokens count from 1, and 0 is the root. A tree is a list with a pair (head, label) for each token, or with a head alone
where arcs have no labels. Where it is known in part, an entry may be None, (head, None), (None, label) or a head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structlearn.data.examples import check_examples, is_listed
from structlearn.wording import shown

Heads = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class DependencyTrees:
    """Trees that have been checked; see `read_dependency_trees`.

    Attributes
    ----------
    heads : list of lists of int
        None where one is not known.
    labels : list of lists, or None
        Those of the arcs, None where one is not known; None where arcs have no labels at all.
    """

    heads: list[list[int | None]]
    labels: list[list[Any]] | None


def read_dependency_trees(
    Y: Any,
    X: Sequence[Any] | None = None,
    *,
    single_root: bool = False,
    partial: bool = False,
    name: str = "Y",
) -> DependencyTrees:
    """Heads and labels of trees; what is none is refused by a message that names sentence and token.

    Parameters
    ----------
    Y : list of trees
    X : list of sentences, optional
        Whose numbers of tokens the trees must have.
    single_root : bool
        Whether only one token may have the root as head.
    partial : bool
        Whether trees may be known in part; with X, None is one of which nothing is.
    name : str
        What messages call Y.

    Examples
    --------
    >>> read_dependency_trees([[(2, "det"), (0, "root")], [(0, "root")]])
    DependencyTrees(heads=[[2, 0], [0]], labels=[['det', 'root'], ['root']])
    >>> read_dependency_trees([[2, 0], [3, 3, 2]])
    Traceback (most recent call last):
    ...
    ValueError: Y[1] is no tree: no token has the head 0, which is the root
    """
    if isinstance(Y, DependencyTrees):
        return Y
    check_examples(name, Y)
    if X is not None and len(X) != len(Y):
        raise ValueError(f"X has {len(X)} sentences but {name} has {len(Y)}")
    heads, labels = [], []
    first: tuple[int, bool] | None = None
    for i, y in enumerate(Y):
        where = f"{name}[{i}]"
        if X is not None and partial and y is None:
            y = [None] * len(X[i])
        if X is not None and is_listed(y) and len(y) != len(X[i]):
            raise ValueError(f"{where} has {len(y)} entries but X[{i}] has {len(X[i])} tokens")
        found, names = split_tree(y, where, partial=partial)
        check_tree(found, where, single_root=single_root)
        if len(found) and not partial:
            first = (i, names is not None) if first is None else first
            if first[1] != (names is not None):
                has, other = ("no labels", "has some") if first[1] else ("labels", "has none")
                raise ValueError(f"{where} has {has}, but {name}[{first[0]}] {other}")
        heads.append(found)
        labels.append([None] * len(found) if names is None else names)
    labelled = any(name is not None for names in labels for name in names)
    return DependencyTrees(heads, labels if labelled else None)


def split_tree(y: Any, where: str, *, partial: bool = False) -> tuple[list[int | None], list[Any] | None]:
    """Heads and labels of one tree, no labels where it has none; whether heads are a tree is not looked at.

    >>> split_tree([(2, "det"), (0, "root")], "y")
    ([2, 0], ['det', 'root'])
    >>> split_tree([2, 0], "y")
    ([2, 0], None)
    >>> split_tree([None, (0, None), (2, "obj")], "y", partial=True)
    ([None, 0, 2], [None, None, 'obj'])
    """
    if not is_listed(y):
        raise ValueError(f"{where} is {shown(y)}; expected a list with (head, label), or a head, for each token")
    heads: list[int | None] = []
    labels: list[Any] = []
    n_pairs = 0
    for t, entry in enumerate(y.tolist() if isinstance(y, np.ndarray) else y):
        if type(entry) is tuple or isinstance(entry, (tuple, list)):
            if len(entry) != 2:
                raise ValueError(f"{where}[{t}] is {shown(entry)}; expected (head, label)")
            head, label = entry
            n_pairs += 1
        else:
            head, label = entry, None
        if type(head) is not int:
            head = _head(head, entry, f"{where}[{t}]", partial)
        heads.append(head)
        labels.append(label)
    if not partial and 0 < n_pairs < len(heads):
        pair = next(entry for entry in y if isinstance(entry, (tuple, list)))
        t, other = next((t, entry) for t, entry in enumerate(y) if not isinstance(entry, (tuple, list)))
        raise ValueError(f"{where}[{t}] is {shown(other)}, without a label, but {shown(pair)} has one")
    if not partial and n_pairs and None in labels:
        t = labels.index(None)
        raise ValueError(f"{where}[{t}] is {shown(y[t])}, without a label")
    try:
        set(labels)
    except TypeError:
        t = next(t for t, label in enumerate(labels) if type(label).__hash__ is None)
        raise ValueError(f"{where}[{t}] has the label {shown(labels[t])}, which is not hashable") from None
    return heads, labels if n_pairs else None


def _head(head: Any, entry: Any, where: str, partial: bool) -> int | None:
    """A head that is no plain int."""
    if isinstance(head, (np.integer, int)) and not isinstance(head, bool):
        return int(head)
    if head is None and partial:
        return None
    known = "" if head is not None else "; in trees known in part, which some learners take, None stands for any"
    raise ValueError(f"{where} is {shown(entry)}; a head is a whole number, 0 for the root{known}")


def check_tree(heads: Heads, where: str, *, single_root: bool = False) -> None:
    """Refuses heads that are no tree; those that are None may be any.

    >>> check_tree([2, 3, 1, 0], "Y[7]")
    Traceback (most recent call last):
    ...
    ValueError: Y[7] is no tree: token 1 is in the cycle 1 → 2 → 3 → 1
    """
    found = tree_fault(heads, single_root=single_root)
    if found is not None:
        raise ValueError(f"{where} is no tree: {found[1]}")


def tree_fault(heads: Heads, *, single_root: bool = False) -> tuple[int, str] | None:
    """The first token, from 1, that keeps heads from being a tree, and why; None if they are one, or can become one.

    >>> tree_fault([2, 5]), tree_fault([None, 0])
    ((2, 'token 2 has the head 5, but heads are 0 to 2'), None)
    >>> tree_fault([0, 0], single_root=True)
    (2, 'token 2 has the head 0, as token 1 has, but there may be one root only')
    """
    n = len(heads)
    root = 0
    for t, head in enumerate(heads, 1):
        if head is None:
            continue
        if not 0 <= head <= n:
            return t, f"token {t} has the head {shown(head)}, but heads are 0 to {n}"
        if head == t:
            return t, f"token {t} is its own head"
        if head == 0:
            if root and single_root:
                return t, f"token {t} has the head 0, as token {root} has, but there may be one root only"
            root = root or t
    if n and not root and None not in heads:
        return 1, "no token has the head 0, which is the root"
    return _cycle(heads)


def _cycle(heads: Heads) -> tuple[int, str] | None:
    """The first token from which heads lead in a circle."""
    walk = [0] * (len(heads) + 1)
    for t in range(1, len(heads) + 1):
        k = t
        while k and not walk[k]:
            walk[k] = t
            k = heads[k - 1] or 0
        if k and walk[k] == t:
            cycle = [k]
            while (head := heads[cycle[-1] - 1]) != k:
                assert head is not None
                cycle.append(head)
            first = cycle.index(min(cycle))
            path = [*cycle[first:], *cycle[:first], cycle[first]]
            told = [*map(str, path)] if len(path) <= 12 else [*map(str, path[:8]), "…", str(path[-1])]
            return path[0], f"token {path[0]} is in the cycle {' → '.join(told)}"
    return None


def is_projective(tree: Sequence[Any]) -> bool:
    """Whether no arcs of a tree cross, the root standing before the first token; with labels or without.

    >>> is_projective([(2, "det"), (0, "root")]), is_projective([3, 0, 2]), is_projective([0, 4, 1, 1])
    (True, False, False)
    """
    ends: list[int] = []
    for left, right, _ in _arcs(tree):
        while ends and ends[-1] <= left:
            ends.pop()
        if ends and right > ends[-1]:
            return False
        ends.append(right)
    return True


def crossing_arcs(tree: Sequence[Any]) -> list[tuple[int, int]]:
    """The pairs of tokens whose arcs from their heads cross, each with the arc that begins further left first.

    >>> crossing_arcs([0, 4, 1, 1])
    [(3, 2)]
    """
    arcs = _arcs(tree)
    found = []
    for k, (left, right, token) in enumerate(arcs):
        # Arcs that begin below this one follow it in the list.
        for j in range(k + 1, len(arcs)):
            begin, end, other = arcs[j]
            if begin >= right:
                break
            if left < begin and right < end:
                found.append((token, other))
    return found


def _arcs(tree: Sequence[Any]) -> list[tuple[int, int, int]]:
    """Left end, right end and token of all arcs, by their left ends, longer ones first."""
    heads: list[Any] = split_tree(tree, "the tree")[0]
    arcs = [(min(head, t), max(head, t), t) for t, head in enumerate(heads, 1)]
    return sorted(arcs, key=lambda arc: (arc[0], -arc[1]))
