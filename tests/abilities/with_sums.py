"""Sequences, trees and alignments, which sum over their outputs: all decoders of the table."""

from itertools import pairwise

import numpy as np

from structlearn.data.trees import leaves, nodes
from structlearn.models import (
    Alignment,
    Chain,
    DependencyTree,
    Grammar,
    Multiclass,
    Segments,
)
from structlearn.models.grammar.binary_trees import Rule, rules, symbol_name
from tests.abilities.structure import enumerated
from tests.models.alignment.enumerated_alignment import EnumeratedAlignment, plain_features
from tests.models.dependency.enumerated_trees import EnumeratedTrees
from tests.models.enumerated import EnumeratedChain, EnumeratedMulticlass, EnumeratedSecondOrder, EnumeratedSegments
from tests.models.grammar.enumerated_grammar import EnumeratedGrammar
from tests.models.own.test_hypergraph_model import Bracketings, EnumeratedBracketings


def multiclass(random):
    X, Y = list(random.random((6, 3))), [0, 1, 2, 3, 1, 0]
    cost = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [3, 1, 0, 1], [1, 1, 1, 0]], float)
    return enumerated(
        "Multiclass",
        Multiclass(classes=[0, 1, 2, 3], cost=cost),
        EnumeratedMulticlass(cost),
        X,
        Y,
        singles=lambda x, y: np.eye(4)[y],
        partial=[0, {1, 2}, [2, 3], None, None, {0, 1, 3}],
        agrees=lambda said, y: said is None or y in (said if isinstance(said, (set, list)) else [said]),
    )


def chain(random, order):
    lengths, L = (1, 2, 3, 4), 3
    X = [random.random((length, 2)) for length in lengths]
    Y = [tuple(random.integers(L, size=length).tolist()) for length in lengths]

    def pairs(x, y):
        found = np.zeros((len(y) - 1, L, L))
        for t, pair in enumerate(pairwise(y)):
            found[(t, *pair)] = 1
        return found

    return enumerated(
        "Chain" if order == 1 else "Chain(order=2)",
        Chain(classes=list(range(L)), order=order),
        (EnumeratedChain if order == 1 else EnumeratedSecondOrder)(L),
        X,
        Y,
        singles=lambda x, y: np.eye(L)[list(y)],
        pairs=pairs,
        partial=[None, [Y[1][0], None], [None, {0, 1}, 2], [None, None, Y[3][2], {Y[3][3], 0}]],
        agrees=lambda said, y: (
            said is None
            or all(s is None or label in (s if isinstance(s, set) else {s}) for s, label in zip(said, y, strict=True))
        ),
    )


def segments(random):
    sizes, L, longest = (1, 2, 3, 4), 2, 3
    X = [random.random((length, 2)) for length in sizes]
    Y = [((0, 0, 1),), ((1, 0, 2),), ((0, 0, 1), (1, 1, 3)), ((1, 0, 1), (0, 1, 2), (0, 2, 4))]

    def pairs(x, y):
        found = np.zeros((len(x), min(longest, len(x)), L)), np.zeros((len(x) - 1, L, L))
        for label, begin, end in y:
            found[0][begin, end - begin - 1, label] = 1
        for (left, _, end), (right, _, _) in pairwise(y):
            found[1][end - 1, left, right] = 1
        return found

    def agrees(said, y):
        return said is None or all(
            any(span == (b, e) and (s is None or label in (s if isinstance(s, set) else {s})) for label, b, e in y)
            for s, *span in ((s, (b, e)) for s, b, e in said)
            for span in span
        )

    return enumerated(
        "Segments",
        Segments(classes=list(range(L)), max_length=longest),
        EnumeratedSegments(L, longest),
        X,
        Y,
        singles=lambda x, y: np.concatenate([np.tile(np.eye(L)[label], (end - begin, 1)) for label, begin, end in y]),
        pairs=pairs,
        partial=[None, [(None, 0, 1)], [(1, 1, 3)], [({0, 1}, 0, 1), (0, 3, 4)]],
        agrees=agrees,
    )


def grammar(random):
    trees = [
        ("S", ("A", ("x", "u"), ("y", "v")), ("y", "w")),
        ("S", ("x", "u"), ("B", ("A", ("x", "u"), ("y", "v")), ("y", "w"))),
        ("S", ("A", ("x", "u")), ("A", ("y", "v"), ("y", "w")), ("y", "w")),
        ("A", ("B", ("x", "u"), ("y", "v"))),
    ]
    X = [[(word, tag) for tag, word in leaves(tree)] for tree in trees]
    model = Grammar()
    spec = model.specify(X, trees)

    def singles(x, y):
        found = np.zeros((len(x) + 1, len(x) + 1, len(spec.labels)))
        for label, begin, end in nodes(y):
            found[begin, end, spec.labels.index(label)] += 1
        return found

    return enumerated(
        "Grammar",
        model,
        EnumeratedGrammar(model, spec),
        X,
        trees,
        singles=singles,
        pairs=lambda x, y: anchored_rules(y),
        partial=[[("A", 0, 2)], [(None, 1, 3)], None, [("B", 0, 2)]],
        needs_whole=True,
        agrees=lambda said, y: (
            said is None
            or all(any(label in (None, found) and span == there for found, *there in nodes(y)) for label, *span in said)
        ),
    )


