"""A small model with latent parts whose outputs can all be listed."""

from __future__ import annotations

from typing import Any

import numpy as np


class OneOfSeveral:
    """x is a matrix with a row for every latent choice; Ψ(x, y, h) is row h in the block of class y."""

    def __init__(self, n_classes: int, n_inputs: int):
        self.n_classes = n_classes
        self.n_inputs = n_inputs
        self.n_features = n_classes * n_inputs
        self.asked = 0

    def joint_feature(self, x: Any, y: int, h: int) -> Any:
        feature = np.zeros((self.n_classes, self.n_inputs))
        feature[y] = x[h]
        return feature.ravel()

    def loss(self, y: int, y_hat: int, h_hat: int) -> float:
        return 0.0 if y == y_hat else 1.0 + 0.1 * h_hat

    def completions(self, x: Any, y: int) -> range:
        return range(len(x))

    def outputs(self, x: Any) -> list[tuple[int, int]]:
        return [(y, h) for y in range(self.n_classes) for h in range(len(x))]

    def inference(self, x: Any, w: Any) -> tuple[int, int]:
        return self._best(x @ w.reshape(self.n_classes, -1).T)

    def loss_augmented_inference(self, x: Any, y: int, w: Any) -> tuple[int, int]:
        self.asked += 1
        scores = x @ w.reshape(self.n_classes, -1).T
        wrong = np.arange(self.n_classes) != y
        return self._best(scores + wrong * (1.0 + 0.1 * np.arange(len(x)))[:, None])

    def complete(self, x: Any, y: int, w: Any) -> int:
        return int(np.argmax(x @ w.reshape(self.n_classes, -1)[y]))

    @staticmethod
    def _best(scores: Any) -> tuple[int, int]:
        h, y = np.unravel_index(int(np.argmax(scores)), scores.shape)
        return int(y), int(h)


def several(
    random: np.random.Generator, n: int = 40, n_classes: int = 3, n_inputs: int = 4
) -> tuple[list[Any], list[int]]:
    """Examples of which one row, at a random place, tells the class."""
    centres = 2.0 * random.normal(size=(n_classes, n_inputs))
    X, Y = [], []
    for _ in range(n):
        x = random.normal(size=(int(random.integers(2, 5)), n_inputs))
        y = int(random.integers(n_classes))
        x[random.integers(len(x))] += centres[y]
        X.append(x)
        Y.append(y)
    return X, Y
