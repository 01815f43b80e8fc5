"""Sets of labels once more, as a plain slow class that lists all sets."""

from itertools import product

import numpy as np


class EnumeratedMultiLabel:
    """Outputs are tuples of zeros and ones."""

    def __init__(self, n_labels, pairs, *, zero_one=False):
        self.n_labels = n_labels
        self.pairs = pairs
        self.zero_one = zero_one

    def joint_feature(self, x, y):
        features = np.zeros((len(x), self.n_labels, 2))
        for k, state in enumerate(y):
            features[:, k, state] = x
        tables = np.zeros((len(self.pairs), 2, 2))
        for table, (k, j) in zip(tables, self.pairs, strict=True):
            table[y[k], y[j]] = 1.0
        return np.concatenate([features.ravel(), tables.ravel()])

    def loss(self, y, y_hat):
        wrong = sum(true != state for true, state in zip(y, y_hat, strict=True))
        return float(wrong > 0) if self.zero_one else float(wrong)

    def outputs(self, x):
        return list(product(range(2), repeat=self.n_labels))
