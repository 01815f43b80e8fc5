"""Data on a cluster: what `fit` takes in the place of X and Y."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from structlearn.data.labels import observed_classes
from structlearn.data.options import whole_option
from structlearn.distributed import worker
from structlearn.distributed.crew import Crew
from structlearn.distributed.engine import check_travels, check_workers
from structlearn.distributed.files import files_of
from structlearn.distributed.sources import Computed, Files, ShardRange, Source, computed
from structlearn.shards import Shards, open_shards
from structlearn.shards.manifest import is_corpus
from structlearn.waist.elsewhere import Elsewhere
from structlearn.waist.sharded import ShardedProblem
from structlearn.wording import shown


def distribute(
    client: Any,
    source: Any,
    *,
    n_parts: int | None = None,
    format: Any = None,
    encoding: str = "utf-8",
    features: Any = None,
    patience: float = 60.0,
) -> Distributed:
    """Data in parts, each of which a worker reads where it is, and reads again if the worker that had it is lost.

    Parameters
    ----------
    client : distributed.Client
        Of a cluster whose workers have this version of the library.
    source : path, list, bag or Shards
        A folder that `write_shards` or ``structlearn prepare`` wrote, or what `open_shards` gives for it; a pattern of
        files such as ``"corpus/*.conll"``, or a list of paths, that all workers see; a list of delayed objects or
        futures of pairs (X, Y), each of them a part; or a dask bag of pairs (x, y).
    n_parts : int, optional
        In how many parts shards or files are cut: one for each thread of the workers by default.
    format : Format or str, optional
        Of files; recognised by the first one if left out.
    encoding : str
        Of files.
    features : fitted transformer, optional
        Makes features of every X on the workers, such as a `TextFeatures` that has learnt, or a `KernelMap`, of which
        the basis travels then and not the data.
    patience : float
        Seconds for which the cluster may be without any worker.

    Returns
    -------
    Distributed
    """
    check_workers(client, wait=patience)
    threads = sum(client.nthreads().values())
    n_parts = threads if n_parts is None else whole_option("n_parts", n_parts, 1)
    if features is not None:
        if not hasattr(features, "transform"):
            raise TypeError(f"features is a {type(features).__name__}, which has no transform")
        check_travels("features", features)
    sources: Sequence[Source]
    if isinstance(source, Shards) or (isinstance(source, (str, os.PathLike)) and is_corpus(Path(source))):
        if features is not None or format is not None:
            raise ValueError("features and format have no effect on shards, which hold features")
        sources = _of_shards(source if isinstance(source, Shards) else open_shards(source), n_parts)
    elif isinstance(source, (str, os.PathLike)) or _are_paths(source):
        sources = _of_files(source, n_parts, format, encoding, features)
    else:
        sources = _of_dask(source, features)
    return Distributed(client, sources, patience)


class Distributed(Elsewhere):
    """What `distribute` gives: ``fit(data.X, data.Y)`` trains on the cluster.

    Attributes
    ----------
    X, Y
        What estimators take: names for the inputs and outputs that workers read.
    parts : list of str
        Where each part comes from.
    """

    def __init__(self, client: Any, sources: Sequence[Source], patience: float):
        self._client, self._sources, self._patience = client, list(sources), patience
        self._sizes: list[int] | None = None

    def __repr__(self) -> str:
        return f"<data in {len(self._sources)} parts on {self._client.scheduler.address}>"

    @property
    def X(self) -> Distributed:
        return self

    @property
    def Y(self) -> _OutputsOf:
        return _OutputsOf(self)

    @property
    def parts(self) -> list[str]:
        return list(map(str, self._sources))

    def __len__(self) -> int:
        if self._sizes is None:
            self._sizes = self._ask(worker.count_examples)
        return sum(self._sizes)

    def check(self, Y: Any, model: Any) -> None:
        if not (isinstance(Y, _OutputsOf) and Y.data is self):
            raise ValueError(f"y is {shown(Y)}; with distributed data X give fit(data.X, data.Y)")
        if hasattr(model, "initialize"):
            raise TypeError(
                f"{type(model).__name__}.initialize looks at all data, which no worker has; give its results as options"
            )
        if getattr(model, "observed_only", False):
            raise ValueError("observed_only=True needs to see which features occur with which labels in all data")
        check_travels("the model", model)

    def specify(self, model: Any) -> Any:
        check_workers(self._client, wait=self._patience)
        found: list[worker.Survey] = self._ask(worker.survey, model)
        self._sizes = [each.n_examples for each in found]
        return merged_spec([each.spec for each in found], self.parts)

    def bind(self, model: Any, spec: Any) -> ShardedProblem:
        assert self._sizes is not None
        return ShardedProblem(Crew(self._client, self._sources, self._sizes, model, spec, self._patience))

    def _ask(self, function: Callable[..., Any], *common: Any) -> list[Any]:
        """Something that any worker can tell of each source."""
        tasks = [
            self._client.submit(function, source, computed(self._client, source), *common, pure=False)
            for source in self._sources
        ]
        return list(self._client.gather(tasks))


class _OutputsOf:
    """The outputs that belong to distributed inputs."""

    def __init__(self, data: Distributed):
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<outputs of {self.data!r}>"


def merged_spec(specs: Sequence[Any], parts: Sequence[str]) -> Any:
    """The spec of all data from those of parts: labels and names of features are put together, all else is alike.

    >>> from structlearn.models.base import LinearSpec
    >>> merged_spec([LinearSpec(("b",), 1, ("x",)), LinearSpec(("a",), 1, ("y",))], ["0", "1"])
    LinearSpec(classes=('a', 'b'), n_inputs=2, vocabulary=('x', 'y'), intercept=False, pairs=None)
    """
    first = specs[0]
    changes: dict[str, Any] = {}
    for field in fields(first):
        values = [getattr(spec, field.name) for spec in specs]
        if all(_alike(value, values[0]) for value in values):
            continue
        if field.name in ("classes", "vocabulary") and None not in values:
            changes[field.name] = observed_classes(each for value in values for each in value)
        elif field.name != "n_inputs" or getattr(first, "vocabulary", None) is None:
            k = next(k for k, value in enumerate(values) if not _alike(value, values[0]))
            raise ValueError(
                f"{parts[k]} has {field.name}={shown(values[k])}, but {parts[0]} has {shown(values[0])}; declare in "
                "the model or the features what all parts have"
            )
    if "vocabulary" in changes:
        changes["n_inputs"] = len(changes["vocabulary"])
    return replace(first, **changes)


def _alike(left: Any, right: Any) -> bool:
    same = left == right
    return bool(same.all()) if isinstance(same, np.ndarray) else bool(same)


def _of_shards(corpus: Shards, n_parts: int) -> list[ShardRange]:
    """Neighbouring shards, cut so that parts have about as many tokens."""
    edges = _cuts(corpus.shard_sizes, n_parts)
    folder = os.path.abspath(corpus.path)
    return [ShardRange(folder, corpus.identity, a, b) for a, b in pairwise(edges)]


def _cuts(sizes: Sequence[int], n_parts: int) -> list[int]:
    """Where neighbours are cut into parts of about the same size, with one of them at least in each.

    >>> _cuts([1, 1, 1, 9, 1], 3)
    [0, 3, 4, 5]
    """
    n_parts = min(n_parts, len(sizes))
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, n_parts) / n_parts) + 1
    for k in range(len(cuts)):
        cuts[k] = min(max(cuts[k], (cuts[k - 1] if k else 0) + 1), len(sizes) - (n_parts - 1 - k))
    return [0, *cuts.tolist(), len(sizes)]


def _of_files(source: Any, n_parts: int, format: Any, encoding: str, features: Any) -> list[Files]:
    from structlearn.io.formats import read_examples

    paths = files_of(source)
    reader, _ = read_examples(paths[0], format=format, encoding=encoding)
    edges = _cuts(list(map(os.path.getsize, paths)), n_parts)
    return [Files(tuple(paths[a:b]), reader, encoding, features) for a, b in pairwise(edges)]


def _of_dask(source: Any, features: Any) -> list[Computed]:
    of_pairs = hasattr(source, "to_delayed")
    listed = list(source.to_delayed()) if of_pairs else source
    known = isinstance(listed, (list, tuple)) and len(listed) > 0
    if not known or not all(hasattr(each, "__dask_graph__") or hasattr(each, "key") for each in listed):
        raise TypeError(
            f"source is {shown(source)}; expected a folder of shards, a pattern or a list of files, a list of delayed "
            "objects or futures of pairs (X, Y), or a dask bag of pairs (x, y)"
        )
    return [Computed(each, k, features, of_pairs=of_pairs) for k, each in enumerate(listed)]


def _are_paths(source: Any) -> bool:
    listed = isinstance(source, (list, tuple)) and len(source) > 0
    return listed and all(isinstance(each, (str, os.PathLike)) for each in source)
