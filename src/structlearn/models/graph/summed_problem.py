"""Sums over the labellings of graphs: by junction trees, or by what stands for them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.ragged import Ragged
from structlearn.kernels.threads import in_order
from structlearn.models.graph.likelihoods.parts import GraphParts
from structlearn.models.graph.likelihoods.piecewise import piecewise_sums
from structlearn.models.graph.likelihoods.propagated import Beliefs, Propagated
from structlearn.models.graph.likelihoods.pseudo import pseudo_losses
from structlearn.models.pair_weights import PairedProblem
from structlearn.waist.planes import Outputs

#: Parts of graphs that one thread works on at a time.
GROUP = 2**16
WAYS_OUT = (
    "give the model likelihood='pseudo', 'piecewise', 'tree_reweighted' or 'belief_propagation', which take graphs of "
    "any width, or use solver='contrastive_divergence' or StructuralSVM"
)


class SummedGraphProblem(PairedProblem):
    """What of a graph model is a sum over labellings.

    Where all graphs have junction trees marginals are exact, whatever the weights were trained with. Where they have
    none marginals are those of messages, tree-reweighted if the likelihood is and belief propagation otherwise, and
    what needs log Z is refused; with likelihood="exact" so are marginals.
    """

    #: What a refusal of sums offers.
    ways_out = WAYS_OUT

    _engine: _core.NetworkEngine
    _widths: LabelArray
    _offsets: IntArray

    @property
    @abstractmethod
    def _parts(self) -> GraphParts:
        """Nodes and edges, for what stands for likelihoods."""

    @property
    @abstractmethod
    def _unaries(self) -> IntArray:
        """Where the labels of each node begin in a list of those of all nodes."""

    @property
    def too_wide(self) -> IntArray:
        """The examples whose junction trees would be too large."""
        return np.flatnonzero(self._widths < 0)

    def log_losses(
        self, w: FloatArray, weight: FloatArray | None = None, gradient: FloatArray | None = None
    ) -> FloatArray:
        if self.likelihood.is_exact:
            return super().log_losses(w, weight, gradient)
        losses = np.empty(self.n_examples)
        for examples in self.chunks():
            losses[examples], slopes = self._chunk_losses(self.scores(w, examples), examples)
            if gradient is not None:
                assert weight is not None
                self.push(slopes, examples, weight[examples], gradient)
        return losses

    def _chunk_losses(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        """The same as `_part_losses`, of a few graphs at a time in each thread."""
        places = self._part_places(examples)
        ends = np.searchsorted(places, np.arange(0, places[-1], GROUP))
        cuts = [*np.unique(ends).tolist(), len(examples)]

        def losses(both: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
            begin, end = both
            return self._part_losses(theta[places[begin] : places[end]], examples[begin:end])

        groups = (both for both in pairwise(cuts) if both[0] < both[1])
        if self.likelihood.name not in ("pseudo", "piecewise"):
            return self._part_losses(theta, examples)
        found = list(in_order(losses, groups, self.n_threads))
        return np.concatenate([one for one, _ in found]), np.concatenate([slopes for _, slopes in found])

    def _part_losses(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        """What stands for −log P(y_i | x_i), and its slopes in the scores of the parts."""
        assert self.truths is not None
        if self.likelihood.name == "pseudo":
            return pseudo_losses(theta, self._parts.of(examples), self.truths.take(examples).flat)
        truths = self.true_parts(examples)
        if self.likelihood.name == "piecewise":
            log_z, expected = piecewise_sums(theta, self._parts.of(examples))
        else:
            log_z, expected = self._messages.sums(theta, examples, self.n_threads)
        return log_z - self.part_dots(theta, truths, examples), expected - truths

    @cached_property
    def _messages(self) -> Propagated:
        reweighted = self.likelihood.name == "tree_reweighted"
        return Propagated("tree_reweighted" if reweighted else "belief_propagation", self._engine, self._parts)

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(y_i = l | x) of every graph, (n_nodes, n_labels)."""
        L = self._parts.n_labels
        if not len(self.too_wide):
            return self._token_marginals(w, np.diff(self._parts.offsets), L)
        return [found.nodes.reshape(-1, L) for found in self._beliefs(w)]

    def pair_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(y_i = k, y_j = l | x) of every graph, (n_edges, n_labels, n_labels)."""
        L = self._parts.n_labels
        if not len(self.too_wide):
            return [pairs.reshape(-1, L, L) for pairs in self._pair_marginals(w)]
        return [found.joint.reshape(-1, L, L) for found in self._beliefs(w)]

    def most_probable_labels(self, w: FloatArray) -> Ragged:
        return Ragged.of([nodes.argmax(axis=1) for nodes in self.label_probabilities(w)])

    def _beliefs(self, w: FloatArray) -> Iterator[Beliefs]:
        if self.likelihood.is_exact:
            self._check_trees("exact marginals")
        for examples in self.chunks():
            found = dict(self._messages.beliefs(self.scores(w, examples), examples, self.n_threads))
            yield from (found[k] for k in range(len(examples)))

    def gibbs_start(self) -> LabelArray:
        """Where Markov chains begin: at the truths, which are never forbidden."""
        assert self.truths is not None
        return np.array(self.truths.flat, np.int32)

    def gibbs(
        self, w: FloatArray, examples: IntArray, chains: LabelArray, n_sweeps: int, random: np.random.Generator
    ) -> Outputs:
        """Moves the chains of some examples, in place, by sweeps of Gibbs sampling; returns their labels."""
        if len(chains) and not ((chains >= 0) & (chains < np.diff(self._unaries))).all():
            raise ValueError(f"chains have labels from {chains.min()} to {chains.max()}, which are not all there")
        all_chains = Ragged(chains, self._offsets)
        scores = Ragged(self.scores(w, examples), self._part_places(examples))
        seeds = random.integers(2**63, size=len(examples)).tolist()

        def sweep(one: tuple[int, FloatArray, int]) -> None:
            i, scored, seed = one
            graph = FactorGraph(*self._engine.factor_graph(i, scored))
            sampler = _core.LocalSearch(graph.core)
            sampler.gibbs(all_chains[i], seed, np.zeros(len(graph.unaries)), np.empty(n_sweeps))

        list(in_order(sweep, zip(examples.tolist(), scores, seeds, strict=True), self.n_threads))
        return self.pack(all_chains.take(examples), examples)

    def expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        self._check_trees("log Z and entropies")
        return super().expectations(theta, examples)

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        self._check_trees("probabilities of labellings")
        return super().log_probabilities(w)

    def sampled(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> Outputs:
        self._check_trees("samples")
        return super().sampled(w, n_samples, random)

    def scored_k_best(self, w: FloatArray, k: int) -> Any:
        self._check_trees("the k best labellings")
        return super().scored_k_best(w, k)

    def _check_trees(self, what: str) -> None:
        if len(self.too_wide):
            marginals = f"; for marginals {self.ways_out}" if self.likelihood.is_exact and "marginals" in what else ""
            raise ValueError(
                f"{what} need junction trees, and X[{self.too_wide[0]}] has none: its tree-width is too large, or an "
                f"engine was named that does without{marginals}"
            )
