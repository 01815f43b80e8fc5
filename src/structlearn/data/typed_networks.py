"""Graphs whose nodes have types, and factors over any number of nodes: the inputs of `TypedGraph`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import IntArray, LabelArray
from structlearn.data.examples import is_listed
from structlearn.data.ragged import Ragged, offsets_of
from structlearn.data.tokens.sequences import Sequences, read_sequences
from structlearn.wording import count, shown

#: What a template is called: by a name, or by the types of its nodes.
Key = str | tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TypedNetwork:
    """A graph whose nodes have types, and factors over two or more nodes each.

    `TypedGraph` takes ``(nodes, factors)`` and ``(nodes, factors, features)`` for it as well.

    Parameters
    ----------
    nodes : mapping
        From each type to the features of its nodes: (n_nodes, n_features), an array or sparse matrix, or a list of
        dicts. A type of which there are no nodes may be left out.
    factors : mapping, optional
        From each template to its factors, (n_factors, n_nodes): numbers of nodes, counted from 0 among those of their
        type. A template is called by the types of its nodes, such as ``("word", "topic")``, or by the name that the
        model has for it.
    features : mapping, optional
        From templates to features of their factors, in the forms of those of nodes.

    Examples
    --------
    >>> TypedNetwork({"word": np.eye(3), "topic": np.eye(1)}, {("word", "topic"): [(0, 0), (1, 0), (2, 0)]})
    TypedNetwork(3 of type 'word', 1 of type 'topic', 3 factors)
    """

    nodes: Mapping[str, Any]
    factors: Mapping[Key, npt.ArrayLike] = field(default_factory=dict)
    features: Mapping[Key, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        types = [f"{count(_length(nodes))} of type {kind!r}" for kind, nodes in self.nodes.items()]
        return f"TypedNetwork({', '.join([*types, count(sum(map(_length, self.factors.values())), 'factor')])})"


@dataclass(frozen=True, eq=False)
class ReadFactors:
    """The factors of one template in all networks, checked.

    Attributes
    ----------
    types : tuple of str
        Of the nodes of a factor.
    scopes : Ragged
        Those of each network, (n_factors, n_nodes).
    features : Sequences or None
    """

    types: tuple[str, ...]
    scopes: Ragged
    features: Sequences | None

    def take(self, which: npt.ArrayLike) -> ReadFactors:
        features = None if self.features is None else self.features.take(which)
        return ReadFactors(self.types, self.scopes.take(which), features)


class TypedNetworks(Sequence[TypedNetwork]):
    """Many typed networks as flat arrays, all checked.

    Attributes
    ----------
    nodes : dict from types to Sequences
        The features of the nodes of one network after another.
    factors : dict from templates to ReadFactors
    """

    def __init__(self, nodes: dict[str, Sequences], factors: dict[Key, ReadFactors]):
        self.nodes = nodes
        self.factors = factors

    def __len__(self) -> int:
        return len(next(iter(self.nodes.values())))

    @overload
    def __getitem__(self, which: int) -> TypedNetwork: ...
    @overload
    def __getitem__(self, which: slice) -> TypedNetworks: ...
    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, (int, np.integer)):
            return self.take(np.arange(len(self))[which])
        i = int(which)
        return TypedNetwork(
            {kind: nodes[i] for kind, nodes in self.nodes.items()},
            {key: factors.scopes[i] for key, factors in self.factors.items()},
            {key: factors.features[i] for key, factors in self.factors.items() if factors.features is not None},
        )

    def take(self, which: npt.ArrayLike) -> TypedNetworks:
        """The chosen networks, in the order given."""
        return TypedNetworks(
            {kind: nodes.take(which) for kind, nodes in self.nodes.items()},
            {key: factors.take(which) for key, factors in self.factors.items()},
        )

    def counts(self, kind: str) -> IntArray:
        """How many nodes of a type each network has."""
        return self.nodes[kind].lengths if kind in self.nodes else np.zeros(len(self), np.int64)


def read_typed_networks(X: Any, named: Mapping[str, tuple[str, ...]]) -> TypedNetworks:
    """Typed networks in any of the forms that users have them in, refused by name where something is wrong with one.

    `named` has the types of templates that are called by a name.

    >>> X = [({"a": np.eye(2), "b": np.eye(1)}, {"both": [(0, 1, 0)]}), ({"b": np.eye(1)}, {})]
    >>> read_typed_networks(X, {"both": ("a", "a", "b")}).counts("a")
    array([2, 0])
    """
    if isinstance(X, TypedNetworks):
        return X
    if not is_listed(X) or isinstance(X, np.ndarray):
        raise ValueError(f"X is {shown(X)}; expected a list of networks, each (nodes, factors) or a TypedNetwork")
    if len(X) == 0:
        raise ValueError("X is empty; at least one network is needed")
    given = [_network(x, i) for i, x in enumerate(X)]
    nodes = {}
    for kind in dict.fromkeys(kind for x in given for kind in x.nodes):
        with naming_type(kind):
            nodes[kind] = _features([x.nodes.get(kind, []) for x in given])
    for i in range(len(given)):
        if not any(sequences.lengths[i] for sequences in nodes.values()):
            raise ValueError(f"X[{i}] has no nodes")
    keys = dict.fromkeys(key for x in given for key in x.factors)
    return TypedNetworks(nodes, {key: _factors(given, key, nodes, named) for key in keys})


@contextmanager
def naming_type(kind: str) -> Iterator[None]:
    """Lets messages about X[i], Y[i] or allowed[i] say that they are about its nodes of a type."""
    try:
        yield
    except ValueError as error:
        told = re.sub(r"\bX\[(\d+)\]", lambda place: f"{place[0]}.nodes[{kind!r}]", str(error))
        told = re.sub(r"\b(Y|allowed)\[(\d+)\]", lambda place: f"{place[0]}[{kind!r}]", told)
        raise ValueError(told if told != str(error) else f"nodes of type {kind!r}: {told}") from None


def _network(x: Any, i: int) -> TypedNetwork:
    if isinstance(x, (tuple, list)) and 1 <= len(x) <= 3:
        x = TypedNetwork(*x)
    if not isinstance(x, TypedNetwork):
        raise ValueError(f"X[{i}] is {shown(x)}; expected (nodes, factors), (nodes, factors, features) or TypedNetwork")
    for name, of in (("nodes", "types"), ("factors", "templates"), ("features", "templates")):
        if not isinstance(getattr(x, name), Mapping):
            raise ValueError(f"X[{i}].{name} is {shown(getattr(x, name))}; expected a dict by {of}")
    for kind in x.nodes:
        if not isinstance(kind, str):
            raise ValueError(f"X[{i}].nodes has the type {shown(kind)}; expected a text")
    for key in x.features:
        if key not in x.factors:
            raise ValueError(f"X[{i}].features has {shown(key)}, of which X[{i}].factors has none")
    return x


def _features(given: list[Any]) -> Sequences:
    """Of what may be nothing in some networks, or in all."""
    lengths = [_n_rows(one, i) for i, one in enumerate(given)]
    if any(lengths):
        return read_sequences(given, empty=True)
    widths = [one.shape[1] for one in given if getattr(one, "ndim", 0) == 2]
    return Sequences(np.empty((0, max(widths, default=0))), np.zeros(len(given), np.int64))


def _factors(
    given: list[TypedNetwork], key: Any, nodes: dict[str, Sequences], named: Mapping[str, tuple[str, ...]]
) -> ReadFactors:
    i = next(i for i, x in enumerate(given) if key in x.factors)
    types = named.get(key) if isinstance(key, str) else key
    if types is None:
        raise ValueError(f"X[{i}].factors has {key!r}, which is no template of the model: its factors do not name it")
    if not isinstance(types, tuple) or not all(isinstance(kind, str) for kind in types):
        raise ValueError(f"X[{i}].factors has {shown(key)}; a template is called by a name, or by a tuple of types")
    if len(types) < 2:
        raise ValueError(f"X[{i}].factors has {shown(key)}; a factor has two nodes or more")
    scopes = []
    for i, x in enumerate(given):
        counts = [int(nodes[kind].lengths[i]) if kind in nodes else 0 for kind in types]
        scopes.append(_checked_scopes(x.factors.get(key, ()), types, counts, f"X[{i}].factors[{key!r}]"))
    lengths = np.array([len(one) for one in scopes])
    flat = np.concatenate(scopes).reshape(-1, len(types))
    return ReadFactors(types, Ragged(flat, offsets_of(lengths)), _factor_features(given, key, lengths))


def _checked_scopes(given: Any, types: tuple[str, ...], counts: list[int], name: str) -> LabelArray:
    try:
        scopes = np.asarray(given)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths; expected {count(len(types), 'node')} each") from None
    if not scopes.size:
        return np.empty((0, len(types)), np.int32)
    if scopes.ndim != 2 or scopes.shape[1] != len(types) or scopes.dtype.kind not in "iu":
        found = f"{name} has shape {scopes.shape} and type {scopes.dtype}"
        raise ValueError(f"{found}; expected (n_factors, {len(types)}), whole numbers")
    bad = np.argwhere((scopes < 0) | (scopes >= np.array(counts)))
    if len(bad):
        f, k = bad[0].tolist()
        raise ValueError(
            f"{name}[{f}] names node {scopes[f, k]} of type {types[k]!r}; there {'is' if counts[k] == 1 else 'are'} "
            f"{count(counts[k])}"
        )
    for k, kind in enumerate(types):
        for j in (j for j in range(k) if types[j] == kind):
            twice = np.flatnonzero(scopes[:, j] == scopes[:, k])
            if len(twice):
                raise ValueError(f"{name}[{twice[0]}] names node {scopes[twice[0], k]} of type {kind!r} twice")
    order = np.lexsort(scopes.T)
    again = np.flatnonzero((np.diff(scopes[order], axis=0) == 0).all(axis=1))
    if len(again):
        f, before = int(order[again[0] + 1]), int(order[again[0]])
        raise ValueError(f"{name}[{f}] has the nodes of factor {before}, {scopes[f].tolist()}; give each factor once")
    return scopes.astype(np.int32)


def _factor_features(given: list[TypedNetwork], key: Key, lengths: IntArray) -> Sequences | None:
    """Of all factors of a template, or of none."""
    has = np.array([key in x.features for x in given])
    if not has.any():
        return None
    lacking = np.flatnonzero(~has & (lengths > 0))
    if len(lacking):
        raise ValueError(f"X[{int(np.argmax(has))}] has features of {key!r} but X[{lacking[0]}] has none")
    features = [x.features.get(key, []) for x in given]
    try:
        found = _features(features)
    except ValueError as error:
        told = re.sub(r"\bX\[\d+\]", lambda place: f"{place[0]}.features[{key!r}]", str(error))
        raise ValueError(told) from None
    wrong = np.flatnonzero(found.lengths != lengths)
    if len(wrong):
        i, of = int(wrong[0]), count(int(found.lengths[wrong[0]]), "factor")
        raise ValueError(f"X[{i}] has {count(int(lengths[i]), 'factor')} {key!r} but features of {of}")
    return found


def _n_rows(features: Any, i: int) -> int:
    if not is_listed(features) and not getattr(features, "shape", None):
        raise ValueError(f"X[{i}] is {shown(features)}; expected features: a matrix, or a list of dicts")
    return _length(features)


def _length(values: Any) -> int:
    return int(values.shape[0]) if getattr(values, "shape", ()) else len(values)
