"""Labels of the nodes of graphs: features of nodes, and scores of the labels of neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.examples import EDGES, NODES, Words
from structlearn.data.fields import check_distinct, check_tuple, check_whole
from structlearn.data.known.labels import check_allowed_truth, label_mask
from structlearn.data.labels import (
    declared_classes,
    read_label_sequences,
)
from structlearn.data.networks import Network, Networks, read_networks
from structlearn.data.options import choice_option
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.data.tokens.sequences import NamedColumns, stack
from structlearn.drawing.base import Drawing
from structlearn.drawing.networks import draw_network
from structlearn.losses import Loss, loss_option
from structlearn.losses.bound import BoundLoss
from structlearn.metrics.measures import Measures
from structlearn.metrics.nodes import node_measures
from structlearn.models.base import Ability, ByDecoder, LinearSpec
from structlearn.models.description import WeightBlock, blocks_of, column_names, stored_blocks
from structlearn.models.graph.factor_tables import PairForm
from structlearn.models.graph.groups import FactorGroup, NodeGroup
from structlearn.models.graph.pair_tables import PairTable
from structlearn.models.graph.problem import TREE_COSTS, GraphProblem
from structlearn.models.graph.search import Engines, Search
from structlearn.models.graph.searched_problem import SearchedGraphProblem, bound_graphs
from structlearn.models.label_losses import (
    bound_labels,
    bound_possible,
    check_label_weight,
    check_loss_labels,
    possible_labels,
)
from structlearn.models.labelling import LabellingModel
from structlearn.models.pair_weights import compacted
from structlearn.waist.likelihood import LIKELIHOODS, LikelihoodName
from structlearn.waist.problem import Problem


@dataclass(frozen=True)
class GraphSpec(LinearSpec):
    """A `LinearSpec` of the nodes, and the features of edges.

    Attributes
    ----------
    n_edge_inputs : int or None
        Features of one edge; None where edges have none.
    edge_vocabulary : tuple of str or None
        Their names in column order, where they came as dicts.
    """

    words: ClassVar[Words] = NODES
    n_edge_inputs: int | None = None
    edge_vocabulary: tuple[str, ...] | None = None

    @cached_property
    def edge_columns(self) -> NamedColumns | None:
        return None if self.edge_vocabulary is None else NamedColumns(self.edge_vocabulary)

    def check(self) -> None:
        super().check()
        if self.n_edge_inputs is not None:
            check_whole("n_edge_inputs", self.n_edge_inputs)
        if self.edge_vocabulary is not None:
            check_tuple("edge_vocabulary", self.edge_vocabulary, str)
            check_distinct("edge_vocabulary", self.edge_vocabulary)
            if len(self.edge_vocabulary) != self.n_edge_inputs:
                raise ValueError(
                    f"edge_vocabulary has {len(self.edge_vocabulary)} names but n_edge_inputs is {self.n_edge_inputs}"
                )


class Graph(LabellingModel):
    """F(x, y) = Σ_i ⟨w_{y_i}, φ(x_i)⟩ + Σ_{ij} ⟨w_{y_i, y_j}, φ(x_ij)⟩ over the nodes i and the edges ij of a graph.

    Where edges have no features, φ(x_ij) is 1: a table of weights for the labels of two neighbours.

    Parameters
    ----------
    classes : sequence, optional
        The labels, of any hashable type. None takes those observed in training.
    loss : {"hamming", "f1", "zero_one"} or Loss
        Δ(y, ŷ): the number of wrong labels, 1 − F1 of the labels other than "O" (`LabelF1`), or whether any label is
        wrong; or `LabelCosts`, or a loss of one's own over the labels of nodes, see `structlearn.losses`.
    pairwise : {"free", "symmetric", "potts", None}
        Which weights label pairs have: one for each ordered pair, the label of the edge's first node first; one for
        each pair in any order; one for equal labels alone; or none, so that nodes are labelled each on its own.
    label_weight : mapping, optional
        What a wrong label costs in the Hamming loss, by the true label; 1 for labels not named.
    engine : str, engine or tuple of these
        What finds the best labels: "auto" is a junction tree if all graphs have a small tree-width; otherwise, graph by
        graph, a cut where there are two labels that like to agree, and dual ascent elsewhere. Or the name of an engine
        of `structlearn.inference.graphs`, or such an engine. Only junction trees have sums, k best and loss levels.
        Several, from cheap to exact, are a schedule for graphs without junction trees: in training an example is asked
        of the first engine, and of the next one where that finds no plane that helps; the last one certifies and
        predicts.
    max_seconds : float, optional
        How long an engine may take for one graph.
    likelihood : {"exact", "pseudo", "piecewise", "tree_reweighted", "belief_propagation"}
        What `ConditionalRandomField` maximises. "exact" needs junction trees; the others take graphs of any width and
        are no likelihoods. "pseudo" is Π_i P(y_i | y of its neighbours, x) (Besag 1975); "piecewise" normalises each
        node and each edge on its own (Sutton and McCallum 2005); "tree_reweighted" and "belief_propagation" have an
        upper bound and Bethe's estimate in place of log Z. Without junction trees marginals are those of
        tree-reweighted messages for "tree_reweighted" and of belief propagation for the other three.

    Notes
    -----
    X is a list of `Network`, or of tuples ``(nodes, edges)`` or ``(nodes, edges, edge_features)``; Y is a list of label
    sequences, one label a node.

    The weights are, one after another, those of the nodes (n_features, n_labels) and of the pairs, (n_pair_weights,)
    or, where edges have features, (n_edge_features, n_pair_weights). After training with weights that came into being
    when they were needed, those of pairs without features come first, then those that `spec_.pairs` lists.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> triangle = [(0, 1), (1, 2), (0, 2)]
    >>> X = [([{"color": "red"}, {"color": "blue"}, {}], triangle), ([{}, {"color": "blue"}, {}], triangle)]
    >>> Y = [["warm", "cold", "cold"], ["cold", "cold", "cold"]]
    >>> svm = StructuralSVM(Graph(pairwise="potts"), C=10).fit(X, Y)
    >>> svm.predict([([{"color": "blue"}, {}, {}], [(0, 1)])])
    [['cold', 'cold', 'cold']]
    """

    words, example, place = NODES, NODES.example, NODES.place
    in_words = "gives each node of a graph a label; which labels neighbours have counts, too"

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "pair_marginals", "samples", "posterior", "explain", "partial"})

    @property
    def costs(self) -> ByDecoder:
        return TREE_COSTS

    def __init__(
        self,
        classes: Sequence[Any] | None = None,
        loss: Literal["hamming", "f1", "zero_one"] | Loss = "hamming",
        pairwise: PairForm | None = "free",
        label_weight: Mapping[Any, float] | None = None,
        engine: Engines = "auto",
        max_seconds: float | None = None,
        likelihood: LikelihoodName = "exact",
    ):
        self.classes = classes
        self.loss = loss
        self.pairwise = pairwise
        self.label_weight = label_weight
        self.engine = engine
        self.max_seconds = max_seconds
        self.likelihood = likelihood

    def read_inputs(self, X: Any) -> Networks:
        return read_networks(X)

    def specified(self, X: Networks, observed: tuple[Any, ...]) -> GraphSpec:
        self.check_options()
        classes = observed if self.classes is None else declared_classes(self.classes)
        check_loss_labels(self.loss, self.loss_object(), classes)
        features = X.edge_features
        return GraphSpec(
            classes=classes,
            n_inputs=X.nodes.tokens.shape[1],
            vocabulary=X.nodes.names,
            n_edge_inputs=None if features is None else features.tokens.shape[1],
            edge_vocabulary=None if features is None else features.names,
        )

    def bind(
        self, spec: GraphSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> GraphProblem:
        """See `Model.bind`; `allowed` says which labels each node may have, see `label_mask`."""
        networks = read_networks(X)
        matrix, offsets = spec.stack(networks.nodes)
        codes = None
        if Y is not None:
            codes = read_label_sequences(Y, self.words).coded(
                spec.classes, offsets, allow_unknown=allow_unknown, words=self.words
            )
        labels = None if allowed is None else label_mask(allowed, spec.classes, offsets, words=self.words)
        if codes is not None and not allow_unknown:
            check_allowed_truth(codes, spec.classes, offsets, labels)
        nodes = TokenMatrix.from_matrix(matrix, intercept=spec.intercept)
        table = None if self.pairwise is None else PairTable.of(self.pairwise, spec.classes)
        tokens, edges = _edge_tokens(spec, networks), networks.edges
        data: dict[str, Any] = {
            "nodes": [NodeGroup(nodes, offsets, spec.classes)],
            "factors": [FactorGroup(edges.flat, edges.offsets, table, None if table is None else tokens)],
            "codes": codes,
            "loss": bound_labels(self.loss_object(), spec.classes, codes, offsets, Y),
            "allowed": labels,
            "pairs": spec.pairs,
            "likelihood": self.likelihood,
        }
        problem: GraphProblem
        problem = bound_graphs(Search(self.engine, self.max_seconds), data, GraphProblem, SearchedGraphProblem)
        return problem

    def partial_loss(self, spec: GraphSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """A label that cannot be true costs what it costs beside the cheapest of those that can."""
        offsets = read_networks(X).nodes.offsets
        possible = possible_labels(Y, spec.classes, offsets, self.words, allow_unknown=allow_unknown)
        return bound_possible(self.loss_object(), spec.classes, possible, offsets)

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        return node_measures(Y, predicted)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        edges = x.edges if isinstance(x, Network) else x[1]
        return draw_network(edges, y, truth, names=getattr(x, "names", None), classes=self.classes, width=width)

    def named_weights(
        self, spec: GraphSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        nodes = [("features", (column_names(spec, feature_names), spec.classes), "features")]
        shared: list[tuple[Any, ...]] = []
        edges: list[tuple[Any, ...]] = []
        if self.pairwise is not None:
            names = PairTable.of(self.pairwise, spec.classes).names
            if spec.n_edge_inputs is None:
                shared.append(("pairs of neighbours", (names,), "others"))
            else:
                features = spec.edge_vocabulary or [f"column {k}" for k in range(spec.n_edge_inputs)]
                edges.append(("features of edges", (features, names), "others", "{1}: {0}"))
        if spec.pairs is None:
            return blocks_of(w, *nodes, *shared, *edges)
        n_shared = self._n_shared(spec)
        return (*blocks_of(w[:n_shared], *shared), *stored_blocks(w[n_shared:], spec.pairs, *nodes, *edges))

    def n_weights(self, spec: GraphSpec) -> int:
        blocks = [(spec.n_columns, len(spec.classes))]
        if self.pairwise is not None and spec.n_edge_inputs is not None:
            blocks.append((spec.n_edge_inputs, PairTable.of(self.pairwise, spec.classes).width))
        if spec.pairs is None:
            return self._n_shared(spec) + sum(rows * width for rows, width in blocks)
        spec.pairs.check(*blocks)
        return self._n_shared(spec) + len(spec.pairs)

    def _n_shared(self, spec: GraphSpec) -> int:
        if self.pairwise is None or spec.n_edge_inputs is not None:
            return 0
        return PairTable.of(self.pairwise, spec.classes).width

    def compact(self, spec: GraphSpec, problem: Problem, w: FloatArray) -> tuple[GraphSpec, FloatArray]:
        return compacted(spec, problem, w)

    def spec_from_dict(self, values: dict[str, Any]) -> GraphSpec:
        return GraphSpec.from_dict(values)

    def check_options(self) -> None:
        loss_option(self.loss, ("hamming", "f1", "zero_one"))
        if self.pairwise is not None:
            choice_option("pairwise", self.pairwise, ("free", "symmetric", "potts"))
        Search(self.engine, self.max_seconds).check()
        check_label_weight(self.loss, self.label_weight)
        choice_option("likelihood", self.likelihood, tuple(LIKELIHOODS))


def _edge_tokens(spec: GraphSpec, networks: Networks) -> TokenMatrix | None:
    """The features of edges, as training had them or had them not."""
    features = networks.edge_features
    if spec.n_edge_inputs is None:
        if features is not None:
            raise ValueError("X has features of edges but training had none")
        return None
    if features is None:
        if len(networks.edges.flat):
            raise ValueError("X has no features of edges but training had some")
        return TokenMatrix.from_matrix(np.empty((0, spec.n_edge_inputs)), intercept=False)
    matrix, _ = stack(features, spec.edge_columns, spec.n_edge_inputs, EDGES)
    return TokenMatrix.from_matrix(matrix, intercept=False)
