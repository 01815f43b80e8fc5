"""A grammar bound to sentences: its decoders, losses and sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.ragged import Ragged, reduced
from structlearn.data.trees import ROOTS, Tree, brackets, flat_tree
from structlearn.losses import BracketF1, MissedBrackets
from structlearn.losses.bound import BoundLoss
from structlearn.models.composed import CodedOutputs, NumberedProblem
from structlearn.models.grammar.binary_trees import symbol_name
from structlearn.models.grammar.spec import LENGTHS, UNKNOWN, GrammarSpec, Inputs
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.planes import Outputs
from structlearn.wording import shown


@dataclass(frozen=True, slots=True)
class BracketCounts:
    """A loss of brackets by how many match and how many there are.

    Attributes
    ----------
    missed : compiled loss
        Missed brackets, times their weight β², and spurious ones.
    found : compiled loss
        All brackets of an output.
    true : (n_examples,)
        All brackets of the truths.
    weight : float
        β².
    f1 : bool
        Whether the loss is 1 − F_β, and not the number of missed and spurious ones.
    """

    missed: _core.MissedBrackets
    found: _core.MissedBrackets
    true: IntArray
    weight: float
    f1: bool

    @classmethod
    def of(
        cls,
        engine: _core.GrammarEngine,
        offsets: IntArray,
        labels: Sequence[str],
        trees: list[Tree],
        loss: MissedBrackets | BracketF1,
    ) -> BracketCounts:
        place, n = {label: k for k, label in enumerate(labels)}, np.diff(offsets) + 1
        gold = [brackets(tree) for tree in trees]
        parts = [
            sorted({(begin * n[i] + end) * len(labels) + place[label] for label, begin, end in some if label in place})
            for i, some in enumerate(gold)
        ]
        cells, none = Ragged.of(parts, np.int64), np.zeros(len(trees) + 1, np.int64)
        true = np.array([len(some) for some in gold], np.int64)
        weight = float(loss.beta) ** 2
        return cls(
            missed=_core.MissedBrackets(engine, cells.flat, cells.offsets, true, weight),
            found=_core.MissedBrackets(engine, none[:0], none, none[1:], weight),
            true=true,
            weight=weight,
            f1=isinstance(loss, BracketF1),
        )


class GrammarProblem(NumberedProblem):
    """A `Grammar` bound to data. Outputs are codes, see ``core/grammar/data.hpp``; parts are phrases and rules.

    `brackets` are for losses that the engine has levels for.
    """

    # Few sentences at a time, because each has more parts than there are rules.
    _chunk: ClassVar[int] = 64
    _brackets: BracketCounts | None

    def __init__(
        self,
        *,
        rules: _core.GrammarRules,
        engine: _core.GrammarEngine,
        spec: GrammarSpec,
        sentences: list[list[tuple[str, str]]],
        offsets: IntArray,
        kinds: LabelArray,
        rows: FloatArray,
        codes: list[list[int]] | None,
        loss: BoundLoss,
        brackets: BracketCounts | None,
        inputs: Inputs,
        phrases: tuple[LabelArray, IntArray] | tuple[()] = (),
    ):
        self._spec = spec
        self._sentences = sentences
        self._offsets = offsets
        self._kinds = kinds
        self._token_features = rows
        self._brackets = brackets
        self._inputs = inputs
        self._phrases = phrases
        edges = np.where(kinds < 0, spec.n_edges - 2, kinds).astype(np.int32)
        super().__init__(
            _core.Grammar(engine, edges, rows),
            rules.n_weights,
            (np.diff(offsets) + 1) ** 2 * len(spec.labels) + rules.n_shared,
            None if codes is None else Ragged.of(codes),
            loss,
            loss,
        )

    def _oracles(self) -> frozenset[Oracle]:
        levels: set[Oracle] = set() if self._brackets is None else {"loss_levels"}
        return super()._oracles() | levels

    def loss_levels(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Outputs:
        assert self.truths is not None
        if self._brackets is None:
            return super().loss_levels(w, examples, scaling)
        slack, squared = scaling.rescaling == "slack", scaling.slack == "squared"
        truths, brackets = self.truths, self._brackets
        found = self._core.most_violating(
            w, examples, truths.flat, truths.offsets, brackets.missed, brackets.f1, slack, squared, self.n_threads
        )
        return self.pack(Ragged(*found), examples)

    def _losses(self, loss: BoundLoss, examples: IntArray, codes: Ragged) -> FloatArray:
        if self._brackets is None or not self._brackets.f1:
            return super()._losses(loss, examples, codes)
        missed = self._core.losses(examples, codes.flat, codes.offsets, self._brackets.missed)
        found = self._core.losses(examples, codes.flat, codes.offsets, self._brackets.found)
        total = self._brackets.weight * self._brackets.true[examples] + found
        return np.asarray(np.divide(missed, total, out=np.zeros(len(missed)), where=total > 0))

    def radii(self) -> FloatArray:
        # ‖Ψ(y) − Ψ(ŷ)‖ ≤ ‖Ψ(y)‖₁ + ‖Ψ(ŷ)‖₁, and no tree has more features than this.
        first = self.n_features - 4 * self._token_features.shape[1] * len(self._spec.labels)
        totals = self._most(np.arange(self.n_features) < first)
        if first < self.n_features:
            # Every phrase has one length, and the rows of at most four tokens at places of their own.
            lengths = np.arange(first - len(LENGTHS) * len(self._spec.labels), first)
            phrases = self._most(np.isin(np.arange(self.n_features), lengths))
            longest = reduced(np.maximum, np.linalg.norm(self._token_features, axis=1), self._offsets)
            totals = totals + 2.0 * phrases * longest
        return 2.0 * totals

    def feature_totals(self) -> FloatArray:
        if (self._token_features < 0).any():
            raise ValueError("features of tokens are below 0; iterative scaling needs such that are nowhere negative")
        return self._most(np.ones(self.n_features))

    def _most(self, w: Any) -> FloatArray:
        most = self.best_scored(np.asarray(w, np.float64), np.arange(self.n_examples))[1]
        return np.maximum(most, 0.0)

    def k_best(self, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        found = zip(super().k_best(w, k), self._sentences, strict=True)
        return [best or [(flat_tree(tokens), -np.inf)] for best, tokens in found]

    def check_parsed(self, w: FloatArray) -> None:
        """Refuses an only sentence that the rules derive no tree of."""
        if np.isneginf(self.best_scored(w, np.arange(1))[1][0]):
            tokens = [word if self._inputs == "words" else tag for tag, word in self._sentences[0]]
            raise ValueError(f"x cannot be parsed: the rules derive no tree of {shown(tokens)}")

    def part_names(self, i: int, parts: IntArray) -> list[str]:
        labels, n = self._spec.labels, len(self._sentences[i]) + 1
        words = self._spec.word_names() if self._inputs == "words" else []
        rules, n_local = [*self._spec.rule_names(), *words], n * n * len(labels)

        def name(part: int) -> str:
            if part >= n_local:
                return rules[part - n_local]
            cell, label = divmod(part, len(labels))
            return f"{labels[label]} {cell // n}-{cell % n}"

        return [name(part) for part in parts.tolist()]

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P[begin, end, l]: how many phrases with label l are expected on tokens begin, …, end − 1 of a sentence."""
        n, L = np.diff(self._offsets) + 1, len(self._spec.labels)
        found = zip(self._token_marginals(w, n**2, L), n.tolist(), strict=True)
        return [cells.reshape(m, m, L) for cells, m in found]

    def pair_probabilities(self, w: FloatArray) -> list[dict[tuple[tuple[str, int, int], ...], float]]:
        """How often each rule is expected in each place: the phrase (label, begin, end) above it, then its children.

        Of trees in binary form, where a node with several children is put together from parts, such as 'NP|DT JJ'.
        """
        names = [symbol_name(symbol) for symbol in self._spec.symbols]
        found = []
        for i in range(self.n_examples):
            rows, numbers = self._core.rule_marginals(w, i)
            rules = (self._anchored(names, *row) for row in rows.reshape(-1, 4).tolist())
            expected: dict[tuple[tuple[str, int, int], ...], float] = {}
            for rule, number in zip(rules, numbers.tolist(), strict=True):
                expected[rule] = expected.get(rule, 0.0) + number
            found.append(expected)
        return found

    def _anchored(
        self, names: list[str], code: int, begin: int, split: int, end: int
    ) -> tuple[tuple[str, int, int], ...]:
        parent, *children = (names[symbol] for symbol in self._spec.rule_keys[code])
        limits = [begin, end] if split < 0 else [begin, split, end]
        return ((parent, begin, end), *zip(children, limits, limits[1:], strict=False))

    def most_probable_labels(self, w: FloatArray) -> Outputs:
        """The trees with the fewest missed and spurious brackets in expectation, of those that the rules derive."""
        counts = np.array([label not in ROOTS for label in self._spec.labels])
        gains = Ragged.of([(counts * (2.0 * P - 1.0)).ravel() for P in self.label_probabilities(w)], np.float64)
        gain = _core.ListedLosses(gains.flat, gains.offsets, np.zeros(self.n_examples))
        return self.best_with(gain, np.zeros(self.n_features), np.arange(self.n_examples))[0]

    def relative_frequencies(self, sample_weight: FloatArray) -> FloatArray:
        """Weights of the PCFG: the logarithm of how often a parent of the treebank is expanded by each rule."""
        spec = self._spec
        parents = np.array([0 if len(key) == 1 else key[0] + 1 for key in spec.rule_codes], np.int64)
        if self._inputs == "words":
            parents = np.concatenate(
                [parents, np.array([tag + 1 for tags in spec.word_tags for tag in tags], np.int64)]
            )
        if self.n_features != len(parents):
            raise ValueError("relative frequencies are for rules only; leave spans=True out")
        assert self.truths is not None
        often = np.repeat(sample_weight, self.truths.lengths)
        found = np.asarray(np.bincount(self.truths.flat, often, minlength=self.n_features), np.float64)
        counts = self._with_unknown_words(found)
        totals = np.bincount(parents, counts)[parents]
        with np.errstate(divide="ignore"):
            return np.log(np.where(counts > 0, counts, 1e-10) / np.maximum(totals, 1e-10))

    def _with_unknown_words(self, counts: FloatArray) -> FloatArray:
        """Each tag's rare words together say how probable a word of a form never seen is."""
        if self._inputs == "tags":
            return counts
        first = len(self._spec.rule_codes)
        entries = [
            (word, tag) for word, tags in zip(self._spec.words, self._spec.word_tags, strict=True) for tag in tags
        ]
        rare: dict[int, float] = {}
        for k, (word, tag) in enumerate(entries):
            if word.startswith("<") and word.endswith(">"):
                rare[tag] = rare.get(tag, 0.0) + counts[first + k]
        for k, (word, tag) in enumerate(entries):
            if word == UNKNOWN:
                counts[first + k] = max(rare.get(tag, 0.0), 0.5)
        return counts

    def true_parts(self, examples: IntArray) -> FloatArray:
        size = int(self._part_places(examples)[-1])
        if size > 2**26:
            raise ValueError(
                f"the rules and phrases of {len(examples)} sentences are {size:,}, too many for a solver that keeps "
                "how many of each are expected; use solver='lbfgs'"
            )
        return super().true_parts(examples)

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        return np.where(self.reachable(), -self.log_losses(w), -np.inf)

    def present(self, outputs: Outputs) -> list[Tree]:
        return [self._tree(i, codes) for i, codes in CodedOutputs.of(outputs)]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "tokens": int(self._offsets[-1])}

    def fingerprint(self) -> str:
        assert self.truths is not None
        options = np.array([self.n_features])
        arrays = (self._offsets, self._kinds, self._token_features, self.truths.flat, self.truths.offsets, options)
        return digest(*arrays, *self._loss.identity, *self._phrases)

    def _tree(self, i: int, codes: LabelArray) -> Tree:
        """The tree of some codes, with the nodes that binarisation made taken out."""
        tokens = self._sentences[i]
        if codes[0] < 0:
            return flat_tree(tokens)
        rest = iter(codes.tolist())
        (tree,) = self._children(self._spec.rule_keys[next(rest)][0], rest, iter(tokens))
        return tree

    # A method, since a function within `_tree` that calls itself would be a cycle, which keeps the problem alive.
    def _children(self, symbol: int, rest: Iterator[int], tokens: Iterator[tuple[str, str]]) -> list[Tree]:
        """The trees that a symbol stands for, one or those of a part, by the rest of the codes and of the tokens."""
        spec = self._spec
        n_phrases, n_plain = len(spec.phrases), len(spec.phrases) + len(spec.tags)
        if n_phrases <= symbol < n_plain:
            if self._inputs == "words":
                next(rest)
            return [(spec.tags[symbol - n_phrases], next(tokens)[1])]
        children = spec.rule_keys[next(rest)][1:]
        below = [tree for child in children for tree in self._children(child, rest, tokens)]
        return below if symbol >= n_plain else [(spec.phrases[symbol][0], *below)]
