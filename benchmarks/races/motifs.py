"""The best site of a motif in every sequence: words looked up, against all windows scanned in NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from measure import Report, Row, Run, in_fresh_process, in_turns

from structlearn import LatentStructuralSVM
from structlearn.datasets import make_motifs
from structlearn.models import Motif

WIDTH = 11


def theirs(x: str, w: npt.NDArray[np.float64]) -> int:
    """A background of order 0; all letters are bases."""
    letters = np.frombuffer(x.encode(), np.uint8)
    bases = np.searchsorted(np.frombuffer(b"ACGT", np.uint8), letters)
    gains = (w[: 4 * WIDTH].reshape(WIDTH, 4) - w[4 * WIDTH :]).T[bases]  # of every letter at every place of the site
    scores = sum(gains[k : len(x) - WIDTH + 1 + k, k] for k in range(WIDTH))
    return int(np.max(scores) > 0.0)


def both(n_sequences: int) -> Run:
    made = make_motifs(n_sequences, random_state=0)
    model = Motif(WIDTH, background_order=0)
    svm = LatentStructuralSVM(model, C=100, tol=0.1, random_state=0).fit(made.X[:100], made.Y[:100])
    X = made.X
    found = in_turns(ours=lambda: svm.predict(X), theirs=lambda: [theirs(x, svm.w_) for x in X])
    labels = svm.predict(X).tolist()
    return found | {"positive": sum(labels), "same": labels == [theirs(x, svm.w_) for x in X]}


def run(smoke: bool) -> Report:
    n_sequences = 1000 if smoke else 20_000
    found = in_fresh_process("races.motifs:both", n_sequences=n_sequences)
    reached = f"{found['positive']} of {n_sequences} sequences"
    row = Row("motifs", "motifs, from sequences", "scan in NumPy", found["ours"], found["theirs"], reached=reached)
    return Report([row], failures=[] if found["same"] else ["motifs: NumPy finds other labels"])
