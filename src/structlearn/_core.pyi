"""Compiled kernels over flat arrays; sizes and indices are checked by the Python callers."""

from collections.abc import Callable, Iterable
from typing import Any, overload

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]

#: Reads the token X[i][t], given with i and t, into names and numbers.
Items = Callable[[Any, int, int], Iterable[tuple[str, float]]]

def read_attributes(X: Iterable[Any], items: Items) -> tuple[list[str], Ints, Labels, Floats]: ...
def attribute_rows(indptr: Ints, numbers: Labels, values: Floats, column_of: Labels) -> tuple[Ints, Labels, Floats]: ...

class Vocabulary:
    def __init__(self, names: Iterable[str]) -> None: ...
    def __len__(self) -> int: ...
    def rows(self, X: Iterable[Any], items: Items, n: int) -> tuple[Ints, Labels, Floats]: ...

def count_nonzeros(X: Floats, intercept: bool, indptr: Ints) -> None: ...
def gather_nonzeros(X: Floats, intercept: bool, indptr: Ints, columns: Labels, values: Floats) -> None: ...
def shorten(values: Floats, out: npt.NDArray[np.float32]) -> bool: ...
def rank(tiers: Labels | None, keys: Floats, offsets: Ints, out: Labels, n_threads: int) -> None: ...
def swapped_pairs(
    orders: Labels, order_offsets: Ints, grades: Labels, offsets: Ints, above: Floats, below: Floats, n_threads: int
) -> None: ...
def least_precise(scores: Floats, relevant: Bytes, offsets: Ints, out: Labels, n_threads: int) -> None: ...
def least_gain(
    scores: Floats,
    grades: Labels,
    gains: Floats,
    weights: Floats,
    pairs: Floats,
    k: int,
    offsets: Ints,
    out: Labels,
    n_threads: int,
) -> None: ...
def least_f1(scores: Floats, positive: Bytes, offsets: Ints, out: Bytes, n_threads: int) -> None: ...
def rows_dot(indptr: Ints, indices: Ints, values: Floats, w: Floats, out: Floats) -> None: ...
def rows_add_to(indptr: Ints, indices: Ints, values: Floats, coefficients: Floats, w: Floats) -> None: ...

class WorkingSets:
    """What SparseSets, PartSets and MulticlassSets have in common; no class of its own at run time."""

    def __deepcopy__(self, memo: dict[int, Any]) -> WorkingSets: ...
    def set_limits(self, u: Floats, r: Floats) -> None: ...
    def set_nonnegative(self, which: Ints) -> None: ...
    def clip(self, w: Floats) -> None: ...
    def sizes(self) -> Ints: ...
    def violations(self, w: Floats) -> tuple[Floats, Ints, Floats]: ...
    def largest_violation(self, block: int, w: Floats) -> float: ...
    def cut(self, which: Ints, weights: Floats, gradient: Floats, coefficients: Floats) -> float: ...
    def idle(self, block: int) -> Floats: ...
    def linear_part(self) -> float: ...
    def weights(self, w: Floats) -> None: ...
    def improve(self, which: Ints, w: Floats, gaps: Floats) -> bool: ...
    def solve(
        self, w: Floats, relative: float, max_visits: int, seed: int, cuts_from: int = 4
    ) -> tuple[float, bool, int]: ...
    def solve_alone(self, block: int, relative: float, max_rounds: int) -> float: ...
    def grow(self, n_weights: int) -> None: ...
    def count_idle(self) -> None: ...
    def mark_used(self, which: Ints) -> None: ...
    def drop_idle(self, limit: int) -> int: ...
    def limit_memory(self, most: int, w: Floats) -> bool: ...
    def alpha(self, block: int) -> Floats: ...
    def offsets(self, block: int) -> Floats: ...
    def gram(self, block: int) -> Floats: ...
    def set_alpha(self, block: int, alpha: Floats) -> None: ...
    def radius(self) -> float: ...
    def nbytes(self) -> int: ...
    def save(self) -> dict[str, npt.NDArray[Any]]: ...
    def restore(self, saved: dict[str, npt.NDArray[Any]]) -> None: ...

