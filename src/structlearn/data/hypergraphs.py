"""Hypergraphs: outputs as what can be derived, step by step, from smaller pieces."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np

from structlearn.data.arrays import IntArray, LabelArray
from structlearn.data.ragged import offsets_of
from structlearn.wording import shown

#: (head, tails, parts): an item, the items that it is derived from, and what that brings into the output.
Step = tuple[Hashable, Sequence[Hashable], Sequence[Hashable]]


@dataclass(frozen=True, slots=True)
class Hypergraph:
    """All outputs of one input: each way to derive the goal is an output, the set of parts that its steps bring.

    Make it with `of`. Items and parts are numbered; items in an order in which they can be derived, the goal last.

    Attributes
    ----------
    parts : tuple
        The parts, in the order of their numbers, which is that of the steps that bring them.
    edges : (n_items + 1,)
        Where the steps to each item begin.
    tails : (n_edges, 2)
        The items that a step needs, −1 for none.
    edge_parts : (n_edges + 1,)
        Where the parts of each step begin.
    part_numbers : (edge_parts[-1],)
        The parts of the steps, one step after another.
    """

    parts: tuple[Hashable, ...]
    edges: IntArray
    tails: LabelArray
    edge_parts: IntArray
    part_numbers: LabelArray

    @property
    def n_items(self) -> int:
        return len(self.edges) - 1

    @property
    def n_edges(self) -> int:
        return len(self.tails)

    @property
    def nbytes(self) -> int:
        """Of the arrays and of the parts, each as Python has it."""
        parts = sys.getsizeof(self.parts) + sum(map(sys.getsizeof, self.parts))
        return parts + self.edges.nbytes + self.tails.nbytes + self.edge_parts.nbytes + self.part_numbers.nbytes

    @classmethod
    def of(
        cls,
        steps: Iterable[Step],
        what: str = "the hypergraph",
        max_memory: int | None = None,
        limit: str | None = None,
    ) -> Hypergraph:
        """The hypergraph of these steps; the head of the last one is the goal.

        Parameters
        ----------
        steps : iterable of (head, tails, parts)
            Items and parts are anything hashable. A step without tails begins a derivation. The order of the steps
            does not matter but for the last.
        what : str
            How messages call the hypergraph.
        max_memory : int, optional
            Bytes that the arrays may take; steps that need more are refused while they are listed.
        limit : str, optional
            How messages call that bound, if nobody has given it.

        Examples
        --------
        A word of one or two syllables:

        >>> graph = Hypergraph.of([(1, [], ["a"]), (1, [], ["b"]), (2, [1], ["c"]), ("end", [1], []), ("end", [2], [])])
        >>> graph.n_items, graph.n_edges, graph.parts
        (3, 5, ('a', 'b', 'c'))
        """
        listed = _read(steps, what, max_memory, limit or f"max_memory={max_memory} bytes")
        edges = [edge for k, step in enumerate(listed) for edge in _binary(step, k)]
        number = _numbers(edges, listed[-1][0], what)
        edges = [edge for edge in edges if edge[0] in number]
        parts = {part: k for k, part in enumerate(dict.fromkeys(part for edge in edges for part in edge[2]))}
        edges.sort(key=lambda edge: number[edge[0]])
        tails = np.full((len(edges), 2), -1, np.int32)
        for e, (_, items, _) in enumerate(edges):
            tails[e, : len(items)] = [number[item] for item in items]
        return cls(
            tuple(parts),
            offsets_of(np.bincount([number[head] for head, _, _ in edges], minlength=len(number))),
            tails,
            offsets_of([len(brought) for _, _, brought in edges]),
            np.array([parts[part] for _, _, brought in edges for part in brought], np.int32),
        )


def _read(steps: Iterable[Step], what: str, max_memory: int | None, limit: str) -> list[Step]:
    if not isinstance(steps, Iterable):
        raise ValueError(f"the steps of {what} are {shown(steps)}; expected (head, tails, parts), one after another")
    listed: list[Step] = []
    size = 0
    for k, step in enumerate(steps):
        if not isinstance(step, (tuple, list)) or len(step) != 3:
            raise ValueError(f"step {k} of {what} is {shown(step)}; expected (head, tails, parts)")
        head, tails, parts = step
        for name, several in (("tails", tails), ("parts", parts)):
            if isinstance(several, str) or not isinstance(several, Sequence):
                raise ValueError(f"step {k} of {what} has {name} {shown(several)}; expected a list")
        for each in (head, *tails, *parts):
            if not _hashes(each):
                raise ValueError(f"step {k} of {what} has {shown(each)}, which is not hashable; use tuples, not lists")
        listed.append((head, tails, parts))
        # Two tails and an offset for each of the binary steps, and the numbers of the parts.
        size += 16 * max(len(tails) - 1, 1) + 4 * len(parts)
        if max_memory is not None and size > max_memory:
            raise ValueError(f"{what} takes more than {limit}: its first {k + 1} steps need {size} bytes")
    if not listed:
        raise ValueError(f"{what} has no steps")
    return listed


def _hashes(item: object) -> bool:
    try:
        hash(item)
    except TypeError:
        return False
    return True


def _binary(step: Step, k: int) -> list[Step]:
    """Steps with at most two tails that do the same, over items between them."""
    head, tails, parts = step
    edges: list[Step] = []
    while len(tails) > 2:
        between = (_binary, k, len(tails))  # a name that no user's item has
        edges.append((between, tails[:2], ()))
        tails = [between, *tails[2:]]
    return [*edges, (head, tails, parts)]


def _numbers(edges: list[Step], goal: Hashable, what: str) -> dict[Hashable, int]:
    """Numbers of the items that the goal needs, each above those of what it is derived from; the goal has the last."""
    ways: dict[Hashable, list[Sequence[Hashable]]] = {}
    for head, tails, _ in edges:
        ways.setdefault(head, []).append(tails)
    # Lists, not sets, so that numbers do not depend on the hashes of names.
    needs: dict[Hashable, list[Hashable]] = {}
    rest = [goal]
    while rest:
        item = rest.pop()
        if item not in needs:
            needs[item] = list(dict.fromkeys(tail for tails in ways.get(item, ()) for tail in tails))
            rest += needs[item]
    try:
        order = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise ValueError(f"{what} derives {shown(error.args[1][0])} from itself") from None
    derived: set[Hashable] = set()
    for item in order:
        if any(derived.issuperset(tails) for tails in ways.get(item, ())):
            derived.add(item)
    if goal not in derived:
        raise ValueError(f"{what} has no way to derive its goal, {shown(goal)}")
    return {item: k for k, item in enumerate(order)}
