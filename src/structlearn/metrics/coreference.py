"""How well clusters of mentions were found: the measures of coreference resolution, and pairs.

In `Y` and `Y_pred` a document has a label for every mention, or lists of mentions, of any hashable kind. Lists of
truth and prediction need not have the same mentions; what a list leaves out is missing. Clusters of one mention count
where the definitions let them, as in the reference scorer (Pradhan et al. 2014): in B³ and CEAF, but not in MUC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from structlearn.data.arrays import FloatArray
from structlearn.metrics.measures import Columns, Formulas, Measures
from structlearn.metrics.resampled import Formula, quotient
from structlearn.metrics.scores import Score, ratio

Clusters = list[list[Hashable]]

#: Columns of `coreference_counts`: for each measure correct and all of precision, correct and all of recall.
MEASURES = ("muc", "b_cubed", "ceaf_m", "ceaf_e")


@dataclass(frozen=True, slots=True)
class CoreferenceScores:
    """Precision, recall and F1 by each measure; the support is the number of true mentions.

    Attributes
    ----------
    muc : Score
        Links: of a cluster of n mentions n − 1, less those that the other side lacks (Vilain et al. 1995).
    b_cubed : Score
        The mean, over mentions, of the part of a mention's cluster that it shares (Bagga and Baldwin 1998).
    ceaf_m, ceaf_e : Score
        Clusters matched one to one, for most mentions in common (φ₃) or most F1 of mentions (φ₄) (Luo 2005).
    """

    muc: Score
    b_cubed: Score
    ceaf_m: Score
    ceaf_e: Score

    @property
    def conll(self) -> float:
        """The mean F1 of MUC, B³ and CEAF-e, by which the shared tasks of CoNLL ranked."""
        return (self.muc.f1 + self.b_cubed.f1 + self.ceaf_e.f1) / 3.0

    @property
    def mitre_loss(self) -> float:
        """1 − F1 of MUC, which is MITRE's measure."""
        return 1.0 - self.muc.f1

    def __str__(self) -> str:
        rows = [(name, getattr(self, name)) for name in MEASURES]
        lines = [f"{name:8}  {s.precision:9.4f}  {s.recall:6.4f}  {s.f1:6.4f}" for name, s in rows]
        return "\n".join(["          precision  recall      F1", *lines, f"{'CoNLL':28}{self.conll:6.4f}"])


def coreference_scores(Y: Sequence[Any], Y_pred: Sequence[Any]) -> CoreferenceScores:
    """MUC, B³ and both CEAF over all documents: what is counted is summed before it is divided.

    Examples
    --------
    The example of the reference scorer's paper (Pradhan et al. 2014, section 4):

    >>> key, response = ["abc", "defg"], ["ab", "cd", "fghi"]
    >>> found = coreference_scores([[list(c) for c in key]], [[list(c) for c in response]])
    >>> round(found.muc.recall, 2), round(found.b_cubed.recall, 2), round(found.ceaf_e.precision, 2)
    (0.4, 0.42, 0.43)
    """
    documents = _documents(Y, Y_pred)
    sums = np.sum([_counts(*document) for document in documents], axis=0)
    n_mentions = sum(len(cluster) for key, _ in documents for cluster in key)
    precision, recall = ratio(sums[:, 0], sums[:, 1]), ratio(sums[:, 2], sums[:, 3])
    f1 = ratio(2.0 * precision * recall, precision + recall)
    rows = zip(precision.tolist(), recall.tolist(), f1.tolist(), strict=True)
    return CoreferenceScores(*(Score(*row, n_mentions) for row in rows))


def coreference_counts(Y: Sequence[Any], Y_pred: Sequence[Any]) -> FloatArray:
    """(n_documents, 16): the numbers of each document whose sums make the scores; for `bootstrap_counts`.

    Four for each of MUC, B³, CEAF-m and CEAF-e: the numerator and the denominator of precision, those of recall.

    >>> coreference_counts([[0, 0, 1]], [[0, 0, 0]])[0, :4].tolist()
    [1.0, 2.0, 1.0, 1.0]
    """
    return np.array([_counts(*document).ravel() for document in _documents(Y, Y_pred)])


def pair_losses(Y: Sequence[Any], Y_pred: Sequence[Any]) -> FloatArray:
    """The part of each document's pairs of mentions that are together in the truth or the prediction only.

    Both must have the same mentions. A document with fewer than two has loss 0.

    >>> pair_losses([[0, 0, 1]], [[[0, 1, 2]]])
    array([0.66666667])
    """
    losses = []
    for i, (key, response) in enumerate(_documents(Y, Y_pred)):
        mentions = {m for cluster in key for m in cluster}
        if mentions != {m for cluster in response for m in cluster}:
            raise ValueError(f"Y[{i}] and Y_pred[{i}] have different mentions; pairs are compared of the same ones")
        n, common = len(mentions), _overlaps(key, response)
        together = [sum(len(c) * (len(c) - 1) for c in clusters) for clusters in (key, response)]
        wrong = sum(together) - 2.0 * float((common * (common - 1)).sum())
        losses.append(wrong / max(n * (n - 1), 1))
    return np.array(losses)


