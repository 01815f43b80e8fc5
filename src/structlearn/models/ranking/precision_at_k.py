"""Rankings of which only the first k documents count, where nobody says which of the relevant ones come first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.queries import grades_of, ranked, relevances, warn_of_empty
from structlearn.data.ragged import Ragged, owners_of, summed
from structlearn.drawing import Drawing, draw_ranking
from structlearn.losses.rankings import check_k, check_threshold
from structlearn.metrics import Measures
from structlearn.metrics.rankings import ranking_measures
from structlearn.models.base import ByDecoder
from structlearn.models.ranking.document_model import DocumentModel
from structlearn.models.ranking.documents import Documents
from structlearn.models.ranking.spec import DocumentSpec
from structlearn.waist.latent import LatentProblem, Start
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows


class PrecisionAtK(DocumentModel):
    """Ψ(x, y, h) = (1/k) Σ_j x_h(j) with h the first k documents of an order in which the relevant ones come first.

    For `LatentStructuralSVM` (Yu 2011, Section 5.4.3): the data have the relevance y of a query's documents, the order
    of equally relevant ones is latent. Δ(y, ŷ, ĥ) = min{1, n(y)/k} − (1/k) Σ_j [ĥ_j is relevant], with n(y) relevant
    documents, is what precision among the first k falls short of. `predict` returns the rankings, row numbers with
    the best first, `predict_latent` their first k.

    Parameters
    ----------
    k : int
        How many documents count. A query with fewer has all of them in h.
    threshold : float
        Documents whose relevance is above it are relevant. If there are more than two grades, a latent order has
        those of higher grades first.

    Notes
    -----
    Learning begins at the weights of a linear classifier of relevant and other documents, each of them weighted by one
    over the number of documents of its query: with orders at random it ends near w = 0 (Yu 2011). The classifier is
    scikit-learn's ``LinearSVC(C=1)``, with an intercept that is left out of the weights; other weights are given as
    `init`. See `Ranking` for losses of rankings without latent parts.

    A query without relevant documents, without others, or with no more than k teaches nothing. It has no slack, but
    counts in the number of examples; training warns of such queries.

    Examples
    --------
    >>> from structlearn import LatentStructuralSVM
    >>> X = [[[2.0, 0.0], [2.0, 1.0], [1.0, 0.2]], [[2.0, 0.0], [3.0, 1.0]]]
    >>> Y = [[0, 1, 1], [0, 1]]
    >>> svm = LatentStructuralSVM(PrecisionAtK(k=1), C=100).fit(X, Y)
    >>> svm.predict([[[1.0, 0.0], [2.0, 0.5], [3.0, 1.0]]]), svm.predict_latent(X)
    ([array([2, 1, 0])], [array([1]), array([1])])
    """

    def loss_in_words(self) -> str:
        return f"what precision at {self.k} falls short of"

    refusals: ClassVar[ByDecoder] = {
        "second_best": "all choices of k relevant documents are as good as the truth",
        "k_best": "all orders of the first k documents score the same",
        "loss_levels": "only margin rescaling with linear slacks is written: Yu (2011) has no other",
        "sums": "likelihoods of latent rankings are not written; margins only",
        "partial": "its truths are partial already: the order of the relevant documents is latent",
    }

    @property
    def costs(self) -> ByDecoder:
        return {"best": "d log d", "loss_augmented": "d log d"}

    def __init__(self, k: int = 10, *, threshold: float = 0.0):
        self.k = k
        self.threshold = threshold

    def check_options(self) -> None:
        check_k(self.k)
        check_threshold(self.threshold)

    def specify(self, X: Any, Y: Any) -> DocumentSpec:
        self.check_options()
        spec = DocumentSpec.of(X)
        losses = self.bind(spec, X, Y).max_losses()
        warn_of_empty(losses, f"all rankings have as many relevant documents among the first {self.k}")
        return spec

    def bind(self, spec: DocumentSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> PrecisionAtKProblem:
        documents = Documents.bound(spec, X)
        relevance = None if Y is None else relevances(Y, documents.offsets)
        return PrecisionAtKProblem(documents, relevance, self.k, self.threshold)

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        """See `structlearn.metrics.rankings`. A ranking is right if no document stands before a more relevant one."""
        return ranking_measures(Y, predicted, self.threshold, self.k, f"precision_at_{self.k}")

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        """See `structlearn.drawing.draw_ranking`."""
        return draw_ranking(y, truth, k=self.k)


class PrecisionAtKProblem(LatentProblem):
    """A `PrecisionAtK` bound to data. Outputs are arrays of documents, the best first, of which the first k count."""

    oracles = frozenset({"best", "loss_augmented"})

    def __init__(self, documents: Documents, relevance: FloatArray | None, k: int, threshold: float):
        self.n_examples = len(documents)
        self.n_features = documents.flat.shape[1]
        self._documents = documents
        self._k = k
        if relevance is not None:
            self._relevant = (relevance > threshold).astype(np.float64)
            self._grades = grades_of(relevance, documents.offsets)
            self._n_relevant = summed(self._relevant, documents.offsets)

    def best(self, w: FloatArray, examples: IntArray) -> Ragged:
        rows, offsets = self._documents.places(examples)
        return Ragged(ranked(self._documents.scores(w, rows), offsets, self.n_threads), offsets)

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        rows, offsets = self._documents.places(examples)
        scores = self._documents.scores(w, rows) - self._relevant[rows]
        return self._first(ranked(scores, offsets, self.n_threads), offsets)

    def complete(self, w: FloatArray, examples: IntArray) -> list[LabelArray]:
        rows, offsets = self._documents.places(examples)
        scores = self._documents.scores(w, rows)
        return self._first(ranked(scores, offsets, self.n_threads, self._grades[rows]), offsets)

    def between(self, examples: IntArray, left: Outputs, right: Outputs) -> SparseRows:
        rows, offsets = self._documents.places(examples)
        coefficients = np.zeros(len(rows))
        for outputs, sign in ((left, 1.0), (right, -1.0)):
            _, places = self._places(outputs, offsets)
            coefficients[places] += sign / self._k
        return self._documents.combined(coefficients, rows, offsets)

    def output_losses(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        rows, offsets = self._documents.places(examples)
        query, places = self._places(outputs, offsets)
        hits = np.bincount(query, self._relevant[rows[places]], minlength=len(examples))
        return np.asarray((np.minimum(self._k, self._n_relevant[examples]) - hits) / self._k, np.float64)

    def random_completions(self, random: np.random.Generator) -> list[LabelArray]:
        keys, offsets = random.random(len(self._relevant)), self._documents.offsets
        return self._first(ranked(keys, offsets, self.n_threads, self._grades), offsets)

    def completions_of(self, latent: Sequence[Any]) -> list[LabelArray]:
        return [self._completion(q, h) for q, h in enumerate(latent)]

    def start(self, random: np.random.Generator) -> Start:
        if self._relevant.all() or not self._relevant.any():
            return super().start(random)
        counts = np.diff(self._documents.offsets)
        matrix = self._documents.flat
        with np.errstate(over="ignore"):
            largest = float(self._documents.norms().max())
        if largest > 1e100:
            # LIBLINEAR would search for a step for ever.
            raise FloatingPointError(f"X has a document with ‖x‖ = {largest:g}; scale the features")
        if sp.issparse(matrix):
            # LIBLINEAR takes no other indices.
            parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
            matrix = sp.csr_array(parts, matrix.shape)
        # Takes half a second to import, which only training need wait for.
        from sklearn.svm import LinearSVC

        classifier = LinearSVC(dual=False).fit(matrix, self._relevant, np.repeat(1.0 / counts, counts))
        return Start(w=np.asarray(classifier.coef_[0], np.float64))

    def max_losses(self) -> FloatArray:
        others = np.diff(self._documents.offsets) - self._n_relevant
        best = np.minimum(self._k, self._n_relevant)
        unavoidable = np.minimum(self._n_relevant, np.maximum(self._k - others, 0))
        return np.asarray((best - unavoidable) / self._k, np.float64)

    def radii(self) -> FloatArray:
        return self._documents.radii()

    def present(self, outputs: Outputs) -> list[IntArray]:
        return [np.asarray(output, np.int64) for output in outputs]

    def present_latent(self, outputs: Outputs) -> list[IntArray]:
        return [np.asarray(output[: self._k], np.int64) for output in outputs]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "documents": int(self._documents.offsets[-1])}

    def fingerprint(self) -> str:
        return self._documents.digest(self._grades, self._relevant, np.array([self._k]))

    def _first(self, order: LabelArray, offsets: IntArray) -> list[LabelArray]:
        """The first k of each query."""
        return [ranking[: self._k] for ranking in Ragged(order, offsets)]

    def _places(self, outputs: Outputs, offsets: IntArray) -> tuple[IntArray, IntArray]:
        """Of each document in the first k its query and its place among the documents of all the queries."""
        first = Ragged.of(output[: self._k] for output in outputs)
        query = owners_of(first.offsets)
        return query, first.flat + offsets[query]

    def _completion(self, q: int, h: Any) -> LabelArray:
        begin, end = self._documents.offsets[q : q + 2]
        size = min(self._k, int(end - begin))
        places = np.asarray(h)
        if places.ndim != 1 or places.dtype.kind not in "iu" or len(places) != size:
            raise ValueError(f"the latent part of Y[{q}] is {h!r}; expected the row numbers of {size} documents")
        if len(set(places.tolist())) < size or places.min() < 0 or places.max() >= end - begin:
            raise ValueError(f"the latent part of Y[{q}] is {h!r}; expected different rows of its {end - begin}")
        grades = self._grades[begin:end]
        left_out = np.delete(grades, places)
        if len(left_out) and left_out.max() > grades[places].min():
            raise ValueError(f"the latent part of Y[{q}] is {h!r}, which leaves out a more relevant document")
        return places.astype(np.int32)
