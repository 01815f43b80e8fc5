"""What stands for the likelihood of a graph, label by label and factor by factor, from an `EnumeratedGraph`."""

import numpy as np
from scipy.special import logsumexp


def labels_of(reference, allowed, i):
    return range(reference.n_labels) if allowed is None else [k for k in range(reference.n_labels) if allowed[i][k]]


def exact(reference, x, y, w, allowed=None):
    scores = [
        reference.joint_feature(x, other) @ w
        for other in reference.outputs(x)
        if allowed is None or all(allowed[i][label] for i, label in enumerate(other))
    ]
    return logsumexp(scores) - reference.joint_feature(x, y) @ w


def pseudo(reference, x, y, w, allowed=None):
    """Each label is replaced by every other one, with all the rest as it is."""
    score, total = reference.joint_feature(x, y) @ w, 0.0
    for i in range(len(y)):
        others = [(*y[:i], label, *y[i + 1 :]) for label in labels_of(reference, allowed, i)]
        total += logsumexp([reference.joint_feature(x, other) @ w for other in others]) - score
    return total


def piecewise(reference, x, y, w, allowed=None):
    """Graphs of one node, and of one edge whose nodes have no features."""
    nodes, edges, *features = x
    total = -(reference.joint_feature(x, y) @ w)
    for i in range(len(y)):
        alone = (nodes[i : i + 1], [], *(each[:0] for each in features))
        total += logsumexp([reference.joint_feature(alone, (k,)) @ w for k in labels_of(reference, allowed, i)])
    if reference.pairwise is None:
        return total
    for e, (i, j) in enumerate(edges):
        pair = (np.zeros((2, nodes.shape[1])), [(0, 1)], *(each[e : e + 1] for each in features))
        both = [(k, m) for k in labels_of(reference, allowed, i) for m in labels_of(reference, allowed, j)]
        total += logsumexp([reference.joint_feature(pair, labels) @ w for labels in both])
    return total
