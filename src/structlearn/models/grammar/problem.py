"""A grammar bound to sentences: its decoders, losses and sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.ragged import Ragged, offsets_of
from structlearn.data.trees import Bracket, Tree, flat_tree
from structlearn.models.grammar.spec import UNKNOWN, GrammarSpec, Inputs
from structlearn.waist.compiled_parts import CompiledParts
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows
from structlearn.waist.zero_one import best_beside, truth_or_best_wrong


class CodedTrees(Sequence[tuple[int, LabelArray]]):
    """Trees of several sentences: the number of each, and codes, none for no tree; see ``core/grammar/data.hpp``."""

    def __init__(self, examples: IntArray, codes: Ragged):
        self.examples = examples
        self.codes = codes

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[j] for j in range(len(self))[k]]
        return int(self.examples[k]), self.codes[k]

    @classmethod
    def of(cls, outputs: Outputs) -> CodedTrees:
        if isinstance(outputs, CodedTrees):
            return outputs
        examples = np.array([example for example, _ in outputs], np.int64)
        return cls(examples, Ragged.of(codes for _, codes in outputs))


class GrammarProblem(CompiledParts):
    """A `Grammar` bound to data. Outputs are codes of rules, see `CodedTrees`; parts are the features themselves."""

    oracles: frozenset[Oracle] = frozenset({"best", "loss_augmented", "second_best", "loss_levels", "sums"})

    _codes: LabelArray

    def __init__(
        self,
        *,
        rules: _core.GrammarRules,
        spec: GrammarSpec,
        sentences: list[list[tuple[str, str]]],
        offsets: IntArray,
        kinds: LabelArray,
        codes: list[list[int]] | None,
        brackets: list[list[Bracket]] | None,
        loss: str,
        inputs: Inputs,
    ):
        self.n_examples = len(sentences)
        self.n_features = rules.n_weights
        self.part_offsets = np.arange(self.n_examples + 1, dtype=np.int64) * self.n_features
        self._spec = spec
        self._sentences = sentences
        self._offsets = offsets
        self._kinds = kinds
        self._loss = loss
        self._inputs = inputs
        truths = [[]] * self.n_examples if codes is None else codes
        gold = [[]] * self.n_examples if brackets is None else brackets
        labels = {label: k for k, label in enumerate(spec.labels)}
        flat = [(labels.get(label, -1), begin, end) for some in gold for label, begin, end in some]
        self._judged = brackets is not None
        self._n_gold = np.array([len(some) for some in gold], np.int64)
        self._truths = Ragged.of(truths)
        self._codes = self._truths.flat
        self._core = _core.Grammar(
            rules,
            offsets,
            kinds,
            np.where(kinds < 0, spec.n_edges - 2, kinds).astype(np.int32),
            self._truths.offsets,
            offsets_of(self._n_gold),
            np.array(flat, np.int32).reshape(-1),
        )

    def best(self, w: FloatArray, examples: IntArray) -> CodedTrees:
        return self._trees(examples, self._core.best(w, examples, False, self.n_threads))

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> CodedTrees:
        if self._loss == "brackets":
            return self._trees(examples, self._core.best(w, examples, True, self.n_threads))
        return self.loss_levels(w, examples, Scaling("margin", "linear"))

    def second_best(self, w: FloatArray, examples: IntArray) -> tuple[IntArray, CodedTrees]:
        two_best = zip(self.true_outputs(examples), self._k_best(w, examples, 2), strict=True)
        found = [(i, best_beside(truth, best)) for (i, truth), best in two_best]
        wrong = CodedTrees.of([(i, codes) for i, codes in found if codes is not None])
        return wrong.examples, wrong

    def true_outputs(self, examples: IntArray) -> CodedTrees:
        return CodedTrees.of([(i, self._truths[i]) for i in examples.tolist()])

    def loss_levels(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> CodedTrees:
        if self._loss == "zero_one":
            return CodedTrees.of(truth_or_best_wrong(self, w, examples, scaling))
        f1, slack, squared = self._loss == "f1", scaling.rescaling == "slack", scaling.slack == "squared"
        found = self._core.most_violating(w, examples, self._codes, f1, slack, squared, self.n_threads)
        return self._trees(examples, found)

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[SparseRows, FloatArray]:
        trees = CodedTrees.of(outputs)
        rows = SparseRows(*self._core.differences(examples, self._codes, trees.codes.flat, trees.codes.offsets))
        return rows, self._losses(examples, trees)

    def losses(self, outputs: Outputs) -> FloatArray:
        return self._losses(np.arange(self.n_examples), CodedTrees.of(outputs))

    def _losses(self, examples: IntArray, trees: CodedTrees) -> FloatArray:
        assert self._judged
        if self._loss == "zero_one":
            truths = [self._truths[i] for i in examples.tolist()]
            same = [len(codes) and np.array_equal(codes, y) for (_, codes), y in zip(trees, truths, strict=True)]
            return 1.0 - np.array(same, np.float64)
        matching, found = self.matches(examples, trees)
        total = self._n_gold[examples] + found
        if self._loss == "brackets":
            return np.asarray(total - 2.0 * matching)
        return np.where(total > 0, 1.0 - 2.0 * matching / np.maximum(total, 1), 0.0)

    def matches(self, examples: IntArray, outputs: Outputs) -> tuple[IntArray, IntArray]:
        """How many brackets of each tree are true, and how many it has."""
        trees = CodedTrees.of(outputs)
        matching, found = np.empty(len(trees), np.int64), np.empty(len(trees), np.int64)
        self._core.matches(examples, trees.codes.flat, trees.codes.offsets, matching, found)
        return matching, found

    def tree_scores(self, w: FloatArray, outputs: Outputs) -> FloatArray:
        """⟨w, Ψ(x, y)⟩ of every tree."""
        trees = CodedTrees.of(outputs)
        scores = np.empty(len(trees))
        self._core.tree_scores(w, trees.examples, trees.codes.flat, trees.codes.offsets, scores)
        return scores

    def max_losses(self) -> FloatArray:
        """Exact for "brackets"; 1 for the other losses, so that `score` is the mean F1, or the share of right trees."""
        if self._loss != "brackets":
            return np.ones(self.n_examples)
        everything = np.arange(self.n_examples)
        found = self._core.best(np.zeros(self.n_features), everything, True, self.n_threads)
        return self.losses(self._trees(everything, found))

    def radii(self) -> FloatArray:
        # ‖Ψ(y) − Ψ(ŷ)‖ ≤ ‖Ψ(y)‖₁ + ‖Ψ(ŷ)‖₁, and no tree has more features than this.
        return 2.0 * self.feature_totals()

    def feature_totals(self) -> FloatArray:
        everything = np.arange(self.n_examples)
        ones = np.ones(self.n_features)
        largest = self._trees(everything, self._core.best(ones, everything, False, self.n_threads))
        return self.tree_scores(ones, largest)

    def k_best(self, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        everything = np.arange(self.n_examples)
        found: list[list[tuple[Any, float]]] = []
        for i, trees in enumerate(self._k_best(w, everything, k)):
            shown = [(self._tree(i, codes), score) for codes, score in trees]
            found.append(shown or [(flat_tree(self._sentences[i]), -np.inf)])
        return found

    def part_losses(self, examples: IntArray) -> FloatArray | None:
        return None

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P[begin, end, l]: how many phrases with label l are expected on tokens begin, …, end − 1 of a sentence."""
        lengths, L = np.diff(self._offsets) + 1, len(self._spec.labels)
        out = np.empty(int((lengths**2).sum()) * L)
        self._core.phrase_probabilities(w, np.arange(self.n_examples), out, self.n_threads)
        cells = Ragged(out, offsets_of(lengths**2 * L))
        return [each.reshape(n, n, L) for each, n in zip(cells, lengths.tolist(), strict=True)]

    def most_probable_labels(self, w: FloatArray) -> CodedTrees:
        """The trees with the fewest missed and spurious brackets in expectation, of those that the rules derive."""
        everything = np.arange(self.n_examples)
        return self._trees(everything, self._core.least_risk(w, everything, self.n_threads))

    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> list[list[Any]]:
        everything = np.arange(self.n_examples)
        seeds = random.integers(2**63 - 1, size=self.n_examples * n_samples)
        found = self._core.samples(w, everything, n_samples, seeds, self.n_threads)
        drawn = self.present(self._trees(np.repeat(everything, n_samples), found))
        return [drawn[begin : begin + n_samples] for begin in range(0, len(drawn), n_samples)]

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
        often = np.repeat(sample_weight, self._truths.lengths)
        found = np.asarray(np.bincount(self._codes, often, minlength=self.n_features), np.float64)
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
        size = len(examples) * self.n_features
        if size > 2**26:
            raise ValueError(
                f"{len(examples)} sentences times {self.n_features} weights are too many for a solver that keeps "
                "expected rule counts of every sentence; use solver='lbfgs'"
            )
        return super().true_parts(examples)

    def log_partitions(self, w: FloatArray) -> FloatArray:
        # In small groups, because each sentence has as many parts as there are weights.
        found = [self.expectations(self.scores(w, np.array([i])), np.array([i]))[0] for i in range(self.n_examples)]
        return np.concatenate(found)

    def output_entropies(self, w: FloatArray) -> FloatArray:
        found = []
        for i in range(self.n_examples):
            example = np.array([i])
            log_z, expected = self.expectations(self.scores(w, example), example)
            found.append(float(log_z[0] - w @ expected))
        return np.array(found)

    def present(self, outputs: Outputs) -> list[Tree]:
        return [self._tree(i, codes) for i, codes in CodedTrees.of(outputs)]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "tokens": int(self._offsets[-1])}

    def fingerprint(self) -> str:
        options = np.array([self.n_features, ["brackets", "f1", "zero_one"].index(self._loss)])
        return digest(self._offsets, self._kinds, self._codes, self._truths.offsets, options)

    def reachable(self) -> npt.NDArray[np.bool_]:
        """Whether the rules derive each true tree."""
        return self._truths.lengths > 0

    def _all_of_example(self, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        return self.reachable()

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        return -self.log_losses(w)

    def _k_best(self, w: FloatArray, examples: IntArray, k: int) -> Iterator[list[tuple[LabelArray, float]]]:
        found, counts, scores = self._core.k_best(w, examples, k, self.n_threads)
        trees = Ragged(*found)
        for begin, end in pairwise(offsets_of(counts).tolist()):
            yield [(trees[t], float(scores[t])) for t in range(begin, end)]

    def _trees(self, examples: IntArray, found: tuple[LabelArray, IntArray]) -> CodedTrees:
        return CodedTrees(examples, Ragged(*found))

    def _tree(self, i: int, codes: LabelArray) -> Tree:
        """The tree of some codes, with the nodes that binarisation made taken out."""
        tokens = self._sentences[i]
        if not len(codes):
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
