"""What a model is: options that say how outputs look, and how they are bound to data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

from structlearn.contract import Parameters
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import SEQUENCES, Words, same_output
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.data.fields import check_distinct, check_flag, check_tuple, check_whole
from structlearn.data.tokens.sequences import NamedColumns, stack
from structlearn.models.description import TransitionScores, WeightBlock, blocks_of, given_names
from structlearn.models.explanation import Comparison, Explanation, compare
from structlearn.waist.problem import Problem

if TYPE_CHECKING:
    from structlearn.drawing import Drawing
    from structlearn.drawing.markup import Html
    from structlearn.metrics import Measures

Kind = Literal["sequences", "segments", "examples", "outputs"]
Ability = Literal["k_best", "sums", "pair_marginals", "samples", "posterior", "explain", "partial"]
Decoder = Literal[
    "best",
    "loss_augmented",
    "second_best",
    "k_best",
    "loss_levels",
    "sums",
    "pair_marginals",
    "samples",
    "partial",
]
ByDecoder = Mapping[Decoder, str]

#: What training and prediction ask of models that users write in Python, and of no other.
ASKED_OF_OWN_MODELS = (
    "joint_feature",
    "loss",
    "inference",
    "loss_augmented_inference",
    "best_per_loss_level",
    "k_best",
    "outputs",
    "max_loss",
    "complete",
    "completions",
)


@dataclass(frozen=True)
class Spec:
    """What fitting learns about the data: immutable, and made of plain values that go into JSON."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The spec that was written; the values may come from a file that anybody could have made."""
        spec = cls(**values)
        spec.check()
        return spec

    def check(self) -> None:
        """Refuses, by name, what no data could have taught: kernels rely on it."""


class TokenColumns:
    """What specs of tokens with features have in common: how tokens become a matrix.

    Attributes
    ----------
    n_inputs : int
        Features of one token, without the intercept.
    vocabulary : tuple of str or None
        Feature names in column order, where features came as dicts.
    """

    words: ClassVar[Words] = SEQUENCES
    n_inputs: int
    vocabulary: tuple[str, ...] | None

    @cached_property
    def columns(self) -> NamedColumns | None:
        """Where the names of the vocabulary are looked up."""
        return None if self.vocabulary is None else NamedColumns(self.vocabulary)

    def stack(self, X: Any) -> tuple[Any, IntArray]:
        """All tokens of sequences as one matrix of these columns, and the offsets of the sequences in it."""
        return stack(X, self.columns, self.n_inputs, self.words)

    def check_columns(self) -> None:
        """Refuses a vocabulary that does not name every column once."""
        check_whole("n_inputs", self.n_inputs)
        if self.vocabulary is None:
            return
        check_tuple("vocabulary", self.vocabulary, str)
        check_distinct("vocabulary", self.vocabulary)
        if len(self.vocabulary) != self.n_inputs:
            raise ValueError(f"vocabulary has {len(self.vocabulary)} names but n_inputs is {self.n_inputs}")

    def __getstate__(self) -> dict[str, Any]:
        # The fields only: what is looked up in `columns` is quickly made again.
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class LinearSpec(TokenColumns, Spec):
    """A spec of labels and numeric features.

    Attributes
    ----------
    classes : tuple
        The labels, in the order of their codes 0, 1, ….
    n_inputs : int
        Features of one token or example, without the intercept.
    vocabulary : tuple of str or None
        Feature names in column order, where features came as dicts.
    intercept : bool
        Whether a constant feature follows the others.
    pairs : FeaturePairs or None
        Which features have a weight for which labels, where they do not have all: what training found to be not 0.
    """

    classes: tuple[Any, ...]
    n_inputs: int
    vocabulary: tuple[str, ...] | None = None
    intercept: bool = False
    pairs: FeaturePairs | None = None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        pairs = values.get("pairs")
        return super().from_dict(values | {"pairs": None if pairs is None else FeaturePairs.from_dict(pairs)})

    def with_intercept(self) -> Self:
        return replace(self, intercept=True)

    @property
    def n_columns(self) -> int:
        return self.n_inputs + self.intercept

    def check(self) -> None:
        self.check_columns()
        check_tuple("classes", self.classes)
        check_distinct("classes", self.classes)
        check_flag("intercept", self.intercept)
        if not self.classes:
            raise ValueError("classes is empty")


