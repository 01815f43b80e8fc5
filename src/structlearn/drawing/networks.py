"""Graphs whose nodes have labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.text import Text

from structlearn.data.arrays import Flags, IntArray
from structlearn.drawing.base import Drawing
from structlearn.drawing.label_signs import INK, WRONG, LabelSigns, cut
from structlearn.drawing.markup import Html, element
from structlearn.drawing.network_layout import spring_layout
from structlearn.wording import count

#: A graph of more nodes is drawn in part.
MOST_NODES = 200
#: Nodes that a terminal lists, and neighbours of each.
MOST_LINES, MOST_NEIGHBOURS = 30, 8
#: Pixels of a node's radius, of an edge, around the whole, and of the widest picture.
RADIUS, LENGTH, MARGIN, WIDEST = 9, 40, 6, 1000
#: The radius of one of many nodes.
SMALL = 6


class Network(NamedTuple):
    """A graph with its labels, or a part of it; nodes keep their names."""

    edges: IntArray
    labels: list[Any]
    truth: list[Any] | None
    wrong: Flags
    names: list[str]

    def part(self, nodes: IntArray) -> Network:
        """With these nodes, in increasing order, and the edges between them."""
        inside = np.isin(self.edges, nodes).all(axis=1)
        chosen = nodes.tolist()
        return Network(
            np.searchsorted(nodes, self.edges[inside]),
            [self.labels[k] for k in chosen],
            None if self.truth is None else [self.truth[k] for k in chosen],
            self.wrong[nodes],
            [self.names[k] for k in chosen],
        )


def draw_network(
    edges: Any,
    labels: Any,
    truth: Any = None,
    *,
    names: Sequence[Any] | None = None,
    classes: Sequence[Any] | None = None,
    width: int = 100,
) -> Drawing:
    """A graph with a label at each node; where a truth is given, wrong nodes are marked by ✗, in a report by outlines.

    A terminal lists nodes with their neighbours, the wrong ones where there are some. A report has a picture; of a
    graph with more than 200 nodes it shows the wrong ones with their neighbours, or, without any, those around the node
    with most neighbours.

    Parameters
    ----------
    edges : (n_edges, 2)
        Pairs of nodes, counted from 0.
    labels, truth : (n_nodes,) labels
    names : (n_nodes,), optional
        By default nodes are numbered from 1.
    classes : sequence of labels, optional
        All there are, so that pictures of several graphs have the same colours; by default those that occur.
    width : int
        Of the terminal, in columns.

    Examples
    --------
    >>> print(draw_network([[0, 1], [1, 2]], ["ham", "ham", "spam"], ["ham", "spam", "spam"]))
    1 wrong of 3 nodes, 2 edges
    2: ham✗ true is spam, beside 1: ham, 3: spam
    >>> print(draw_network([[0, 1]], ["ham", "spam"], names=["Ann", "Bob"]))
    2 nodes, 1 edge
    Ann: ham, beside Bob: spam
    Bob: spam, beside Ann: ham
    """
    network = _network(edges, labels, truth, names)
    signs = LabelSigns.of([*network.labels, *(network.truth or ())], classes)
    n = count(len(network.labels), "node")
    title = n if truth is None else f"{np.count_nonzero(network.wrong):,} wrong of {n}"
    title += f", {count(len(network.edges), 'edge')}"
    return Drawing(_text(network, title, width), _html(network, title, signs))


def _network(edges: Any, labels: Any, truth: Any, names: Sequence[Any] | None) -> Network:
    found, true = _listed(labels), None if truth is None else _listed(truth)
    n = len(found)
    if not n:
        raise ValueError("the graph has no nodes")
    if true is not None and len(true) != n:
        raise ValueError(f"there are {n} labels but {len(true)} true ones")
    called = [str(k + 1) for k in range(n)] if names is None else [str(name) for name in names]
    if len(called) != n:
        raise ValueError(f"there are {n} labels but {len(called)} names")
    pairs = np.asarray(edges, np.int64).reshape(-1, 2)
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < n:
        e = int(np.argmax(((pairs < 0) | (pairs >= n)).any(axis=1)))
        raise ValueError(f"edges[{e}] is {pairs[e].tolist()}; there are {n} nodes, counted from 0")
    wrong = np.array([false != label for false, label in zip(found, true or found, strict=True)], np.bool_)
    return Network(pairs, found, true, wrong, called)


def _listed(labels: Any) -> list[Any]:
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)


def _text(network: Network, title: str, width: int) -> Text:
    nodes = np.flatnonzero(network.wrong) if network.wrong.any() else np.arange(len(network.labels))
    lines = [Text(title, "dim"), *(_line(network, int(node), width) for node in nodes[:MOST_LINES])]
    if len(nodes) > MOST_LINES:
        lines.append(Text(f"and {len(nodes) - MOST_LINES:,} more", "dim"))
    return Text("\n").join(lines)


def _line(network: Network, node: int, width: int) -> Text:
    """A node, its label, and its neighbours with theirs."""
    line = _named(network, node)
    if network.wrong[node] and network.truth is not None:
        line.append(f" true is {network.truth[node]}", "green")
    ends = network.edges[(network.edges == node).any(axis=1)]
    neighbours = sorted({int(a if b == node else b) for a, b in ends})
    for k, other in enumerate(neighbours):
        piece = Text.assemble(", " if k else ", beside ", _named(network, other))
        if k == MOST_NEIGHBOURS or line.cell_len + piece.cell_len > width - len(", and 999 more"):
            return line.append(f", and {len(neighbours) - k} more" if k else f", beside {len(neighbours)} others")
        line.append_text(piece)
    return line


def _named(network: Network, node: int) -> Text:
    wrong = bool(network.wrong[node])
    label = f"{network.labels[node]}✗" if wrong else str(network.labels[node])
    return Text.assemble(network.names[node], ": ", (label, "bold red" if wrong else "cyan"))


def _html(network: Network, title: str, signs: LabelSigns) -> Html:
    nodes, told = _chosen(network)
    shown = network.part(nodes)
    words = element("p", f"{title}{told}", class_="note")
    legend = signs.legend_html([*shown.labels, *(shown.truth or ())])
    figure = element("figure", _picture(shown, title, signs))
    return element("div", words, figure, legend, class_="drawing")


def _chosen(network: Network) -> tuple[IntArray, str]:
    """The nodes that are drawn, and what is said of those that are not."""
    n = len(network.labels)
    if n <= MOST_NODES:
        return np.arange(n), ""
    beside: list[list[int]] = [[] for _ in range(n)]
    for a, b in network.edges.tolist():
        beside[a].append(b)
        beside[b].append(a)
    wrong = np.flatnonzero(network.wrong).tolist()
    if not wrong:
        nodes = _around(max(range(n), key=lambda node: len(beside[node])), beside)
        return nodes, f". Shown are {count(len(nodes), 'node')} around the one with most neighbours."
    shown: set[int] = set()
    n_shown = 0
    for node in wrong:
        more = {node, *beside[node]}
        if shown and len(shown | more) > MOST_NODES:
            break
        shown |= more
        n_shown += 1
    nodes = np.array(sorted(shown, key=lambda node: (node != wrong[0], node))[:MOST_NODES])
    some = "The wrong ones are" if n_shown == len(wrong) else f"The first {n_shown:,} wrong ones are"
    return np.sort(nodes), f". {some} shown with their neighbours, {count(len(nodes), 'node')} in all."


def _around(centre: int, beside: list[list[int]]) -> IntArray:
    """As many nodes as are drawn, those next to the centre first."""
    found = {centre: None}
    waiting = [centre]
    for node in waiting:
        new = dict.fromkeys(other for other in beside[node] if other not in found)
        found |= new
        waiting += new
        if len(found) >= MOST_NODES:
            break
    return np.sort(list(found)[:MOST_NODES])


def _picture(network: Network, title: str, signs: LabelSigns) -> Html:
    places = spring_layout(network.edges, len(network.labels)) * LENGTH
    places -= places.min(axis=0)
    places *= min(1.0, WIDEST / max(places[:, 0].max(), 1.0))
    radius = RADIUS if len(network.labels) <= MOST_NODES // 2 else SMALL
    points = np.rint(places + radius + MARGIN).astype(np.int64).tolist()
    lines = "".join(f"M{points[a][0]} {points[a][1]}L{points[b][0]} {points[b][1]}" for a, b in network.edges.tolist())
    edges = element("path", d=lines, stroke="currentColor", stroke_opacity=0.35, fill="none")
    nodes = [_node(network, node, point, radius, signs) for node, point in enumerate(points)]
    style = {"fill": INK, "font_size": radius + 3, "font_family": "monospace", "text_anchor": "middle"}
    width, height = (np.max(points, axis=0) + radius + MARGIN).tolist()
    return element(
        "svg",
        [element("title", title), edges, element("g", nodes, **style)],
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
    )


def _node(network: Network, node: int, point: list[int], radius: int, signs: LabelSigns) -> Html:
    """A circle with a letter, which says more to who points at it."""
    letter, colour = signs[network.labels[node]]
    tip = f"{cut(network.names[node])}: {cut(str(network.labels[node]))}"
    frame: dict[str, Any] = {"stroke": INK, "stroke_width": 0.5}
    if network.wrong[node] and network.truth is not None:
        tip += f" ✗, true is {cut(str(network.truth[node]))}"
        frame = {"stroke": WRONG, "stroke_width": 3}
    x, y = point
    circle = element("circle", cx=x, cy=y, r=radius, fill=colour, **frame)
    return element("g", element("title", tip), circle, element("text", letter, x=x, y=y + radius // 2))
