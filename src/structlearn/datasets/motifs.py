"""Synthetic DNA with a planted pattern."""

from dataclasses import dataclass

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.biosequences.dna import BASES, Site, reverse_complement
from structlearn.datasets._checks import RandomState, as_generator, check_at_least, check_fraction


@dataclass(frozen=True, eq=False, slots=True)
class PlantedMotifs:
    """Examples of `structlearn.models.Motif`.

    Attributes
    ----------
    X : list of str
        Sequences of A, C, G and T.
    Y : list of int
        1 with the pattern, 0 without.
    sites : list of Site or None
        Where it was planted.
    consensus : str
        The pattern before letters of it were changed.
    """

    X: list[str]
    Y: list[int]
    sites: list[Site | None]
    consensus: str


def make_motifs(
    n_examples: int = 100,
    *,
    width: int = 11,
    length: int = 100,
    substitutions: int = 2,
    positives: float = 0.5,
    background_order: int = 3,
    both_strands: bool = False,
    random_state: RandomState = None,
) -> PlantedMotifs:
    """Draw sequences of a Markov chain, and write a pattern into some of them.

    The pattern is `width` letters at random. In every positive sequence it lies at a place of its own, with exactly
    `substitutions` of its letters, at random, replaced by others: the difficulty, as in the planted (l, d) motif
    problem of Pevzner and Sze (2000). The letters of the background follow a Markov chain whose transition
    probabilities are drawn once, each row from a Dirichlet distribution with parameters 5.

    Parameters
    ----------
    n_examples, length : int
        How many sequences there are and how long each is.
    positives : float
        The share of sequences with the pattern.
    background_order : int
        How many letters the next one depends on.
    both_strands : bool
        Whether half of the sites are on the other strand.

    Examples
    --------
    >>> data = make_motifs(10, width=5, length=12, substitutions=0, random_state=0)
    >>> data.consensus, data.X[1], data.sites[1]
    ('TGGCC', 'GTAATGGCCCAG', Site(start=4, strand='+', width=5))
    """
    check_at_least("n_examples", n_examples, 1)
    check_at_least("width", width, 1)
    check_at_least("length", length, width)
    check_at_least("substitutions", substitutions, 0)
    check_at_least("width", width, substitutions)
    check_at_least("background_order", background_order, 0)
    check_fraction("positives", positives)
    random = as_generator(random_state)
    pattern = random.integers(len(BASES), size=width)
    upto = random.dirichlet(np.full(len(BASES), 5.0), size=len(BASES) ** background_order).cumsum(axis=1)
    is_positive = random.permutation(n_examples) < round(positives * n_examples)
    X: list[str] = []
    sites: list[Site | None] = []
    for planted in is_positive:
        letters = _background(upto, length, random)
        site = None
        if planted:
            start = int(random.integers(length - width + 1))
            site = Site(start, "-" if both_strands and random.random() < 0.5 else "+", width)
            changed = pattern.copy()
            where = random.choice(width, substitutions, replace=False)
            changed[where] = (changed[where] + random.integers(1, len(BASES), substitutions)) % len(BASES)
            word = "".join(BASES[code] for code in changed)
            word = reverse_complement(word) if site.strand == "-" else word
            letters = letters[:start] + word + letters[start + width :]
        X.append(letters)
        sites.append(site)
    return PlantedMotifs(X, [int(planted) for planted in is_positive], sites, "".join(BASES[code] for code in pattern))


def _background(upto: FloatArray, length: int, random: np.random.Generator) -> str:
    """A Markov chain given by cumulated probabilities, a row a context; the first context is drawn uniformly."""
    context = int(random.integers(len(upto)))
    letters = ""
    for chance in random.random(length):
        code = min(int(np.searchsorted(upto[context], chance, side="right")), len(BASES) - 1)
        letters += BASES[code]
        context = (context * len(BASES) + code) % len(upto)
    return letters
