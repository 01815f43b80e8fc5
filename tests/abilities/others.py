"""The other structures: those without sums, and those whose truths have latent parts."""

from itertools import combinations, permutations, product

import numpy as np

from structlearn.data import ItemPairs
from structlearn.models import (
    Alignment,
    CorrelationClustering,
    Homologues,
    LatentChain,
    LatentForest,
    Matching,
    Motif,
    MultivariateBinary,
    PrecisionAtK,
    Ranking,
)
from tests.abilities.structure import Listed, Structure, enumerated, latent
from tests.models.alignment.enumerated_alignment import EnumeratedAlignment, alignments, plain_features
from tests.models.clustering.enumerated_forests import clusterings, components, forests
from tests.models.enumerated import EnumeratedChain
from tests.models.matching.enumerated_matching import EnumeratedMatching, agrees
from tests.models.motif.enumerated_motif import EnumeratedMotif
from tests.models.ranking.enumerated_ranking import all_rankings


def matching(random, fertility):
    X = [random.integers(-2, 3, (*shape, 2)).astype(float) for shape in ((1, 2), (2, 3), (3, 2))]
    Y = [((0, 1),), ((0, 0), (1, 2)), ((2, 1),)]
    return enumerated(
        "Matching" if fertility == 1 else f"Matching(fertility={fertility})",
        Matching(fertility=fertility),
        EnumeratedMatching(fertility=fertility),
        X,
        Y,
        partial=[None, [(1, 2)], [(0, None)]],
        agrees=agrees,
    )


def ranking(random):
    X = [random.integers(0, 3, (n, 3)).astype(float) for n in (2, 3, 4)]
    Y = [[0, 1], [1, 0, 1], [0, 1, 1, 0]]

    def listed(i, w):
        _, rows, losses = all_rankings("roc_area", X[i], Y[i], None, "exponential")
        return Listed(-rows @ w, losses, losses == 0, 0.0)

    return Structure("Ranking", Ranking("roc_area"), X, Y, listed)


def precision_at_k(random):
    X = [random.integers(0, 3, (n, 3)).astype(float) for n in (3, 4, 4)]
    Y, k = [[1, 0, 1], [0, 1, 1, 0], [1, 1, 0, 1]], 2

    def scored(i, w):
        relevant = np.array(Y[i])
        for order in map(list, permutations(range(len(Y[i])))):
            loss = min(1.0, relevant.sum() / k) - relevant[order[:k]].sum() / k
            yield float(X[i][order[:k]].sum(axis=0) @ w) / k, loss

    return latent("PrecisionAtK", PrecisionAtK(k), X, Y, scored)


def multivariate_binary(random):
    X = [random.integers(-2, 3, (n, 3)).astype(float) for n in (3, 4, 5)]
    Y = [np.array(y) for y in ([1, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0, 1])]

    def listed(i, w):
        y, labellings = Y[i], [np.array(labels) for labels in product([0, 1], repeat=len(Y[i]))]
        scores = np.array([(2.0 * labels - 1) @ X[i] @ w / (2 * len(y)) for labels in labellings])
        wrong, right = ([op(labels) for labels in labellings] for op in (lambda z: sum(y != z), lambda z: sum(y * z)))
        losses = np.array([a / (2 * b + a) if a + b else 0.0 for a, b in zip(wrong, right, strict=True)])
        return Listed(scores, losses, losses == 0, float((2.0 * y - 1) @ X[i] @ w / (2 * len(y))))

    return Structure("MultivariateBinary", MultivariateBinary("f1"), X, Y, listed)


def item_pairs(random):
    X = []
    for n in (2, 3, 4):
        pairs = list(combinations(range(n), 2))
        X.append(ItemPairs(n, random.integers(-2, 3, (len(pairs), 2)).astype(float), pairs))
    return X, [[0, 0], [0, 1, 0], [0, 0, 1, 1]]


def correlation_clustering(random):
    X, Y = item_pairs(random)

    def listed(i, w):
        x, y = X[i], Y[i]
        of = dict(zip(x.pairs, np.asarray(x.features) @ w, strict=True))

        def score(labels):
            return sum(of[a, b] for a, b in x.pairs if labels[a] == labels[b])

        every = list(clusterings(x.n_items))
        wrong = [sum((y[a] == y[b]) != (z[a] == z[b]) for a, b in x.pairs) / len(x.pairs) for z in every]
        return Listed(np.array(list(map(score, every))), np.array(wrong), np.array(wrong) == 0, float(score(y)))

    return Structure("CorrelationClustering", CorrelationClustering(), X, Y, listed)


def latent_forest(random):
    X, Y = item_pairs(random)

    def scored(i, w):
        x, y = X[i], Y[i]
        of = dict(zip(x.pairs, np.asarray(x.features) @ w, strict=True))
        needed = x.n_items - len(set(components(x.n_items, [(a, b) for a, b in x.pairs if y[a] == y[b]])))
        for links in forests(x.n_items, x.pairs):
            right = sum(y[a] == y[b] for a, b in links)
            yield sum(of[pair] for pair in links), float(needed - right + len(links) - right)

    return latent("LatentForest", LatentForest(), X, Y, scored)


def motif(random):
    X, Y = ["ACGTA", "TTAC", "GG", "CACG"], [1, 0, 0, 1]
    listed = EnumeratedMotif((2,), 0, False)

    def scored(i, w):
        for y, h in listed.outputs(X[i]):
            yield float(listed.joint_feature(X[i], y, h) @ w), float(y != Y[i])

    return latent("Motif", Motif(2, 0, False), X, Y, scored)


def latent_chain(random):
    states = [0, 0, 1]  # label a has two states
    X = [random.random((length, 2)) for length in (1, 2, 3)]
    Y = [["a"], ["a", "b"], ["b", None, "a"]]
    reference = EnumeratedChain(3)

    def scored(i, w):
        for h in reference.outputs(X[i]):
            wrong = [said is not None and "ab"[states[s]] != said for s, said in zip(h, Y[i], strict=True)]
            yield float(reference.joint_feature(X[i], h) @ w), float(sum(wrong))

    return latent(
        "LatentChain",
        LatentChain({"a": 2, "b": 1}, classes="ab"),
        X,
        Y,
        scored,
        reference=reference,
        singles=lambda x, h: np.eye(2)[[states[s] for s in h]],
        shown=lambda h: tuple("ab"[states[s]] for s in h),
    )


def homologues(random):
    X = [("ab", ["ba", "ab", "c"]), ("abc", ["ac", "b"]), ("ca", ["ca"])]
    Y = [(1, ((0, 0), (1, 1))), (0, ((0, 0), (2, 1))), (0, ((0, 0), (1, 1)))]
    n_features, match, gap = plain_features("abc", "affine")
    reference = EnumeratedAlignment(n_features, match, gap, ends="local")

    def listed(i, w):
        (native, candidates), (place, matches) = X[i], Y[i]
        truth = float(reference.joint_feature((native, candidates[place]), matches) @ w)
        rows = [(truth, 0.0, True)]
        for k, other in enumerate(candidates):
            for y in alignments(len(native), len(other)):
                # Other alignments of the homologue are right as well, and no constraints.
                rows.append((float(reference.joint_feature((native, other), y) @ w), float(k != place), k == place))
        return Listed(*map(np.array, zip(*rows, strict=True)), truth)

    return Structure("Homologues", Homologues(Alignment("abc", ends="local", gaps="affine")), X, Y, listed)
