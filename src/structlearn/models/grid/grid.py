"""Labels of the pixels of images: features of pixels, and scores of the labels of neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.images import LabelImages, read_images, read_label_images
from structlearn.data.labels import declared_classes
from structlearn.data.options import choice_option, flag_option, real_option
from structlearn.data.ragged import offsets_of
from structlearn.drawing.base import Drawing
from structlearn.drawing.grids import draw_grid
from structlearn.inference.graphs import JunctionTree
from structlearn.losses import Hamming, LabelLoss, Loss, loss_option
from structlearn.losses.bound import BoundLoss, bound_label_costs
from structlearn.metrics.measures import Measures
from structlearn.metrics.nodes import node_measures
from structlearn.models.base import Ability, ByDecoder, LinearSpec
from structlearn.models.description import WeightBlock, blocks_of, column_names
from structlearn.models.graph.factor_tables import PairForm
from structlearn.models.graph.pair_tables import PairTable
from structlearn.models.graph.problem import TREE_BYTES as LARGEST_TREE
from structlearn.models.graph.problem import TREE_COSTS
from structlearn.models.graph.search import Engines, Search
from structlearn.models.grid.listed_problem import TREE_BYTES, ListedGridProblem, fits_in_trees
from structlearn.models.grid.neighbours import Neighbours, contrast_scale
from structlearn.models.grid.partial import PartialGridProblem
from structlearn.models.grid.problem import GridProblem
from structlearn.models.grid.summed_problem import PixelTable
from structlearn.models.label_losses import check_label_weight
from structlearn.models.partial import PartialModel, PartialProblem
from structlearn.waist.likelihood import LIKELIHOODS, LikelihoodName
from structlearn.wording import count, in_bytes, shown

#: What the directions to neighbours are called.
_DIRECTIONS = ("right", "down", "down and right", "down and left")


@dataclass(frozen=True)
class GridSpec(LinearSpec):
    """A `LinearSpec` of the channels, and how fast the likeness of neighbours falls with their contrast, β."""

    contrast: float | None = None

    def check(self) -> None:
        super().check()
        if self.contrast is not None:
            real_option("contrast", self.contrast)


class Grid(PartialModel):
    """F(x, y) = Σ_p ⟨w_{y_p}, x_p⟩ + Σ_{pq} w_{y_p, y_q} over the pixels p and the neighbours pq of an image.

    As `Graph` on a grid, without a list of its edges: for images, of any size each.

    Parameters
    ----------
    classes : sequence, optional
        The labels, of any hashable type. None takes those observed in training.
    loss : "hamming" or LabelLoss
        Δ(y, ŷ): the number of wrong pixels, or `LabelCosts`.
    pairwise : {"free", "symmetric", "potts", None}
        Which weights label pairs have, as for `Graph`; of two pixels the first is the one further up or, in a row,
        further left.
    neighbours : {4, 8}
        Of a pixel: those beside, above and below it, or those at its corners as well.
    directions : bool
        Whether neighbours to the right, below and so on have weights of their own.
    contrast : bool
        Whether there are also weights for exp(−β ‖x_p − x_q‖²), the likeness of neighbouring pixels, with β from the
        training images (Boykov and Jolly 2001).
    label_weight : mapping, optional
        What a wrong label costs in the Hamming loss, by the true label; 1 for labels not named.
    engine, max_seconds
        As for `Graph`, but "auto" takes junction trees for images alone that are so narrow that these are as quick as a
        search; "junction_tree" takes them for wider ones. Sums, k best, samples and loss levels are there with trees
        only. ``StructuralSVM(Grid(pairwise="potts"), nonnegative="pairs")`` keeps neighbours from liking to differ, so
        that two labels are found by a cut, exactly.
    likelihood : {"exact", "pseudo", "piecewise", "tree_reweighted", "belief_propagation"}
        What `ConditionalRandomField` maximises, as for `Graph`. The pseudo-likelihood and the piecewise one take images
        of any size without a list of edges; for the two by messages the edges of some images at a time are listed.

    Notes
    -----
    X is a list of (n_rows, n_columns, n_channels) arrays, Y a list of (n_rows, n_columns) arrays of labels. For latent
    learners a pixel may have None or NaN where nothing is known of it, or a set of labels of which one is true; a
    masked array says nothing where it is masked, and None says nothing about a whole image. So has `allowed`.

    The weights are (n_channels, n_labels), then (n_directions, n_pair_features, n_pair_weights). Marginals are (n_rows,
    n_columns, n_labels) an image; those of pairs are a tuple with an array for each direction, of pairs to the right
    (n_rows, n_columns − 1, n_labels, n_labels), downwards, and so on.

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
    example, place = "image", "pixel"
    in_words = "gives each pixel of an image a label; which labels neighbours have counts, too"
    takes_allowed = True

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
        likelihood: LikelihoodName = "exact",
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
        self.likelihood = likelihood

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"k_best", "sums", "pair_marginals", "samples", "posterior", "explain", "partial"})

    @property
    def costs(self) -> ByDecoder:
        return TREE_COSTS

    def read(self, X: Any, Y: Any) -> tuple[list[FloatArray], LabelImages]:
        images = read_images(X)
        return images, read_label_images(Y, images)

    def read_partial(self, X: Any, Y: Any) -> tuple[list[FloatArray], LabelImages]:
        return self.read(X, Y)

    def specify(self, X: Any, Y: Any) -> GridSpec:
        images, Y = self.read(X, Y)
        spec = self._specified(images, Y.classes)
        # Refused by name where labels are known in part.
        Y.coded(spec.classes, allow_unknown=True)
        return spec

    def specify_partial(self, X: Any, Y: Any) -> GridSpec:
        images, Y = self.read(X, Y)
        if self.classes is None and not Y.classes:
            raise ValueError(f"Y says nothing about any pixel of {count(len(Y), 'image')}; training needs some labels")
        return self._specified(images, Y.classes)

    def _specified(self, images: list[FloatArray], observed: tuple[Any, ...]) -> GridSpec:
        self.check_options()
        classes = observed if self.classes is None else declared_classes(self.classes)
        self.loss_object().check_labels(classes)
        contrast = contrast_scale(images, self.neighbours) if self.contrast else None
        return GridSpec(classes=classes, n_inputs=images[0].shape[2], contrast=contrast)

    def bind(
        self, spec: GridSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False, allowed: Any = None
    ) -> GridProblem | ListedGridProblem:
        """See `Model.bind`; `allowed` says which labels each pixel may have, as `read_label_images` takes it."""
        images = read_images(X)
        codes = None
        if Y is not None:
            codes = read_label_images(Y, images).coded(spec.classes, allow_unknown=allow_unknown)
        known = None
        if allowed is not None:
            said = read_label_images(allowed, images, name="allowed")
            known = PixelTable(said.kinds, said.possible(spec.classes))
            if codes is not None and not allow_unknown:
                said.check_truths(codes, spec.classes, known.rows)
        prices = None if codes is None else PixelTable(codes, self.loss_object().cost(spec.classes))
        return self._bound(spec, images, codes, prices, known)

    def _bound(
        self,
        spec: GridSpec,
        images: list[FloatArray],
        codes: list[LabelArray] | None,
        prices: PixelTable | None,
        allowed: PixelTable | None,
    ) -> GridProblem | ListedGridProblem:
        """By junction trees if these are asked for or all are small, and searched otherwise."""
        if images[0].shape[2] != spec.n_inputs:
            # Of a single image in the place of a list, rows are taken for images and channels for columns.
            single = {image.shape[1:] for image in images} == {(spec.n_inputs, 1)}
            told = "; put one image into a list, [image]" if single else ""
            raise ValueError(f"X has {count(images[0].shape[2], 'channel')} but training had {spec.n_inputs}{told}")
        shapes = [image.shape[:2] for image in images]
        if spec.intercept:
            images = [np.concatenate([image, np.ones((*image.shape[:2], 1))], axis=2) for image in images]
        search, near = Search(self.engine, self.max_seconds), self._neighbours(spec)
        data: dict[str, Any] = {
            "images": images,
            "channels": spec.n_inputs,
            "classes": spec.classes,
            "table": None if self.pairwise is None else PairTable.of(self.pairwise, spec.classes),
            "neighbours": near,
            "likelihood": self.likelihood,
        }
        named = search.name == JunctionTree.name
        # Without pairs every tree is a pixel, whatever the engine.
        if self.pairwise is None or named or (search.name == "auto" and fits_in_trees(shapes, len(spec.classes), near)):
            listed = ListedGridProblem(
                **data,
                codes=None if codes is None else np.concatenate([code.ravel() for code in codes]),
                loss=BoundLoss() if prices is None else _listed_loss(prices),
                allowed=None if allowed is None else allowed.flat(),
                tree_bytes=LARGEST_TREE if named or self.pairwise is None else TREE_BYTES,
            )
            if not len(listed.too_wide):
                return listed
            if named:
                i = int(listed.too_wide[0])
                raise ValueError(
                    f"the junction tree of X[{i}], {shapes[i][0]} × {shapes[i][1]} pixels, would take more than "
                    f"{in_bytes(LARGEST_TREE)}; take another engine"
                )
        return GridProblem(**data, codes=codes, prices=prices, search=search, allowed=allowed)

    def partial_loss(self, spec: GridSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> BoundLoss:
        """A label that cannot be true costs what it costs beside the cheapest of those that can."""
        known = read_label_images(Y, read_images(X))
        return _listed_loss(self._known_prices(spec, known, allow_unknown=allow_unknown))

    def _known_prices(self, spec: GridSpec, known: LabelImages, *, allow_unknown: bool) -> PixelTable:
        cost = self.loss_object().cost(spec.classes)
        possible = known.possible(spec.classes, allow_unknown=allow_unknown)
        rows = [cost[flags].min(axis=0) if flags.any() else np.ones(len(cost)) for flags in possible]
        return PixelTable(known.kinds, np.array(rows))

    def bind_partial(self, spec: GridSpec, X: Any, Y: Any, *, allow_unknown: bool = False) -> Any:
        images = read_images(X)
        known = read_label_images(Y, images)
        prices = self._known_prices(spec, known, allow_unknown=allow_unknown)

        def possible() -> Any:
            return self._bound(spec, images, None, None, PixelTable(known.kinds, known.possible(spec.classes)))

        def encode(outputs: Sequence[Any]) -> list[LabelArray]:
            codes = read_label_images(outputs, images).coded(spec.classes, allow_unknown=False)
            known.check_truths(codes, spec.classes, known.possible(spec.classes))
            return codes

        free = self._bound(spec, images, None, prices, None)
        if isinstance(free, GridProblem):
            return PartialGridProblem(free, possible, encode)
        return PartialProblem(free, possible, _listed_loss(prices), lambda outputs: free.unpack(encode(outputs)))

    def loss_object(self) -> LabelLoss:
        """The loss that the option stands for."""
        return self.loss if isinstance(self.loss, LabelLoss) else Hamming(self.label_weight)

    def loss_in_words(self) -> str:
        return self.loss_object().in_words()

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        known = read_label_images(Y, predicted)
        if known.whole:
            return node_measures(Y, predicted, place=self.place)
        return node_measures(known.beside(predicted), predicted, ignore=[None], place=self.place)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        return draw_grid(y, truth, classes=self.classes, width=width)

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
        choice_option("likelihood", self.likelihood, tuple(LIKELIHOODS))


def _listed_loss(prices: PixelTable) -> BoundLoss:
    """For pixels that stand one after another."""
    kinds = np.concatenate([one.ravel() for one in prices.kinds]).astype(np.int32)
    return bound_label_costs(kinds, offsets_of([one.size for one in prices.kinds]), prices.rows)
