"""How the decoders of all structures grow with length, number of loss levels and k: writes docs/decoder_growth.md.

    python benchmarks/decoder_growth.py

Times are processor time in one thread, medians of calls that take turns; exponents are fitted to the last three sizes.
Levels of alignments are also measured on pairs of HOMSTRAD, where the data are there.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from measure import exponent, in_fresh_process, in_turns, peak_mb, table

from structlearn.datasets import fetch_homstrad
from structlearn.losses import AdditiveLoss
from structlearn.models import Alignment, Chain, Grammar, HypergraphModel, Segments
from structlearn.waist import Scaling

SLACK = Scaling("slack", "linear")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "decoder_growth.md"
TEXT = """# How decoders grow

The costs that [structures declare](abilities.md), measured: `python benchmarks/decoder_growth.py`, {when}. Processor
time of one thread for one example, on random scores; an exponent p says that time grows like size^p, fitted to the last
three sizes. Losses have levels 0 to D.

## Length

Of sequences, sentences and both sides of pairs; D stays 8, so that levels grow as the best output does.

{length}

## Number of levels

At the largest length; with steps of two tails, as in trees, up to D² pairs of levels are joined.

{levels}

## Number of outputs

k from 10 to 1,000 at the middle length.

{outputs}

## Levels of protein alignments

