"""Decoders for dependency trees, on plain arrays of scores.

Each of the tokens 1, …, n of a sentence has a head, another token or the root 0, and heads lead to the root. The score
F(y) of a tree y is the sum of scores[head, token] of its arcs, or of scores[head, token, label] where arcs have labels,
and with `siblings` of siblings[head, sibling, token] of all tokens: the sibling is the next modifier of the same head
on the way to it, or the head itself if there is none. A score of −∞ forbids. scores[:, 0] and scores[k, k] play no
part. Probabilities are P(y) = exp F(y) / Z.

Projective trees have no arcs that cross, the root standing before the first token. They are found in O(n³) (Eisner
1996, with siblings McDonald and Pereira 2006); all trees in O(n²) (Chu and Liu 1965, Edmonds 1967), their sums, by the
matrix-tree theorem, in O(n³), without siblings, with which the best of all trees is NP-hard to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.dependency_trees import check_tree, is_projective, split_tree
from structlearn.inference.given import GivenParts, scores_of
from structlearn.wording import shown

#: Of every token its head, or its head and label; None for any, also within a pair.
Allowed = Sequence[int | tuple[int | None, int | None] | None] | None


def best_dependency_tree(
    scores: npt.ArrayLike,
    siblings: npt.ArrayLike | None = None,
    *,
    projective: bool = True,
    single_root: bool = True,
    allowed: Allowed = None,
) -> tuple[LabelArray, float]:
    """The best tree and its score.

    Parameters
    ----------
    scores : (n + 1, n + 1) or (n + 1, n + 1, n_labels)
        Of the arc from a head, the first axis, to a token, the second one.
    siblings : (n + 1, n + 1, n + 1), optional
        Of a head, a sibling and a token; only for projective trees.
    projective : bool
        Whether arcs may not cross.
    single_root : bool
        Whether only one token has the root as head.
    allowed : sequence of length n, optional
        What is known of the tree: for each token its head, or (head, label), with None for any.

    Returns
    -------
    tree : (n,) or (n, 2)
        The head of each token, with labels the head and the label.
    score : float

    Examples
    --------
    >>> scores = np.zeros((4, 4))
    >>> scores[0, 2], scores[2, 1], scores[1, 3] = 3.0, 2.0, 1.0
    >>> best_dependency_tree(scores, projective=False)
    (array([2, 0, 1], dtype=int32), 6.0)
    >>> best_dependency_tree(scores)
    (array([2, 0, 2], dtype=int32), 5.0)
    >>> best_dependency_tree(scores, allowed=[None, 3, None])
    (array([2, 3, 0], dtype=int32), 2.0)

    With two labels, and a sentence of two words:

    >>> best_dependency_tree(np.arange(18.0).reshape(3, 3, 2))
    (array([[2, 1],
           [0, 1]], dtype=int32), 20.0)
    """
    trees = _Trees(scores, siblings, projective, single_root, allowed)
    codes, score = trees.given.best()
    return trees.heads(codes), score


def k_best_dependency_trees(
    scores: npt.ArrayLike,
    k: int,
    siblings: npt.ArrayLike | None = None,
    *,
    projective: bool = True,
    single_root: bool = True,
    allowed: Allowed = None,
) -> list[tuple[LabelArray, float]]:
    """The k best trees and their scores, best first; fewer if there are not as many.

    Projective ones lazily (Huang and Chiang 2005); of all trees, by n searches for the next one (Lawler 1972).

    Examples
    --------
    >>> for heads, score in k_best_dependency_trees([[0.0, 1.0, 2.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.0]], 3):
    ...     print(heads, score)
    [2 0] 2.0
    [0 1] 1.5
    """
    trees = _Trees(scores, siblings, projective, single_root, allowed)
    return [(trees.heads(codes), score) for codes, score in trees.given.k_best(k)]


@dataclass(frozen=True, slots=True)
class DependencyMarginals:
    """What the distribution P(y) = exp F(y) / Z over dependency trees is like.

    Attributes
    ----------
    log_z : float
        log Σ_y exp F(y); −∞ if there is no tree, and all else is 0 then.
    arcs : (n + 1, n + 1) or (n + 1, n + 1, n_labels)
        The probability that the tree has the arc, with the label if there are any.
    siblings : (n + 1, n + 1, n + 1), or None
        The probability of a head, a sibling and a token.
    entropy : float
        −Σ_y P(y) log P(y), in nats.
    """

    log_z: float
    arcs: FloatArray
    siblings: FloatArray | None
    entropy: float


def dependency_marginals(
    scores: npt.ArrayLike,
    siblings: npt.ArrayLike | None = None,
    *,
    projective: bool = True,
    single_root: bool = True,
    allowed: Allowed = None,
) -> DependencyMarginals:
    """Sums over all trees; the arguments are those of `best_dependency_tree`.

    Scores may differ as much as they like: nothing overflows, and no determinant is ill-conditioned.

    Examples
    --------
    All trees of three tokens, n^(n − 1), and those without crossing arcs:

    >>> found = dependency_marginals(np.zeros((4, 4)), projective=False)
    >>> round(np.exp(found.log_z)), found.arcs[0].round(3)
    (9, array([0.   , 0.333, 0.333, 0.333]))
    >>> found = dependency_marginals(np.zeros((4, 4)))
    >>> round(np.exp(found.log_z)), found.arcs[0].round(3)
    (7, array([0.   , 0.429, 0.143, 0.429]))
    """
    return _Trees(scores, siblings, projective, single_root, allowed).marginals()


def sample_dependency_trees(
    scores: npt.ArrayLike,
    n_samples: int,
    siblings: npt.ArrayLike | None = None,
    *,
    projective: bool = True,
    single_root: bool = True,
    allowed: Allowed = None,
    random_state: int | np.random.Generator | None = None,
) -> LabelArray:
    """Trees drawn from P(y), (n_samples, n), or (n_samples, n, 2) with labels.

    Examples
    --------
    >>> sample_dependency_trees(np.zeros((4, 4)), 2, random_state=0)
    array([[0, 1, 1],
           [2, 3, 0]], dtype=int32)
    """
    trees = _Trees(scores, siblings, projective, single_root, allowed)
    drawn = trees.given.samples(n_samples, random_state)
    return trees.heads(np.reshape(drawn.flat, (len(drawn), trees.length)))


def projectivised(tree: Sequence[Any]) -> list[Any]:
    """The projective tree that has the most arcs of a tree; arcs that are moved go to an ancestor, where one will do.

    A tree of one root keeps one root, and tokens their labels where they have some.

    Examples
    --------
    >>> projectivised([0, 4, 1, 1]), projectivised([(0, "root"), (4, "a"), (1, "b"), (1, "c")])
    ([0, 1, 1, 1], [(0, 'root'), (1, 'a'), (1, 'b'), (1, 'c')])
    """
    heads: list[Any]
    heads, labels = split_tree(tree, "the tree")
    check_tree(heads, "the tree")
    if not is_projective(heads):
        heads = _nearest(heads)
    return heads if labels is None else list(zip(heads, labels, strict=True))


def _nearest(heads: list[Any]) -> list[int]:
    n = len(heads)
    scores = np.zeros((n + 1, n + 1))
    for t, head in enumerate(heads, 1):
        scores[head, t] = 1.0
        above, steps = head, 1
        while above:
            above, steps = heads[above - 1], steps + 1
            # All tokens together are worth less than one arc, near ancestors more than far ones.
            scores[above, t] = 1.0 / (n + 1) / steps
    tree, _ = best_dependency_tree(scores, single_root=heads.count(0) == 1)
    return [int(head) for head in tree]


class _Trees:
    """The trees of one sentence; the core codes a token by its head, times the number of labels, plus its label."""

    def __init__(self, scores: Any, siblings: Any, projective: bool, single_root: bool, allowed: Allowed):
        table = _arcs_of(scores)
        self._shape = table.shape
        self._labelled = table.ndim == 3
        self._n_labels = table.shape[2] if self._labelled else 1
        self.length = len(table) - 1
        local = [table]
        if siblings is not None:
            if not projective:
                raise ValueError(
                    "siblings need projective=True: with them the best of all trees is NP-hard to find, and sums over "
                    "all trees are no determinant"
                )
            local.append(scores_of(siblings, "siblings", (len(table),) * 3))
        known = None if allowed is None else _known(allowed, self.length, self._n_labels, self._labelled)
        engine = _core.DependencyEngine(
            np.array([0, self.length]), self._n_labels, bool(single_root), siblings is not None, known
        )
        bind = _core.GivenProjectiveTrees if projective else _core.GivenNonprojectiveTrees
        self.given = GivenParts(_why_none(table, single_root), partial(bind, engine), local)

    def heads(self, codes: LabelArray) -> LabelArray:
        if not self._labelled:
            return codes
        return np.stack(np.divmod(codes, np.int32(self._n_labels)), axis=-1)

    def marginals(self) -> DependencyMarginals:
        log_z, entropy, (arcs, *siblings) = self.given.sums()
        return DependencyMarginals(log_z, arcs, siblings[0] if siblings else None, entropy)


def _arcs_of(given: Any) -> FloatArray:
    scores = np.array(given, np.float64)
    if scores.ndim not in (2, 3) or scores.shape[0] != scores.shape[1] or 0 in scores.shape:
        raise ValueError(
            f"scores has shape {scores.shape}; expected (n + 1, n + 1) or (n + 1, n + 1, n_labels), by head and token"
        )
    scores[:, 0] = -np.inf
    scores[np.arange(len(scores)), np.arange(len(scores))] = -np.inf
    bad = np.argwhere(~(scores < np.inf))
    if len(bad):
        place = bad[0].tolist()
        raise ValueError(
            f"scores{place} is {scores[tuple(place)]}, of token {place[1]} and head {place[0]}; "
            "a score must not be NaN or +inf"
        )
    return scores


def _why_none(scores: FloatArray, single_root: bool) -> str:
    """What is said where there is no tree."""
    n = len(scores) - 1
    tops = scores.reshape(n + 1, n + 1, -1).max(axis=(0, 2))[1:]
    if -np.inf in tops:
        token = 1 + int(np.argmin(tops))
        return f"no tree of these {n} tokens is possible: token {token} has no head, all of scores[:, {token}] are -inf"
    roots = "one root" if single_root else "roots"
    return f"no tree of these {n} tokens with {roots} is possible: every one has an arc that is forbidden"


def _known(allowed: Any, n: int, n_labels: int, labelled: bool) -> LabelArray:
    """The head and the label of every token, −1 for any."""
    if len(allowed) != n:
        raise ValueError(f"allowed has {len(allowed)} entries but there are {n} tokens")
    known = np.full((n, 2), -1, np.int32)
    for t, given in enumerate(allowed):
        pair = given if isinstance(given, (tuple, list)) else (given, None)
        if len(pair) != 2 or not all(one is None or isinstance(one, (int, np.integer)) for one in pair):
            raise ValueError(f"allowed[{t}] is {shown(given)}; expected a head, (head, label), or None")
        head, label = pair
        if head is not None and (not 0 <= head <= n or head == t + 1):
            raise ValueError(f"allowed[{t}] has the head {head}, of token {t + 1}; heads are others of 0 to {n}")
        if label is not None and not labelled:
            raise ValueError(f"allowed[{t}] has the label {label} but scores have no labels")
        if label is not None and not 0 <= label < n_labels:
            raise ValueError(f"allowed[{t}] has the label {label} but labels are 0 to {n_labels - 1}")
        known[t] = [-1 if one is None else one for one in pair]
    return known
