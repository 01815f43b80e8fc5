"""Max-margin Markov networks with every output written out: the referee of their solvers."""

import numpy as np
from scipy.special import logsumexp, softmax

from structlearn.waist import MarginObjective
from tests.models.instances import chain_twins, multiclass_twins

PROBLEMS = {
    "multiclass": lambda random: multiclass_twins(random, n=12),
    "multiclass with output features": lambda random: multiclass_twins(random, n=8, output_features=True),
    "chain": lambda random: chain_twins(random, lengths=(1, 2, 3, 3, 2), n_labels=2),
    "chain with label weights": lambda random: chain_twins(
        random, lengths=(2, 3, 2), balance=0.5, boundaries=False, label_weight={0: 2.0, 1: 0.5}
    ),
}


def instance(kind, C):
    """A small problem with random example weights."""
    random = np.random.default_rng(sum(map(ord, kind)))
    twins = PROBLEMS[kind](random)
    return twins, MarginObjective(random.uniform(0.5, 2.0, twins.problem.n_examples), C)


class WrittenOut:
    """The saddle function over distributions that are listed output by output, one array an example."""

    def __init__(self, twins, objective):
        self.listed = twins.listed()
        self.u = objective.limits[0]

    def map(self, function, *distributions):
        return [function(*each) for each in zip(*distributions, strict=True)]

    def slopes(self, w):
        """Δ(y) − ⟨w, δΨ(y)⟩: the slope of the saddle function up to a constant an example."""
        return [each.losses - each.rows @ w for each in self.listed]

    def softmax(self, scores):
        return [softmax(each) for each in scores]

    def w(self, m):
        return sum(u * p @ each.rows for u, p, each in zip(self.u, m, self.listed, strict=True))

    def dual(self, m):
        gain = sum(u * p @ each.losses for u, p, each in zip(self.u, m, self.listed, strict=True))
        return gain - 0.5 * self.w(m) @ self.w(m)

    def primal(self, w):
        return 0.5 * w @ w + self.u @ [each.max() for each in self.slopes(w)]

    def smoothed(self, w, mu):
        """The primal with a maximum over m that pays μ u (log|Y| − H(m))."""
        return 0.5 * w @ w + mu * self.u @ [logsumexp(each / mu) - np.log(len(each)) for each in self.slopes(w)]

    def log_sizes(self):
        return float(self.u @ [np.log(len(each.losses)) for each in self.listed])

    def divergence(self, left, right):
        return sum(u * p @ np.log(p / q) for u, p, q in zip(self.u, left, right, strict=True))
