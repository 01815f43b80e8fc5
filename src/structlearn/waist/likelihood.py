"""What may stand for the likelihood where sums over all outputs are out of reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LikelihoodName = Literal["exact", "pseudo", "piecewise", "tree_reweighted", "belief_propagation"]


@dataclass(frozen=True)
class Likelihood:
    """What the log-losses of a problem are.

    Attributes
    ----------
    name : str
        As the option of a model says it.
    words : str
        What is maximised, for people.
    is_convex : bool
        Whether its negative logarithm is convex in w.
    is_bound : bool
        Whether that is never below the exact one.
    certifies : bool
        Whether values and gradients are exact and convex, so that a gap proves how near its own minimum is. Nothing is
        proved about the minimum of another likelihood.
    """

    name: LikelihoodName
    words: str
    is_convex: bool = True
    is_bound: bool = False
    certifies: bool = True

    @property
    def is_exact(self) -> bool:
        return self.name == "exact"

    @property
    def in_words(self) -> str:
        """
        >>> LIKELIHOODS["pseudo"].in_words
        'the pseudo-likelihood of single labels given their neighbours, in place of the likelihood'
        """
        if self.is_exact:
            return self.words
        bound = "; its negative logarithm is an upper bound on the exact one" if self.is_bound else ""
        return f"{self.words}, in place of the likelihood{bound}"


EXACT = Likelihood("exact", "the likelihood", is_bound=True)
LIKELIHOODS: dict[str, Likelihood] = {
    each.name: each
    for each in (
        EXACT,
        Likelihood("pseudo", "the pseudo-likelihood of single labels given their neighbours"),
        Likelihood("piecewise", "the piecewise likelihood, each factor normalised on its own", is_bound=True),
        # The bound holds whatever the messages are, but it is convex only where they have come to rest.
        Likelihood("tree_reweighted", "a likelihood with a tree-reweighted log Z", is_bound=True, certifies=False),
        Likelihood("belief_propagation", "a likelihood with Bethe's log Z", is_convex=False, certifies=False),
    )
}
