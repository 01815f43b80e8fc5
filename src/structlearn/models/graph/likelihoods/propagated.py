"""log Z and marginals by messages: belief propagation, and its tree-reweighted form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.ragged import Ragged
from structlearn.inference.graphs import BeliefPropagation, TreeReweighted, labelling_marginals
from structlearn.inference.graphs.engines.tree_reweighted import ReweightedSums, random_forests
from structlearn.inference.graphs.sums import SumEngine
from structlearn.kernels.threads import in_order
from structlearn.models.graph.likelihoods.parts import GraphParts

#: Rounds of messages, each as many as there are factors, after which a graph is taken as it is.
MAX_ROUNDS = 1000

Messages = Literal["belief_propagation", "tree_reweighted"]
ENGINES: dict[Messages, type[Any]] = {"belief_propagation": BeliefPropagation, "tree_reweighted": TreeReweighted}


class Beliefs(NamedTuple):
    """Of one graph: its log Z as estimated, and the probabilities of labels and of joint labels."""

    log_z: float
    nodes: FloatArray
    joint: FloatArray


@dataclass(frozen=True)
class _RepeatedForests:
    """`TreeReweighted` for copies of one graph, which all have its forests: what is found is that of each alone."""

    forests: list[IntArray]
    n_factors: int
    damping: float
    tol: float
    name: ClassVar[str] = "tree_reweighted"

    def sums(self, graph: FactorGraph) -> ReweightedSums:
        copies = self.n_factors * np.arange(graph.n_graphs)[:, None]
        forests = [(copies + forest).ravel() for forest in self.forests]
        return ReweightedSums(graph, forests, self.damping, self.tol)


class Propagated:
    """Sums over the labellings of graphs by messages.

    Graphs with the same edges send their messages together. Messages begin anew each time, so that what is found
    depends on the scores alone.

    Parameters
    ----------
    messages : {"belief_propagation", "tree_reweighted"}
    engine : compiled engine
        Which makes the factor graph of an example.
    graphs : GraphParts
    """

    def __init__(self, messages: Messages, engine: _core.NetworkEngine, graphs: GraphParts):
        self.messages = messages
        self._engine = engine
        self._graphs = graphs
        self._repeated: dict[int, _RepeatedForests] = {}

    def sums(self, theta: FloatArray, examples: IntArray, n_threads: int = 1) -> tuple[FloatArray, FloatArray]:
        """log Z of every example as estimated, and the expected parts."""
        begins = self._graphs.of(examples).begins
        log_z, expected = np.empty(len(examples)), np.empty_like(theta)
        for k, found in self.beliefs(theta, examples, n_threads):
            log_z[k] = found.log_z
            mine = expected[begins[k] : begins[k + 1]]
            self._engine.fold(int(examples[k]), found.nodes, found.joint, mine)
        return log_z, expected

    def beliefs(self, theta: FloatArray, examples: IntArray, n_threads: int = 1) -> Iterator[tuple[int, Beliefs]]:
        """What is found for each of the examples, in any order, with its place among them."""
        scores = Ragged(theta, self._graphs.of(examples).begins)
        made = [self._engine.factor_graph(i, scored) for i, scored in zip(examples.tolist(), scores, strict=True)]
        graphs = [FactorGraph(*arrays) for arrays in made]
        kinds = self._kinds[examples]
        alike = [np.flatnonzero(kinds == kind).tolist() for kind in np.unique(kinds)]

        def found(same: list[int]) -> list[tuple[int, Beliefs]]:
            return list(zip(same, self._found([graphs[k] for k in same], int(kinds[same[0]])), strict=True))

        for some in in_order(found, alike, n_threads):
            yield from some

    @cached_property
    def _kinds(self) -> IntArray:
        """The same number for examples with the same nodes and edges."""
        known: dict[tuple[int, bytes], int] = {}
        found = []
        for i, n in enumerate(np.diff(self._graphs.offsets).tolist()):
            edges = self._graphs.edges[self._graphs.edge_offsets[i] : self._graphs.edge_offsets[i + 1]]
            found.append(known.setdefault((n, edges.tobytes()), len(known)))
        return np.array(found, np.int64)

    def _found(self, graphs: list[FactorGraph], kind: int) -> list[Beliefs]:
        """Of graphs with the same edges: together, and each on its own where one of them keeps the others waiting."""
        if len(graphs) == 1 or self._graphs.allowed is not None or self._graphs.n_labels == 1:
            return [self._run(graph, ENGINES[self.messages]())[0][0] for graph in graphs]
        found, converged = self._run(FactorGraph.batch(graphs), self._together(graphs[0], kind))
        return found if converged else [self._run(graph, ENGINES[self.messages]())[0][0] for graph in graphs]

    def _together(self, graph: FactorGraph, kind: int) -> SumEngine:
        if self.messages == "belief_propagation":
            return BeliefPropagation()
        if kind not in self._repeated:
            engine = TreeReweighted()
            forests = random_forests(graph, engine.n_forests, np.random.default_rng(engine.random_state))
            self._repeated[kind] = _RepeatedForests(forests, graph.n_factors, engine.damping, engine.tol)
        return self._repeated[kind]

    @staticmethod
    def _run(graph: FactorGraph, engine: SumEngine) -> tuple[list[Beliefs], bool]:
        found = labelling_marginals(graph, engine, factors=True, max_iterations=MAX_ROUNDS)
        assert found.factors is not None
        n = graph.n_graphs
        nodes, joint = found.nodes.flat.reshape(n, -1), found.factors.flat.reshape(n, -1)
        beliefs = [Beliefs(float(log_z), *both) for log_z, *both in zip(found.log_zs, nodes, joint, strict=True)]
        return beliefs, found.stopped != "max_iterations"
