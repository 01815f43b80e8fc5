"""Rankings of web pages by several search systems, to be put together: MQ2007-agg of LETOR 4.0."""

import gzip
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from structlearn.datasets._checks import check_choice
from structlearn.datasets._files import find_file, reading

HOME = "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval"
N_LISTS = 21
#: The parts that each fold trains on, chooses options by and is tested on (Qin and Liu 2013).
FOLDS = {fold: tuple((fold + shift - 1) % 5 + 1 for shift in range(5)) for fold in range(1, 6)}
LINE = re.compile(r"(\d+) qid:(\d+) ((?:\d+:(?:NULL|\d+) ?)+)#")


@dataclass(frozen=True, eq=False, slots=True)
class JudgedQueries:
    """Queries with documents that people judged.

    Attributes
    ----------
    X : list of (n_documents, n_features) float arrays
    Y : list of (n_documents,) int arrays
        0 is not relevant, 1 relevant, 2 highly relevant.
    queries : list of str
        The numbers of the queries in the Million Query track of TREC 2007.
    """

    X: list[NDArray[np.float64]]
    Y: list[NDArray[np.int64]]
    queries: list[str]


def fetch_mq2007_agg(
    fold: int,
    subset: Literal["train", "validation", "test"] = "train",
    *,
    scores: Literal["linear", "logarithmic"] | None = "linear",
    missing_indicator: bool = False,
) -> JudgedQueries:
    """Read one fold of MQ2007-agg: 1,692 queries with 69,623 documents that 21 search systems ranked.

    The five parts ``mq2007_agg/A1.txt.gz`` to ``A5.txt.gz`` rotate: fold 1 has the parts 1, 2 and 3 for training, 4 for
    validation and 5 for the test, fold 2 the parts 2, 3, 4; 5; 1, and so on.

    Parameters
    ----------
    fold : int
        1 to 5.
    subset : {"train", "validation", "test"}
    scores : {"linear", "logarithmic"} or None
        A system's rank r of a document, 1 for its best, becomes a score that is comparable between queries:
        1 − (r − 1)/m with m the largest rank that the system gave in the query, or 1/log₂(1 + r). A document that
        the system did not find has 0, less than any that it found. None leaves the ranks as they are, NaN for what
        was not found.
    missing_indicator : bool
        Whether 21 more features say with 1 which systems did not find the document.

    Returns
    -------
    JudgedQueries

    Raises
    ------
    FileNotFoundError
        If a file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If a file is damaged or holds something else.
    """
    if fold not in FOLDS:
        raise ValueError(f"fold must be 1, 2, 3, 4 or 5, got {fold!r}")
    check_choice("subset", subset, ("train", "validation", "test"))
    if scores is not None:
        check_choice("scores", scores, ("linear", "logarithmic"))
    parts = {"train": FOLDS[fold][:3], "validation": FOLDS[fold][3:4], "test": FOLDS[fold][4:]}[subset]
    found = JudgedQueries([], [], [])
    for part in parts:
        path = find_file("mq2007_agg", f"A{part}.txt.gz", HOME)
        with reading(path), gzip.open(path, "rt", encoding="ascii") as file:
            _read(file, found)
    X = [_features(ranks, scores, missing_indicator) for ranks in found.X]
    return JudgedQueries(X, found.Y, found.queries)


def _read(lines: Iterable[str], found: JudgedQueries) -> None:
    for query, rows in groupby(map(_parsed, enumerate(lines, start=1)), key=lambda row: row[0]):
        _, labels, ranks = zip(*rows, strict=True)
        found.X.append(np.array(ranks))
        found.Y.append(np.array(labels))
        found.queries.append(query)
    if not found.queries:
        raise ValueError("it holds no documents")


def _parsed(numbered: tuple[int, str]) -> tuple[str, int, list[float]]:
    number, line = numbered
    match = LINE.match(line)
    values = [] if match is None else [field.partition(":")[2] for field in match[3].split()]
    if match is None or len(values) != N_LISTS:
        raise ValueError(f"line {number} is no label, qid: and {N_LISTS} ranks")
    return match[2], int(match[1]), [np.nan if value == "NULL" else float(value) for value in values]


def _features(ranks: NDArray[np.float64], scores: str | None, missing_indicator: bool) -> NDArray[np.float64]:
    missing = np.isnan(ranks)
    if scores is None:
        features = ranks
    elif scores == "linear":
        last = np.max(ranks, axis=0, initial=1.0, where=~missing)
        features = np.where(missing, 0.0, 1.0 - (ranks - 1.0) / last)
    else:
        features = np.where(missing, 0.0, 1.0 / np.log2(1.0 + ranks))
    return np.hstack([features, missing]) if missing_indicator else features
