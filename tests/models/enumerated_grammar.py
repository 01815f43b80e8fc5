"""A grammar once more, as a plain slow class that lists all trees."""

from collections import Counter
from itertools import product

import numpy as np

from structlearn.models.binary_trees import Rule, rules
from structlearn.models.trees import brackets, leaves, nodes


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
        found = []
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
            V, L = len(spec.words) + 2, len(spec.labels)
            size += (4 * V + 9) * L
            kinds = []
            for token in x:
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
