"""Where parts of the data come from: values that say how a worker reads X and Y, and reads them again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from structlearn.shards import Shards, open_shards


class Source(ABC):
    """A part of the data as a pure function: whoever calls `read` gets the same X and Y."""

    #: What a scheduler computes first, and `read` gets; None where there is no such thing.
    needs: Any = None

    @abstractmethod
    def read(self, needed: Any) -> tuple[Any, Any]: ...


@dataclass(frozen=True)
class ShardRange(Source):
    """Neighbouring shards of a folder that all workers see."""

    folder: str
    identity: str
    begin: int
    end: int

    def __str__(self) -> str:
        return f"shards {self.begin} to {self.end - 1} of {self.folder}"

    def read(self, needed: Any) -> tuple[Any, Any]:
        return _opened(self.folder, self.identity).between(self.begin, self.end)


@lru_cache(maxsize=4)
def _opened(folder: str, identity: str) -> Shards:
    corpus = open_shards(folder)
    if corpus.identity != identity:
        raise ValueError(f"{folder} holds another corpus here than where training was started")
    return corpus


@dataclass(frozen=True)
class Files(Source):
    """Files of examples in a format, whose inputs a fitted transformer may make features of."""

    paths: tuple[str, ...]
    reader: Any
    encoding: str
    features: Any

    def __str__(self) -> str:
        return ", ".join(self.paths)

    def read(self, needed: Any) -> tuple[Any, Any]:
        from structlearn.io.formats import read_examples

        X: list[Any] = []
        Y: list[Any] = []
        for path in self.paths:
            if not Path(path).is_file():
                raise FileNotFoundError(f"{path} is missing on this worker")
            for example in read_examples(path, format=self.reader, encoding=self.encoding)[1]:
                if example.y is None:
                    raise ValueError(f"{example.place}: an example without a label")
                if example.weight != 1.0:
                    raise ValueError(f"{example.place}: weights of examples in files have no effect on a cluster")
                X.append(example.x)
                Y.append(example.y)
        return (X if self.features is None else self.features.transform(X)), Y


class Computed(Source):
    """What a delayed object or a future of Dask is: a pair (X, Y), or a list of pairs (x, y)."""

    def __init__(self, needs: Any, number: int, features: Any, *, of_pairs: bool):
        self.needs = needs
        self.number = number
        self.features = features
        self.of_pairs = of_pairs

    def __str__(self) -> str:
        return f"part {self.number} of the data"

    def __getstate__(self) -> dict[str, Any]:
        # What it needs is given to `read`.
        return vars(self) | {"needs": None}

    def read(self, needed: Any) -> tuple[Any, Any]:
        if self.of_pairs:
            pairs = list(needed)
            if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
                raise ValueError(f"{self} holds something else than pairs (x, y)")
            X, Y = [x for x, _ in pairs], [y for _, y in pairs]
        else:
            if not (isinstance(needed, (tuple, list)) and len(needed) == 2):
                raise ValueError(f"{self} is a {type(needed).__name__}; expected a pair (X, Y)")
            X, Y = needed
        return (X if self.features is None else self.features.transform(X)), Y


def computed(client: Any, source: Source) -> Any:
    """What a source needs, as a future that the scheduler makes anew if a worker loses it."""
    return client.compute(source.needs) if hasattr(source.needs, "__dask_graph__") else source.needs
