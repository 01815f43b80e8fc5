"""The letters and the chunks of this benchmark as files of SVM^hmm, for whoever has that program to race it.

    python benchmarks/svmhmm_files.py FOLDER [--limit 500]

Writes ``letters-0``, ``letters-1-9``, ``chunks-train`` and ``chunks-test`` with the features that the other competitors
get, ``.dat`` each, and ``.tags`` with the names of the numbers that stand for labels. Both programs minimise
½‖w‖² + (C/n) Σ ξ, so that C is the same number in both:

    svm_hmm_learn -c 625.1 -e 0.5 letters-1-9.dat model
    structlearn train letters-1-9.dat -c 625.1 --eps 0.5 -o model.slm
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import data
import numpy as np

from structlearn.io import SvmHmm

Tokens = list[dict[int, float]]


def write(path: Path, X: Iterable[Tokens], Y: Iterable[Sequence[Any]], tags: dict[Any, int]) -> None:
    """One file of tokens, and the numbers of its labels."""
    form = SvmHmm()
    with path.with_suffix(".dat").open("w", encoding="utf-8") as file:
        for x, y in zip(X, Y, strict=True):
            file.write(form.write(x, [tags[label] for label in y]))
    path.with_suffix(".tags").write_text("".join(f"{number} {label}\n" for label, number in tags.items()), "utf-8")
    print(path.with_suffix(".dat"))


def numbered(labels: Iterable[Any]) -> dict[Any, int]:
    """Numbers from 1 on, as SVM^hmm has them.

    >>> numbered(["O", "B-NP", "O"])
    {'B-NP': 1, 'O': 2}
    """
    return {label: k for k, label in enumerate(sorted(set(labels)), start=1)}


def pixels(x: Any) -> Tokens:
    return [{int(k) + 1: float(row[k]) for k in np.flatnonzero(row)} for row in x]


def attributes(x: data.Sentence, columns: dict[str, int]) -> Tokens:
    """Names that occur twice in a token count twice; those without a column are left out."""
    return [{columns[name] + 1: float(token.count(name)) for name in token if name in columns} for token in x]


def write_letters(folder: Path, limit: int | None) -> None:
    X, Y, X_rest, Y_rest = data.letters([0], range(1, 10))
    tags = numbered(label for y in Y + Y_rest for label in y)
    write(folder / "letters-0", map(pixels, X[:limit]), Y[:limit], tags)
    write(folder / "letters-1-9", map(pixels, X_rest[:limit]), Y_rest[:limit], tags)


def write_chunks(folder: Path, limit: int | None) -> None:
    train, test = (data.chunking(subset, limit) for subset in ("train", "test"))
    columns = data.vocabulary(train[0])
    tags = numbered(label for _, Y in (train, test) for y in Y for label in y)
    for name, (X, Y) in (("chunks-train", train), ("chunks-test", test)):
        write(folder / name, (attributes(x, columns) for x in X), Y, tags)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, help="sequences a file, for a quick look")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    write_letters(given.folder, given.limit)
    write_chunks(given.folder, given.limit)


if __name__ == "__main__":
    main()