class SparseSets(WorkingSets):
    def __init__(self, n_blocks: int, n_weights: int) -> None: ...
    def add(
        self, examples: Ints, indptr: Ints, indices: Ints, values: Floats, which: Ints, a: Floats, b: Floats
    ) -> int: ...
    def rebase(self, indptr: Ints, indices: Ints, values: Floats) -> None: ...

class PartSets(WorkingSets):
    def __init__(self, scores: TokenScorer, n_examples: int) -> None: ...
    def add(self, examples: Ints, moves: Labels, offsets: Ints, which: Ints, a: Floats, b: Floats) -> int: ...

class MulticlassSets(WorkingSets):
    def __init__(self, scores: TokenScorer, labels: Labels, n_examples: int) -> None: ...
    def add(self, examples: Ints, others: Labels, which: Ints, a: Floats, b: Floats) -> int: ...

class Tokens:
    def __init__(self, indptr: Ints, columns: Labels, values: npt.NDArray[Any], n_columns: int) -> None: ...

class PairLayout:
    @overload
    def __init__(self, first: int, n_rows: int) -> None: ...
    @overload
    def __init__(self, first: int, indptr: Ints, parts: Labels) -> None: ...
    @property
    def n_weights(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def fill_rows(self, rows: Ints, width: int) -> None: ...
    def reserve_rows(self, rows: Ints, capacities: Ints) -> None: ...
    def pairs(self) -> tuple[Ints, Labels, Ints]: ...
    def save(self) -> tuple[Ints, Labels, int]: ...
    def restore(self, slices: Ints, parts: Labels, reserved: int, width: int) -> bool: ...

class TokenScorer:
    def __init__(
        self,
        offsets: Ints,
        tokens: list[Tokens],
        blocks: Ints,
        tied_at: Ints,
        tied_sizes: Ints,
        tied_factors: Floats,
        kept: Bytes | None,
        output_features: Floats | None,
        n_weights: int,
        layout: PairLayout | None,
    ) -> None: ...
    def touch(self, examples: Ints, moves: Labels, offsets: Ints) -> None: ...

class GivenScores:
    def __init__(self, n_shared: int, offsets: Ints) -> None: ...

class PartLoss: ...

class LabelCosts(PartLoss):
    def __init__(self, labels: Labels, offsets: Ints, cost: Floats) -> None: ...

class ListedLosses(PartLoss):
    def __init__(self, values: Floats, offsets: Ints, truths: Floats) -> None: ...

class TrueSegments:
    def __init__(self, codes: Labels, offsets: Ints, longest: int, counted: Bytes, ends: Bytes) -> None: ...

class MissedSegments(PartLoss):
    def __init__(self, truth: TrueSegments, missed: float) -> None: ...

class MissedKnownSegments(PartLoss):
    def __init__(self, size: Labels, labels: Bytes, offsets: Ints, longest: int) -> None: ...

class ListedSpans(PartLoss):
    def __init__(self, values: Floats, offsets: Ints, truths: Floats) -> None: ...

class PartSteps: ...

class LabelSteps(PartSteps):
    def __init__(self, labels: Labels, offsets: Ints, cost: Labels) -> None: ...

class ListedSteps(PartSteps):
    def __init__(self, steps: Labels, offsets: Ints, levels: Ints, of_spans: bool = False) -> None: ...

class MissedSegmentSteps(PartSteps):
    def __init__(self, truth: TrueSegments, missed: int, made_up: int) -> None: ...

class FoundSegments(PartSteps):
    def __init__(self, truth: TrueSegments) -> None: ...

class MissedKnownSegmentSteps(PartSteps):
    def __init__(self, size: Labels, labels: Bytes, offsets: Ints, longest: int) -> None: ...

#: Codes of outputs one after another, and where each begins.
Codes = tuple[Labels, Ints]

class Engine:
    """What all structures can do on scores of parts; no class of its own at run time."""

    def best(self, w: Floats, examples: Ints, n_threads: int) -> tuple[Codes, Floats]: ...
    def k_best(self, w: Floats, examples: Ints, k: int, n_threads: int) -> tuple[Codes, Ints, Floats]: ...
    def best_per_level(self, w: Floats, example: int, steps: PartSteps) -> tuple[Ints, Floats, Codes]: ...
    def part_sums(self, theta: Floats, examples: Ints, log_z: Floats, marginals: Floats, n_threads: int) -> None: ...
    def samples(self, w: Floats, examples: Ints, copies: int, seeds: Ints, n_threads: int) -> Codes: ...

class Ascent:
    """Steps on the dual; no class of its own at run time."""

    def mix(
        self,
        order: Ints,
        part_offsets: Ints,
        limits: Floats,
        marginals: Floats,
        entropies: Floats,
        gaps: Floats,
        w: Floats,
    ) -> None: ...
    def exponentiate(
        self,
        order: Ints,
        part_offsets: Ints,
        limits: Floats,
        kappa: float,
        losses: Floats | None,
        theta: Floats,
        marginals: Floats,
        entropies: Floats,
        steps: Floats,
        w: Floats,
    ) -> None: ...

class Composed(Engine, Ascent):
    """A structure with the scores of a model; no class of its own at run time."""

    def loss_augmented(
        self, w: Floats, examples: Ints, truths: Labels, truth_offsets: Ints, loss: PartLoss, n_threads: int
    ) -> tuple[Codes, Floats, Floats]: ...
    def second_best(
        self, w: Floats, examples: Ints, truths: Labels, truth_offsets: Ints, n_threads: int
    ) -> tuple[Ints, Codes]: ...
    def most_violating_level(
        self,
        w: Floats,
        examples: Ints,
        truths: Labels,
        truth_offsets: Ints,
        steps: PartSteps,
        a: Floats,
        b: Floats,
        n_threads: int,
    ) -> Codes: ...
    def losses(self, examples: Ints, outputs: Labels, offsets: Ints, loss: PartLoss) -> Floats: ...
    def levels_of(self, examples: Ints, outputs: Labels, offsets: Ints, steps: PartSteps) -> Ints: ...
    def moves(
        self, examples: Ints, truths: Labels, truth_offsets: Ints, others: Labels, offsets: Ints
    ) -> tuple[Labels, Ints]: ...
    def differences(
        self, examples: Ints, truths: Labels, truth_offsets: Ints, others: Labels, offsets: Ints
    ) -> tuple[Ints, Ints, Floats]: ...
    def difference_dots(
        self,
        examples: Ints,
        truths: Labels,
        truth_offsets: Ints,
        others: Labels,
        offsets: Ints,
        w: Floats,
        n_threads: int,
    ) -> Floats: ...
    def add_differences(
        self,
        examples: Ints,
        truths: Labels,
        truth_offsets: Ints,
        others: Labels,
        offsets: Ints,
        coefficients: Floats,
        w: Floats,
    ) -> None: ...
    def part_scores(self, w: Floats, examples: Ints, theta: Floats, n_threads: int) -> None: ...
    def local_marginals(self, w: Floats, examples: Ints, n_threads: int) -> tuple[Floats, Ints]: ...
    def pair_marginals(self, w: Floats, examples: Ints, n_threads: int) -> tuple[Floats, Ints]: ...
    def push(self, marginals: Floats, examples: Ints, coefficients: Floats, w: Floats) -> None: ...
    def indicators(self, outputs: Labels, offsets: Ints, examples: Ints, marginals: Floats) -> None: ...
    def log_losses(
        self,
        w: Floats,
        examples: Ints,
        truths: Labels,
        truth_offsets: Ints,
        losses: Floats,
        weight: Floats | None,
        gradient: Floats | None,
        n_threads: int,
    ) -> None: ...
    def set_log_losses(
        self,
        possible: Composed,
        w: Floats,
        examples: Ints,
        losses: Floats,
        weight: Floats | None,
        gradient: Floats | None,
        n_threads: int,
    ) -> None: ...

class Multiclass(Composed):
    def __init__(self, n_classes: int, scores: TokenScorer, allowed: Bytes | None = None) -> None: ...

class ChainEngine:
    def __init__(
        self,
        offsets: Ints,
        n_labels: int,
        boundaries: bool,
        pairs: bool,
        allowed_labels: Bytes | None = None,
        allowed_transitions: Bytes | None = None,
    ) -> None: ...

class Chain(Composed):
    def __init__(self, engine: ChainEngine, scores: TokenScorer) -> None: ...

class GivenChain(Engine):
    def __init__(self, engine: ChainEngine, scores: GivenScores) -> None: ...

class SecondOrderChain(Composed):
    def __init__(self, engine: ChainEngine, scores: TokenScorer) -> None: ...

class GivenSecondOrderChain(Engine):
    def __init__(self, engine: ChainEngine, scores: GivenScores) -> None: ...

class SegmentEngine:
    def __init__(
        self,
        offsets: Ints,
        n_labels: int,
        max_length: int,
        lengths: bool,
        ends: bool,
        runs: Labels | None = None,
    ) -> None: ...

class Segments(Composed):
    def __init__(self, engine: SegmentEngine, scores: TokenScorer) -> None: ...

class GivenSegments(Engine):
    def __init__(self, engine: SegmentEngine, scores: GivenScores) -> None: ...

class DerivationEngine:
    def __init__(
        self,
        items: Ints,
        edges: Ints,
        tails: Labels,
        edge_parts: Ints,
        parts: Labels,
        n_parts: Ints,
        allowed: Bytes | None = None,
    ) -> None: ...

class Derivations(Composed):
    def __init__(self, engine: DerivationEngine, scores: TokenScorer) -> None: ...

class GivenDerivations(Engine):
    def __init__(self, engine: DerivationEngine, scores: GivenScores) -> None: ...

class GrammarRules:
    def __init__(
        self,
        n_symbols: int,
        n_plain: int,
        label: Labels,
        counts: Bytes,
        binary: Labels,
        unary: Labels,
        starts: Labels,
        word_begin: Labels,
        word_tag: Labels,
        lexical: bool,
        n_edges: int,
        n_buckets: int,
        longest_chain: int,
    ) -> None: ...
    @property
    def n_weights(self) -> int: ...
    @property
    def n_shared(self) -> int: ...
    @property
    def n_chains(self) -> int: ...

class GrammarEngine:
    @overload
    def __init__(self, rules: GrammarRules, offsets: Ints, words: Labels) -> None: ...
    @overload
    def __init__(self, rules: GrammarRules, offsets: Ints, words: Labels, phrases: Labels, known: Ints) -> None: ...

class MissedPhrases(PartLoss):
    def __init__(self, engine: GrammarEngine) -> None: ...

class MissedPhraseSteps(PartSteps):
    def __init__(self, engine: GrammarEngine, widths: Ints) -> None: ...

class MissedBrackets(PartLoss):
    def __init__(self, engine: GrammarEngine, gold: Ints, offsets: Ints, counts: Ints, missed: float) -> None: ...

class Grammar(Composed):
    def __init__(self, engine: GrammarEngine, edges: Labels) -> None: ...
    def rule_marginals(self, w: Floats, i: int) -> tuple[Ints, Floats]: ...
    def most_violating(
        self,
        w: Floats,
        examples: Ints,
        truths: Labels,
        truth_offsets: Ints,
        brackets: MissedBrackets,
        f1: bool,
        slack: bool,
        squared: bool,
        n_threads: int,
    ) -> Codes: ...

class GivenGrammar(Engine):
    def __init__(self, engine: GrammarEngine, scores: GivenScores) -> None: ...

class AlignmentEngine:
    def __init__(self, s: Ints, t: Ints, ends: int, known: Labels | None = None) -> None: ...

class AlignmentSide:
    def __init__(self, offsets: Ints, codes: Labels, gaps: Labels, borders: Labels, dense: Floats) -> None: ...

class AlignmentScorer:
    def __init__(
        self,
        s: AlignmentSide,
        t: AlignmentSide,
        matches: Ints,
        gaps: Ints,
        dense_at: int,
        scale: Floats,
        engine: AlignmentEngine,
        n_weights: int,
    ) -> None: ...
    def joint_features(self, examples: Ints, codes: Labels) -> tuple[Ints, Ints, Floats]: ...

class Alignment(Composed):
    def __init__(self, engine: AlignmentEngine, scores: AlignmentScorer) -> None: ...

class GivenAlignment(Engine):
    def __init__(self, engine: AlignmentEngine, scores: GivenScores) -> None: ...

class FoundMatches(PartSteps):
    def __init__(self, truths: Labels, s: Ints, t: Ints, shift: int, along_s: bool) -> None: ...

class MissedMatches(PartLoss):
    def __init__(self, found: FoundMatches) -> None: ...

class PairKinds:
    def __init__(
        self, kind_offsets: Ints, pair_offsets: Ints, first: Labels, second: Labels, item_offsets: Ints
    ) -> None: ...
    def forests(
        self,
        scores: Floats,
        examples: Ints,
        labels: Labels | None,
        inside: float,
        across: float,
        floor: float,
        n_threads: int,
    ) -> tuple[Ints, Ints]: ...
    def forests_in_order(self, order: Ints, labels: Labels) -> tuple[Ints, Ints]: ...
    def agglomerate(
        self,
        scores: Floats,
        examples: Ints,
        labels: Labels | None,
        inside: Floats,
        across: Floats,
        out: Labels,
        n_threads: int,
    ) -> None: ...

class PairScorer:
    def __init__(self, pairs: PairKinds, features: Tokens) -> None: ...
    def scores(self, w: Floats, examples: Ints, n_threads: int) -> Floats: ...
    def forest_differences(
        self, left: Ints, left_offsets: Ints, right: Ints, right_offsets: Ints
    ) -> tuple[Ints, Ints, Floats]: ...
    def cluster_differences(
        self, examples: Ints, left: Labels, right: Labels
    ) -> tuple[tuple[Ints, Ints, Floats], Ints]: ...

class Motif:
    def __init__(
        self,
        offsets: Ints,
        words: npt.NDArray[np.int16],
        contexts: npt.NDArray[np.int16],
        widths: Ints,
        both_strands: bool,
    ) -> None: ...
    def best(self, w: Floats, examples: Ints, out: Labels, scores: Floats, n_threads: int) -> None: ...
    def between(self, examples: Ints, left: Labels, right: Labels) -> tuple[Ints, Ints, Floats]: ...

class FactorGraph:
    def __init__(
        self,
        constants: Floats,
        variable_offsets: Ints,
        n_labels: Labels,
        unary_offsets: Ints,
        unaries: Floats,
        scope_offsets: Ints,
        scopes: Labels,
        kinds: Bytes,
        value_offsets: Ints,
        values: Floats,
    ) -> None: ...
    def scores(self, labels: Labels, out: Floats) -> None: ...
    def supported(self, allowed: Bytes) -> None: ...
    def reduced(
        self, label_offsets: Ints, labels: Labels
    ) -> tuple[Floats, Ints, Labels, Floats, Ints, Labels, Bytes, Ints, Floats]: ...

class JunctionTree:
    finished: bool
    width: int
    log_entries: float
    log_largest: float
    def __init__(self, graph: FactorGraph, most: float) -> None: ...
    def collect_max(self, values: Floats) -> None: ...
    def collect_sums(self, values: Floats) -> None: ...
    def best(self, labels: Labels) -> None: ...
    def k_best(self, k: int) -> tuple[Labels, Floats]: ...
    def samples(self, seeds: Ints, labels: Labels) -> None: ...
    def marginals(self, nodes: Floats, factor_offsets: Ints, factors: Floats) -> None: ...
