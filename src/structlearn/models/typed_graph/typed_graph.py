"""Labels of the nodes of graphs whose nodes have types, with factors by templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np

from structlearn.data.arrays import Flags, FloatArray
from structlearn.data.known.labels import check_allowed_truth
from structlearn.data.labels import declared_classes
from structlearn.data.ragged import Ragged, interleaved
from structlearn.data.typed_labels import TypedLabels, check_types, labels_in_types, read_typed_labels, typed_masks
from structlearn.data.typed_networks import Key, TypedNetwork, TypedNetworks, naming_type, read_typed_networks
from structlearn.drawing.base import Drawing
from structlearn.drawing.networks import draw_network
from structlearn.losses import LabelLoss
from structlearn.losses.bound import BoundLoss
from structlearn.metrics.measures import Measures
from structlearn.metrics.nodes import typed_node_measures
from structlearn.models.base import Ability, ByDecoder, LinearSpec
from structlearn.models.description import WeightBlock, blocks_of, column_names, stored_blocks
from structlearn.models.graph.factor_tables import FactorTable, TableForm
from structlearn.models.graph.problem import TREE_COSTS
from structlearn.models.graph.search import Engines, Search
from structlearn.models.graph.searched_problem import bound_graphs
from structlearn.models.label_losses import refuse_partial
from structlearn.models.pair_weights import compacted
from structlearn.models.partial import PartialModel
from structlearn.models.typed_graph.binding import check_known, factor_groups, node_groups
from structlearn.models.typed_graph.losses import (
    bound_typed,
    bound_typed_possible,
    check_typed_labels,
    check_typed_loss,
)
from structlearn.models.typed_graph.problem import SearchedTypedGraphProblem, TypedGraphProblem
from structlearn.models.typed_graph.spec import FactorSpec, TypedGraphSpec
from structlearn.models.typed_graph.templates import Factor, called, templates_of
from structlearn.waist.problem import Problem
from structlearn.wording import count, shown


class TypedGraph(PartialModel):
    """F(x, y) = Σ_i ⟨w_{t(i), y_i}, φ(x_i)⟩ + Σ_f ⟨w_{t(f), y_f}, φ(x_f)⟩ over nodes i and factors f, each with a type.

    Nodes of each type have labels, features and weights of their own. A factor scores the labels y_f of two or more
    nodes together; all factors of a template t(f) share their weights, and φ(x_f) is 1 where they have no features. For
    nodes of one type and edges between them there is `Graph`.

    Parameters
    ----------
    factors : mapping, optional
        The templates: from a tuple of types to the form of the table, or from a name to a `Factor`, see there. None
        takes all that are called by their types in training, with free tables.
    classes : mapping, optional
        From types to their labels. Types that are left out have the labels observed in training.
    loss : {"hamming", "zero_one"} or mapping
        Δ(y, ŷ): the number of wrong labels, or whether any label is wrong. Or a `LabelLoss` for each of some types,
        such as `Hamming` or `LabelCosts`, which are added up.
    engine, max_seconds
        As for `Graph`: junction trees serve as long as the tree-width is small, other engines find the best labels
        alone.

    Notes
    -----
    X is a list of `TypedNetwork`, or of tuples ``(nodes, factors)`` or ``(nodes, factors, features)``; Y is a list of
    dicts from types to label sequences, one label a node.

    A type is hidden where Y never says anything about it: its labels are declared by `classes`, and estimators of
    latent variables learn what they stand for.

    The weights are, one after another, those of the nodes of each type (n_features, n_labels), and of the templates,
    (n_table_weights,) or, where factors have features, (n_factor_features, n_table_weights). After training with
    weights that came into being when they were needed, those of templates without features come first, then those that
    `spec_.pairs` lists.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> def network(text):
    ...     words = [{"word": word} for word in text.split()]
    ...     return {"word": words, "text": [{}]}, {("word", "text"): [(i, 0) for i in range(len(words))]}
    >>> X = [network("goal match"), network("light match")]
    >>> Y = [{"word": ["game", "game"], "text": ["sports"]}, {"word": ["fire", "fire"], "text": ["home"]}]
    >>> svm = StructuralSVM(TypedGraph(), C=10).fit(X, Y)
    >>> svm.predict([network("match match light")])
    [{'word': ['fire', 'fire', 'fire'], 'text': ['home']}]
    """

    kind = "outputs"
    takes_allowed = True

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "pair_marginals", "samples", "posterior", "explain", "partial"})

    @property
    def costs(self) -> ByDecoder:
        return TREE_COSTS

    def __init__(
        self,
        factors: Mapping[Key, TableForm | Factor] | None = None,
        classes: Mapping[str, Sequence[Any]] | None = None,
        loss: Literal["hamming", "zero_one"] | Mapping[str, LabelLoss] = "hamming",
        engine: Engines = "auto",
        max_seconds: float | None = None,
    ):
        self.factors = factors
        self.classes = classes
        self.loss = loss
        self.engine = engine
        self.max_seconds = max_seconds

    def _read_inputs(self, X: Any) -> TypedNetworks:
        named = {key: one.types for key, one in templates_of(self.factors).items() if isinstance(key, str)}
        return read_typed_networks(X, named)

    def read(self, X: Any, Y: Any) -> tuple[TypedNetworks, TypedLabels]:
        return self._read_inputs(X), read_typed_labels(Y)

    def read_partial(self, X: Any, Y: Any) -> tuple[TypedNetworks, Any]:
        return self._read_inputs(X), Y

    def specify(self, X: Any, Y: Any) -> TypedGraphSpec:
        networks, labels = self.read(X, Y)
        spec = self._specified(networks, {kind: one.classes for kind, one in labels.of_types.items()})
        check_types(labels, spec.nodes)
        for kind, one in labels.of_types.items():
            with naming_type(kind):
                refuse_partial(one, spec.nodes[kind].classes, declared=kind in (self.classes or {}))
        return spec

    def specify_partial(self, X: Any, Y: Any) -> TypedGraphSpec:
        named = labels_in_types(Y)
        if not any(named.values()):
            raise ValueError("Y says nothing about any node; training needs some labels")
        spec = self._specified(self._read_inputs(X), named)
        check_types(Y, spec.nodes)
        return spec

    def _specified(self, networks: TypedNetworks, observed: Mapping[str, tuple[Any, ...]]) -> TypedGraphSpec:
        self.check_options()
        for kind in self.classes or {}:
            if kind not in networks.nodes:
                raise ValueError(f"classes names the type {shown(kind)}, of which X has no nodes")
        nodes = {}
        for kind, features in networks.nodes.items():
            declared = (self.classes or {}).get(kind)
            classes = observed.get(kind, ()) if declared is None else declared_classes(declared)
            if not classes:
                raise ValueError(f"Y has no labels of type {kind!r}; declare them: classes={{{kind!r}: […]}}")
            nodes[kind] = LinearSpec(classes, features.tokens.shape[1], features.names)
        check_typed_labels(self.loss, {kind: one.classes for kind, one in nodes.items()})
        spec = TypedGraphSpec(nodes, self._factor_specs(networks))
        check_known(spec, networks)
        self._tables(spec)
        return spec

    def _factor_specs(self, networks: TypedNetworks) -> dict[Key, FactorSpec]:
        templates = {key: one.types for key, one in templates_of(self.factors).items()}
        if self.factors is None:
            templates = {key: one.types for key, one in networks.factors.items()}
        found = {}
        for key, types in templates.items():
            for kind in types:
                if kind not in networks.nodes:
                    raise ValueError(f"the template {key!r} joins nodes of type {kind!r}, of which X has none")
            given = networks.factors.get(key)
            features = None if given is None else given.features
            if features is None:
                found[key] = FactorSpec(types)
            else:
                found[key] = FactorSpec(types, features.tokens.shape[1], features.names)
        return found

    def _tables(self, spec: TypedGraphSpec) -> dict[Key, FactorTable]:
        templates, found = templates_of(self.factors), {}
        for key, one in spec.factors.items():
            template = Factor(one.types) if self.factors is None else templates.get(key)
            if template is None or template.types != one.types:
                raise ValueError(f"the template {key!r} of nodes {one.types} is not among those of the model")
            try:
                found[key] = FactorTable.over(template.table, [spec.nodes[kind].classes for kind in one.types])
            except ValueError as error:
                raise ValueError(f"the template {key!r}: {error}") from None
        return found

    def bind(
        self, spec: TypedGraphSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> TypedGraphProblem:
        """See `Model.bind`; `allowed` has for each example a dict from types to what `Graph` takes for its nodes."""
        networks = self._read_inputs(X)
        check_known(spec, networks)
        nodes, factors = node_groups(spec, networks), factor_groups(spec, networks, self._tables(spec))
        masks = None if allowed is None else self._masks(spec, networks, allowed)
        codes = None if Y is None else self._codes(spec, networks, Y, masks, allow_unknown=allow_unknown)
        data: dict[str, Any] = {
            "nodes": nodes,
            "factors": factors,
            "codes": None if codes is None else interleaved(codes).flat,
            "loss": BoundLoss() if codes is None else bound_typed(self.loss, spec.classes_of, codes),
            "allowed": None if masks is None else _interleaved_flags(masks, networks, spec),
            "pairs": spec.pairs,
            "types": spec.nodes,
            "templates": {key: one.types for key, one in spec.factors.items()},
        }
        problem: TypedGraphProblem
        search = Search(self.engine, self.max_seconds)
        problem = bound_graphs(search, data, TypedGraphProblem, SearchedTypedGraphProblem)
        return problem

    def _codes(
        self, spec: TypedGraphSpec, networks: TypedNetworks, Y: Any, masks: list[Flags] | None, *, allow_unknown: bool
    ) -> list[Ragged]:
        """The codes of the labels of each type."""
        labels = read_typed_labels(Y)
        if len(labels) != len(networks):
            raise ValueError(f"X has {count(len(networks), 'network')} but Y has {count(len(labels), 'entry')}")
        check_types(labels, spec.nodes)
        found = []
        for k, (kind, one) in enumerate(spec.nodes.items()):
            offsets = _offsets(networks, kind)
            codes = labels.coded(kind, one.classes, offsets, allow_unknown=allow_unknown)
            if masks is not None and not allow_unknown:
                with naming_type(kind):
                    check_allowed_truth(codes, one.classes, offsets, masks[k])
            found.append(Ragged(codes, offsets))
        return found

    def _masks(self, spec: TypedGraphSpec, networks: TypedNetworks, allowed: Any, **options: Any) -> list[Flags]:
        offsets = {kind: _offsets(networks, kind) for kind in spec.nodes}
        return typed_masks(allowed, spec.classes_of, offsets, **options)

    def partial_loss(self, spec: TypedGraphSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """A label that cannot be true costs what it costs beside the cheapest of those that can."""
        networks = self._read_inputs(X)
        possible = self._masks(spec, networks, Y, name="Y", allow_unknown=allow_unknown)
        offsets = [_offsets(networks, kind) for kind in spec.nodes]
        return bound_typed_possible(self.loss, spec.classes_of, possible, offsets)

    def begins_at_random(self, spec: TypedGraphSpec, Y: Any) -> bool:
        """Where nothing tells two labels of a type from each other."""
        named = labels_in_types(Y)
        return any(len(set(one.classes) - set(named.get(kind, ()))) > 1 for kind, one in spec.nodes.items())

    def loss_in_words(self) -> str:
        if isinstance(self.loss, Mapping):
            return "wrong labels, by the losses of their types"
        return "1 for a graph with a wrong label" if self.loss == "zero_one" else "wrong labels"

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        return typed_node_measures(Y, predicted)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        x = x if isinstance(x, TypedNetwork) else TypedNetwork(*x)
        first: dict[str, int] = {}
        nodes: list[tuple[str, Any]] = []
        true: list[Any] = []
        for kind, labels in y.items():
            first[kind] = len(nodes)
            nodes += [(f"{kind} {k}", label) for k, label in enumerate(labels)]
            known = (truth or {}).get(kind)
            # What nobody knows is not wrong.
            true += [label if said is None else said for label, said in zip(labels, known or labels, strict=True)]
        templates, edges = templates_of(self.factors), set()
        for key, scopes in x.factors.items():
            types = templates[key].types if isinstance(key, str) else key
            for scope in scopes:
                numbers = [first[kind] + int(v) for kind, v in zip(types, scope, strict=True)]
                edges |= set(combinations(numbers, 2))
        names, found = zip(*nodes, strict=True)
        return draw_network(sorted(edges), found, None if truth is None else true, names=names, width=width)

    def named_weights(
        self, spec: TypedGraphSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        if feature_names is not None:
            raise ValueError("feature_names cannot say which type of nodes it is for: give features as dicts")
        tables = self._tables(spec)
        features: list[tuple[Any, ...]] = []
        for kind, nodes in spec.nodes.items():
            labels = [f"{kind}: {label}" for label in nodes.classes]
            features.append((f"features of {kind}", (column_names(nodes, None), labels), "features"))
        shared, ordered = [], [*features]
        for key, one in spec.factors.items():
            title, names = called(key), tables[key].names
            if one.n_inputs is None:
                shared.append((title, (names,), "others"))
                ordered.append(shared[-1])
            else:
                columns = one.vocabulary or [f"column {k}" for k in range(one.n_inputs)]
                features.append((f"features of {title}", (columns, names), "others", "{1}: {0}"))
                ordered.append(features[-1])
        if spec.pairs is None:
            return blocks_of(w, *ordered)
        n_shared = self._n_shared(spec)
        return (*blocks_of(w[:n_shared], *shared), *stored_blocks(w[n_shared:], spec.pairs, *features))

    def n_weights(self, spec: TypedGraphSpec) -> int:
        tables = self._tables(spec)
        blocks = [(nodes.n_columns, len(nodes.classes)) for nodes in spec.nodes.values()]
        blocks += [(one.n_inputs, tables[key].width) for key, one in spec.factors.items() if one.n_inputs is not None]
        if spec.pairs is None:
            return self._n_shared(spec) + sum(rows * width for rows, width in blocks)
        spec.pairs.check(*blocks)
        return self._n_shared(spec) + len(spec.pairs)

    def _n_shared(self, spec: TypedGraphSpec) -> int:
        tables = self._tables(spec)
        return sum(tables[key].width for key, one in spec.factors.items() if one.n_inputs is None)

    def compact(self, spec: TypedGraphSpec, problem: Problem, w: FloatArray) -> tuple[TypedGraphSpec, FloatArray]:
        return compacted(spec, problem, w)

    def spec_from_dict(self, values: dict[str, Any]) -> TypedGraphSpec:
        return TypedGraphSpec.from_dict(values)

    def check_options(self) -> None:
        templates_of(self.factors)
        if self.classes is not None and not isinstance(self.classes, Mapping):
            raise ValueError(f"classes is {shown(self.classes)}; expected a dict from types of nodes to labels")
        check_typed_loss(self.loss)
        Search(self.engine, self.max_seconds).check()


def _offsets(networks: TypedNetworks, kind: str) -> Any:
    return np.append(0, np.cumsum(networks.counts(kind)))


def _interleaved_flags(masks: list[Flags], networks: TypedNetworks, spec: TypedGraphSpec) -> Flags:
    """Which labels all nodes may have, those of one example after another."""
    parts = [
        Ragged(mask.ravel(), _offsets(networks, kind) * mask.shape[1])
        for kind, mask in zip(spec.nodes, masks, strict=True)
    ]
    flags: Flags = interleaved(parts).flat
    return flags
