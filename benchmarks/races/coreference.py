"""Clusters of mentions from pairs: heaviest spanning forests, against SciPy's minimum spanning trees, same weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from measure import Report, Row, Run, in_fresh_process, in_turns
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from sklearn.exceptions import ConvergenceWarning

from structlearn import LatentStructuralSVM
from structlearn.data.clusterings import to_labels
from structlearn.datasets import fetch_litbank
from structlearn.features import MentionPairs
from structlearn.models import LatentForest


def theirs(x: Any, w: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
    first, second = np.triu_indices(x.n_items, 1) if x.pairs is None else np.transpose(x.pairs)
    scores = (x.features @ w)[x.kinds]
    linked = scores > 0.0
    links = (-scores[linked], (first[linked], second[linked]))
    forest = minimum_spanning_tree(coo_array(links, shape=(x.n_items, x.n_items)))
    return connected_components(forest, directed=False)[1]


def both(n_documents: int) -> Run:
    documents = fetch_litbank()
    X = MentionPairs().fit_transform(documents.X[:n_documents])
    svm = LatentStructuralSVM(LatentForest(), C=12, max_iter=100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit(X[:4], documents.Y[:4])
    bound = svm.model_.bind(svm.spec_, X)
    mine = [to_labels(labels, x.n_items) for x, labels in zip(X, svm.predict(X), strict=True)]
    other = [to_labels(theirs(x, svm.w_), x.n_items) for x in X]
    found = in_turns(
        ours=lambda: bound.predict(svm.w_),
        from_pairs=lambda: svm.predict(X),
        theirs=lambda: [theirs(x, svm.w_) for x in X],
    )
    sizes = {"mentions": sum(x.n_items for x in X), "clusters": sum(len(np.unique(labels)) for labels in mine)}
    return found | sizes | {"same": all(map(np.array_equal, mine, other))}


def run(smoke: bool) -> Report:
    found = in_fresh_process("races.coreference:both", n_documents=8 if smoke else 100)
    reached = f"{found['mentions']} mentions in {found['clusters']} clusters"
    rows = [
        Row(key, key, "SciPy, minimum spanning trees", found[what], found["theirs"], reached=reached)
        for key, what in (("coreference, prepared data", "ours"), ("coreference, from pairs", "from_pairs"))
    ]
    return Report(rows, failures=[] if found["same"] else ["coreference: SciPy finds other clusters"])
