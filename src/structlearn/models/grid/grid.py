"""Labels of the pixels of images: features of pixels, and scores of the labels of neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.images import LabelImages, read_images, read_label_images
from structlearn.data.labels import declared_classes
from structlearn.data.options import choice_option, flag_option, real_option
from structlearn.drawing.base import Drawing
from structlearn.drawing.grids import draw_grid
from structlearn.losses import Hamming, LabelLoss, Loss, loss_option
from structlearn.metrics.measures import Measures
from structlearn.metrics.nodes import node_measures
from structlearn.models.base import Ability, ByDecoder, LinearSpec, Model
from structlearn.models.description import WeightBlock, blocks_of, column_names
from structlearn.models.graph.pair_tables import PairForm, PairTable
from structlearn.models.graph.search import Engines, Search
from structlearn.models.grid.neighbours import Neighbours, contrast_scale
from structlearn.models.grid.problem import GridProblem
from structlearn.models.label_losses import check_label_weight, refuse_partial
from structlearn.wording import shown

#: What the directions to neighbours are called.
_DIRECTIONS = ("right", "down", "down and right", "down and left")
_SEARCHED = "label images are searched for the best labels alone; a Graph of small images has the others"


@dataclass(frozen=True)
class GridSpec(LinearSpec):
    """A `LinearSpec` of the channels, and how fast the likeness of neighbours falls with their contrast, β."""

    contrast: float | None = None

    def check(self) -> None:
        super().check()
        if self.contrast is not None:
            real_option("contrast", self.contrast)


class Grid(Model):
    """F(x, y) = Σ_p ⟨w_{y_p}, x_p⟩ + Σ_{pq} w_{y_p, y_q} over the pixels p and the neighbours pq of an image.

    As `Graph` on a grid, without a list of its edges: for images, of any size each.

    Parameters
    ----------
    classes : sequence, optional
        The labels, of any hashable type. None takes those observed in training.
    loss : "hamming" or LabelLoss
        Δ(y, ŷ): the number of wrong pixels, or `LabelCosts`.
    pairwise : {"free", "symmetric", "potts"} or None
        Which weights label pairs have, as for `Graph`; of two pixels the first is the one further up or, in a row,
        further left.
    neighbours : 4 or 8
    directions : bool
        Whether neighbours to the right, below and so on have weights of their own.
    contrast : bool
        Whether there are also weights for exp(−β ‖x_p − x_q‖²), the likeness of neighbouring pixels, with β from the
        training images (Boykov and Jolly 2001).
    label_weight : mapping, optional
        What a wrong label costs in the Hamming loss, by the true label; 1 for labels not named.
    engine, max_seconds
        As for `Graph`. ``StructuralSVM(Grid(pairwise="potts"), nonnegative="pairs")`` keeps neighbours from liking to
        differ, so that two labels are found by a cut, exactly.

    Notes
    -----
    X is a list of (n_rows, n_columns, n_channels) arrays, Y a list of (n_rows, n_columns) arrays of labels. The weights
    are (n_channels, n_labels), then (n_directions, n_pair_features, n_pair_weights).

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> random = np.random.default_rng(0)
    >>> Y = [(np.arange(8)[:, None] + np.arange(8) > k).astype(int) for k in (4, 7, 9)]
    >>> X = [y[:, :, None] - 0.5 + 0.4 * random.normal(size=(8, 8, 1)) for y in Y]
    >>> svm = StructuralSVM(Grid(pairwise="potts"), nonnegative="pairs", fit_intercept=True).fit(X, Y)
    >>> svm.score(X, Y) > 0.95
    True
    """

    kind = "outputs"
    refusals: ClassVar[ByDecoder] = {
        "second_best": _SEARCHED,
        "k_best": _SEARCHED,
        "loss_levels": _SEARCHED,
        "sums": _SEARCHED,
        "partial": _SEARCHED,
    }

    def __init__(
        self,
        classes: Sequence[Any] | None = None,
        loss: Literal["hamming"] | Loss = "hamming",
        pairwise: PairForm | None = "free",
        neighbours: Literal[4, 8] = 4,
        directions: bool = False,
        contrast: bool = False,
        label_weight: Mapping[Any, float] | None = None,
        engine: Engines = "auto",
        max_seconds: float | None = None,
    ):
        self.classes = classes
        self.loss = loss
        self.pairwise = pairwise
        self.neighbours = neighbours
        self.directions = directions
        self.contrast = contrast
        self.label_weight = label_weight
        self.engine = engine
        self.max_seconds = max_seconds

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"explain"})

    @property
    def costs(self) -> ByDecoder:
        return {"best": "engine", "loss_augmented": "engine"}

    def read(self, X: Any, Y: Any) -> tuple[list[FloatArray], LabelImages]:
        return read_images(X), read_label_images(Y)

    def specify(self, X: Any, Y: Any) -> GridSpec:
        self.check_options()
        images, Y = self.read(X, Y)
        classes = Y.labels.classes if self.classes is None else declared_classes(self.classes)
        refuse_partial(Y.labels, classes, declared=self.classes is not None)
        loss = self.loss_object()
        loss.check_labels(classes)
        contrast = contrast_scale(images, self.neighbours) if self.contrast else None
        return GridSpec(classes=classes, n_inputs=images[0].shape[2], contrast=contrast)

    def bind(self, spec: GridSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> GridProblem:
        images = read_images(X)
        if images[0].shape[2] != spec.n_inputs:
            raise ValueError(f"X has {images[0].shape[2]} channels but training had {spec.n_inputs}")
        codes = None
        if Y is not None:
            codes = read_label_images(Y).coded(spec.classes, images, allow_unknown=allow_unknown)
        if spec.intercept:
            images = [np.concatenate([image, np.ones((*image.shape[:2], 1))], axis=2) for image in images]
        return GridProblem(
            images=images,
            codes=codes,
            classes=spec.classes,
            table=None if self.pairwise is None else PairTable.of(self.pairwise, spec.classes),
            neighbours=self._neighbours(spec),
            cost=self.loss_object().cost(spec.classes),
            search=Search(self.engine, self.max_seconds),
            channels=spec.n_inputs,
        )

    def loss_object(self) -> LabelLoss:
        """The loss that the option stands for."""
        return self.loss if isinstance(self.loss, LabelLoss) else Hamming(self.label_weight)

    def loss_in_words(self) -> str:
        return self.loss_object().in_words()

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        return node_measures(Y, predicted)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        return draw_grid(y, truth, width=width)

    def named_weights(
        self, spec: GridSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        blocks: list[tuple[Any, ...]] = [
            ("features", (column_names(spec, feature_names), spec.classes), "features"),
        ]
        if self.pairwise is not None:
            near = self._neighbours(spec)
            groups = _DIRECTIONS[: near.n_groups] if near.by_direction else ("neighbours",)
            features = ("constant", "likeness")[: near.n_features]
            names = PairTable.of(self.pairwise, spec.classes).names
            blocks.append(("pairs of neighbours", (groups, features, names), "others", "{0}, {1}: {2}"))
        return blocks_of(w, *blocks)

    def n_weights(self, spec: GridSpec) -> int:
        n_nodes = spec.n_columns * len(spec.classes)
        if self.pairwise is None:
            return n_nodes
        near = self._neighbours(spec)
        return n_nodes + near.n_groups * near.n_features * PairTable.of(self.pairwise, spec.classes).width

    def _neighbours(self, spec: GridSpec) -> Neighbours:
        return Neighbours(self.neighbours, bool(self.directions), spec.contrast)

    def spec_from_dict(self, values: dict[str, Any]) -> GridSpec:
        return GridSpec.from_dict(values)

    def check_options(self) -> None:
        loss_option(self.loss, ("hamming",))
        if isinstance(self.loss, Loss) and not isinstance(self.loss, LabelLoss):
            raise ValueError(f"loss is {shown(self.loss)}; it must be 'hamming' or a LabelLoss, such as LabelCosts")
        if self.pairwise is not None:
            choice_option("pairwise", self.pairwise, ("free", "symmetric", "potts"))
        if self.neighbours not in (4, 8) or isinstance(self.neighbours, bool):
            raise ValueError(f"neighbours is {shown(self.neighbours)}; it may be 4 or 8")
        flag_option("directions", self.directions)
        flag_option("contrast", self.contrast)
        Search(self.engine, self.max_seconds).check()
        check_label_weight(self.loss, self.label_weight)
