"""Decoders for outputs that a hypergraph derives, on plain arrays of scores.

An output is a derivation of the goal of a `structlearn.data.Hypergraph`, and its score F(y) the sum of the scores of
the parts that its steps bring; a score of −∞ forbids. Probabilities are P(y) = exp F(y) / Z. Time and memory are those
of the steps, once for the best and for sums.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.hypergraphs import Hypergraph
from structlearn.inference.given import GivenParts, scores_of

Parts = tuple[Hashable, ...]


def best_derivation(graph: Hypergraph, scores: npt.ArrayLike) -> tuple[Parts, float]:
    """The parts of the best output, in the order of their numbers, and its score.

    Parameters
    ----------
    graph : Hypergraph
    scores : (n_parts,)
        In the order of ``graph.parts``.

    Examples
    --------
    >>> graph = Hypergraph.of([(1, [], ["a"]), (1, [], ["b"]), (2, [1], ["c"]), ("end", [1], []), ("end", [2], [])])
    >>> best_derivation(graph, [1.0, 2.0, 0.5])
    (('b', 'c'), 2.5)
    """
    codes, score = _given(graph, scores).best()
    return _parts(graph, codes), score


def k_best_derivations(graph: Hypergraph, scores: npt.ArrayLike, k: int) -> list[tuple[Parts, float]]:
    """The k best outputs and their scores, best first; fewer if there are not as many.

    Examples
    --------
    >>> graph = Hypergraph.of([(1, [], ["a"]), (1, [], ["b"]), (2, [1], ["c"]), ("end", [1], []), ("end", [2], [])])
    >>> k_best_derivations(graph, [1.0, 2.0, 0.5], 3)
    [(('b', 'c'), 2.5), (('b',), 2.0), (('a', 'c'), 1.5)]
    """
    return [(_parts(graph, codes), score) for codes, score in _given(graph, scores).k_best(k)]


@dataclass(frozen=True, slots=True)
class DerivationMarginals:
    """What the distribution P(y) = exp F(y) / Z over outputs is like.

    Attributes
    ----------
    log_z : float
        log Σ_y exp F(y); −∞ if every output is forbidden, and all else is 0 then.
    parts : (n_parts,)
        The probability of each part.
    entropy : float
        −Σ_y P(y) log P(y), in nats.
    """

    log_z: float
    parts: FloatArray
    entropy: float


def derivation_marginals(graph: Hypergraph, scores: npt.ArrayLike) -> DerivationMarginals:
    """Sums over all outputs (inside-outside).

    Examples
    --------
    >>> graph = Hypergraph.of([(1, [], ["a"]), (1, [], ["b"]), (2, [1], ["c"]), ("end", [1], []), ("end", [2], [])])
    >>> found = derivation_marginals(graph, np.zeros(3))
    >>> round(np.exp(found.log_z)), found.parts.round(3)
    (4, array([0.5, 0.5, 0.5]))
    """
    log_z, entropy, (parts,) = _given(graph, scores).sums()
    return DerivationMarginals(log_z, parts, entropy)


def sample_derivations(
    graph: Hypergraph,
    scores: npt.ArrayLike,
    n_samples: int,
    random_state: int | np.random.Generator | None = None,
) -> list[Parts]:
    """Outputs drawn from P(y).

    Examples
    --------
    >>> graph = Hypergraph.of([(1, [], ["a"]), (1, [], ["b"]), ("end", [1], [])])
    >>> sample_derivations(graph, [0.0, -np.inf], 2, random_state=0)
    [('a',), ('a',)]
    """
    return [_parts(graph, codes) for codes in _given(graph, scores).samples(n_samples, random_state)]


def _given(graph: Hypergraph, scores: npt.ArrayLike) -> GivenParts:
    theta = scores_of(scores, "scores", (len(graph.parts),))
    engine = _core.DerivationEngine(
        np.array([0, graph.n_items]),
        graph.edges,
        graph.tails,
        graph.edge_parts,
        graph.part_numbers,
        np.array([0, len(graph.parts)]),
    )
    return GivenParts(
        "every derivation is forbidden: all scores are -inf", partial(_core.GivenDerivations, engine), [theta]
    )


def _parts(graph: Hypergraph, codes: LabelArray) -> Parts:
    return tuple(graph.parts[part] for part in codes[1:].tolist())
