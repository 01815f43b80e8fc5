"""Measures and joint features of rankings once more, straight from their definitions, over all rankings."""

from itertools import pairwise, permutations
from math import log2

import numpy as np


def swapped(ranking, relevance):
    """The pairs (better, worse) that a ranking has in reverse."""
    place = {document: p for p, document in enumerate(ranking)}
    return [(i, j) for i, j in better_pairs(relevance) if place[j] < place[i]]


def better_pairs(relevance):
    n = len(relevance)
    return [(i, j) for i in range(n) for j in range(n) if relevance[i] > relevance[j]]


def average_precision(ranking, relevant):
    precisions = [
        sum(relevant[d] for d in ranking[: p + 1]) / (p + 1) for p, document in enumerate(ranking) if relevant[document]
    ]
    return sum(precisions) / len(precisions)


def dcg(ranking, relevance, k, gain):
    gains = [2.0 ** relevance[d] - 1 if gain == "exponential" else relevance[d] for d in ranking[:k]]
    return sum(g / log2(p + 2) for p, g in enumerate(gains))


def measure(loss, ranking, relevance, k, gain):
    relevant = [y > 0 for y in relevance]
    n_relevant = sum(relevant)
    if loss == "roc_area":
        return 1 - len(swapped(ranking, relevance)) / len(better_pairs(relevance))
    if loss == "average_precision":
        return average_precision(ranking, relevant)
    if loss == "ndcg":
        ideal = sorted(range(len(relevance)), key=lambda d: -relevance[d])
        return dcg(ranking, relevance, k, gain) / dcg(ideal, relevance, k, gain)
    if loss == "precision_at_k":
        return sum(relevant[d] for d in ranking[:k]) / k
    if loss == "recall_at_k":
        return sum(relevant[d] for d in ranking[:k]) / n_relevant
    return sum(relevant[d] for d in ranking[:n_relevant]) / n_relevant


def joint_feature(loss, x, ranking, relevance, k):
    """Ψ(x, ŷ), in which the pairs that are in order count as nothing."""
    binary = [y > 0 for y in relevance]
    if loss in ("roc_area", "average_precision", "ndcg"):
        grades = binary if loss == "average_precision" else relevance
        pairs = len(better_pairs(grades))
        return sum((x[j] - x[i] for i, j in swapped(ranking, grades)), np.zeros(x.shape[1])) / pairs
    k = sum(binary) if loss == "break_even" else k
    return (np.arange(len(relevance)) < k) / k @ x[list(ranking)]


def all_rankings(loss, x, relevance, k, gain):
    """δΨ and Δ of every ranking."""
    rankings = list(permutations(range(len(relevance))))
    values = np.array([measure(loss, ranking, relevance, k, gain) for ranking in rankings])
    features = np.array([joint_feature(loss, x, ranking, relevance, k) for ranking in rankings])
    # The truth is the mean of the rankings by falling gain; others may be as good where a cut leaves places free.
    truth = features[[_falls(loss, ranking, relevance) for ranking in rankings]].mean(axis=0)
    return rankings, truth - features, values.max() - values


def _falls(loss, ranking, relevance):
    gains = relevance if loss in ("ndcg", "roc_area") else [y > 0 for y in relevance]
    return all(gains[a] >= gains[b] for a, b in pairwise(ranking))
