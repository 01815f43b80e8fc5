"""Structures of one's own whose outputs a hypergraph derives: the compiled engine does the rest."""

from __future__ import annotations

import copy
import re
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.examples import is_listed
from structlearn.data.hypergraphs import Hypergraph, Step
from structlearn.data.memory import available_memory
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.data.tokens.sequences import Sequences, read_sequences
from structlearn.losses import Loss, MissedParts
from structlearn.losses.bound import BoundLoss
from structlearn.models.base import Ability, ByDecoder, Spec, TokenColumns
from structlearn.models.description import WeightBlock, blocks_of, column_names
from structlearn.models.own.hypergraph_check import hypergraph_findings
from structlearn.models.own.hypergraph_problem import HypergraphProblem
from structlearn.models.own.noted import noted
from structlearn.models.partial import PartialModel, PartialProblem
from structlearn.wording import shown


@dataclass(frozen=True)
class HypergraphSpec(TokenColumns, Spec):
    """The names of the features of parts, or how many there are."""

    n_inputs: int
    vocabulary: tuple[str, ...] | None = None

    def check(self) -> None:
        self.check_columns()


@dataclass(frozen=True, slots=True)
class DerivedInputs:
    """Inputs with their hypergraphs, and the features of the parts of each, in the order of their numbers."""

    X: Sequence[Any]
    graphs: list[Hypergraph]
    features: Sequences | list[list[Any]]  # the latter where there are no parts at all

    def __len__(self) -> int:
        return len(self.X)


