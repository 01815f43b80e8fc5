"""Dependency trees: the head of every token of a sentence, and the label of the arc from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.dependency_trees import DependencyTrees, read_dependency_trees
from structlearn.data.fields import LARGEST
from structlearn.data.labels import declared_classes, observed_classes
from structlearn.data.options import flag_option, whole_option
from structlearn.data.ragged import offsets_of, reduced
from structlearn.drawing import Drawing
from structlearn.drawing.dependencies import draw_dependencies
from structlearn.losses import Loss, WrongArcs, ZeroOneLoss, loss_option
from structlearn.losses.bound import MAX_LEVEL_TABLE, BoundLoss
from structlearn.losses.own import arc_truth, bound_own, most_arcs
from structlearn.metrics import Measures
from structlearn.metrics.dependencies import dependency_measures
from structlearn.models.base import Ability, ByDecoder, Decoder
from structlearn.models.dependency.description import feature_blocks
from structlearn.models.dependency.problem import NO_LEVELS, DependencyProblem
from structlearn.models.dependency.spec import (
    DependencySpec,
    Sentences,
    check_columns,
    check_trainable,
    known_values,
    read_sentences,
)
from structlearn.models.dependency.templates import (
    Template,
    check_between,
    default_label_templates,
    default_sibling_templates,
    default_templates,
    parse_templates,
)
from structlearn.models.dependency.truths import (
    check_labelled,
    contradictions,
    crossing_in_words,
    known_arcs,
    nearest_projective,
    restriction,
)
from structlearn.models.description import WeightBlock, refuse_names
from structlearn.models.partial import PartialModel
from structlearn.wording import shown

_LOSSES = {"labelled": WrongArcs(), "unlabelled": WrongArcs(label=0.0), "zero_one": ZeroOneLoss()}


class DependencyTree(PartialModel):
    """F(x, y) = Σ_arcs [⟨w, φ(x, head, token)⟩ + ⟨w_label, ψ(x, head, token)⟩]: the sum of the scores of a tree's arcs.

    With ``order=2`` also ⟨w, φ(x, head, sibling, token)⟩ of each token beside the next one with the same head. These
    are the parsers of McDonald, Crammer and Pereira (2005) and McDonald and Pereira (2006).

    Parameters
    ----------
    columns : sequence of str
        What a token consists of, by the names of CoNLL-U unless told otherwise: the first column is a word; a second
        one, if there is one, is a tag.
    labels : sequence, optional
        Of arcs, of any hashable type. None takes those observed in training; arcs have none if the trees have none.
    loss : {"labelled", "unlabelled", "zero_one"} or Loss
        Δ(y, ŷ): the number of tokens with a wrong head or label, with a wrong head, or 1 for any other tree;
        `WrongArcs` for a price of wrong labels in between, or a loss of one's own, see `structlearn.losses`.
    projective : bool
        Whether arcs may not cross. Without, the order is 1.
    order : {1, 2}
        Whether scores are of arcs alone, or of siblings as well.
    single_root : bool
        Whether only one token of a sentence has the root as head.
    templates, label_templates, sibling_templates : sequence of str, optional
        Which features arcs, arcs with labels and siblings have, such as "head.form|modifier.upos[+1]|distance"; see
        `structlearn.models.dependency.templates`.
    min_count : int
        Words and other values that are seen less often in training are all taken for one, as are those never seen.
    n_hashed : int, optional
        How many weights there are for features of arcs, for those of labels, and for those of siblings; features share
        them by chance. None gives a weight to each feature that the arcs of the training trees have.

    Notes
    -----
    A sentence is a list of tokens, a token a text, a tuple with a text for each of `columns`, or a dict of these. A
    tree is a list with (head, label), or the head alone, for each token; tokens count from 1, and 0 is the root.

    True trees with crossing arcs, in a projective model: training aims at the projective tree that has the most of
    their arcs, and predictions are compared with the tree itself.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> X = [[("dogs", "NOUN"), ("bark", "VERB")], [("the", "DET"), ("cat", "NOUN"), ("sleeps", "VERB")]]
    >>> Y = [[(2, "nsubj"), (0, "root")], [(2, "det"), (3, "nsubj"), (0, "root")]]
    >>> parser = StructuralSVM(DependencyTree(), C=10).fit(X, Y)
    >>> parser.predict([[("the", "DET"), ("dogs", "NOUN"), ("sleep", "VERB")]])
    [[(2, 'det'), (3, 'nsubj'), (0, 'root')]]
    """

    takes_allowed = True
    example = "sentence"
    in_words = "gives each token of a sentence a head, so that arcs from heads make up a tree"

    def __init__(
        self,
        columns: Sequence[str] = ("form", "upos"),
        labels: Sequence[Any] | None = None,
        loss: Literal["labelled", "unlabelled", "zero_one"] | Loss = "labelled",
        projective: bool = True,
        order: Literal[1, 2] = 1,
        single_root: bool = True,
        templates: Sequence[str] | None = None,
        label_templates: Sequence[str] | None = None,
        sibling_templates: Sequence[str] | None = None,
        min_count: int = 1,
        n_hashed: int | None = None,
    ):
        self.columns = columns
        self.labels = labels
        self.loss = loss
        self.projective = projective
        self.order = order
        self.single_root = single_root
        self.templates = templates
        self.label_templates = label_templates
        self.sibling_templates = sibling_templates
        self.min_count = min_count
        self.n_hashed = n_hashed

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "samples", "posterior", "explain", "partial"})

    @property
    def costs(self) -> ByDecoder:
        once = "T³ + T² L" if self.projective else "T² L"
        found: dict[Decoder, str] = {
            "best": once,
            "loss_augmented": once,
            "second_best": "T³ + T² L",
            "k_best": "T³ + T² L + k T log k" if self.projective else "T² L + k T³",
            "sums": "T³ + T² L",
            "samples": "T³ + T² L + s T²",
            "partial": "the same",
        }
        return found | ({"loss_levels": "T³ D² + T² L D"} if self.projective else {})

    @property
    def refusals(self) -> ByDecoder:  # type: ignore[override]
        found: dict[Any, str] = {
            "pair_marginals": "arcs have no neighbours; probabilities of arcs are predict_marginals"
        }
        if not self.projective:
            found["loss_levels"] = NO_LEVELS
        return found

    def loss_in_words(self) -> str:
        return self.loss_object().in_words()

    def loss_object(self) -> Loss:
        """The loss that the option stands for."""
        return self.loss if isinstance(self.loss, Loss) else _LOSSES[self.loss]

    def check_options(self) -> None:
        check_columns(self.columns)
        loss_option(self.loss, tuple(_LOSSES))
        for name in ("projective", "single_root"):
            flag_option(name, getattr(self, name))
        whole_option("order", self.order, 1, 2)
        if self.order == 2 and not self.projective:
            raise ValueError("order=2 needs projective=True: with siblings the best of all trees is NP-hard to find")
        if self.order == 1 and self.sibling_templates is not None:
            raise ValueError("sibling_templates are features of siblings: say that there are some, order=2")
        whole_option("min_count", self.min_count, 1, LARGEST)
        if self.n_hashed is not None:
            whole_option("n_hashed", self.n_hashed, 1, LARGEST)
        self._templates()

    def _templates(self) -> list[list[Template]]:
        """Those of arcs, of labels and of siblings."""
        columns = tuple(self.columns)
        chosen = [
            ("templates", self.templates, default_templates),
            ("label_templates", self.label_templates, default_label_templates),
            ("sibling_templates", self.sibling_templates, default_sibling_templates),
        ]
        found = [
            parse_templates(
                default(columns) if given is None else given, columns, name, siblings=name == "sibling_templates"
            )
            for name, given, default in chosen
        ]
        return found if self.order == 2 else [*found[:2], []]

    def read(self, X: Any, Y: Any) -> tuple[Sentences, DependencyTrees]:
        self.check_options()
        sentences = self._sentences(X)
        return sentences, read_dependency_trees(Y, sentences.tokens, single_root=bool(self.single_root))

    def changed_truths(self, Y: Any) -> str:
        return crossing_in_words(read_dependency_trees(Y)) if self.projective else ""

    def read_partial(self, X: Any, Y: Any) -> tuple[Sentences, DependencyTrees]:
        self.check_options()
        sentences = self._sentences(X)
        trees = read_dependency_trees(Y, sentences.tokens, single_root=bool(self.single_root), partial=True)
        return sentences, trees

    def _sentences(self, X: Any) -> Sentences:
        return X if isinstance(X, Sentences) else Sentences(read_sentences(X, tuple(self.columns)))

    def specify(self, X: Any, Y: Any) -> DependencySpec:
        return self._specified(*self.read(X, Y))

    def specify_partial(self, X: Any, Y: Any) -> DependencySpec:
        """See `PartialModel`; where a head is not known, the features of all arcs that there may be have weights."""
        return self._specified(*self.read_partial(X, Y))

    def _specified(self, X: Sentences, trees: DependencyTrees) -> DependencySpec:
        check_trainable(X.tokens)
        values = known_values(X.tokens, len(self.columns), int(self.min_count))
        check_between(self._templates(), tuple(self.columns), values)
        labels: tuple[Any, ...] = ()
        if self.labels is not None:
            labels = declared_classes(self.labels, "labels")
        elif trees.labels is not None:
            labels = observed_classes([label for tree in trees.labels for label in tree if label is not None])
        spec = DependencySpec(values, labels)
        if self.n_hashed is not None:
            return spec
        offsets = offsets_of([len(x) for x in X.tokens])
        known = known_arcs(spec, trees, offsets)
        templates = self._templates()
        listed = self._core_features(spec).listed(self._engine(spec, offsets), spec.encode(X.tokens), known)
        features = tuple(
            tuple(rows.reshape(-1, len(template)) for rows, template in zip(group, each, strict=True))
            for group, each in zip(listed, templates, strict=True)
        )
        return DependencySpec(values, labels, features)

    def _core_features(self, spec: DependencySpec) -> _core.DependencyFeatures:
        return spec.core_features(self._templates(), int(self.n_hashed or 0))

    def _engine(
        self, spec: DependencySpec, offsets: IntArray, known: LabelArray | None = None
    ) -> _core.DependencyEngine:
        return _core.DependencyEngine(offsets, spec.n_labels, bool(self.single_root), self.order == 2, known)

    def bind(
        self, spec: DependencySpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> DependencyProblem:
        """See `Model.bind`.

        `allowed` has for each sentence None, or a list with what is known of each token: None, its head, (head, label),
        (head, None) or (None, label).
        """
        sentences = self._sentences(X)
        offsets = offsets_of([len(x) for x in sentences.tokens])
        values = spec.encode(sentences.tokens)
        restricted = None
        if allowed is not None:
            restricted = restriction(spec, allowed, sentences.tokens, offsets, single_root=bool(self.single_root))
        engine = self._engine(spec, offsets, restricted)
        codes = possible = None
        loss = judged_loss = BoundLoss()
        if Y is not None:
            trees = read_dependency_trees(Y, sentences.tokens, single_root=bool(self.single_root) and not allow_unknown)
            check_labelled(spec, trees)
            judged = aims = known_arcs(spec, trees, offsets, allow_unknown=allow_unknown)
            if self.projective:
                aims = nearest_projective(judged, offsets)
            against = (aims[:, 0] != judged[:, 0]) | (judged[:, 1] < 0)
            if restricted is not None:
                against |= contradictions(restricted, judged, offsets, refused=not allow_unknown)
            possible = ~reduced(np.logical_or, against, offsets)
            codes = np.where(aims[:, 1] < 0, np.int32(-1), aims[:, 0] * np.int32(spec.n_labels) + aims[:, 1])
            loss = self._bound_loss(spec, engine, aims, offsets)
            judged_loss = loss if aims is judged else self._bound_loss(spec, engine, judged, offsets)
        problem = DependencyProblem(
            engine=engine,
            features=self._core_features(spec),
            values=values,
            offsets=offsets,
            labels=spec.labels,
            codes=codes,
            possible=possible,
            projective=bool(self.projective),
            single_root=bool(self.single_root),
            siblings=self.order == 2,
            loss=loss,
            judged_loss=judged_loss,
            most_features=self._most_features(spec),
            known=restricted,
        )
        if restricted is not None and Y is None:
            self._check_possible(problem, restricted, offsets)
        return problem

    def partial_loss(self, spec: DependencySpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """Δ(Y_i, ŷ) of what is known of each tree: wrong heads where these are known, and wrong labels."""
        loss = self.loss_object()
        if not isinstance(loss, (WrongArcs, ZeroOneLoss)):
            raise ValueError(f"loss={shown(self.loss)} is for whole trees; those known in part have {sorted(_LOSSES)}")
        sentences, trees = self.read_partial(X, Y)
        offsets = offsets_of([len(x) for x in sentences.tokens])
        known = known_arcs(spec, trees, offsets, allow_unknown=allow_unknown)
        engine = self._engine(spec, offsets)
        if isinstance(loss, WrongArcs):
            return self._bound_arcs(loss, spec.n_labels, engine, known, offsets)
        wrong = self._bound_arcs(WrongArcs(), spec.n_labels, engine, known, offsets)
        if wrong.levels is None:
            raise ValueError("loss='zero_one' of trees known in part needs projective=True")
        return BoundLoss(levels=wrong.levels.zero_one(), identity=wrong.identity)

    def _bound_loss(
        self, spec: DependencySpec, engine: _core.DependencyEngine, known: LabelArray, offsets: IntArray
    ) -> BoundLoss:
        loss = self.loss_object()
        if isinstance(loss, WrongArcs):
            return self._bound_arcs(loss, spec.n_labels, engine, known, offsets)
        if isinstance(loss, ZeroOneLoss):
            lengths = np.diff(offsets)
            return BoundLoss(max_losses=((lengths > 1) | ((lengths == 1) & (spec.n_labels > 1))).astype(np.float64))
        truths = [arc_truth(known[begin:end], spec.labels) for begin, end in pairwise(offsets.tolist())]
        bound = bound_own(loss, truths, most=most_arcs)
        if not self.projective and bound.parts is None:
            raise ValueError(f"loss={shown(self.loss)} counts arcs, and needs projective=True")
        return bound if self.projective else replace(bound, levels=None)

    def _bound_arcs(
        self, loss: WrongArcs, n_labels: int, engine: _core.DependencyEngine, known: LabelArray, offsets: IntArray
    ) -> BoundLoss:
        lengths = np.diff(offsets)
        # A decoder of levels has seven kinds of spans.
        few = 56 * (int(lengths.max(initial=0)) + 1) ** 3 <= MAX_LEVEL_TABLE
        return loss.bound(engine, known, lengths, n_labels, with_levels=bool(self.projective) and few)

    def _check_possible(self, problem: DependencyProblem, restricted: LabelArray, offsets: IntArray) -> None:
        some = np.flatnonzero(reduced(np.logical_or, np.any(restricted >= 0, axis=1), offsets))
        none = np.isneginf(problem.best_scored(np.zeros(problem.n_features), some)[1])
        if none.any():
            i = int(some[np.argmax(none)])
            arcs = "without crossing arcs " if self.projective else ""
            raise ValueError(f"allowed[{i}]: no tree {arcs}of X[{i}] has these heads")

    def _most_features(self, spec: DependencySpec) -> int:
        fields = [template for group in self._templates() for template in group]
        between = [field.column for template in fields for field in template if field.place == "between"]
        return len(fields) + sum(len(spec.values[column]) for column in between)

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        """Attachment scores, with labels and without, of all tokens and of those that are no punctuation."""
        return dependency_measures(Y, predicted, X)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        words = [token[0] for token in read_sentences([x], tuple(self.columns))[0]]
        return draw_dependencies(words, y, truth, width=width)

    def named_weights(
        self, spec: DependencySpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        refuse_names(feature_names, "DependencyTree")
        return feature_blocks(spec, self._templates(), tuple(self.columns), self.n_hashed, w)

    def n_weights(self, spec: DependencySpec) -> int:
        templates = self._templates()
        if len(spec.values) != len(self.columns):
            raise ValueError(f"values are those of {len(spec.values)} columns, but there are {len(self.columns)}")
        if (spec.features is None) != (self.n_hashed is not None):
            raise ValueError("features are listed if and only if they are not hashed")
        check_between(templates, tuple(self.columns), spec.values)
        if spec.features is not None:
            widths = [[len(template) for template in group] for group in templates]
            if widths != [[rows.shape[1] for rows in group] for group in spec.features]:
                raise ValueError("features are not those of the templates")
        return self._core_features(spec).n_weights

    def spec_from_dict(self, values: dict[str, Any]) -> DependencySpec:
        return DependencySpec.from_dict(values)