class Weights(NamedTuple):
    """w in its parts; None for a part that the model does not have.

    Attributes
    ----------
    emissions : (n_inputs, n_labels)
        With a row more if there is an intercept, the last.
    transitions : (n_labels, n_labels) or None
        From row to column.
    start, stop : (n_labels,) or None
        Scores of the first and the last label.
    pairs : (n_pair_features, n_labels, n_labels) or None
        Features of a token that score the pair of its label and the next.
    triplets : (n_labels, n_labels, n_labels) or None
        By the label in the middle, the one before, the one after.
    """

    emissions: FloatArray
    transitions: FloatArray | None = None
    start: FloatArray | None = None
    stop: FloatArray | None = None
    pairs: FloatArray | None = None
    triplets: FloatArray | None = None


class Model(Parameters, ABC):
    """An output structure: options only, never changed by training, cloned and searched like an estimator.

    Attributes
    ----------
    tabular : bool
        Whether X is one matrix with a row an example and Y holds one label each, as in plain classification.
    takes_allowed : bool
        Whether `bind` takes `allowed`, a restriction of the outputs of each example.
    in_files : bool
        Whether a file holds all of such a model, if it is one of `structlearn.models`: its name and its options.
    in_words : str
        What the model does, for the report, where more can be said than what an output is.
    example, place : str
        What an input is called, and what in it has a label.
    without_code : bool
        Whether it only stands for a model of the user's own whose code is not at hand.
    predicts_latent : bool
        Whether what a latent estimator predicts has a latent part; it has none where truths are merely known in part.
    kind : {"sequences", "segments", "examples", "outputs"}
        What an output is, for `evaluate`: a label for every token, labelled segments, one label, or something else.
        For the first three the spec has `classes`.
    abilities : frozenset of `Ability`
        What a fitted estimator can do with the model beyond predicting: the k best outputs; probabilities, which are
        sums over all outputs; those of neighbouring parts together; outputs drawn from these; outputs made of the most
        probable labels; explanations of its choices; learning from outputs that are known in part. It has the methods
        for these only.
    costs : mapping from names of decoders to str
        How the time of each decoder that the structure has grows with the sizes of an example, for the table of the
        docs: "loss_levels" is the best output for every loss, "sums" are log Z, marginals and entropy, "partial" is all
        of them over the outputs that agree with a partial one.
    refusals : mapping from names of decoders to str
        Of those that it does not have, why not; what is said of "sums" holds for what needs them as well.
    """

    tabular: ClassVar[bool] = False
    takes_allowed: ClassVar[bool] = False
    predicts_latent: ClassVar[bool] = True
    in_files: ClassVar[bool] = True
    without_code: ClassVar[bool] = False
    in_words: ClassVar[str] = ""
    example: ClassVar[str] = "example"
    place: ClassVar[str] = "token"
    kind: ClassVar[Kind] = "outputs"
    refusals: ClassVar[ByDecoder] = {}

    @property
    def costs(self) -> ByDecoder:
        return {}

    def refusal(self, decoder: str) -> str | None:
        """Why the structure does not have a decoder; None if it has it, or nothing is declared."""
        if decoder in self.costs:
            return None
        reasons: Mapping[Any, str] = self.refusals
        implied = reasons.get("sums") if decoder in ("pair_marginals", "samples") else None
        return reasons.get(decoder, implied)

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset()

    @property
    def class_name(self) -> str:
        """What the class is called, the user's own where this one only stands for it."""
        return type(self).__name__

    def read(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """The data in a form that `specify` and `bind` take as well, without reading them again."""
        return X, Y

    def changed_truths(self, Y: Any) -> str:
        """What training puts in the place of some outputs of Y, in words; nothing where it takes all as they are."""
        return ""

    def within(self, max_memory: int | None) -> Model:
        """The same model, which refuses to list structures that take more bytes; most models list none."""
        return self

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `specify` asks for it, and so does who loads a model."""

    @classmethod
    def check_overrides(cls) -> None:
        """Refuses methods of one's own models in a subclass of a model whose problem never asks for them."""
        owner = next(base for base in cls.__mro__ if "bind" in vars(base))
        for base in cls.__mro__[: cls.__mro__.index(owner)]:
            for name in ASKED_OF_OWN_MODELS:
                if callable(vars(base).get(name)):
                    raise TypeError(
                        f"{base.__name__} overrides {name}, which {owner.__name__} does not ask: its losses and "
                        f"decoders are compiled, and its options choose among them; write a model of your own instead, "
                        f"a class with joint_feature, loss and oracles that is no {owner.__name__}"
                    )

    @abstractmethod
    def specify(self, X: Any, Y: Any) -> Spec:
        """Learns labels and sizes from the data. Declared classes win over observed ones."""

    @abstractmethod
    def bind(self, spec: Any, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> Problem:
        """The model on data: for training and scoring with Y, for prediction without.

        With `allow_unknown`, labels that are not in the spec count as always wrong instead of being refused.
        """

    def read_partial(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """`read` for estimators of latent parts, as are the next two: Y may be known in part if the model can that."""
        return self.read(X, Y)

    def specify_partial(self, X: Any, Y: Any) -> Spec:
        """`specify`; whatever is said of Y teaches the labels."""
        return self.specify(X, Y)

    def bind_partial(self, spec: Any, X: Any, Y: Any, *, allow_unknown: bool = False) -> Problem:
        """`bind` for training and scoring."""
        return self.bind(spec, X, Y, allow_unknown=allow_unknown)

    def n_weights(self, spec: Any) -> int | None:
        """How long w is, from the spec alone; None where only a bound problem tells.

        A model that was loaded is asked before its weights are read: it refuses options and specs that do not fit.
        """
        return None

    def compact(self, spec: Any, problem: Problem, w: FloatArray) -> tuple[Any, FloatArray]:
        """Spec and weights as they are kept after training: without those that are 0 where the problem has a layout."""
        return spec, w

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures | None:
        """What `evaluate` shall say of predictions beyond their loss and how many are right; None for no more.

        Inputs, true and predicted outputs are in the user's own terms, as they were before any step of a pipeline.
        """
        return None

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing | None:
        """A picture of one output, with what differs marked where the truth is given; None if there is none.

        Input and outputs are in the user's own terms; a terminal has `width` columns.
        """
        return None

    def latent_drawing(self, x: Any, y: Any, h: Any, truth: Any = None, *, width: int = 100) -> Drawing | None:
        """The same where predictions have a latent part h, as `predict_latent` gives it."""
        return self.drawing(x, y, truth, width=width)

    def loss_in_words(self) -> str:
        """What the loss of an example counts, for the report."""
        return f"the loss of {type(self).__name__}"

    def unseen_cost(self, spec: Any) -> float | None:
        """What `evaluate` takes for a true label that training never saw; None: `bind` knows, with `allow_unknown`."""
        return None

    def named_weights(
        self, spec: Any, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        """All of w in blocks with names; `feature_names` are for the columns of the inputs."""
        names = given_names(feature_names, len(w))
        return blocks_of(w, ("weights", (range(len(w)) if names is None else names,)))

    def transition_scores(self, spec: Any, w: FloatArray) -> TransitionScores | None:
        """What one label after another adds to a score, for matrices in report and plots; None if it is nothing."""
        return None

    def explain(
        self,
        spec: Any,
        w: FloatArray,
        x: Any,
        t: int | None = None,
        label: Any = None,
        against: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Explanation | Comparison:
        """Why an output is chosen; see `StructuredEstimator.explain`.

        The problem of a model with this ability has `differing_parts(w)`: bound to one input twice, it lists the parts
        that its two outputs do not have equally often, as `PartFeatures`.
        """
        if t is not None:
            raise ValueError(f"t is {t}, but a {self.class_name} has no labels of tokens; leave t out")
        return compare(self, spec, w, x, label, against, feature_names)

    def alternative(self, problem: Any, w: FloatArray, output: Any) -> Any:
        """What `explain` compares the predicted output of the one example of a problem with: the second best."""
        if "k_best" not in self.abilities:
            raise ValueError(f"{self.class_name} finds no second best output: say what to compare with, against=…")
        others = [other for other, _ in problem.k_best(w, 2)[0] if not same_output(other, output)]
        if not others:
            raise ValueError("x has one possible output only: there is nothing to compare it with")
        return others[0]

    def mistake(self, predicted: Any, truth: Any) -> tuple[Any, Any]:
        """`label` and `against` with which `explain` says why a wrong prediction is not the truth."""
        return None, truth

    def facts(self, spec: Any, w: FloatArray) -> dict[str, Any]:
        """What else there is to say about what was learnt, for `structlearn inspect`: plain values by name."""
        return {}

    def weight_drawings(self, spec: Any, w: FloatArray) -> list[Drawing]:
        """Pictures of the weights, for `structlearn inspect`."""
        return []

    def panels(self, X: Any, predicted: Any, latent: Sequence[Any], truths: Sequence[Any]) -> Mapping[str, Html]:
        """Sections of the report that only this model has, by their titles; all inputs and outputs that it shows."""
        return {}

    def spec_from_dict(self, values: dict[str, Any]) -> Spec:
        """The spec that `Spec.to_dict` wrote."""
        return LinearSpec.from_dict(values)
