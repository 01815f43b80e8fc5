"""Typed networks as the groups of nodes and factors that a problem is made of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from structlearn.data.arrays import IntArray
from structlearn.data.ragged import owners_of
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.data.tokens.sequences import Sequences, stack
from structlearn.data.typed_networks import Key, ReadFactors, TypedNetworks, naming_type
from structlearn.models.graph.factor_tables import FactorTable
from structlearn.models.graph.groups import FactorGroup, NodeGroup
from structlearn.models.graph.typed_spec import FactorSpec, TypedGraphSpec
from structlearn.wording import shown


def check_known(spec: TypedGraphSpec, networks: TypedNetworks) -> None:
    """Refuses nodes of types, and factors of templates, that training had not."""
    for kind in networks.nodes:
        there = np.flatnonzero(networks.counts(kind))
        if kind not in spec.nodes and len(there):
            types = ", ".join(map(repr, spec.nodes))
            raise ValueError(f"X[{there[0]}] has nodes of type {kind!r}; training had {types}")
    for key, one in networks.factors.items():
        there = np.flatnonzero(one.scopes.lengths)
        if key not in spec.factors and len(there):
            known = ", ".join(map(repr, spec.factors)) or "none"
            raise ValueError(f"X[{there[0]}] has factors {shown(key)}; the templates are {known}")


def node_groups(spec: TypedGraphSpec, networks: TypedNetworks) -> list[NodeGroup]:
    groups = []
    for kind, one in spec.nodes.items():
        nodes = networks.nodes.get(kind, Sequences(np.empty((0, 0)), np.zeros(len(networks), np.int64)))
        with naming_type(kind):
            matrix, offsets = one.stack(nodes)
        groups.append(NodeGroup(TokenMatrix.from_matrix(matrix, intercept=one.intercept), offsets, one.classes))
    return groups


def factor_groups(
    spec: TypedGraphSpec, networks: TypedNetworks, tables: Mapping[Key, FactorTable]
) -> list[FactorGroup]:
    first: dict[str, IntArray] = {}
    before = np.zeros(len(networks), np.int64)
    for kind in spec.nodes:
        first[kind] = before
        before = before + networks.counts(kind)
    groups = []
    for key, one in spec.factors.items():
        given = networks.factors.get(key)
        scopes, offsets = np.empty((0, len(one.types)), np.int32), np.zeros(len(networks) + 1, np.int64)
        if given is not None:
            # From numbers among the nodes of a type to numbers among all nodes of the network.
            begins = np.stack([first[kind] for kind in one.types], axis=1)
            offsets = given.scopes.offsets
            scopes = (given.scopes.flat + begins[owners_of(offsets)]).astype(np.int32)
        groups.append(FactorGroup(scopes, offsets, tables[key], _tokens(key, one, given)))
    return groups


def _tokens(key: Key, spec: FactorSpec, given: ReadFactors | None) -> TokenMatrix | None:
    """The features of factors, as training had them or had them not."""
    features = None if given is None else given.features
    if spec.n_inputs is None:
        if features is not None:
            raise ValueError(f"X has features of {key!r} but training had none")
        return None
    if features is None:
        if given is not None and len(given.scopes.flat):
            raise ValueError(f"X has no features of {key!r} but training had some")
        return TokenMatrix.from_matrix(np.empty((0, spec.n_inputs)), intercept=False)
    try:
        matrix, _ = stack(features, spec.columns, spec.n_inputs)
    except ValueError as error:
        raise ValueError(f"features of {key!r}: {error}") from None
    return TokenMatrix.from_matrix(matrix, intercept=False)
