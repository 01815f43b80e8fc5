"""Sums over the labels of images of any size: what stands for their likelihood, marginals by messages, chains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import Ragged, offsets_of
from structlearn.kernels.threads import in_order
from structlearn.losses.bound import BoundLoss
from structlearn.models.graph.pair_tables import PairTable
from structlearn.models.graph.problem import TREE_BYTES
from structlearn.models.graph.summed_problem import WAYS_OUT
from structlearn.models.grid.likelihoods import ImagePairs, Slopes, piecewise_sums, pseudo_loss
from structlearn.models.grid.listed_problem import ListedGridProblem, fits_in_trees
from structlearn.models.grid.neighbours import Neighbours
from structlearn.waist.parts import PartProblem
from structlearn.wording import in_bytes

#: Pixels of images whose edges are listed at a time, unless one image has more.
PIXELS_AT_ONCE = 100_000
#: What a refusal of sums offers.
WITH_TREES = f"engine='junction_tree' takes tables of up to {in_bytes(TREE_BYTES)} an image"


class PixelTable:
    """What something means for the labels of each pixel: a row, (n_labels,), for each kind of pixel.

    Attributes
    ----------
    kinds : list of (n_rows, n_columns) arrays
    rows : (n_kinds, n_labels)
    """

    def __init__(self, kinds: Sequence[LabelArray], rows: npt.NDArray[Any]):
        self.kinds = kinds
        self.rows = rows

    def of(self, i: int) -> npt.NDArray[Any]:
        """(n_rows, n_columns, n_labels) of an image."""
        return np.asarray(self.rows[self.kinds[i]])

    def flat(self) -> npt.NDArray[Any]:
        """(n_pixels, n_labels) of all images, one after another."""
        return np.concatenate([self.rows[kinds.ravel()] for kinds in self.kinds])

    def with_row(self, row: npt.NDArray[Any]) -> PixelTable:
        """The same with one row more, that of kind −1."""
        return PixelTable(self.kinds, np.concatenate([self.rows, row[None]]))

    def arrays(self) -> list[npt.NDArray[Any]]:
        """All that it is, for digests."""
        return [self.rows, *(kinds.ravel() for kinds in self.kinds)]


class SummedGridProblem(PartProblem):
    """What of label images is a sum over labellings, without junction trees.

    The pseudo-likelihood and the piecewise one take the images as they are. Messages and chains get lists of edges, of
    a few images at a time. What needs log Z is refused by name, and so are marginals with likelihood="exact".
    """

    _images: Sequence[FloatArray]
    _codes: Sequence[LabelArray] | None
    _classes: tuple[Any, ...]
    _table: PairTable | None
    _neighbours: Neighbours
    _channels: int
    _allowed: PixelTable | None
    _true_features: Any
    _last: tuple[int, ListedGridProblem] | None = None
    # What needs the parts of images goes through them one by one.
    _chunk = 1

    @abstractmethod
    def _unaries(self, w: FloatArray, i: int, *, augmented: bool) -> FloatArray:
        """The scores of the labels of an image, with the loss if asked for; −∞ for those that pixels may not have."""

    def _list_parts(self) -> None:
        """Where the parts of each image would stand, and which images are listed together."""
        L, width, steps = len(self._classes), 0 if self._table is None else self._table.width, self._neighbours.steps
        pixels = np.array([image.shape[0] * image.shape[1] for image in self._images])
        pairs = [
            1 if self._neighbours.plain else sum((rows - down) * (columns - abs(right)) for down, right in steps)
            for rows, columns, _ in (image.shape for image in self._images)
        ]
        self.part_offsets = offsets_of(L * pixels + width * np.array(pairs))
        self._pixel_offsets = offsets_of(pixels)
        self._batch = np.zeros(len(pixels), np.int64)
        held = 0
        for i, n in enumerate(pixels.tolist()):
            held += n
            new = i > 0 and held > PIXELS_AT_ONCE
            held = n if new else held
            self._batch[i] = self._batch[i - 1] + new if i else 0

    def _graphs_with(self, i: int) -> tuple[ListedGridProblem, int]:
        """A few images as graphs, and the number of one among them; the last ones are kept."""
        batch = int(self._batch[i])
        which = np.flatnonzero(self._batch == batch)
        if self._last is None or self._last[0] != batch:
            self._last = None
            self._last = batch, self._as_graphs(which)
        return self._last[1], i - int(which[0])

    def _as_graphs(self, which: IntArray) -> ListedGridProblem:
        codes = None if self._codes is None else np.concatenate([self._codes[i].ravel() for i in which])
        allowed = None
        if self._allowed is not None:
            allowed = np.concatenate([self._allowed.of(i).reshape(-1, len(self._classes)) for i in which])
        return ListedGridProblem(
            images=[self._images[i] for i in which],
            channels=self._channels,
            neighbours=self._neighbours,
            table=self._table,
            codes=codes,
            classes=self._classes,
            loss=BoundLoss(),
            allowed=allowed,
            tree_bytes=0,
            likelihood=self.likelihood.name,
        )

    def _batches(self) -> Iterator[tuple[ListedGridProblem, IntArray]]:
        for batch in range(int(self._batch[-1]) + 1):
            which = np.flatnonzero(self._batch == batch)
            yield self._graphs_with(int(which[0]))[0], which

    def log_losses(
        self, w: FloatArray, weight: FloatArray | None = None, gradient: FloatArray | None = None
    ) -> FloatArray:
        if self.likelihood.is_exact:
            self._refuse("log Z")
        losses = np.empty(self.n_examples)
        if self.likelihood.name in ("pseudo", "piecewise"):
            several = self.n_examples >= self.n_threads
            across, within = (self.n_threads, 1) if several else (1, self.n_threads)
            found = in_order(lambda i: self._image_loss(w, i, within), range(self.n_examples), across)
            for i, (loss, slopes) in enumerate(found):
                losses[i] = loss
                if gradient is not None:
                    assert weight is not None
                    gradient += weight[i] * slopes
            return losses
        for listed, which in self._batches():
            losses[which] = listed.log_losses(w, None if weight is None else weight[which], gradient)
        return losses

    def _image_loss(self, w: FloatArray, i: int, n_threads: int) -> tuple[float, FloatArray]:
        """What stands for −log P(y_i | x_i), and its gradient."""
        assert self._codes is not None
        unaries, pairs = self._unaries(w, i, augmented=False), self._pairs(w, i)
        if self.likelihood.name == "pseudo":
            if self._codes[i].min() < 0:
                raise ValueError(f"Y[{i}] has labels that training never saw, which have no probability")
            loss, slopes = pseudo_loss(unaries, pairs, self._codes[i], n_threads)
            return loss, self._pushed(i, slopes)
        log_z, slopes = piecewise_sums(unaries, pairs, None if self._allowed is None else self._allowed.of(i))
        truth = self._true_features[i]
        return log_z - float(truth @ w), self._pushed(i, slopes) - truth

    def _pairs(self, w: FloatArray, i: int) -> ImagePairs | None:
        if self._table is None:
            return None
        weights = w[-self._neighbours.n_groups * self._neighbours.n_features * self._table.width :]
        shaped = weights.reshape(self._neighbours.n_groups, self._neighbours.n_features, -1)
        return ImagePairs(self._images[i][:, :, : self._channels], self._neighbours, self._table, shaped)

    def _pushed(self, i: int, slopes: Slopes) -> FloatArray:
        """From scores to weights."""
        image = self._images[i]
        of_labels = image.reshape(-1, image.shape[2]).T @ slopes.labels.reshape(-1, len(self._classes))
        return np.concatenate([of_labels.ravel(), slopes.pairs.ravel()])

    def scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        return np.concatenate([listed.scores(w, one) for listed, one in self._one_by_one(examples)])

    def expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        self._refuse("log Z and entropies")

    def push(self, marginals: FloatArray, examples: IntArray, coefficients: FloatArray, out: FloatArray) -> None:
        parts = Ragged(marginals, self._part_places(examples))
        for k, (listed, one) in enumerate(self._one_by_one(examples)):
            listed.push(parts[k], one, coefficients[k : k + 1], out)

    def true_parts(self, examples: IntArray) -> FloatArray:
        return np.concatenate([listed.true_parts(one) for listed, one in self._one_by_one(examples)])

    def _one_by_one(self, examples: IntArray) -> Iterator[tuple[ListedGridProblem, IntArray]]:
        for i in examples.tolist():
            listed, place = self._graphs_with(i)
            yield listed, np.array([place])

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(y_p = l | x) of every image by messages, (n_rows, n_columns, n_labels)."""
        if self.likelihood.is_exact:
            self._refuse("exact marginals")
        return [found for listed, _ in self._batches() for found in listed.label_probabilities(w)]

    def pair_probabilities(self, w: FloatArray) -> list[tuple[FloatArray, ...]]:
        """P(y_p = k, y_q = l | x) of every image, of each direction to neighbours, (…, …, n_labels, n_labels)."""
        if self.likelihood.is_exact:
            self._refuse("exact marginals")
        return [found for listed, _ in self._batches() for found in listed.pair_probabilities(w)]

    def most_probable_labels(self, w: FloatArray) -> list[LabelArray]:
        return [shares.argmax(axis=2).astype(np.int32) for shares in self.label_probabilities(w)]

    def gibbs_start(self) -> LabelArray:
        """Where Markov chains begin: at the truths, which are never forbidden."""
        assert self._codes is not None
        return np.concatenate([codes.ravel() for codes in self._codes]).astype(np.int32)

    def gibbs(
        self, w: FloatArray, examples: IntArray, chains: LabelArray, n_sweeps: int, random: np.random.Generator
    ) -> list[LabelArray]:
        """Moves the chains of some images, in place, by sweeps of Gibbs sampling; returns their labels."""
        found: list[LabelArray] = []
        for i, (listed, one) in zip(examples.tolist(), self._one_by_one(examples), strict=True):
            first = i - int(one[0])
            last = first + listed.n_examples
            mine = chains[self._pixel_offsets[first] : self._pixel_offsets[last]]
            # Chains move on, and outputs stay.
            found += [np.array(labels) for labels in listed.gibbs(w, one, mine, n_sweeps, random)]
        return found

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        self._refuse("probabilities of labellings")

    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> NoReturn:
        self._refuse("samples")

    def k_best(self, w: FloatArray, k: int) -> NoReturn:
        self._refuse("the k best labellings")

    def _refuse(self, what: str) -> NoReturn:
        L = len(self._classes)
        wide = [i for i, x in enumerate(self._images) if not fits_in_trees([x.shape[:2]], L, self._neighbours)]
        marginals = f"; for marginals {WAYS_OUT}" if "marginals" in what else ""
        rows, columns = self._images[wide[0] if wide else 0].shape[:2]
        raise ValueError(
            f"{what} need junction trees, and X[{wide[0] if wide else 0}], {rows} × {columns} pixels, has none: it is "
            f"too wide, or an engine was named that does without; {WITH_TREES}{marginals}"
        )
