"""Structures of the core on sparse features of places, with every output as the parts that it has."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from structlearn import _core
from structlearn.data.ragged import offsets_of
from structlearn.models.dependency.templates import parse_templates, template_rows
from tests.inference.enumerated_dependency import labelled, siblings, trees

TEMPLATES = (
    [
        "head.word|modifier.tag[+1]|distance",
        "head.word|direction",
        "modifier.word[-1]",
        "head.tag|between.tag|direction",
    ],
    ["head.tag|modifier.word|direction", "modifier.word|direction", "between.tag"],
    ["head.tag|sibling.word|modifier.tag|direction", "sibling.tag|distance"],
)


class Bound(NamedTuple):
    """A compiled problem, and for every example the codes of its outputs, and a matrix of the parts that they have."""

    core: Any
    codes: list[Any]
    parts: list[Any]
    w: Any


def scorer(random: Any, n_places: list[Any], widths: list[int], n_below: int = 0) -> tuple[_core.TokenScorer, int]:
    """Blocks of places with random features; for each the number of places of every example, and of parts at each.

    Features of the last `n_below` blocks are not above 0.
    """
    n_columns, offsets, tokens, blocks, at = 3, [], [], [], 0
    for counts, width in zip(n_places, widths, strict=True):
        offsets.append(offsets_of(counts))
        total = int(offsets[-1][-1])
        dense = np.where(random.uniform(size=(total, n_columns)) < 0.6, random.normal(size=(total, n_columns)), 0.0)
        if len(offsets) > len(widths) - n_below:
            dense = -np.abs(dense)
        rows, columns = np.nonzero(dense)
        indptr = offsets_of(np.bincount(rows, minlength=total))
        tokens.append(_core.Tokens(indptr, columns.astype(np.int32), dense[rows, columns], n_columns))
        blocks.append((at, width, 0))
        at += n_columns * width
    nothing = np.empty(0, np.int64)
    return _core.TokenScorer(offsets, tokens, np.array(blocks), nothing, nothing, np.empty(0), None, None, at, None), at


def dependency(kind: str, single_root: bool) -> Bound:
    """Sentences of one, four and three tokens with two labels; or one label and siblings."""
    random = np.random.default_rng(0)
    lengths, beside = np.array([1, 4, 3]), kind == "siblings"
    n_labels = 1 if beside else 2
    engine = _core.DependencyEngine(offsets_of(lengths), n_labels, single_root, beside)
    templates = [
        parse_templates(texts, ["word", "tag"], "templates", siblings=k == 2) for k, texts in enumerate(TEMPLATES)
    ]
    templates = templates if beside else [*templates[:2], []]
    features = _core.DependencyFeatures([(template_rows(group), len(group)) for group in templates], n_labels, 31)
    scores = _core.DependencyScores(engine, features, random.integers(2, 6, size=(8, 2)).astype(np.int32))
    n_weights = features.n_weights
    made = (_core.NonprojectiveTrees if kind == "crossing" else _core.ProjectiveTrees)(engine, scores)
    codes, parts = [], []
    for n in lengths.tolist():
        heads = trees(n, kind != "crossing", single_root)
        heads, labels = labelled(heads, n_labels)
        tokens = np.arange(1, n + 1)
        which = [(heads * (n + 1) + tokens) * n_labels + labels]
        if beside:
            near = siblings(n, single_root)
            which.append((n + 1) ** 2 * n_labels + (heads * (n + 1) + near) * (n + 1) + tokens)
        n_parts = (n + 1) ** 2 * n_labels + beside * (n + 1) ** 3
        codes.append((heads * n_labels + labels).astype(np.int32))
        parts.append(indicators(np.concatenate(which, axis=1), n_parts))
    return Bound(made, codes, parts, random.normal(size=n_weights))


def matching(alone: bool, fertility: int = 1, further: bool = False, forbid: bool = False) -> Bound:
    random = np.random.default_rng(0)
    shapes = [(3, 2), (2, 4), (3, 3)]
    n, m = np.array(shapes).T
    places, widths = [n * m, *([n, m] if alone else []), *([n] if further else [])], [1, 1, 1, 1]
    scores, n_weights = scorer(random, places, widths[: len(places)], int(further))
    w = random.normal(size=n_weights)
    if further:
        w[-3:] = np.abs(w[-3:])
    every = [matchings(*shape, alone, fertility, further) for shape in shapes]
    forbidden = None
    if forbid:
        masks = [random.uniform(size=parts.shape[1]) < 0.2 for _, parts in every]
        for mask, (rows, columns) in zip(masks, shapes, strict=True):
            if (
                fertility > 1
            ):  # a row that must have all its partners, and the price of further ones, are nothing to forbid
                mask[rows * columns : rows * columns + rows] = mask[rows * columns + rows + columns :] = False
        forbidden = np.concatenate(masks).astype(np.uint8)
        left = [(parts[:, mask] == 0).all(axis=1) for mask, (_, parts) in zip(masks, every, strict=True)]
        every = [(codes[keep], parts[keep]) for keep, (codes, parts) in zip(left, every, strict=True)]
    engine = _core.MatchingEngine(offsets_of(n), offsets_of(m), alone, fertility, further, forbidden)
    codes, parts = map(list, zip(*every, strict=True))
    return Bound(_core.Matchings(engine, scores), codes, parts, w)


def matchings(rows: int, columns: int, alone: bool, fertility: int, further: bool) -> tuple[Any, Any]:
    """All of them, as codes and as the parts that they have."""
    codes, found = [], []
    for chosen in product(range(-1, rows), repeat=columns):  # the row of every column
        partners = [[j for j, row in enumerate(chosen) if row == i] for i in range(rows)]
        if max(map(len, partners)) > fertility or not (alone or sum(map(len, partners)) == min(rows, columns)):
            continue
        parts = np.zeros((rows, columns))
        for j, row in enumerate(chosen):
            parts[row, j] = row >= 0
        lacking = [fertility - len(one) for one in partners]
        more = [*lacking, *(row < 0 for row in chosen)] if alone else []
        more += [max(len(one) - 1, 0) for one in partners] if further else []
        found.append([*parts.ravel(), *more])
        codes.append([j for one in partners for j in (*one, *[-1] * (fertility - len(one)))])
    return np.array(codes, np.int32), np.array(found, np.float64)


def indicators(which: Any, n_parts: int) -> Any:
    found = np.zeros((len(which), n_parts))
    found[np.arange(len(which))[:, None], which] = 1.0
    return found
