"""Rankings of the documents of a query, learnt for the measure by which they are judged."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.queries import Gain, ranked, relevances, warn_of_empty
from structlearn.data.ragged import Ragged
from structlearn.data.tokens.sequences import read_sequences
from structlearn.drawing import Drawing, draw_ranking
from structlearn.losses.rankings import LossName, RankingLoss, check_ranking_loss, ranking_loss
from structlearn.metrics import Measures
from structlearn.metrics.rankings import ranking_measures
from structlearn.models.base import ByDecoder
from structlearn.models.ranking.document_model import DocumentModel
from structlearn.models.ranking.documents import Documents
from structlearn.models.ranking.spec import DocumentSpec
from structlearn.waist.planes import Outputs
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows


class Ranking(DocumentModel):
    """The ranking of a query's documents by ⟨w, x⟩, with a loss of the whole ranking.

    An example's input is a matrix with a row a document, its output for training the documents' relevance, for
    prediction the ranking: the numbers of the rows, the best first. Documents with equal scores keep their order. A
    whole set of examples of two classes is one query.

    Parameters
    ----------
    loss : {"roc_area", "average_precision", "ndcg", "precision_at_k", "recall_at_k", "break_even"}
        What the margins are scaled by: what a ranking falls short of by this measure.

        - "roc_area": the share of pairs of documents of different relevance that are in the wrong order. The slack is
          the mean of max(0, 1 − ⟨w, x_i − x_j⟩) over these pairs, which is the ranking SVM.
        - "average_precision": SVM^map (Yue, Finley, Radlinski and Joachims 2007).
        - "ndcg": the normalised discounted cumulative gain, of the first k documents if k is given.
        - "precision_at_k", "recall_at_k": relevant documents among the first k, divided by k or by all that there are.
        - "break_even": precision where it equals recall, at the number of relevant documents.
    k : int, optional
        How many documents count, for the losses "at_k" and for "ndcg".
    threshold : float
        Documents whose relevance is above it are relevant; of no importance to "roc_area" and "ndcg".
    gain : {"exponential", "linear"}
        Whether a document of relevance y gains 2^y − 1 or y in "ndcg", at most 2⁵³ in either case.

    Notes
    -----
    The loss-augmented problems are solved exactly, in O(n log n) for n documents but for "average_precision", O(R N)
    with R relevant and N other documents, and "ndcg", see `structlearn.losses.rankings.NdcgLoss`. "roc_area",
    "average_precision" and "ndcg" have the joint features of `PairLoss`, the others those of `PositionLoss`. The latter
    differ from SVM^perf (Joachims 2005) where k is not the number of relevant documents: there the truth is no possible
    output, and the slack no upper bound on the loss. With many more relevant documents than k they learn little, since
    all of them are pulled up at once: see `PrecisionAtK`, which leaves the choice of k of them open.

    A query whose rankings are all equally good, as where no document is relevant, teaches nothing. It has no slack, but
    counts in the number of examples; training warns of such queries.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> X = [[[3.0, 0.0], [2.0, 1.0], [1.0, 0.0]], [[5.0, 0.0], [4.0, 1.0]]]
    >>> Y = [[0, 1, 0], [0, 1]]
    >>> svm = StructuralSVM(Ranking("average_precision"), C=100).fit(X, Y)
    >>> svm.predict([[[1.0, 0.0], [2.0, 0.5], [3.0, 1.0]]])
    [array([2, 1, 0])]
    """

    def loss_in_words(self) -> str:
        return {
            "roc_area": "the share of pairs of documents in the wrong order",
            "average_precision": "1 − average precision",
            "ndcg": f"1 − NDCG{'' if self.k is None else f'@{self.k}'}",
            "precision_at_k": f"what precision at {self.k} falls short of",
            "recall_at_k": f"what recall at {self.k} falls short of",
            "break_even": "1 − precision at the number of relevant documents",
        }[self.loss]

    refusals: ClassVar[ByDecoder] = {
        "second_best": "documents of equal relevance can change places, so that many rankings are as good as the truth",
        "k_best": "documents of equal relevance can change places: the best rankings are one and the same many times",
        "loss_levels": "no algorithm is known for the best ranking of every value that the measure can have",
        "sums": "no polynomial algorithm sums over all rankings of the documents",
        "partial": "relevance is a partial ranking already; PrecisionAtK leaves the rest of it latent",
    }

    @property
    def costs(self) -> ByDecoder:
        once = "d log d" if self.loss != "average_precision" else "d²"
        return {"best": "d log d", "loss_augmented": once}

    def __init__(
        self, loss: LossName = "roc_area", *, k: int | None = None, threshold: float = 0.0, gain: Gain = "exponential"
    ):
        self.loss = loss
        self.k = k
        self.threshold = threshold
        self.gain = gain

    def specify(self, X: Any, Y: Any) -> DocumentSpec:
        self.check_options()
        spec = DocumentSpec.of(X)
        offsets = read_sequences(X).offsets
        losses = self.loss_of(relevances(Y, offsets), offsets).max_losses()
        warn_of_empty(losses, "all rankings of the documents are equally good")
        return spec

    def bind(self, spec: DocumentSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> RankingProblem:
        documents = Documents.bound(spec, X)
        loss = None if Y is None else self.loss_of(relevances(Y, documents.offsets), documents.offsets)
        return RankingProblem(documents, loss)

    def measures(self, X: Any, Y: Any, predicted: Any) -> Measures:
        """See `structlearn.metrics.rankings`. A ranking is right if no document stands before a more relevant one."""
        first = {"precision_at_k": f"precision_at_{self.k}", "ndcg": f"ndcg_at_{self.k or 10}"}
        measure = first.get(self.loss, "mean_average_precision")
        return ranking_measures(Y, predicted, self.threshold, self.k, measure)

    def drawing(self, x: Any, y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
        """See `structlearn.drawing.draw_ranking`."""
        return draw_ranking(y, truth, k=self.k)

    def loss_of(self, relevance: FloatArray, offsets: IntArray) -> RankingLoss:
        """The loss on documents of this relevance, with a query between any two offsets."""
        return ranking_loss(self.loss, relevance, offsets, k=self.k, threshold=self.threshold, gain=self.gain)

    def check_options(self) -> None:
        check_ranking_loss(self.loss, self.k, self.threshold, self.gain)


class RankingProblem(Problem):
    """A `Ranking` bound to data. Outputs are arrays of documents, counted from 0 in each query, the best first."""

    oracles = frozenset({"best", "loss_augmented"})

    def __init__(self, documents: Documents, loss: RankingLoss | None):
        self.n_examples = len(documents)
        self.n_features = documents.flat.shape[1]
        self._documents = documents
        self._loss = loss

    def best(self, w: FloatArray, examples: IntArray) -> Ragged:
        rows, offsets = self._documents.places(examples)
        return Ragged(ranked(self._documents.scores(w, rows), offsets, self.n_threads), offsets)

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> Ragged:
        assert self._loss is not None
        rows, offsets = self._documents.places(examples)
        return self._loss.most_violating(self._documents.scores(w, rows), examples, rows, offsets, self.n_threads)

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[SparseRows, FloatArray]:
        assert self._loss is not None
        rows, offsets = self._documents.places(examples)
        coefficients, losses = self._loss.compare(list(outputs), examples, rows, offsets, self.n_threads)
        return self._documents.combined(coefficients, rows, offsets), losses

    def max_losses(self) -> FloatArray:
        assert self._loss is not None
        return self._loss.max_losses()

    def radii(self) -> FloatArray:
        return self._documents.radii()

    def present(self, outputs: Outputs) -> list[IntArray]:
        return [np.asarray(output, np.int64) for output in outputs]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "documents": int(self._documents.offsets[-1])}

    def fingerprint(self) -> str:
        assert self._loss is not None
        return self._documents.digest(*self._loss.identity())
