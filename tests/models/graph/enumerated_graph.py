"""Labelled graphs once more, as a plain slow class that lists all labellings."""

from itertools import product

import numpy as np


class EnumeratedGraph:
    """x is (nodes, edges) or (nodes, edges, edge_features)."""

    def __init__(self, n_labels, pairwise="free", *, label_weight=None, zero_one=False):
        self.n_labels = n_labels
        self.pairwise = pairwise
        self.label_weight = label_weight or {}
        self.zero_one = zero_one

    def joint_feature(self, x, y):
        nodes, edges, *features = x
        found = np.zeros((nodes.shape[1], self.n_labels))
        for node, label in zip(nodes, y, strict=True):
            found[:, label] += node
        if self.pairwise is None:
            return found.ravel()
        rows = features[0] if features else np.ones((len(edges), 1))
        tables = np.zeros((rows.shape[1], self.n_labels, self.n_labels))
        for row, (i, j) in zip(rows, edges, strict=True):
            tables[:, y[i], y[j]] += row
        return np.concatenate([found.ravel(), *map(self._tied, tables)])

    def _tied(self, table):
        """What the weights of a table get of it."""
        if self.pairwise == "free":
            return table.ravel()
        if self.pairwise == "potts":
            return [np.trace(table)]
        both = table + table.T - np.diag(np.diag(table))
        return both[np.triu_indices(self.n_labels)]

    def loss(self, y, y_hat):
        wrong = [true for true, label in zip(y, y_hat, strict=True) if true != label]
        if self.zero_one:
            return float(len(wrong) > 0)
        return sum((self.label_weight.get(label, 1.0) for label in wrong), 0.0)

    def outputs(self, x):
        return list(product(range(self.n_labels), repeat=len(x[0])))