def coreference_measures(Y: Sequence[Any], Y_pred: Sequence[Any]) -> Measures:
    """The CoNLL mean, the F1 of its parts and of CEAF-m, precision and recall of MUC, and the mean pair loss.

    >>> found = coreference_measures([[0, 0, 1]], [[0, 0, 0]]).scores()
    >>> round(found["conll"], 4), round(found["pair_loss"], 4)
    (0.6381, 0.6667)
    """
    counts = np.column_stack([coreference_counts(Y, Y_pred), pair_losses(Y, Y_pred), np.ones(len(Y))])
    return Measures(counts, _formulas, counts[:, 16] == 0.0)


def _formulas(columns: Columns) -> Formulas:
    def f1_of(measure: str) -> Formula:
        at = 4 * MEASURES.index(measure)

        def f1(sums: FloatArray) -> FloatArray:
            precision, recall = (ratio(sums[..., at + k], sums[..., at + k + 1]) for k in (0, 2))
            return ratio(2.0 * precision * recall, precision + recall)

        return f1

    def conll(sums: FloatArray) -> FloatArray:
        return np.asarray(sum(f1_of(name)(sums) for name in ("muc", "b_cubed", "ceaf_e")) / 3.0)

    formulas: dict[str, Formula] = {"conll": conll} | {f"{name}_f1": f1_of(name) for name in MEASURES}
    return formulas | {"muc_precision": quotient(0, 1), "muc_recall": quotient(2, 3), "pair_loss": quotient(16, 17)}


def _counts(key: Clusters, response: Clusters) -> FloatArray:
    """A row a measure: correct and all of precision, correct and all of recall."""
    common = _overlaps(key, response)
    sizes = np.array([len(c) for c in key], np.float64), np.array([len(c) for c in response], np.float64)
    return np.array(
        [
            [*_links(common.T, sizes[1]), *_links(common, sizes[0])],
            [*_shared(common.T, sizes[1]), *_shared(common, sizes[0])],
            _matched(common, sizes[1].sum(), sizes[0].sum()),
            _matched(ratio(2.0 * common, np.add.outer(*sizes)), len(response), len(key)),
        ]
    )


def _links(common: FloatArray, sizes: FloatArray) -> tuple[float, float]:
    """MUC: a cluster whose mentions are in p parts on the other side has p − 1 links missing.

    A mention that the other side lacks is a part of its own.
    """
    parts = (common > 0).sum(axis=1) + sizes - common.sum(axis=1)
    return float((sizes - parts).sum()), float((sizes - 1).sum())


def _shared(common: FloatArray, sizes: FloatArray) -> tuple[float, float]:
    return float(ratio((common**2).sum(axis=1), sizes).sum()), float(sizes.sum())


def _matched(similarity: FloatArray, n_response: float, n_key: float) -> tuple[float, float, float, float]:
    best = float(similarity[scipy.optimize.linear_sum_assignment(similarity, maximize=True)].sum())
    return best, n_response, best, n_key


def _overlaps(key: Clusters, response: Clusters) -> FloatArray:
    """How many mentions the clusters of both sides have in common, (n_key, n_response)."""
    owner = {mention: k for k, cluster in enumerate(response) for mention in cluster}
    common = np.zeros((len(key), len(response)))
    for row, cluster in zip(common, key, strict=True):
        for k, count in Counter(owner[m] for m in cluster if m in owner).items():
            row[k] = count
    return common


def _documents(Y: Sequence[Any], Y_pred: Sequence[Any]) -> list[tuple[Clusters, Clusters]]:
    if len(Y) != len(Y_pred):
        raise ValueError(f"Y has {len(Y)} documents but Y_pred has {len(Y_pred)}")
    if not len(Y):
        raise ValueError("Y has no documents")
    documents = []
    for i, (y, found) in enumerate(zip(Y, Y_pred, strict=True)):
        if _has_labels(y) and _has_labels(found) and len(y) != len(found):
            raise ValueError(f"Y[{i}] has labels of {len(y)} mentions but Y_pred[{i}] of {len(found)}")
        documents.append((_clusters(y, f"Y[{i}]"), _clusters(found, f"Y_pred[{i}]")))
    return documents


def _has_labels(y: Any) -> bool:
    if isinstance(y, (str, bytes)) or not hasattr(y, "__len__"):
        return False
    return isinstance(y, np.ndarray) or any(isinstance(c, str) or not hasattr(c, "__len__") for c in y)


def _clusters(y: Any, where: str) -> Clusters:
    if isinstance(y, (str, bytes)) or not hasattr(y, "__len__"):
        raise ValueError(f"{where} is {y!r}; expected a label for every mention, or lists of mentions")
    if _has_labels(y):
        by_label: dict[Hashable, list[Hashable]] = {}
        for mention, label in enumerate(y):
            by_label.setdefault(label, []).append(mention)
        return list(by_label.values())
    clusters = [list(cluster) for cluster in y]
    counts = Counter(mention for cluster in clusters for mention in cluster)
    twice = next((mention for mention, count in counts.items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"{where} has the mention {twice!r} in two clusters")
    return [cluster for cluster in clusters if cluster]
