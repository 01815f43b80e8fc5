"""How often a pattern was found where it is known to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from structlearn.data.arrays import FloatArray
from structlearn.data.biosequences.dna import Site
from structlearn.metrics.significance import Interval


@dataclass(frozen=True, slots=True)
class SiteRecovery:
    """The share of sequences whose site was found, with its 95 % interval (Wilson 1927), and what chance would find.

    Attributes
    ----------
    share : Interval
    chance : float
        The expected share with places drawn uniformly, one in each sequence.
    p_value : float
        The probability to find as many by chance.
    n : int
        How many sequences have known sites.
    """

    share: Interval
    chance: float
    p_value: float
    n: int

    def __str__(self) -> str:
        return f"{self.share} of {self.n}, by chance {self.chance:.4f}, p = {self.p_value:.2g}"


def overlaps(site: Site, other: Site, least: float = 0.5) -> bool:
    """Whether two sites share at least this part of the letters of the shorter one, on whichever strands.

    >>> overlaps(Site(3, "+", 11), Site(8, "-", 17)), overlaps(Site(3, "+", 11), Site(9, "+", 11))
    (True, False)
    """
    shared = min(site.start + site.width, other.start + other.width) - max(site.start, other.start)
    return shared > 0 and shared >= least * min(site.width, other.width)


def site_recovery(
    X: Sequence[str],
    sites: Sequence[Sequence[Site] | Site | None],
    found: Sequence[Site | None],
    least: float = 0.5,
) -> SiteRecovery:
    """How many of the sequences with known sites have the one that was found at, or almost at, a known one.

    Parameters
    ----------
    X : sequence of str
        Their lengths say what is to be expected by chance.
    sites : sequence
        For each sequence its known sites, one of them, or None; sequences without any play no part.
    found : sequence of Site or None
        None is never right.
    least : float
        See `overlaps`.

    Examples
    --------
    >>> X, known = ["A" * 20] * 2, [Site(2, "+", 5), [Site(0, "+", 5), Site(10, "-", 5)]]
    >>> print(site_recovery(X, known, [Site(4, "+", 5), Site(5, "+", 5)]))
    0.5000 [0.0945, 0.9055] of 2, by chance 0.4062, p = 0.66
    """
    if not len(X) == len(sites) == len(found):
        raise ValueError(f"there are {len(X)} sequences, {len(sites)} known and {len(found)} found sites")
    right, chances = [], []
    for x, known, site in zip(X, sites, found, strict=True):
        known = [known] if isinstance(known, Site) else known
        if not known:
            continue
        right.append(site is not None and any(overlaps(site, other, least) for other in known))
        width = known[0].width if site is None else site.width
        places = [Site(start, "+", width) for start in range(max(len(x) - width + 1, 1))]
        chances.append(float(np.mean([any(overlaps(place, other, least) for other in known) for place in places])))
    if not right:
        raise ValueError("no sequence has a known site")
    wilson = scipy.stats.binomtest(sum(right), len(right)).proportion_ci(method="wilson")
    return SiteRecovery(
        Interval(float(np.mean(right)), float(wilson.low), float(wilson.high)),
        float(np.mean(chances)),
        float(_number_found(chances)[sum(right) :].sum()),
        len(right),
    )


def _number_found(chances: list[float]) -> FloatArray:
    """The distribution of the number of successes of independent trials with these probabilities."""
    share = np.ones(1)
    for chance in chances:
        share = np.convolve(share, [1.0 - chance, chance])
    return share
