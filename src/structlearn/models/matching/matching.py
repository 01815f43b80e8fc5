"""Matchings of two sides: which rows and columns of a table belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.fields import LARGEST, check_distinct, check_tuple, check_whole
from structlearn.data.known.pairs import check_agrees, forbidden_parts, listed_pairs, whole
from structlearn.data.matchings import (
    NEVER,
    Links,
    Pair,
    PairTables,
    SentencePair,
    checked_pairs,
    crowding,
    partner_codes,
    read_tables,
    stacked,
)
from structlearn.data.options import choice_option, flag_option, whole_option
from structlearn.data.ragged import Ragged
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.drawing import Drawing, draw_matching
from structlearn.inference.assignment import largest_matching
from structlearn.losses import AdditiveLoss, Loss, MissedPairs, ZeroOneLoss, loss_option
from structlearn.losses.bound import BoundLoss
from structlearn.losses.own import bound_own, match_truth
from structlearn.metrics import Measures
from structlearn.metrics.matchings import matching_measures
from structlearn.models.base import Ability, ByDecoder, Spec
from structlearn.models.description import INTERCEPT, WeightBlock, blocks_of, given_names
from structlearn.models.matching.problem import MatchingProblem
from structlearn.models.partial import PartialModel
from structlearn.wording import having, shown

_LOSSES: dict[str, type[Loss]] = {"hamming": MissedPairs, "zero_one": ZeroOneLoss}


@dataclass(frozen=True)
class MatchingSpec(Spec):
    """How many features pairs have, and rows and columns without partner; with their names, where they came as dicts.

    Rows and columns without partner have a constant feature beside these.
    """

    n_inputs: int
    vocabulary: tuple[str, ...] | None = None
    n_alone: tuple[int, int] = (0, 0)
    alone_vocabularies: tuple[tuple[str, ...] | None, tuple[str, ...] | None] = (None, None)

    def check(self) -> None:
        for name in ("n_alone", "alone_vocabularies"):
            check_tuple(name, getattr(self, name))
            if len(getattr(self, name)) != 2:
                raise ValueError(f"{name} is {shown(getattr(self, name))}; expected one for rows and one for columns")
        sizes, names = (self.n_inputs, *self.n_alone), (self.vocabulary, *self.alone_vocabularies)
        for size, vocabulary in zip(sizes, names, strict=True):
            check_whole("a number of features", size)
            if vocabulary is not None:
                check_tuple("vocabulary", vocabulary, str)
                check_distinct("vocabulary", vocabulary)
                if len(vocabulary) != size:
                    raise ValueError(f"a vocabulary has {len(vocabulary)} names but there are {size} features")

    def alone_names(self, side: int) -> list[str]:
        """What the features of rows, or of columns, without partner are called."""
        names = self.alone_vocabularies[side]
        return [*(_numbered(self.n_alone[side]) if names is None else names), INTERCEPT]


def _numbered(n: int) -> list[str]:
    """Names of features without any; a column is one of the two sides here."""
    return [f"feature {k}" for k in range(n)]


class Matching(PartialModel):
    """F(x, y) = Σ_(i, j)∈y ⟨w, x_ij⟩ + Σ ⟨w, x_i⟩ over rows alone + Σ ⟨w, x_j⟩ over columns alone.

    An example's input is a table of pairs: an array (n_rows, n_columns, n_features), a list of rows that are lists of
    dicts, or a `PairTable` that has features of rows and columns without partner as well. Its output is the tuple of
    pairs (row, column) that belong together, in increasing order: a form that serves where rows have one partner and
    where they have several, that does not favour one side, and that alignments have as well. The best one is an
    assignment, found exactly (Jonker and Volgenant 1987); see `structlearn.inference.best_assignment`.

    Parameters
    ----------
    loss : {"hamming", "zero_one"} or AdditiveLoss
        Δ(y, ŷ): the number of pairs that only one of them has, or whether there are any; or an additive loss over
        pairs, such as `structlearn.losses.MissedPairs`, by which a pair that is missed costs more than one made up.
        Truths of `structlearn.data.Links` have possible pairs that cost nothing.
    unmatched : bool
        Whether rows and columns may stay alone. They then have a weight for that, and weights for the features that a
        `PairTable` says they have. Otherwise as many are matched as can be: all of the smaller side.
    fertility : int
        How many partners a row may have; a column has one. More than one needs `unmatched`, and what a row has alone
        counts for every partner that it could still have.
    crowded : {"refuse", "largest"}
        What training does with truths that have more partners than there can be: it refuses them, or learns from as
        many of their pairs as a matching can have, while the others cost nothing.
    further : bool
        Whether each partner of a row after the first has a price, one weight for all. It must not fall below 0, as
        ``StructuralSVM(…, nonnegative="further")`` sees to: the decoder is exact only where no partner is worth more
        than the one before, and refuses others.

    Notes
    -----
    Rows of a fertility above 1 are there as often in the assignment. If both sides could have several partners, copies
    of both would let a pair be there twice; for columns with several partners, exchange the sides.

    There are no likelihoods: sums over all matchings are permanents.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> def table(left, right):
    ...     "Numbers of two sides, whose pairs are described by their distance."
    ...     return [[{"distance": abs(a - b)} for b in right] for a in left]
    >>> X = [table([1, 5, 9], [9, 2, 4]), table([3, 8], [7, 20, 3])]
    >>> Y = [((0, 1), (1, 2), (2, 0)), ((0, 2), (1, 0))]
    >>> svm = StructuralSVM(Matching(), C=100).fit(X, Y)
    >>> svm.predict([table([4, 6, 30], [7, 5])])
    [((0, 1), (1, 0))]

    A pair that is known stands fast:

    >>> svm.predict([table([4, 6], [7, 5])], allowed=[[(0, 0)]])
    [((0, 0), (1, 1))]
    """

    takes_allowed = True
    example = "table"
    place = "row"
    refusals: ClassVar[ByDecoder] = {
        "loss_levels": "the best matching of one number of wrong pairs is an assignment with a budget, which is not "
        "written; loss='zero_one' needs the best but the truth alone",
        "sums": "sums over all matchings are permanents, for which there is no fast algorithm",
    }

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "explain", "partial"})

    @property
    def costs(self) -> ByDecoder:
        once: ByDecoder = {"best": "N³", "loss_augmented": "N³", "second_best": "N³", "k_best": "k N³"}
        zero_one: ByDecoder = {"loss_levels": "N³"} if isinstance(self.loss_object(), ZeroOneLoss) else {}
        return {**once, **zero_one, "partial": "the same"}

    def loss_in_words(self) -> str:
        return "1 for a wrong matching" if self.loss == "zero_one" else self.loss_object().in_words()

    def __init__(
        self,
        loss: Literal["hamming", "zero_one"] | AdditiveLoss = "hamming",
        *,
        unmatched: bool = True,
        fertility: int = 1,
        further: bool = False,
        crowded: Literal["refuse", "largest"] = "refuse",
    ):
        self.loss = loss
        self.unmatched = unmatched
        self.fertility = fertility
        self.further = further
        self.crowded = crowded

    def read(self, X: Any, Y: Any) -> tuple[PairTables, Any]:
        return read_tables(X), Y

    def changed_truths(self, Y: Any) -> str:
        n = sum(crowding(list(y), int(self.fertility)) is not None for y in Y) if self.crowded == "largest" else 0
        told = f"more pairs than fertility={self.fertility} lets a matching have; learning from as many as fit"
        return f"{having(n, len(Y), 'truth')} {told} (crowded='largest', --crowded)" if n else ""

    def specify(self, X: Any, Y: Any) -> MatchingSpec:
        self.check_options()
        tables = read_tables(X)
        alone = [None, None] if not self.unmatched else tables.alone
        sizes = [0 if one is None else int(one.tokens.shape[1]) for one in alone]
        names = [None if one is None else one.names for one in alone]
        return MatchingSpec(
            int(tables.pairs.tokens.shape[1]), tables.pairs.names, (sizes[0], sizes[1]), (names[0], names[1])
        )

    def bind(
        self, spec: MatchingSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> MatchingProblem:
        """See `Model.bind`; with `allow_unknown` truths may have more partners than there can be, and are never found.

        `allowed` has for each table None or the pairs that its matching must have; (i, None) is a row that has no
        partner, (None, j) a column.
        """
        tables = read_tables(X)
        shapes, forbidden = tables.shapes, None
        pairs = None if Y is None else self._pairs(shapes, Y, allow_unknown)
        if allowed is not None:
            known = listed_pairs(shapes, allowed, int(self.fertility))
            for i, y in enumerate(() if pairs is None or allow_unknown else pairs):
                check_agrees(y, known[i], i)
            forbidden = forbidden_parts(
                shapes,
                known,
                unmatched=bool(self.unmatched),
                fertility=int(self.fertility),
                further=bool(self.further),
            )
        truths = None
        if pairs is not None:
            truths = Ragged.of([self._codes(y, n, m) for y, (n, m) in zip(pairs, shapes.tolist(), strict=True)])
        return MatchingProblem(
            shapes,
            self._features(spec, tables),
            fertility=int(self.fertility),
            further=bool(self.further),
            truths=truths,
            loss=BoundLoss() if pairs is None else self._bound_loss(shapes, pairs),
            forbidden=forbidden,
        )

    def read_partial(self, X: Any, Y: Any) -> tuple[PairTables, Any]:
        return self.read(X, Y)

    def specify_partial(self, X: Any, Y: Any) -> MatchingSpec:
        """`specify`, which learns from the tables alone."""
        return self.specify(X, Y)

    def partial_loss(self, spec: MatchingSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """Δ(Y_i, ŷ) of what is known, in the form that `allowed` of `bind` takes.

        The known pairs that ŷ has not, each β² with `MissedPairs(β)`, and partners of what is known to have none.
        """
        shapes, loss = read_tables(X).shapes, self.loss_object()
        if not isinstance(loss, MissedPairs):
            raise ValueError(f"loss={shown(self.loss)} is for whole matchings; those known in part have 'hamming'")
        known, missed = listed_pairs(shapes, Y, int(self.fertility), name="Y"), float(loss.beta) ** 2
        tables = []
        for shape, pairs in zip(shapes.tolist(), known, strict=True):
            losses = np.zeros(shape)
            for row, column in pairs:
                # Where one of them is None, all pairs of the other are wrong.
                place = slice(None) if row is None else row, slice(None) if column is None else column
                losses[place] = -missed if None not in (row, column) else 1.0
            tables.append(losses.ravel())
        values = Ragged.of(tables, np.float64)
        sums = -missed * np.array([len(whole(pairs)) for pairs in known], np.float64)
        return BoundLoss(_core.ListedLosses(values.flat, values.offsets, sums), identity=(values.flat,))

    def loss_object(self) -> Loss:
        """The loss that the option stands for."""
        return self.loss if isinstance(self.loss, Loss) else _LOSSES[self.loss]()

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        """F1, precision and recall of pairs, and the alignment error rate; see `structlearn.metrics.pair_counts`."""
        return matching_measures(Y, predicted)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        """See `structlearn.drawing.draw_matching`; rows and columns are words of two sentences, or numbers from 0."""
        sides = x if isinstance(x, SentencePair) else map(range, read_tables([x]).shapes[0].tolist())
        rows, columns = sides
        return draw_matching(rows, columns, y, truth, width=width)

    def named_weights(
        self, spec: MatchingSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        names = given_names(feature_names, spec.n_inputs) or spec.vocabulary or _numbered(spec.n_inputs)
        blocks: list[tuple[Any, ...]] = [("pairs", (names,))]
        if self.unmatched:
            blocks += [
                (f"{side}s alone", ([f"{side} alone: {name}" for name in spec.alone_names(k)],))
                for k, side in enumerate(("row", "column"))
            ]
        if self.further:
            blocks.append(("prices", (["further partner"],)))
        return blocks_of(w, *blocks)

    def n_weights(self, spec: MatchingSpec) -> int:
        return spec.n_inputs + bool(self.unmatched) * (sum(spec.n_alone) + 2) + bool(self.further)

    def spec_from_dict(self, values: dict[str, Any]) -> MatchingSpec:
        return MatchingSpec.from_dict(values)

    def check_options(self) -> None:
        loss_option(self.loss, tuple(_LOSSES))
        if not isinstance(self.loss_object(), (AdditiveLoss, ZeroOneLoss)):
            raise ValueError(f"loss is {shown(self.loss)}; a matching has additive losses and 'zero_one'")
        flag_option("unmatched", self.unmatched)
        flag_option("further", self.further)
        choice_option("crowded", self.crowded, ("refuse", "largest"))
        fertility = whole_option("fertility", self.fertility, 1, LARGEST)
        if fertility > 1 and not self.unmatched:
            raise ValueError(f"fertility={fertility} needs unmatched=True: how many partners rows have is then free")
        if self.further and fertility == 1:
            raise ValueError("further=True is a price of partners after the first: say how many, fertility=…")

    def _features(self, spec: MatchingSpec, tables: PairTables) -> list[TokenMatrix]:
        pairs = stacked(tables.pairs, spec.n_inputs, spec.vocabulary)
        found = [TokenMatrix.from_matrix(pairs, intercept=False)]
        for side, name in enumerate(("rows", "columns") if self.unmatched else ()):
            given, n_inputs = tables.alone[side], spec.n_alone[side]
            if (given is None) != (n_inputs == 0 and spec.alone_vocabularies[side] is None):
                had = "has" if given is None else "had no"
                raise ValueError(f"X[0] {'has no' if given is None else 'has'} features of {name}, but training {had}")
            empty = np.empty((int(tables.shapes[:, side].sum()), 0))
            matrix = empty if given is None else stacked(given, n_inputs, spec.alone_vocabularies[side])
            found.append(TokenMatrix.from_matrix(matrix, intercept=True))
        return found

    def _pairs(self, shapes: IntArray, Y: Any, allow_unknown: bool) -> list[Any]:
        """The pairs of every truth, in order, or as they were given where some are merely possible."""
        if len(Y) != len(shapes):
            raise ValueError(f"X has {len(shapes)} tables but Y has {len(Y)} matchings")
        found = []
        for i, (y, shape) in enumerate(zip(Y, shapes.tolist(), strict=True)):
            any_number = allow_unknown or self.crowded == "largest"
            pairs = checked_pairs(y, shape, f"Y[{i}]", f"X[{i}]", fertility=None if any_number else int(self.fertility))
            possible: Iterable[Pair] = y.possible if isinstance(y, Links) else ()
            checked_pairs(set(possible), shape, f"Y[{i}].possible", f"X[{i}]")
            if not allow_unknown:
                kept = largest_matching(pairs, (shape[0], shape[1]), int(self.fertility)) if any_number else pairs
                possible, pairs = {*possible, *pairs} if len(kept) < len(pairs) else possible, list(kept)
            if not (allow_unknown or self.unmatched) and len(pairs) < min(shape):
                raise ValueError(
                    f"Y[{i}] has {len(pairs)} of the {min(shape)} pairs that X[{i}] can have; with unmatched=True rows "
                    "and columns may stay alone"
                )
            found.append(Links(pairs, possible) if possible else tuple(pairs))
        return found

    def _codes(self, y: Sequence[Pair], n: int, m: int) -> LabelArray:
        fertility = int(self.fertility)
        if crowding(y, fertility) is not None or not (self.unmatched or len(y) == min(n, m)):
            return np.full(n * fertility, NEVER, np.int32)
        return partner_codes(y, n, fertility)

    def _bound_loss(self, shapes: IntArray, pairs: list[Any]) -> BoundLoss:
        loss = self.loss_object()
        if isinstance(loss, ZeroOneLoss):
            several = shapes.all(axis=1) & (bool(self.unmatched) | (shapes.max(axis=1, initial=0) > 1))
            return BoundLoss(max_losses=several.astype(np.float64))
        truths = [match_truth(y, *shape) for y, shape in zip(pairs, shapes.tolist(), strict=True)]
        # Decoders of levels are for structures that have them.
        return replace(bound_own(loss, truths), levels=None)
