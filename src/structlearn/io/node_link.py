"""Networks as JSON lines, in the words of networkx's node-link form: ``{"nodes": […], "edges": […]}``, one a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np

from structlearn.data.networks import Network
from structlearn.io.format import BLANKS, Example, Format, Structure
from structlearn.io.json_values import dump, listed, load_object, read_features, read_label, shown_value
from structlearn.io.text import Lines, quoted
from structlearn.wording import count

#: What the list of edges may be called.
EDGES = ("edges", "links")


@dataclass(frozen=True, eq=False, repr=False)
class NamedNetwork(Network):
    """A network as a file has it.

    Attributes
    ----------
    names : tuple of str or int
        The ids of the nodes.
    """

    names: tuple[Any, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamedNetwork):
            return NotImplemented
        mine, yours = ((_plain(one.nodes), _plain(one.edge_features)) for one in (self, other))
        return mine == yours and self.names == other.names and np.array_equal(self.edges, other.edges)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class NodeLink(Format):
    """One network a line: an object with the lists "nodes" and "edges", or "links" as older networkx has it.

    A node is ``{"id": …, "label": …, "features": …}``. Ids are strings or whole numbers, by default the node's place
    from 0; labels are strings, whole numbers, true or false, and all nodes of a network have one or none has. An edge
    is ``{"source": id, "target": id, "features": …}``; edges have no direction, and two nodes have at most one.
    Features are objects, which mean what they mean in JSON lines, or lists of numbers, all of one length; where others
    have objects, a node or edge may have none. Whatever else there is, is kept. Predictions take the place of labels.

    ``json.dumps(networkx.node_link_data(graph))`` is such a line, if nodes have attributes of these names.

    Parameters
    ----------
    partial : bool
        Whether labels are known in part: null or nothing where they are not, a list for one of several.

    Examples
    --------
    >>> text = b'{"nodes": [{"id": "a", "features": {"x": 1}}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]}'
    >>> (example,) = NodeLink().read(Lines([text], "pages.jsonl"))
    >>> example.x.names, example.x.nodes, example.x.edges
    (('a', 'b'), [{'x': 1.0}, {}], [(0, 1)])
    >>> print(NodeLink().annotate(example, ["home", "news"])[:51])
    {"nodes": [{"id": "a", "features": {"x": 1}, "label
    """

    name: ClassVar[str] = "nodelink"

    partial: bool = False

    @property
    def structure(self) -> Structure:
        return "network"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        first = next((line for line in head if line.strip(BLANKS)), "")
        if not first.lstrip(BLANKS).startswith("{"):
            return None
        try:
            return cls() if "nodes" in load_object(first) else None
        except ValueError:
            return cls() if '"nodes"' in first else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        for line in lines:
            if not line.strip(BLANKS):
                continue
            try:
                x, y = self._network(load_object(line))
            except ValueError as error:
                raise lines.error(str(error), getattr(error, "column", 1)) from None
            yield Example(x, y, lines.number, (line,), file=lines.name)

    def write(self, x: Any, y: Any) -> str:
        network = x if isinstance(x, Network) else Network(*x)
        features, edges = _plain(network.nodes), np.asarray(network.edges).reshape(-1, 2).tolist()
        names = network.names if isinstance(network, NamedNetwork) else tuple(range(len(features)))
        if y is not None and len(y) != len(features):
            raise ValueError(f"there are {count(len(y), 'label')} for {count(len(features), 'node')}")
        nodes = [{"id": name, "features": given} for name, given in zip(names, features, strict=True)]
        links = [{"source": names[a], "target": names[b]} for a, b in edges]
        if network.edge_features is not None:
            of_edges = zip(links, _plain(network.edge_features), strict=True)
            links = [link | {"features": given} for link, given in of_edges]
        return dump({"nodes": nodes if y is None else _labelled(nodes, y), "edges": links})

    def annotate(self, example: Example, y: Any) -> str:
        (line,) = example.source
        found = load_object(line)
        return dump(found | {"nodes": _labelled(found["nodes"], y)})

    def known(self, label: Any) -> Any:
        return frozenset(label) if isinstance(label, list) else label

    def _network(self, found: dict[str, Any]) -> tuple[NamedNetwork, Any]:
        if found.get("directed") not in (None, False):
            raise ValueError('"directed" is not false; edges of networks have no direction')
        nodes = _objects(found.get("nodes"), '"nodes"')
        if not nodes:
            raise ValueError('the list of "nodes" is empty')
        names = _names(nodes)
        labels = self._labels(nodes)
        key = _edge_key(found)
        edges = _objects(found[key], f'"{key}"')
        pairs = _pairs(edges, key, {name: k for k, name in enumerate(names)})
        features = _features(nodes, "nodes")
        features = [{} for _ in nodes] if features is None else features
        return NamedNetwork(features, pairs, _features(edges, key), names), labels

    def _labels(self, nodes: list[dict[str, Any]]) -> list[Any] | None:
        labels = [
            read_label(node.get("label"), f"nodes[{k}].label", partial=self.partial) for k, node in enumerate(nodes)
        ]
        missing = [k for k, label in enumerate(labels) if label is None]
        if len(missing) == len(labels):
            return labels if self.partial else None
        if missing and not self.partial:
            there = next(k for k, label in enumerate(labels) if label is not None)
            raise ValueError(f"nodes[{missing[0]}] has no label, but nodes[{there}] has one; say --partial if so it is")
        return labels


def _objects(found: Any, what: str) -> list[dict[str, Any]]:
    if not isinstance(found, list):
        raise ValueError(f"expected a list of {what}, found {shown_value(found)}")
    for k, value in enumerate(found):
        if not isinstance(value, dict):
            raise ValueError(f"expected an object as {what.strip(chr(34))}[{k}], found {shown_value(value)}")
    return found


def _edge_key(found: dict[str, Any]) -> str:
    keys = [key for key in EDGES if key in found]
    if len(keys) != 1:
        told = "both" if keys else "neither"
        raise ValueError(f'expected a list of "edges" or one of "links", found {told}')
    return keys[0]


def _names(nodes: list[dict[str, Any]]) -> tuple[Any, ...]:
    places: dict[Any, int] = {}
    for k, node in enumerate(nodes):
        name = _id(node.get("id", k), f"nodes[{k}].id")
        if name in places:
            raise ValueError(f"nodes[{places[name]}] and nodes[{k}] have the same id, {quoted(str(name))}")
        places[name] = k
    return tuple(places)


def _id(value: Any, where: str) -> Any:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"expected a string or a whole number as {where}, found {shown_value(value)}")


def _pairs(edges: list[dict[str, Any]], key: str, places: dict[Any, int]) -> list[tuple[int, int]]:
    """The edges by the numbers of their nodes, each pair once."""
    seen: dict[tuple[int, int], int] = {}
    for e, edge in enumerate(edges):
        ends = []
        for end in ("source", "target"):
            name = _id(edge.get(end), f"{key}[{e}].{end}")
            if name not in places:
                raise ValueError(f"{key}[{e}].{end} is {quoted(str(name))}, which is the id of no node")
            ends.append(places[name])
        a, b = ends
        if a == b:
            raise ValueError(f"{key}[{e}] joins {quoted(str(edge['source']))} to itself")
        before = seen.get((a, b), seen.get((b, a)))
        if before is not None:
            raise ValueError(f"{key}[{before}] and {key}[{e}] join the same two nodes; edges have no direction")
        seen[a, b] = e
    return list(seen)


def _features(given: list[dict[str, Any]], key: str) -> Any:
    """Dicts, or one array of numbers; None if there are none at all."""
    found = [each.get("features") for each in given]
    first = next((k for k, features in enumerate(found) if features is not None), None)
    if first is None:
        return None
    if isinstance(found[first], list):
        return _numbers(found, first, key)
    named = []
    for k, features in enumerate(found):
        if features is not None and not isinstance(features, dict):
            told = "an object, as those before" if k > first else "an object or a list of numbers"
            raise ValueError(f"expected {told}, as {key}[{k}].features, found {shown_value(features)}")
        named.append(read_features(features or {}, f"{key}[{k}].features"))
    return named


def _numbers(found: list[Any], first: int, key: str) -> Any:
    width = len(found[first])
    for k, features in enumerate(found):
        if not isinstance(features, list) or len(features) != width:
            raise ValueError(f"expected {count(width, 'number')} as {key}[{k}].features, found {shown_value(features)}")
        for value in features:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
                raise ValueError(f"expected numbers as {key}[{k}].features, found {shown_value(value)}")
    return np.array(found, np.float64).reshape(len(found), width)


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _plain(features: Any) -> Any:
    """Features as JSON holds them: objects or lists of numbers."""
    if features is None:
        return None
    if hasattr(features, "toarray"):
        features = features.toarray()
    return [given if isinstance(given, Mapping) else np.asarray(given, np.float64).tolist() for given in features]


def _labelled(nodes: list[dict[str, Any]], y: Sequence[Any]) -> list[dict[str, Any]]:
    return [node | {"label": listed(label)} for node, label in zip(nodes, y, strict=True)]
