"""Parse trees: a weighted context-free grammar read off a treebank."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import is_listed
from structlearn.data.fields import LARGEST
from structlearn.data.known.phrases import KnownPhrases, is_tree
from structlearn.data.options import choice_option, flag_option, whole_option
from structlearn.data.ragged import offsets_of, ranks_of, summed
from structlearn.data.token_features import split_features
from structlearn.data.trees import Tree, Treebank, leaves, read_trees, remove_unary_cycles, unary_cycle
from structlearn.drawing import Drawing, draw_tree
from structlearn.losses import BracketF1, Loss, MissedBrackets, ZeroOneLoss, loss_option
from structlearn.losses.bound import BoundLoss, Levels
from structlearn.losses.own import bound_own, most_phrases, phrase_truth
from structlearn.metrics import Measures
from structlearn.metrics.brackets import bracket_measures
from structlearn.models.base import Ability, ByDecoder
from structlearn.models.description import WeightBlock, blocks_of, refuse_names
from structlearn.models.grammar.binary_trees import Rule, Symbol, longest_chain, rules
from structlearn.models.grammar.problem import BracketCounts, GrammarProblem
from structlearn.models.grammar.sentences import check_leaves, read_tokens
from structlearn.models.grammar.spec import UNKNOWN, GrammarSpec, Inputs, lexicon, word_form
from structlearn.models.partial import PartialModel
from structlearn.wording import having, shown

#: The code of a true tree that the rules do not derive; not that of no tree, −1, so that predictions never equal it.
UNDERIVED = -2


class Grammar(PartialModel):
    """F(x, y) = Σ_rules w_r n_r(y): the sum of the weights of the rules with which a tree y derives a sentence x.

    The rules are those of the training trees in binary form, and only trees that they derive are predicted. With
    log-probabilities as weights it is a PCFG, see `RelativeFrequencies`. (Tsochantaridis et al. 2005, section 4.5.)

    Parameters
    ----------
    inputs : {"tags", "words"}
        Whether sentences come with their parts of speech, or the tags of words are part of the tree that is sought.
    loss : {"brackets", "f1", "zero_one"} or Loss
        Δ(y, ŷ) by the labelled brackets of both trees (see `structlearn.data.brackets`): missed plus spurious ones,
        1 − F1, or 1 for any tree but the truth; or a loss of one's own, additive over phrases, see
        `structlearn.losses`.
    horizontal : int, optional
        How many children before it the choice of the next child depends on; None for all, so that a node has only
        children that some node of the treebank has.
    vertical : int
        How many labels, its own and its nearest ancestors', tell phrases apart; 2 is Johnson's (1998) parent
        annotation.
    spans : bool
        Whether phrases also have weights, by label, for the tokens at both edges, those beyond them, and the length;
        and for the features of these four tokens, where tokens have features.
    min_count : int
        With words as input, those seen less often are known by their form only, as new words are.
    max_chain : int, optional
        Most unary rules one above the other; None takes the longest chain of the treebank. No chain has a label twice.
    unary_cycles : {"refuse", "remove"}
        What becomes of training trees with a chain of only children from a label to the same again, which no grammar
        here derives: they are refused, or learnt without what stands between the two.

    Notes
    -----
    A sentence is a list of tags or words, or of (word, tag) pairs. A tree is a nested tuple (label, child, …) with
    leaves (tag, word), a text of brackets, or an nltk tree; predictions are tuples. Where x has tags only, these stand
    in place of the words. With features of tokens, for ``spans=True``, a sentence is a dict of its "tokens" and
    "features", (n_tokens, n_token_features); `KernelMap` gives these a kernel.

    A sentence that the rules do not derive gets the flat tree ("ROOT", leaf, …), which has no brackets, and the score
    −∞.

    Slack rescaling, squared slacks and 1 − F1 need the best tree for every number of matching and of all brackets. That
    is exact, but slow where sentences are long and the weights do not yet tell trees apart.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> X = [["DT", "NN", "VBZ"], ["PRP", "VBZ", "DT", "NN"]]
    >>> Y = ["(S (NP (DT the) (NN dog)) (VP (VBZ barks)))",
    ...      "(S (NP (PRP it)) (VP (VBZ has) (NP (DT a) (NN bone))))"]
    >>> svm = StructuralSVM(Grammar(), C=10).fit(X, Y)
    >>> svm.predict([["PRP", "VBZ"]])
    [('S', ('NP', ('PRP', 'PRP')), ('VP', ('VBZ', 'VBZ')))]
    """

    takes_allowed = True

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "pair_marginals", "samples", "posterior", "explain", "partial"})

    @property
    def costs(self) -> ByDecoder:
        once = "T³ R"
        return {
            "best": once,
            "loss_augmented": once,
            "second_best": once,
            "k_best": f"{once} + k T log k",
            "loss_levels": f"{once} D²",
            "sums": once,
            "pair_marginals": once,
            "samples": f"{once} + s T² R",
            "partial": "the same",
        }

    def loss_in_words(self) -> str:
        return self.loss_object().in_words()

    def __init__(
        self,
        inputs: Inputs = "tags",
        loss: Literal["brackets", "f1", "zero_one"] | Loss = "brackets",
        horizontal: int | None = None,
        vertical: int = 1,
        spans: bool = False,
        min_count: int = 2,
        max_chain: int | None = None,
        unary_cycles: Literal["refuse", "remove"] = "refuse",
    ):
        self.inputs = inputs
        self.loss = loss
        self.horizontal = horizontal
        self.vertical = vertical
        self.spans = spans
        self.min_count = min_count
        self.max_chain = max_chain
        self.unary_cycles = unary_cycles

    def read(self, X: Any, Y: Any) -> tuple[Any, Treebank]:
        trees = read_trees(Y)
        choice_option("unary_cycles", self.unary_cycles, ("refuse", "remove"))
        if self.unary_cycles == "remove":
            return X, Treebank(map(remove_unary_cycles, trees))
        for i, tree in enumerate(trees):
            if (cycle := unary_cycle(tree)) is not None:
                told = "unary_cycles='remove' (--unary-cycles remove) learns without"
                raise ValueError(f"Y[{i}] has the unary cycle {' → '.join(cycle)}; {told}")
        return X, trees

    def changed_truths(self, Y: Any) -> str:
        n = sum(unary_cycle(tree) is not None for tree in read_trees(Y)) if self.unary_cycles == "remove" else 0
        return f"{having(n, len(Y), 'tree')} unary cycles, removed in training" if n else ""

    def specify(self, X: Any, Y: Any) -> GrammarSpec:
        self.check_options()
        _, trees = self.read(X, Y)
        found = {
            rule for tree in trees for rule in rules(tree, self.horizontal, self.vertical) if isinstance(rule, Rule)
        }
        symbols = {symbol for rule in found for symbol in (rule.parent, *rule.children) if symbol is not None}
        phrases = sorted(symbol[1:] for symbol in symbols if symbol[0] == "phrase")
        tags = sorted(symbol[1] for symbol in symbols if symbol[0] == "tag")
        codes: dict[Symbol, int] = {("phrase", *names): k for k, names in enumerate(phrases)}
        codes |= {("tag", name): len(phrases) + k for k, name in enumerate(tags)}
        parts = sorted((codes[symbol[1]], *symbol[2:]) for symbol in symbols if symbol[0] == "part")
        first_part = len(codes)
        codes |= {("part", ("phrase", *phrases[k]), *names): first_part + j for j, (k, *names) in enumerate(parts)}
        coded = [tuple(codes[s] for s in (rule.parent, *rule.children) if s is not None) for rule in found]
        binary = sorted((row for row in coded if len(row) == 3), key=lambda row: (row[1], row[2], row[0]))
        unary = sorted(row for row in coded if len(row) == 2)
        words, word_tags = lexicon(trees, codes, tags, self.min_count if self.inputs == "words" else None)
        n_token_features = split_features(X)[1].shape[1]
        if n_token_features and not self.spans:
            raise ValueError("X has features of tokens, which are for spans=True")
        longest = max(map(longest_chain, trees))
        return GrammarSpec(
            labels=tuple(sorted({names[0] for names in phrases})),
            phrases=tuple(phrases),
            tags=tuple(tags),
            parts=tuple(parts),
            binary=tuple(k for row in binary for k in row),
            unary=tuple(k for row in unary for k in row),
            starts=tuple(sorted(row[0] for row in coded if len(row) == 1)),
            words=words,
            word_tags=word_tags,
            longest_chain=longest if self.max_chain is None else int(self.max_chain),
            n_token_features=n_token_features,
        )

    def bind(
        self, spec: GrammarSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> GrammarProblem:
        """See `Model.bind`; with `allow_unknown` trees that the rules do not derive count as always wrong.

        `allowed` has for each sentence None; a collection of phrases (label, begin, end) that its tree must have, with
        None for any label; or a tree, for the phrases of that. What the rules derive no tree for is refused.
        """
        X, rows = split_features(X, spec.n_token_features)
        sentences = [read_tokens(x, f"X[{i}]", self.inputs) for i, x in enumerate(X)]
        offsets = offsets_of([len(x) for x in sentences])
        trees = None
        if Y is not None:
            if len(Y) != len(sentences):
                raise ValueError(f"X has {len(sentences)} sentences but Y has {len(Y)} trees")
            trees = read_trees(Y) if allow_unknown else self.read(X, Y)[1]
            for i, (x, tree) in enumerate(zip(X, trees, strict=True)):
                check_leaves(x, tree, i, self.inputs)
        kinds = np.array([self._kind(spec, token) for x in sentences for token in x], np.int32)
        core_rules = spec.core_rules(lexical=self.inputs == "words", spans=self.spans)
        known = None if allowed is None else KnownPhrases.read(allowed, spec.labels, [len(x) for x in sentences])
        phrases = () if known is None else known.rows(spec.labels)
        engine = _core.GrammarEngine(core_rules, offsets, kinds, *phrases)
        counts, codes = None, None
        if trees is not None:
            codes = [self._derivation(spec, tree, i, allow_unknown) for i, tree in enumerate(trees)]
            loss = self.loss_object()
            if isinstance(loss, (MissedBrackets, BracketF1)):
                counts = BracketCounts.of(engine, offsets, spec.labels, trees, loss)
        problem = GrammarProblem(
            rules=core_rules,
            engine=engine,
            spec=spec,
            sentences=sentences,
            offsets=offsets,
            kinds=kinds,
            rows=rows,
            codes=codes,
            loss=self._bound_loss(spec, counts, trees),
            brackets=counts,
            inputs=self.inputs,
            phrases=phrases,
        )
        if known is not None and trees is not None and not allow_unknown:
            known.check_truths(trees)
        elif known is not None:
            some = np.flatnonzero([len(each) > 0 for each in known])
            none = np.isneginf(problem.best_scored(np.zeros(problem.n_features), some)[1])
            if none.any():
                i = int(some[np.argmax(none)])
                raise ValueError(f"allowed[{i}]: the rules derive no tree of X[{i}] with {shown(known[i])}")
        return problem

    def specify_partial(self, X: Any, Y: Any) -> GrammarSpec:
        """`specify` by those outputs that are whole trees: phrases alone teach no rules."""
        if not is_listed(Y):
            raise ValueError(f"Y is {shown(Y)}; expected a list of trees and of known phrases")
        whole = [i for i, y in enumerate(Y) if is_tree(y)]
        if not whole:
            raise ValueError("Y has no whole tree, but the rules of the grammar are those of trees; give at least one")
        return self.specify([X[i] for i in whole], [Y[i] for i in whole])

    def partial_loss(self, spec: GrammarSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """Δ(Y_i, ŷ) of what is known of each tree, in the form that `allowed` of `bind` takes.

        The number of known phrases with labels that ŷ has not, and of its phrases that cross a known one without label;
        with ``loss="zero_one"`` whether there are any.
        """
        loss = self.loss_object()
        if not isinstance(loss, ZeroOneLoss) and not (isinstance(loss, MissedBrackets) and loss.beta == 1):
            raise ValueError(f"loss={shown(self.loss)} is for whole trees; those known in part have 'brackets'")
        tokens, _ = split_features(X, spec.n_token_features)
        lengths = np.array([len(read_tokens(x, f"X[{i}]", self.inputs)) for i, x in enumerate(tokens)])
        read = KnownPhrases.read(Y, spec.labels, lengths.tolist(), name="Y", allow_unknown=allow_unknown)
        phrases, known = read.rows(spec.labels)
        offsets = offsets_of(lengths)
        engine = _core.GrammarEngine(
            spec.core_rules(lexical=self.inputs == "words", spans=self.spans),
            offsets,
            np.full(int(offsets[-1]), -1, np.int32),
            phrases,
            known,
        )
        counts = np.column_stack(
            [summed((phrases[:, 2] != -1) * 1.0, known), summed((phrases[:, 2] == -1) * 1.0, known)]
        )
        labelled, others = counts.astype(np.int64).T
        # A binary tree over n words has 2n − 1 spans.
        widths = others * (2 * lengths - 1) * (spec.longest_chain + 1) + 1
        n_levels = (labelled + 1) * widths

        def values(examples: IntArray) -> FloatArray:
            often = n_levels[examples]
            found, crossing = np.divmod(ranks_of(offsets_of(often)), np.repeat(widths[examples], often))
            return np.asarray(np.repeat(labelled[examples], often) - found + crossing, np.float64)

        levels = Levels(_core.MissedPhraseSteps(engine, widths), n_levels, values)
        if isinstance(self.loss_object(), ZeroOneLoss):
            return BoundLoss(levels=levels.zero_one(), identity=(phrases, known))
        return BoundLoss(_core.MissedPhrases(engine), levels, identity=(phrases, known))

    def loss_object(self) -> Loss:
        """The loss that the option stands for."""
        if isinstance(self.loss, Loss):
            return self.loss
        return {"brackets": MissedBrackets(), "f1": BracketF1(), "zero_one": ZeroOneLoss()}[self.loss]

    def _bound_loss(self, spec: GrammarSpec, counts: BracketCounts | None, trees: list[Tree] | None) -> BoundLoss:
        loss = self.loss_object()
        if counts is not None:
            identity = counts.true, np.array([counts.f1, counts.weight])
            return BoundLoss(None if counts.f1 else counts.missed, identity=identity)
        if trees is None or isinstance(loss, ZeroOneLoss):
            return BoundLoss()
        most = partial(most_phrases, longest_chain=spec.longest_chain)
        return bound_own(loss, [phrase_truth(tree, spec.labels) for tree in trees], most=most)

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        """Brackets as evalb counts them: precision, recall and F1, with labels and without, and how many cross.

        A tree is right if all its brackets are. See `structlearn.metrics.bracket_scores`.
        """
        return bracket_measures(Y, predicted)

    def alternative(self, problem: Any, w: FloatArray, output: Any) -> Any:
        problem.check_parsed(w)
        return super().alternative(problem, w, output)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        """See `structlearn.drawing.draw_tree`."""
        return draw_tree(y, truth, width=width)

    def named_weights(
        self, spec: GrammarSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        """The rules, the words and the features of phrases."""
        refuse_names(feature_names, self.class_name)
        described: list[tuple[Any, ...]] = [("rules", (spec.rule_names(),))]
        if self.inputs == "words":
            described.append(("words", (spec.word_names(),)))
        if self.spans:
            described.append(("phrases", (spec.span_names(), spec.labels), "others", "{1} {0}"))
        return blocks_of(w, *described)

    def n_weights(self, spec: GrammarSpec) -> int:
        if self.inputs == "words" and UNKNOWN not in spec.words:
            raise ValueError(f"words lacks {shown(UNKNOWN)}, the kind of new words")
        return spec.core_rules(lexical=self.inputs == "words", spans=self.spans).n_weights

    def spec_from_dict(self, values: dict[str, Any]) -> GrammarSpec:
        return GrammarSpec.from_dict(values)

    def _kind(self, spec: GrammarSpec, token: tuple[str, str]) -> int:
        tag, word = token
        known = spec.word_codes
        if self.inputs == "tags":
            return known.get(tag, -1)
        return known.get(word, known.get(word_form(word), known[UNKNOWN]))

    def _derivation(self, spec: GrammarSpec, tree: Tree, i: int, allow_unknown: bool) -> list[int]:
        """The codes of a tree, see ``core/grammar/data.hpp``; one that no tree has where the rules do not derive it."""
        codes: list[int] = []
        tags = iter(leaves(tree))
        first_word = len(spec.rule_codes)
        for rule in rules(tree, self.horizontal, self.vertical):
            if isinstance(rule, Rule):
                symbols = [spec.symbol_codes.get(s, -1) for s in (rule.parent, *rule.children) if s is not None]
                code = spec.rule_codes.get(tuple(symbols))
            else:
                tag = next(tags)
                if self.inputs == "tags":
                    continue
                kind, symbol = self._kind(spec, tag), spec.symbol_codes.get(("tag", tag[0]), -1)
                known = symbol in spec.word_tags[kind]
                code = first_word + spec.word_begins[kind] + spec.word_tags[kind].index(symbol) if known else None
                rule = Rule(("tag", tag[0]), (("tag", tag[1]),))
            if code is None:
                if allow_unknown:
                    return [UNDERIVED]
                raise ValueError(f"Y[{i}] cannot be derived: the grammar has no rule {rule}")
            codes.append(code)
        if unary_cycle(tree) is not None or longest_chain(tree) > spec.longest_chain:
            if allow_unknown:
                return [UNDERIVED]
            what = f"{longest_chain(tree)} unary rules in a row"
            raise ValueError(f"Y[{i}] cannot be derived: it has {what}, and max_chain is {spec.longest_chain}")
        return codes

    def check_options(self) -> None:
        choice_option("inputs", self.inputs, ("tags", "words"))
        loss_option(self.loss, ("brackets", "f1", "zero_one"))
        flag_option("spans", self.spans)
        for name, number, least in (
            ("horizontal", self.horizontal, 0),
            ("vertical", self.vertical, 1),
            ("min_count", self.min_count, 1),
            ("max_chain", self.max_chain, 0),
        ):
            if number is None and name in ("horizontal", "max_chain"):
                continue
            whole_option(name, number, least, LARGEST)
