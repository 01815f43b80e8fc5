"""Matchings once more, as a plain slow class that lists all of them."""

from itertools import product

import numpy as np

from structlearn.data import PairTable


class EnumeratedMatching:
    """Inputs are arrays (n_rows, n_columns, n_features), or a `PairTable` of arrays."""

    def __init__(self, *, unmatched=True, fertility=1, further=False, zero_one=False, beta=1.0):
        self.unmatched, self.fertility, self.further = unmatched, fertility, further
        self.zero_one, self.beta = zero_one, beta

    def joint_feature(self, x, y):
        table = x if isinstance(x, PairTable) else PairTable(x)
        n, m, d = np.shape(table.pairs)
        blocks = [sum((table.pairs[i, j] for i, j in y), np.zeros(d))]
        if self.unmatched:
            lacking = [self.fertility - sum(row == i for row, _ in y) for i in range(n)]
            alone = [all(column != j for _, column in y) for j in range(m)]
            for given, times in ((table.rows, lacking), (table.columns, alone)):
                features = np.empty((len(times), 0)) if given is None else given
                blocks.append(np.array(times, float) @ np.hstack([features, np.ones((len(times), 1))]))
        if self.further:
            blocks.append([-sum(max(sum(row == i for row, _ in y) - 1, 0) for i in range(n))])
        return np.concatenate(blocks)

    def loss(self, y, y_hat):
        missed, made_up = len(set(y) - set(y_hat)), len(set(y_hat) - set(y) - set(getattr(y, "possible", ())))
        return float(set(y) != set(y_hat)) if self.zero_one else self.beta**2 * missed + made_up

    def outputs(self, x):
        n, m, _ = np.shape(x.pairs if isinstance(x, PairTable) else x)
        return list(matchings(n, m, unmatched=self.unmatched, fertility=self.fertility))


def matchings(n, m, *, unmatched=True, fertility=1):
    for rows in product(range(-1, n), repeat=m):
        y = tuple(sorted((i, j) for j, i in enumerate(rows) if i >= 0))
        if all(rows.count(i) <= fertility for i in range(n)) and (unmatched or len(y) == min(n, m)):
            yield y


def agrees(said, y):
    """Whether a matching has what is known of it."""
    return said is None or all(
        pair in y if None not in pair else not any(pair[0] in (None, i) and pair[1] in (None, j) for i, j in y)
        for pair in said
    )