def anchored_rules(tree):
    """The rules of a tree in binary form with their places, each by its parent and its children."""
    steps = iter(rules(tree, None, 1))
    next(steps)
    found = {}

    def visit(symbol, begin):
        step = next(steps)
        if not isinstance(step, Rule):
            return begin + 1
        limits = [begin]
        for child in step.children:
            limits.append(visit(child, limits[-1]))
        spans = zip(map(symbol_name, step.children), limits, limits[1:], strict=False)
        rule = ((symbol_name(step.parent), begin, limits[-1]), *spans)
        found[rule] = found.get(rule, 0) + 1
        return limits[-1]

    visit(None, 0)
    return found


def dependency_tree(random, **options):
    """Sentences of one to three tokens, with two labels."""
    X = [list(zip(random.choice(list("uvw"), n), random.choice(list("xy"), n), strict=True)) for n in (1, 2, 3, 3)]
    X = [[tuple(map(str, token)) for token in x] for x in X]
    Y = [[(0, "a")], [(2, "b"), (0, "a")], [(2, "a"), (0, "a"), (2, "b")], [(3, "b"), (1, "a"), (0, "b")]]
    templates = {
        "templates": [
            "head.upos|modifier.upos|distance",
            "head.form|direction",
            "head.upos|between.upos|modifier.upos[-1]",
        ],
        "label_templates": ["head.upos|modifier.form|direction", "modifier.upos"],
    }
    if options.get("order") == 2:
        templates["sibling_templates"] = ["sibling.upos|modifier.upos|direction", "head.upos|sibling.form|distance"]
    model = DependencyTree(**templates, **options)

    def singles(x, y):
        found = np.zeros((len(x) + 1, len(x) + 1, 2))
        for token, (head, label) in enumerate(y, 1):
            found[head, token, "ab".index(label)] = 1
        return found

    def agrees(said, y):
        return said is None or all(
            s is None or all(k is None or k == given for k, given in zip(s, entry, strict=True))
            for s, entry in zip(said, y, strict=True)
        )

    told = ", ".join(f"{name}={value}" for name, value in options.items())
    return enumerated(
        f"DependencyTree({told})" if told else "DependencyTree",
        model,
        EnumeratedTrees(model, model.specify(X, Y)),
        X,
        Y,
        singles=singles,
        partial=[None, [None, (0, "a")], [(2, None), None, (None, "b")], [(3, "b"), None, None]],
        agrees=agrees,
    )


def alignment(random):
    sizes = ((1, 2), (3, 2), (3, 3))
    X = [tuple("".join(random.choice(list("abc"), size)) for size in pair) for pair in sizes]
    Y = [((0, 1),), ((0, 0), (2, 1)), ((0, 0), (1, 1), (2, 2))]
    n_features, match, gap = plain_features("abc", "affine")

    def cells(x, y, rows, columns):
        found = np.zeros((rows, columns))
        for pair in y:
            found[pair] = 1
        return found

    def pairs(x, y):
        neighbours = [(i, j) for i, j in y if (i + 1, j + 1) in y]
        return cells(x, neighbours, len(x[0]) - 1, len(x[1]) - 1)

    return enumerated(
        "Alignment",
        Alignment("abc", gaps="affine"),
        EnumeratedAlignment(n_features, match, gap),
        X,
        Y,
        singles=lambda x, y: cells(x, y, len(x[0]), len(x[1])),
        pairs=pairs,
        partial=[None, [(1, 0)], [(0, 0), (2, 1)]],
        agrees=lambda said, y: said is None or all(pair in y for pair in said),
    )


class PartlyKnown(Bracketings):
    """What is said are nodes (kind or None, begin, end)."""

    def possible(self, x, y):
        for part in (part for _, _, parts in self.steps(x) for part in parts):
            *kind, begin, end = part if part[0] != "node" else (part[1], part[3])
            crosses = any(begin < b < end < e or b < begin < e < end for _, b, e in y)
            wrong = any((b, e) == (begin, end) and kind and k not in (None, *kind) for k, b, e in y)
            if not (crosses or wrong):
                yield part


def hypergraph(random):
    X = [np.array([0.5, 1.0]), np.array([1.0, 0.0, 2.0]), random.random(4), random.random(3)]
    reference = EnumeratedBracketings("missed")
    Y = [reference.outputs(x)[random.integers(len(reference.outputs(x)))] for x in X]

    def pairs(x, y):
        places = {part[1:]: {part} for part in y if part[0] != "node"}
        for part in y:
            if part[0] == "node":
                places[part[1], part[3]].add(part)
        return {frozenset(both): 1 for both in places.values()}

    return enumerated(
        "HypergraphModel",
        PartlyKnown(),
        reference,
        X,
        Y,
        singles=lambda x, y: dict.fromkeys(y, 1),
        pairs=pairs,
        partial=[None, [(None, 0, 2)], [(0, 1, 3)], [(0, 0, 3)]],
        agrees=lambda said, y: (
            said is None
            or all(
                any(part[1:] == (b, e) and k in (None, part[0]) for part in y if part[0] != "node") for k, b, e in said
            )
        ),
    )