{homstrad}
"""


class WrongAmongFirst(AdditiveLoss):
    """1 for a local part of another label than the first, or for any match, at the first places of an output."""

    def __init__(self, places: int):
        self.places = places

    def parts(self, truth: Any, local: Any) -> Any:
        if local.labels and local.shape == (len(local.labels),):
            return np.array(
                [float(part[0] != "move" and part[0] < self.places and part[1] != "a") for part in local.labels]
            )
        found = np.zeros(local.shape)
        found[: self.places] = 1.0
        if local.labels:
            found[..., 0] = 0.0
        return found


class ListedChain(HypergraphModel):
    """A chain of four labels, step by step."""

    def __init__(self, loss: Any = None):
        self.loss = loss

    def steps(self, x: Any) -> Any:
        for t, label in product(range(len(x)), "abcd"):
            for before in "abcd" if t else [None]:
                move = [("move", t, before, label)] if t else []
                yield (t, label), [(t - 1, before)] if t else [], [(t, label), *move]
        for label in "abcd":
            yield "end", [(len(x) - 1, label)], []

    def features(self, x: Any, part: Any) -> Any:
        return {"".join(map(str, part[2:])) if part[0] == "move" else part[1]: 1.0}

    def parts(self, x: Any, y: Any) -> Any:
        return [*enumerate(y), *(("move", t, *y[t - 1 : t + 1]) for t in range(1, len(y)))]

    def output(self, x: Any, parts: Any) -> Any:
        return [part[1] for part in parts if part[0] != "move"]


def sequences(n: int, length: int) -> list[Any]:
    random = np.random.default_rng(length)
    return [random.normal(size=(length, 3)) for _ in range(n)]


def chain(length: int, levels: int, order: int = 1, n_labels: int = 8) -> Any:
    X = sequences(20, length)
    model = Chain(classes=list(range(n_labels)), order=order, loss=WrongAmongFirst(levels))
    return model, X, [[0] * length for _ in X]


def segments(length: int, levels: int) -> Any:
    X = sequences(20, length)
    model = Segments(classes=[0, 1, 2, 3], max_length=5, loss=WrongAmongFirst(levels))
    return model, X, [[(0, t, t + 1) for t in range(length)] for _ in X]


def grammar(length: int, levels: int) -> Any:
    """Trees whose nodes have the label A or B: all of them where the truth is known, of which A is true."""

    def comb(label: str, tags: list[str]) -> Any:
        return (
            (label, *((tag, tag) for tag in tags))
            if len(tags) < 3
            else (label, (tags[0], tags[0]), comb(label, tags[1:]))
        )

    random = np.random.default_rng(length)
    X = [random.choice(["x", "y"], length).tolist() for _ in range(4)]
    Y = [comb("A", x) for x in X]
    kinds = [("x", "x"), ("y", "y"), "A", "B"]
    phrase = {label: (label, ("x", "x"), ("y", "y")) for label in "AB"}
    trees = [(top, *(phrase.get(child, child) for child in children)) for top, *children in product("AB", kinds, kinds)]
    X += [_leaves(tree) for tree in trees]
    return Grammar(loss=WrongAmongFirst(levels)), X, Y + trees


def _leaves(tree: Any) -> list[str]:
    return [tree[0]] if isinstance(tree[1], str) else [leaf for child in tree[1:] for leaf in _leaves(child)]


def alignment(length: int, levels: int) -> Any:
    random = np.random.default_rng(length)
    X = [tuple("".join(random.choice(list("abcd"), length)) for _ in range(2)) for _ in range(4)]
    return Alignment("abcd", gaps="affine", loss=WrongAmongFirst(levels)), X, [() for _ in X]


def hypergraph(length: int, levels: int) -> Any:
    X = sequences(5, length)
    return ListedChain(WrongAmongFirst(levels)), X, [["a"] * length for _ in X]


#: Structures with the lengths at which they are measured.
STRUCTURES: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "Chain, 8 labels": (chain, (50, 100, 200, 400)),
    "Chain(order=2), 8 labels": (lambda *sizes: chain(*sizes, order=2), (50, 100, 200, 400)),
    "Segments, 4 labels, up to 5 tokens": (segments, (50, 100, 200, 400)),
    "Grammar, 2 labels": (grammar, (10, 20, 40, 80)),
    "Alignment": (alignment, (25, 50, 100, 200)),
    "HypergraphModel, a chain of 4 labels": (hypergraph, (50, 100, 200, 400)),
}


def times(structure: str, length: int, levels: int, ks: list[int], turns: int = 5) -> dict[str, float]:
    """Milliseconds of each decoder for one example."""
    model, X, Y = STRUCTURES[structure][0](length, levels)
    problem = model.bind(model.specify(X, Y), X, Y)
    assert "loss_levels" in problem.oracles, problem.missing("loss_levels")
    long = np.array([i for i, x in enumerate(X) if len(x[0] if structure == "Alignment" else x) == length])
    w = np.random.default_rng(0).normal(size=problem.n_features)
    works: dict[str, Callable[[], object]] = {
        "best": lambda: problem.best(w, long),
        "levels": lambda: problem.loss_levels(w, long, SLACK),
        "sums": lambda: problem.expectations(problem.scores(w, long), long),
    }
    if structure.startswith("Grammar"):
        works["pairs"] = lambda: [problem.kernel.rule_marginals(w, int(i)) for i in long]
    else:
        works["pairs"] = lambda: problem.kernel.pair_marginals(w, long, 1)
    for k in ks:
        works[f"{k} best"] = lambda k=k: problem.kernel.k_best(w, long, k, 1)
    return {name: 1000 * taken / len(long) for name, taken in in_turns(turns, **works).items()}


def against_length() -> str:
    decoders, rows = ["best", "levels", "100 best", "sums", "pairs"], []
    for name, (_, lengths) in STRUCTURES.items():
        runs = [times(name, length, 8, [100]) for length in lengths]
        cells = [f"{runs[-1][each]:.3g} ms, {exponent(lengths, [run[each] for run in runs])}" for each in decoders]
        rows.append([name, f"{lengths[-3]} to {lengths[-1]}", *cells])
        print(" ".join(rows[-1]), flush=True)
    header = ["", "length", *(f"{each}: at the largest, exponent" for each in decoders)]
    return table(header, rows)


def against_levels() -> str:
    rows = []
    for name, (_, lengths) in STRUCTURES.items():
        levels = tuple(size * lengths[-1] // 80 for size in (10, 20, 40, 80))
        taken = [times(name, lengths[-1], each, [], 3)["levels"] for each in levels]
        shown = ", ".join(f"{each:.3g}" for each in taken)
        rows.append([name, str(lengths[-1]), ", ".join(map(str, levels)), shown, exponent(levels, taken)])
        print(" ".join(rows[-1]), flush=True)
    return table(["", "length", "D", "milliseconds", "exponent"], rows)


def against_outputs() -> str:
    ks, rows = (10, 100, 1000), []
    for name, (_, lengths) in STRUCTURES.items():
        found = times(name, lengths[-2], 8, [1, *ks], 3)
        taken = [found[f"{k} best"] for k in ks]
        rows.append(
            [
                name,
                str(lengths[-2]),
                f"{found['1 best']:.3g}",
                ", ".join(f"{t:.3g}" for t in taken),
                exponent(ks, taken),
            ]
        )
        print(" ".join(rows[-1]), flush=True)
    return table(["", "length", "best one, ms", "10, 100 and 1,000 best, ms", "exponent"], rows)


def homstrad_pairs(levels: bool) -> dict[str, float]:
    """Seconds a pair, and the peak of memory, of the best alignments or of those for every number of true matches."""
    pairs = [rows.pair() for rows in fetch_homstrad().values() if len(rows.rows) == 2]
    near = [(x, y) for x, y in pairs if all(190 <= len(side) <= 210 for side in x)][:10]
    X, Y = map(list, zip(*near, strict=True))
    model = Alignment(gaps="affine")
    problem = model.bind(model.specify(X, Y), X, Y)
    w, every = np.random.default_rng(0).normal(size=problem.n_features), np.arange(len(X))
    work = (lambda: problem.loss_levels(w, every, SLACK)) if levels else (lambda: problem.best(w, every))
    seconds = in_turns(3, work=work)["work"] / len(X)
    letters = np.mean([len(side) for x in X for side in x])
    return {
        "seconds": seconds,
        "pairs": len(X),
        "letters": letters,
        "matches": np.mean([len(y) for y in Y]),
        "peak_mb": peak_mb(),
    }


def homstrad() -> str:
    try:
        fetch_homstrad()
    except FileNotFoundError:
        return "HOMSTRAD was not at hand."
    found = {levels: in_fresh_process("decoder_growth:homstrad_pairs", levels=levels) for levels in (False, True)}
    best, every = found[False], found[True]
    lines = [
        f"{every['pairs']:.0f} pairs of HOMSTRAD with {every['letters']:.0f} letters and {every['matches']:.0f} true "
        "matches in the mean:",
        f"- the best alignment for every number of true matches: {every['seconds']:.3f} s a pair, and "
        f"{every['peak_mb'] - best['peak_mb']:.0f} MB more than the process without;",
        f"- the best alignment alone: {1000 * best['seconds']:.1f} ms a pair, {best['peak_mb']:.0f} MB in all.",
    ]
    return "\n".join([lines[0], "", *lines[1:]])


def main() -> None:
    text = TEXT.format(
        when=f"{date.today():%d %B %Y}",
        length=against_length(),
        levels=against_levels(),
        outputs=against_outputs(),
        homstrad=homstrad(),
    )
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
