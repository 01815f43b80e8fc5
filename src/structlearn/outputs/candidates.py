"""Where candidates for an output come from: a list, the k best outputs of another model, a function, and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from structlearn.contract import Parameters, check_is_fitted
from structlearn.data.examples import check_examples, is_listed
from structlearn.data.labels import declared_classes
from structlearn.kernels.base import length
from structlearn.wording import shown


class Substitutions(Parameters):
    """The neighbours of a string or a sequence of labels: what it becomes if one of its symbols is another one.

    Parameters
    ----------
    symbols : str or list
        Those that there are.

    Examples
    --------
    >>> Substitutions("ab")("ba"), Substitutions(["DET", "NOUN"])(["DET"])
    (['aa', 'bb'], [['NOUN']])
    """

    def __init__(self, symbols: Sequence[Any]):
        self.symbols = symbols

    def check_options(self) -> None:
        declared_classes(self.symbols, "symbols")

    def __call__(self, y: Any) -> list[Any]:
        whole: Callable[[list[Any]], Any] = "".join if isinstance(y, str) else tuple if isinstance(y, tuple) else list
        parts = list(y)
        places = ((t, symbol) for t in range(len(parts)) for symbol in self.symbols if symbol != parts[t])
        return [whole([*parts[:t], symbol, *parts[t + 1 :]]) for t, symbol in places]


def check_candidates(candidates: Any) -> None:
    """Refuses what gives no candidates: they are a list, a model with `k_best`, or a function of an input."""
    if is_model(candidates):
        check_is_fitted(candidates)
    elif isinstance(candidates, type) or hasattr(candidates, "predict"):
        raise ValueError(
            f"candidates is {shown(candidates)}; give a fitted model that has k_best, a function, or a list"
        )
    elif candidates is not None and not callable(candidates):
        check_examples("candidates", candidates)
        if not length(candidates):
            raise ValueError("candidates is empty; give outputs to choose from, or None for those of training")


def is_model(candidates: Any) -> bool:
    return hasattr(candidates, "k_best") and not isinstance(candidates, type)


def by_input(candidates: Any) -> bool:
    """Whether every input has candidates of its own."""
    return is_model(candidates) or callable(candidates)


def candidates_of(source: Any, X: Any, n_candidates: int) -> Iterator[Any]:
    """The candidates of each input, from a model or a function; none are refused."""
    if is_model(source):
        listed: Any = ([output for output, _ in found] for found in source.k_best(X, n_candidates))
    else:
        listed = (source(x) for x in X)
    for i, found in enumerate(listed):
        if isinstance(found, str) or not is_listed(found):
            raise ValueError(f"candidates gave {shown(found)} for X[{i}]; expected a list of outputs")
        if not length(found):
            raise ValueError(f"candidates gave no outputs for X[{i}]; at least one is needed")
        yield found
