"""A one-minute race that fails when the library has become wrong or much slower.

Multiclass SVM on scikit-learn's digits against `LinearSVC(multi_class="crammer_singer")`, same objective, no intercept:
the objectives must agree to 0.1 % and the ratio of the training times must stay below a ceiling. Prints one line.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from structlearn import StructuralSVM
from structlearn.models import Multiclass

#: More than twice the ratio measured when this was written, so that only a regression fails.
CEILING = 10.0


def median_seconds(run: Callable[[], object], repeats: int = 5) -> float:
    def once() -> float:
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin

    return statistics.median(once() for _ in range(repeats))


def main() -> int:
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    C = 0.1
    theirs = LinearSVC(multi_class="crammer_singer", fit_intercept=False, C=C, tol=1e-4, max_iter=100_000)
    ours = StructuralSVM(Multiclass(), C=C * len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        their_seconds = median_seconds(lambda: theirs.fit(X, y))
        our_seconds = median_seconds(lambda: ours.fit(X, y))
    scores = X @ theirs.coef_.T
    margins = scores[np.arange(len(y)), y][:, None] - scores + (np.arange(10) == y[:, None])
    objective = 0.5 * float((theirs.coef_**2).sum()) + C * float(np.maximum(0.0, 1.0 - margins).max(axis=1).sum())
    difference = ours.objective_ / objective - 1.0
    ratio = our_seconds / their_seconds
    print(
        f"digits: ours {our_seconds:.2f} s, LinearSVC {their_seconds:.2f} s, ratio {ratio:.1f} (ceiling {CEILING:g}); "
        f"objective {ours.objective_:.4f}, theirs {objective:.4f} ({difference:+.3%})"
    )
    return int(abs(difference) > 1e-3 or ratio > CEILING)


if __name__ == "__main__":
    sys.exit(main())
