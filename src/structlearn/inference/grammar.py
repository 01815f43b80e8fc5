"""Decoders for parse trees by a weighted grammar, on plain arrays of scores.

Symbols are numbers from 0. A node of a tree is (symbol, begin, end), over the tokens begin, …, end − 1. It has two
children, or one, by a rule; or none, directly above a token. A tree y is the list of its nodes from the top, left
before right, and its score F(y) is the sum of start[symbol] of its first node, scores[r] of every rule r, as often as
the tree has it, emission[t, symbol] of the node directly above every token t, and spans[begin, end, symbol] of every
node. A score of −∞ forbids. Probabilities are P(y) = exp F(y) / Z.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.known.phrases import KnownPhrases
from structlearn.data.ragged import offsets_of
from structlearn.inference.given import GivenParts, scores_of, table_of
from structlearn.wording import shown

#: (symbol, begin, end)
Node = tuple[int, int, int]
#: (parent, left, right) and (parent, child), one after another; or an array with −1 as the right child of the latter.
Rules = Sequence[tuple[int, ...]] | npt.NDArray[np.integer[Any]]
#: Nodes that there must be, with None for any symbol.
Allowed = Collection[tuple[int | None, int, int]] | None


def best_tree(
    emission: npt.ArrayLike,
    rules: Rules,
    scores: npt.ArrayLike | None = None,
    start: int | npt.ArrayLike | None = None,
    spans: npt.ArrayLike | None = None,
    *,
    allowed: Allowed = None,
) -> tuple[list[Node], float]:
    """The best tree and its score (Cocke, Kasami and Younger).

    It takes time in proportion to length³ and to the number of rules.

    Parameters
    ----------
    emission : (length, n_symbols)
        Of the symbol directly above each token, −∞ where a token cannot have it.
    rules : list of (parent, left, right) and (parent, child), or (n_rules, 3) integers
        In the array, the right child of a rule with one child is −1. No rule may come twice, and no symbol may lead
        back to itself by rules with one child.
    scores : (n_rules,), optional
        Zero if not given.
    start : int or (n_symbols,), optional
        The one symbol that trees may have at the top, or a score for each. Any for 0 if not given.
    spans : (length + 1, length + 1, n_symbols), optional
        Of a node that begins before the first token number, ends before the second, and has the symbol. Zero if not
        given.
    allowed : collection of (symbol, begin, end), optional
        Nodes that the tree must have, with None for any symbol.

    Examples
    --------
    A noun (2) after another is a compound (1), and after a verb (3) its object; sentences are 0:

    >>> rules = [(0, 3, 1), (1, 1, 2), (1, 2)]
    >>> emission = np.full((3, 4), -np.inf)
    >>> emission[0, 3] = emission[1, 2] = emission[2, 2] = 0.0
    >>> best_tree(emission, rules, [-0.1, -1.0, -0.5], start=0)
    ([(0, 0, 3), (3, 0, 1), (1, 1, 3), (1, 1, 2), (2, 1, 2), (2, 2, 3)], -1.6)
    """
    trees = _Trees(emission, rules, scores, start, spans, allowed)
    codes, score = trees.given.best()
    return trees.nodes(codes), score


def k_best_trees(
    emission: npt.ArrayLike,
    rules: Rules,
    k: int,
    scores: npt.ArrayLike | None = None,
    start: int | npt.ArrayLike | None = None,
    spans: npt.ArrayLike | None = None,
    *,
    allowed: Allowed = None,
) -> list[tuple[list[Node], float]]:
    """The k best trees and their scores, best first; fewer if there are not as many (Huang and Chiang 2005).

    Examples
    --------
    >>> spans = np.zeros((4, 4, 1))
    >>> spans[1, 3, 0] = 1.0
    >>> for nodes, score in k_best_trees(np.zeros((3, 1)), [(0, 0, 0)], 5, spans=spans):
    ...     print(nodes, score)
    [(0, 0, 3), (0, 0, 1), (0, 1, 3), (0, 1, 2), (0, 2, 3)] 1.0
    [(0, 0, 3), (0, 0, 2), (0, 0, 1), (0, 1, 2), (0, 2, 3)] 0.0
    >>> k_best_trees(np.zeros((3, 1)), [(0, 0, 0)], 5, spans=spans, allowed=[(None, 0, 2)])
    [([(0, 0, 3), (0, 0, 2), (0, 0, 1), (0, 1, 2), (0, 2, 3)], 0.0)]
    """
    trees = _Trees(emission, rules, scores, start, spans, allowed)
    return [(trees.nodes(codes), score) for codes, score in trees.given.k_best(k)]


@dataclass(frozen=True, slots=True)
class TreeMarginals:
    """What the distribution P(y) = exp F(y) / Z over trees is like.

    Attributes
    ----------
    log_z : float
        log Σ_y exp F(y); −∞ if there is no tree, and all else is 0 then.
    words : (length, n_symbols)
        The probability that the node directly above the token has the symbol.
    rules : (n_rules,)
        How many times each rule is expected.
    starts : (n_symbols,)
        The probability that the tree has the symbol at the top.
    spans : (length + 1, length + 1, n_symbols)
        The probability that the tree has the node.
    entropy : float
        −Σ_y P(y) log P(y), in nats.
    """

    log_z: float
    words: FloatArray
    rules: FloatArray
    starts: FloatArray
    spans: FloatArray
    entropy: float


def tree_marginals(
    emission: npt.ArrayLike,
    rules: Rules,
    scores: npt.ArrayLike | None = None,
    start: int | npt.ArrayLike | None = None,
    spans: npt.ArrayLike | None = None,
    *,
    allowed: Allowed = None,
) -> TreeMarginals:
    """Sums over all trees (inside and outside); the arguments are those of `best_tree`.

    Examples
    --------
    The binary trees of four tokens:

    >>> found = tree_marginals(np.zeros((4, 1)), [(0, 0, 0)])
    >>> round(np.exp(found.log_z)), found.rules.round(3), found.spans[0, :, 0].round(3)
    (5, array([3.]), array([0. , 1. , 0.4, 0.4, 1. ]))
    """
    return _Trees(emission, rules, scores, start, spans, allowed).marginals()


def sample_trees(
    emission: npt.ArrayLike,
    rules: Rules,
    n_samples: int,
    scores: npt.ArrayLike | None = None,
    start: int | npt.ArrayLike | None = None,
    spans: npt.ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
    *,
    allowed: Allowed = None,
) -> list[list[Node]]:
    """Trees drawn from P(y).

    Examples
    --------
    >>> sample_trees(np.zeros((2, 1)), [(0, 0, 0)], 2, random_state=0)
    [[(0, 0, 2), (0, 0, 1), (0, 1, 2)], [(0, 0, 2), (0, 0, 1), (0, 1, 2)]]
    """
    trees = _Trees(emission, rules, scores, start, spans, allowed)
    return [trees.nodes(codes) for codes in trees.given.samples(n_samples, random_state)]


class _Trees:
    """The trees of one sentence, with numbers of their own for what the core knows.

    The core tells phrases, which have children, from the tags of words, while a symbol here may be above either. So all
    symbols are phrases there, and those above a token have one child, a tag that nothing else has. Every token is a
    word of its own. What is forbidden anywhere is left out.
    """

    def __init__(self, emission: Any, rules: Any, scores: Any, start: Any, spans: Any, allowed: Allowed):
        emission = table_of(emission, "emission", "(length, n_symbols)")
        self._shape = length, n_symbols = emission.shape
        rules = _checked_rules(rules, n_symbols)
        scores = scores_of(scores, "scores", (len(rules),))
        start = _start_scores(start, n_symbols)
        spans = scores_of(spans, "spans", (length + 1, length + 1, n_symbols))
        used = np.flatnonzero(scores > -np.inf)
        parent, left, right = rules.T
        self._unary, binary = used[right[used] < 0], used[right[used] >= 0]
        self._binary = binary[np.lexsort((parent[binary], right[binary], left[binary]))]
        self._starts = np.flatnonzero(start > -np.inf)
        self._words = np.nonzero(emission > -np.inf)
        self._tagged = np.unique(self._words[1])
        _check_cycles(rules[self._unary])
        # What the first codes stand for: the symbol of a node, and how many children it has.
        self._parents = np.concatenate([parent[self._binary], parent[self._unary], self._tagged]).tolist()
        self._arities = [2] * len(self._binary) + [1] * len(self._unary) + [0] * len(self._tagged)
        self._n_rules = len(rules)
        of_tags = np.zeros(len(self._tagged))
        self.given = GivenParts(
            f"the rules derive no tree of these {length} tokens that is not forbidden",
            partial(_core.GivenGrammar, self._engine(rules, allowed)),
            [spans],
            [
                scores[self._binary],
                np.concatenate([scores[self._unary], of_tags]),
                start[self._starts],
                emission[self._words],
            ],
        )

    def _engine(self, rules: IntArray, allowed: Allowed) -> _core.GrammarEngine:
        length, n_phrases = self._shape
        tags = n_phrases + np.arange(len(self._tagged))
        above_tags = np.stack([self._tagged, tags], axis=1)
        core_rules = _core.GrammarRules(
            n_symbols=n_phrases + len(tags),
            n_plain=n_phrases + len(tags),
            label=_int32([*range(n_phrases), *[-1] * len(tags)]),
            counts=np.ones(n_phrases, np.uint8),
            binary=_int32(rules[self._binary]),
            unary=_int32(np.concatenate([rules[self._unary, :2], above_tags])),
            starts=_int32(self._starts),
            word_begin=_int32(offsets_of(np.bincount(self._words[0], minlength=length))),
            word_tag=_int32(tags[np.searchsorted(self._tagged, self._words[1])]),
            lexical=True,
            n_edges=0,
            n_buckets=0,
            n_columns=0,
            longest_chain=n_phrases + 1,
        )
        sentence = core_rules, np.array([0, length]), np.arange(length, dtype=np.int32)
        if allowed is None:
            return _core.GrammarEngine(*sentence)
        symbols = range(n_phrases)
        known = KnownPhrases.read([allowed], symbols, [length], one="emission")
        return _core.GrammarEngine(*sentence, *known.rows(symbols))

    def nodes(self, codes: LabelArray) -> list[Node]:
        """The nodes of a tree, whose codes are its rules from the top, left before right, with its start and words."""
        found: list[Node] = []
        waiting: list[tuple[int, int]] = []  # where nodes begin and end that have no parent yet, the leftmost last
        at = self._shape[0]
        for code in reversed(codes.tolist()):
            if code >= len(self._parents):
                continue
            if self._arities[code] == 0:
                at -= 1
                waiting.append((at, at + 1))
            elif self._arities[code] == 2:
                begin, _ = waiting.pop()
                _, end = waiting.pop()
                waiting.append((begin, end))
            found.append((self._parents[code], *waiting[-1]))
        return found[::-1]

    def marginals(self) -> TreeMarginals:
        log_z, entropy, (spans, binary, unary, start, word) = self.given.sums()
        words, rules, starts = np.zeros(self._shape), np.zeros(self._n_rules), np.zeros(self._shape[1])
        rules[self._binary] = binary
        rules[self._unary] = unary[: len(self._unary)]
        starts[self._starts] = start
        words[self._words] = word
        return TreeMarginals(log_z, words, rules, starts, spans, entropy)


def _checked_rules(given: Rules, n_symbols: int) -> IntArray:
    """Rows of parent, left and right, −1 where there is no right child."""
    if not isinstance(given, np.ndarray):
        for r, rule in enumerate(given):
            if np.shape(rule) not in ((2,), (3,)):
                raise ValueError(f"rules[{r}] is {shown(rule)}; expected (parent, left, right) or (parent, child)")
        given = np.array([(*rule, -1)[:3] for rule in given] or np.empty((0, 3), np.int64))
    if given.dtype.kind not in "iu" or given.ndim != 2 or given.shape[1] != 3:
        raise ValueError(f"rules has shape {given.shape} and type {given.dtype}; expected (n_rules, 3) integers")
    rules = given.astype(np.int64)
    bad = np.flatnonzero((rules < (0, 0, -1)).any(axis=1) | (rules >= n_symbols).any(axis=1))
    if len(bad):
        raise ValueError(f"rules[{bad[0]}] is {_written(rules[bad[0]])} but symbols are 0 to {n_symbols - 1}")
    _, first, which = np.unique(rules @ ((n_symbols + 1) ** np.arange(3)), return_index=True, return_inverse=True)
    again = np.flatnonzero(first[which] != np.arange(len(rules)))
    if len(again):
        r = again[0]
        raise ValueError(f"rules[{r}] is {_written(rules[r])}, as rules[{first[which[r]]}] is")
    return rules


def _written(rule: IntArray) -> str:
    return str(tuple(rule[:2].tolist() if rule[2] == -1 else rule.tolist()))


def _start_scores(given: Any, n_symbols: int) -> FloatArray:
    if not isinstance(given, (int, np.integer)):
        return scores_of(given, "start", (n_symbols,))
    if not 0 <= given < n_symbols:
        raise ValueError(f"start is {given} but symbols are 0 to {n_symbols - 1}")
    scores = np.full(n_symbols, -np.inf)
    scores[given] = 0.0
    return scores


def _check_cycles(unary: IntArray) -> None:
    """Refuses symbols that lead back to themselves: such trees have no end, and may score without bound."""
    order: TopologicalSorter[int] = TopologicalSorter()
    for parent, child, _ in unary.tolist():
        order.add(parent, child)
    try:
        order.prepare()
    except CycleError as error:
        cycle = " → ".join(map(str, reversed(error.args[1])))
        raise ValueError(f"the rules with one child lead from a symbol to itself: {cycle}") from None


def _int32(values: Any) -> LabelArray:
    return np.ascontiguousarray(values, np.int32)
