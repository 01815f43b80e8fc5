"""A pass over the data: which examples are due, and in what order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray

#: Of the mean gap: examples with at least so much are visited for certain.
SMALL = 0.3
#: So often cached planes are gone over beside the oracle; more often, and they are gone over after the pass as well.
BESIDE = 8


def default_chunk_size(n_examples: int) -> int:
    """For how many examples the oracle is asked at once: a hundredth of many, a sixteenth of few."""
    return max(min(n_examples // 100, 512), min(n_examples // 16, 64), 4)


def drawn_by_gap(gaps: FloatArray, random: np.random.Generator) -> IntArray:
    """Examples drawn with a probability that grows with the gap they last showed."""
    draw = random.uniform(size=len(gaps))
    return np.flatnonzero(gaps > draw * SMALL * gaps.mean())


def chunks_in_random_order(examples: IntArray, size: int, random: np.random.Generator) -> Iterator[IntArray]:
    """The examples in random order, a chunk at a time, as runs of neighbours: memory is read in pieces that way."""
    run = max(1, size // 32)
    order = random.permutation(-(-len(examples) // run)) * run
    for begin in range(0, len(order), max(1, size // run)):
        starts = np.sort(order[begin : begin + max(1, size // run)])
        places = (starts[:, None] + np.arange(run)).ravel()
        yield examples[places[places < len(examples)]]
