"""What engines say of a graph that they do not take, in the words of those who train."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from structlearn.inference.graphs.refusals import NotSubmodularError, UnsuitedGraphError


@contextmanager
def refused_by_example(i: int) -> Iterator[None]:
    """Names the example that an engine refuses, and what keeps it from that.

    >>> with refused_by_example(3):
    ...     raise UnsuitedGraphError("variable {variables[0]} has 3 labels; graph_cut takes two", variables=[0])
    Traceback (most recent call last):
    ...
    ValueError: X[3]: variable 0 has 3 labels; graph_cut takes two; engine='auto' takes all
    """
    try:
        yield
    except NotSubmodularError as error:
        raise ValueError(
            f"X[{i}]: {error}; StructuralSVM(…, nonnegative='pairs') with pairwise='potts' keeps neighbours from "
            "liking to differ, and engine='auto' takes cuts where they do not"
        ) from None
    except UnsuitedGraphError as error:
        raise ValueError(f"X[{i}]: {error}; engine='auto' takes all") from None
