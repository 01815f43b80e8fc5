"""Alignments once more, as a plain slow class that lists all of them."""

from itertools import combinations, pairwise

import numpy as np


def alignments(m, n):
    for size in range(min(m, n) + 1):
        for rows in combinations(range(m), size):
            for columns in combinations(range(n), size):
                yield tuple(zip(rows, columns, strict=True))


class EnumeratedAlignment:
    """`match(s, i, t, j)` and `gap(own, i, other, j, deletion, first)` list the features, as indices and values."""

    def __init__(self, n_features, match, gap, *, ends="global", loss="q", shift=0, reading="figure", scale=None):
        self.n_features = n_features
        self.match = match
        self.gap = gap
        self.ends = ends
        self.kind = loss
        self.shift = shift if loss == "q_shift" else 0
        self.reading = reading
        self.scale = scale or (lambda s, t: 1.0)

    def joint_feature(self, x, y):
        s, t = x
        features = np.zeros(self.n_features)
        borders = [(-1, -1), *y, (len(s), len(t))]
        for k, ((i, j), (next_i, next_j)) in enumerate(pairwise(borders)):
            deleted, inserted = range(i + 1, next_i), range(j + 1, next_j)
            outside = k == 0 or k == len(y)
            free = outside and (self.ends == "local" or (self.ends == "semiglobal" and not (deleted and inserted)))
            if not free:
                for place in deleted:
                    for index, value in self.gap(s, place, t, j + 1, True, place == i + 1):
                        features[index] += value
                for place in inserted:
                    for index, value in self.gap(t, place, s, next_i, False, place == j + 1):
                        features[index] += value
        for i, j in y:
            for index, value in self.match(s, i, t, j):
                features[index] += value
        return features * self.scale(s, t)

    def loss(self, y, y_hat):
        if self.kind == "zero_one":
            return float(tuple(y) != tuple(y_hat))
        if not y:
            return 0.0
        if self.reading == "figure":
            good = [any(i == u and abs(j - v) <= self.shift for u, v in y) for i, j in y_hat]
        else:
            good = [any(j == v and abs(i - u) <= self.shift for u, v in y) for i, j in y_hat]
        return 1.0 - sum(good) / len(y)

    def outputs(self, x):
        return list(alignments(len(x[0]), len(x[1])))


def plain_features(alphabet, gaps):
    """The features of a substitution matrix, a gap's letter and, if affine, a gap's beginning."""
    K = len(alphabet)

    def match(s, i, t, j):
        return [(alphabet.index(s[i]) * K + alphabet.index(t[j]), 1.0)]

    def gap(own, i, other, j, deletion, first):
        return [(K * K, 1.0)] + [(K * K + 1, 1.0)] * (first and gaps == "affine")

    return K * K + 1 + (gaps == "affine"), match, gap