class HypergraphModel(PartialModel):
    """F(x, y) = Σ ⟨w, φ(x, p)⟩ over the parts p of y, where the outputs of x are what a hypergraph derives.

    A class of one's own says four things. Best, second and k best outputs, the most violating ones of all formulations,
    probabilities and samples follow, for `StructuralSVM` and for `ConditionalRandomField`. Time and memory are those of
    the steps: each is looked at once for the best output and for sums.

    A fifth method, ``possible(x, y)``, gives the parts that outputs in agreement with a partial output y may have. All
    of the above can then be restricted to these (`allowed`), and what is not known of a truth is latent:
    `LatentStructuralSVM` and `LatentConditionalRandomField` take partial outputs.

    Hypergraphs that take more than `max_memory` of the estimator, or than the machine has, are refused while they are
    listed.

    Examples
    --------
    Splitting a word into pieces, each of which scores by itself:

    >>> import numpy as np
    >>> from structlearn import StructuralSVM
    >>> class Pieces(HypergraphModel):
    ...     def steps(self, x):
    ...         for end in range(1, len(x) + 1):
    ...             for begin in range(end):
    ...                 yield end, [begin] if begin else [], [(begin, end)]
    ...
    ...     def features(self, x, part):
    ...         return {x[slice(*part)]: 1.0}
    ...
    ...     def parts(self, x, y):
    ...         ends = np.cumsum([len(piece) for piece in y]).tolist()
    ...         return zip([0, *ends], ends)
    ...
    ...     def output(self, x, parts):
    ...         return [x[slice(*part)] for part in parts]
    >>> X, Y = ["undo", "redo", "unlock"], [["un", "do"], ["re", "do"], ["un", "lock"]]
    >>> StructuralSVM(Pieces(), C=10).fit(X, Y).predict(["relock"])
    [['re', 'lock']]
    """

    refusals: ClassVar[ByDecoder] = {
        "partial": "write a method possible(x, y), the parts that outputs in agreement with a partial output y may have"
    }

    #: What `within` was told.
    _max_memory: int | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.takes_allowed = hasattr(cls, "possible")

    @abstractmethod
    def steps(self, x: Any) -> Iterable[Step]:
        """The steps (head, tails, parts) by which outputs of x are derived, see `structlearn.data.Hypergraph.of`.

        Every derivation has each part at most once, and no two derivations have the same parts.
        """

    @abstractmethod
    def features(self, x: Any, part: Hashable) -> Mapping[str, float] | Sequence[float]:
        """φ(x, p): features by name, or always as many numbers."""

    @abstractmethod
    def parts(self, x: Any, y: Any) -> Iterable[Hashable]:
        """The parts of an output, in any order."""

    @abstractmethod
    def output(self, x: Any, parts: list[Any]) -> Any:
        """The output that has these parts, which come in the order in which they first occur in the steps."""

    def loss_object(self) -> Loss:
        """Δ over the parts, the attribute `loss` if there is one; the truths that it is given are sets of parts."""
        loss: Loss | None = getattr(self, "loss", None)
        return MissedParts() if loss is None else loss

    def check_options(self) -> None:
        loss = self.loss_object()
        if not isinstance(loss, Loss):
            raise TypeError(
                f"loss is {shown(loss)}; it must be a Loss: MissedParts(), PartF1(), ZeroOneLoss(), your own"
            )
        loss.check_options()

    @property
    def abilities(self) -> frozenset[Ability]:
        abilities: frozenset[Ability] = frozenset({"k_best", "sums", "pair_marginals", "samples", "explain"})
        return abilities | {"partial"} if self.takes_allowed else abilities

    def within(self, max_memory: int | None) -> HypergraphModel:
        bounded = copy.copy(self)
        bounded._max_memory = max_memory
        return bounded

    def read(self, X: Any, Y: Any) -> tuple[DerivedInputs, Any]:
        return self._derived(X), Y

    def specify(self, X: Any, Y: Any) -> HypergraphSpec:
        self.check_options()
        if len(X) == 0:
            raise ValueError("X is empty; training needs at least one example")
        if len(X) != len(Y):
            raise ValueError(f"X has {len(X)} examples but Y has {len(Y)}")
        features = self._derived(X).features
        if not isinstance(features, Sequences):
            raise ValueError("no step of any hypergraph brings a part: there is nothing to learn")
        return HypergraphSpec(n_inputs=features.tokens.shape[1], vocabulary=features.names)

    def bind(
        self, spec: HypergraphSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> HypergraphProblem:
        """See `Model.bind`; `allowed` has a partial output for each example, or None, and asks for ``possible``."""
        if Y is not None and len(X) != len(Y):
            raise ValueError(f"X has {len(X)} examples but Y has {len(Y)}")
        inputs = self._derived(X)
        matrix, offsets = spec.stack(inputs.features)
        truths = None
        if Y is not None:
            truths = [self._parts_of("parts", "Y", i, x, y) for i, (x, y) in enumerate(zip(inputs.X, Y, strict=True))]
        return HypergraphProblem(
            model=self,
            X=inputs.X,
            graphs=inputs.graphs,
            features=TokenMatrix.from_matrix(matrix, intercept=False),
            n_parts=offsets,
            truths=truths,
            allowed=None if allowed is None else self._possible_parts(inputs.X, allowed, "allowed"),
            loss=self.loss_object(),
            allow_unknown=allow_unknown,
        )

    def read_partial(self, X: Any, Y: Any) -> tuple[DerivedInputs, Any]:
        return self._derived(X), Y

    def specify_partial(self, X: Any, Y: Any) -> HypergraphSpec:
        if not self.takes_allowed:
            raise ValueError(f"{type(self).__name__} cannot learn from partial outputs: {self.refusals['partial']}")
        return self.specify(X, Y)

    def partial_loss(self, spec: HypergraphSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """Δ(Y_i, ŷ): how many parts of ŷ an output in agreement with Y_i cannot have."""
        loss = self.loss_object()
        if not (isinstance(loss, MissedParts) and loss.beta == 1):
            raise ValueError(f"loss={shown(loss)} is for whole outputs; with outputs known in part use MissedParts()")
        inputs = self._derived(X)
        return self.bind(spec, inputs).impossible_parts(self._possible_parts(inputs.X, Y, "Y"))

    def bind_partial(self, spec: HypergraphSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> PartialProblem:
        # Listed once for all that is bound to them.
        return super().bind_partial(spec, self._derived(X), Y, allow_unknown=allow_unknown)

    def _derived(self, X: Any) -> DerivedInputs:
        if isinstance(X, DerivedInputs):
            return X
        if len(X) == 0:
            raise ValueError("X is empty; at least one example is needed")
        graphs = self._listed(X)
        features = [self._part_features(i, x, graph) for i, (x, graph) in enumerate(zip(X, graphs, strict=True))]
        if not any(features):
            return DerivedInputs(X, graphs, features)
        try:
            return DerivedInputs(X, graphs, read_sequences(features, empty=True))
        except ValueError as error:
            raise ValueError(_with_part(str(error), graphs)) from None

    def _part_features(self, i: int, x: Any, graph: Hypergraph) -> list[Any]:
        found: list[Any] = []
        try:
            for part in graph.parts:
                found.append(self.features(x, part))
        except Exception as error:
            error.add_note(f"in {self._call('features', i, graph.parts[len(found)])}")
            raise
        for part, row in zip(graph.parts, found, strict=True):
            if row is None:
                raise TypeError(f"{self._call('features', i, part)} gave None; expected a dict or a list of numbers")
        return found

    def _call(self, method: str, i: int, second: Any) -> str:
        return f"{type(self).__name__}.{method}(X[{i}], {shown(second)})"

    def _listed(self, X: Any) -> list[Hypergraph]:
        graphs: list[Hypergraph] = []
        size = 0
        most, limit = self._max_memory, f"max_memory={self._max_memory} bytes"
        if most is None:
            most = available_memory()
            limit = f"the {most} bytes of memory that are available"
        for i, x in enumerate(X):
            with noted(f"{type(self).__name__}.steps(X[{i}])"):
                graphs.append(Hypergraph.of(self.steps(x), f"the hypergraph of X[{i}]", most, limit))
            size += graphs[i].nbytes
            if most is not None and size > most:
                raise ValueError(
                    f"the hypergraphs of X[0] to X[{i}] take {size} bytes, {graphs[i].nbytes} of them for the "
                    f"{graphs[i].n_edges} steps of the last, more than {limit}"
                )
        return graphs

    def _possible_parts(self, X: Sequence[Any], partial: Any, name: str) -> list[frozenset[Hashable] | None]:
        if not is_listed(partial) or len(partial) != len(X):
            raise ValueError(f"{name} must say something about each of the {len(X)} examples, or be None")
        return [
            None if said is None else self._parts_of("possible", name, i, x, said)
            for i, (x, said) in enumerate(zip(X, partial, strict=True))
        ]

    def _parts_of(self, method: str, name: str, i: int, x: Any, y: Any) -> frozenset[Hashable]:
        call = f"{type(self).__name__}.{method}(X[{i}], {name}[{i}])"
        with noted(call):
            given = getattr(self, method)(x, y)
            parts = list(given) if isinstance(given, Iterable) else None
        if parts is None:
            raise TypeError(f"{call} gave {shown(given)}; expected a list of parts")
        try:
            return frozenset(parts)
        except TypeError as error:
            told = f"{call} gave no list of hashable parts: {error}"
            if method == "parts":
                told += "; outputs known in part are for LatentStructuralSVM and LatentConditionalRandomField"
            raise TypeError(told) from None

    def named_weights(
        self, spec: HypergraphSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        return blocks_of(w, ("features", (column_names(spec, feature_names),)))

    def n_weights(self, spec: HypergraphSpec) -> int:
        return spec.n_inputs

    @property
    def costs(self) -> ByDecoder:
        return {
            "best": "E",
            "loss_augmented": "E",
            "second_best": "E",
            "k_best": "E + k P log k",
            "loss_levels": "E D, E D² where steps have two tails",
            "sums": "E",
            "pair_marginals": "E",
            "samples": "E + s × the steps to the items of an output",
            **({"partial": "the same"} if self.takes_allowed else {}),
        }

    def findings(
        self, X: Any, Y: Any, draw: Callable[[int], FloatArray], n_weights: int, random: np.random.Generator
    ) -> list[str]:
        """How the model breaks its rules, for `structlearn.testing.check_model`."""
        return hypergraph_findings(self, X, Y, draw, n_weights)

    def loss_in_words(self) -> str:
        return self.loss_object().in_words()

    def spec_from_dict(self, values: dict[str, Any]) -> HypergraphSpec:
        return HypergraphSpec.from_dict(values)


def _with_part(message: str, graphs: list[Hypergraph]) -> str:
    """A message about features, which counts parts as tokens, with the part itself."""
    place = re.match(r"X\[(\d+)\](?:\[(\d+)\])?", message)
    if place is None or int(place[1]) >= len(graphs):
        return f"features of parts: {message}"
    parts = graphs[int(place[1])].parts
    if place[2] is None or int(place[2]) >= len(parts):
        return f"features of the parts of X[{place[1]}], a row a part: {message}"
    return f"features(X[{place[1]}], {shown(parts[int(place[2])])}): {message[place.end() :].strip()}"
