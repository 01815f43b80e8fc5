"""A grammar once more, as a plain slow class that lists all trees."""

from collections import Counter
from itertools import pairwise, product

import numpy as np

from structlearn.data.trees import brackets, leaves, nodes
from structlearn.models import Grammar
from structlearn.models.grammar.binary_trees import Rule, rules
from tests.models.enumerated import Twins

LABELS, TAGS = ("A", "B", "C"), ("x", "y")


class EnumeratedGrammar:
    """Trees are listed from the productions of the treebank itself where nothing is forgotten, from rules otherwise."""

    def __init__(self, model, spec):
        self.model = model
        self.spec = spec
        binary = np.reshape(spec.binary, (-1, 3)).tolist()
        unary = np.reshape(spec.unary, (-1, 2)).tolist()
        self.expansions = {}
        for parent, *children in binary + unary:
            self.expansions.setdefault(parent, []).append(children)

    def outputs(self, x):
        x, found = tokens_of(x), []
        for start in self.spec.starts:
            found += [trees[0] for trees in self._trees(start, 0, len(x), x, (), 0)]
        return found

    def _trees(self, symbol, begin, end, x, labels, chain):
        """All sequences of trees that a symbol can stand for on some tokens."""
        n_phrases, n_tags = len(self.spec.phrases), len(self.spec.tags)
        if n_phrases <= symbol < n_phrases + n_tags:
            if end != begin + 1 or symbol not in self._tags(x[begin]):
                return []
            return [((self.spec.tags[symbol - n_phrases], self._word(x[begin])),)]
        found = []
        label = self.spec.phrases[symbol][0] if symbol < n_phrases else None
        if label is not None and label in labels:
            return []
        for children in self.expansions.get(symbol, []):
            if len(children) == 1:
                if chain < self.spec.longest_chain:
                    found += self._trees(children[0], begin, end, x, (*labels, label), chain + 1)
                continue
            for split in range(begin + 1, end):
                left = self._trees(children[0], begin, split, x, (), 0)
                right = self._trees(children[1], split, end, x, (), 0) if left else []
                found += [a + b for a, b in product(left, right)]
        return found if label is None else [((label, *below),) for below in found]

    def _word(self, token):
        return token if isinstance(token, str) else token[0]

    def _tags(self, token):
        tag = token if isinstance(token, str) else token[1]
        kind = self.model._kind(self.spec, (tag, self._word(token)))
        return () if kind < 0 else self.spec.word_tags[kind]

    def joint_feature(self, x, y):
        spec, model = self.spec, self.model
        counts = Counter()
        tags = iter(leaves(y))
        entries = [(kind, tag) for kind, some in enumerate(spec.word_tags) for tag in some]
        for rule in rules(y, model.horizontal, model.vertical):
            if isinstance(rule, Rule):
                key = tuple(spec.symbol_codes[s] for s in (rule.parent, *rule.children) if s is not None)
                counts[spec.rule_codes[key]] += 1
            elif model.inputs == "words":
                tag, word = next(tags)
                place = entries.index((model._kind(spec, (tag, word)), spec.symbol_codes["tag", tag]))
                counts[len(spec.rule_codes) + place] += 1
        first = len(spec.rule_codes) + (len(entries) if model.inputs == "words" else 0)
        size = first
        if model.spans:
            V, L, d = len(spec.words) + 2, len(spec.labels), spec.n_token_features
            size += (4 * V + 9 + 4 * d) * L
            kinds = []
            for token in tokens_of(x):
                tag = token if isinstance(token, str) else token[1]
                kind = model._kind(spec, (tag, self._word(token)))
                kinds.append(kind if kind >= 0 else V - 2)
            around = [V - 1, *kinds, V - 1]
            for label, begin, end in nodes(y):
                length = end - begin
                bucket = length - 1 if length <= 5 else 5
                columns = [
                    kinds[begin],
                    V + kinds[end - 1],
                    2 * V + around[begin],
                    3 * V + around[end + 1],
                    4 * V + bucket,
                ]
                for column in columns:
                    counts[first + column * L + spec.labels.index(label)] += 1
                for place, t in enumerate((begin, end - 1, begin - 1, end)) if d else ():
                    for c, value in enumerate(x["features"][t] if 0 <= t < len(kinds) else ()):
                        counts[first + (4 * V + 9 + place * d + c) * L + spec.labels.index(label)] += value
        vector = np.zeros(size)
        for k, count in counts.items():
            vector[k] = count
        return vector

    def loss(self, y, y_hat):
        true, found = Counter(brackets(y)), Counter(brackets(y_hat))
        matching, total = (true & found).total(), true.total() + found.total()
        if self.model.loss == "zero_one":
            return float(y != y_hat)
        if self.model.loss == "brackets":
            return float(total - 2 * matching)
        return 1.0 - 2.0 * matching / total if total else 0.0


def tokens_of(x):
    return x["tokens"] if isinstance(x, dict) else x


def random_tree(random, tokens, above=()):
    """A tree over some leaves: phrases of one to three children, no label twice in a chain."""
    label = str(random.choice([label for label in LABELS if label not in above]))
    if len(tokens) == 1:
        if len(above) < 2 and random.random() < 0.3:
            return (label, random_tree(random, tokens, (*above, label)))
        return (label, tokens[0])
    if len(above) < 2 and random.random() < 0.2:
        return (label, random_tree(random, tokens, (*above, label)))
    n = int(random.integers(2, min(3, len(tokens)) + 1))
    cuts = [0, *sorted(random.choice(np.arange(1, len(tokens)), n - 1, replace=False).tolist()), len(tokens)]
    children = [tokens[a:b] for a, b in pairwise(cuts)]
    return (
        label,
        *(c[0] if len(c) == 1 and random.random() < 0.7 else random_tree(random, c) for c in children),
    )


def twins_of(random, *, sizes=(1, 2, 3, 4), root=False, n_token_features=0, **options):
    Y = []
    for n in sizes:
        tree = random_tree(random, [(str(random.choice(TAGS)), str(random.choice(["u", "v", "w"]))) for _ in range(n)])
        Y.append(("ROOT", tree) if root else tree)
    tags = options.get("inputs", "tags") == "tags"
    X = [[(word, tag) if tags else word for tag, word in leaves(y)] for y in Y]
    if n_token_features:
        X = [{"tokens": x, "features": random.normal(size=(len(x), n_token_features))} for x in X]
    model = Grammar(**options)
    spec = model.specify(X, Y)
    return Twins(model.bind(spec, X, Y), EnumeratedGrammar(model, spec), X, Y)
