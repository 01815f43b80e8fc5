"""Outputs as vectors have the kernels they say, and nearest outputs are those of enumeration."""

from itertools import product

import numpy as np
import pytest

from structlearn import VectorValuedRidge
from structlearn.kernels import RBF, FunctionKernel, Spectrum
from structlearn.outputs import KernelOutputs, LabelOutputs, LabelSequenceOutputs, LabelSetOutputs, VectorOutputs

RANDOM = np.random.default_rng(0)
FACTOR = RANDOM.normal(size=(3, 3))
SIMILARITY = FACTOR @ FACTOR.T


def one(n):
    return np.arange(n + 1)


@pytest.mark.parametrize("similarity", [None, SIMILARITY], ids=["unit", "similar"])
def test_labels_have_the_inner_products_of_their_similarity(similarity):
    outputs = LabelOutputs(similarity).fit(["a", "b", "c"])
    vectors = outputs.targets(["c", "a", "b"], one(3))
    S = np.eye(3) if similarity is None else similarity
    np.testing.assert_allclose(vectors @ vectors.T, S[np.ix_([2, 0, 1], [2, 0, 1])], atol=1e-12)
    F = RANDOM.normal(size=(20, 3))
    all_ = outputs.targets(["a", "b", "c"], one(3))
    nearest = ((F[:, None] - all_) ** 2).sum(axis=2).argmin(axis=1)
    assert outputs.nearest(F, one(20)).tolist() == [["a", "b", "c"][i] for i in nearest]


def test_the_nearest_set_is_that_of_enumeration():
    outputs = LabelSetOutputs().fit([{"a", "c"}, {"b"}])
    F = RANDOM.normal(0.5, 0.5, size=(30, 3))
    sets = [{name for name, has in zip("abc", bits, strict=True) if has} for bits in product((0, 1), repeat=3)]
    vectors = outputs.targets(sets, one(8))
    nearest = ((F[:, None] - vectors) ** 2).sum(axis=2).argmin(axis=1)
    assert outputs.nearest(F, one(30)) == [sets[i] for i in nearest]
    table = LabelSetOutputs().fit(np.eye(3, dtype=int))
    np.testing.assert_array_equal(table.nearest(F, one(30)), F > 0.5)


@pytest.mark.parametrize("edges", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("similarity", [None, SIMILARITY], ids=["unit", "similar"])
def test_sequences_have_the_kernel_of_their_labels_and_pairs(edges, similarity):
    outputs = LabelSequenceOutputs(edges, similarity).fit([["a", "b", "c"]])
    S = np.eye(3) if similarity is None else similarity
    y, z = [0, 2, 2, 1], [1, 2, 0, 1]
    rows = [outputs.targets([["abc"[c] for c in codes]], np.array([0, 4])) for codes in (y, z)]
    expected = sum(S[a, b] for a, b in zip(y, z, strict=True))
    expected += edges * sum(S[y[t], z[t]] * S[y[t + 1], z[t + 1]] for t in range(3))
    assert np.vdot(*rows) == pytest.approx(expected)


@pytest.mark.parametrize("edges", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("similarity", [None, SIMILARITY], ids=["unit", "similar"])
def test_the_nearest_sequence_is_that_of_enumeration(edges, similarity):
    outputs = LabelSequenceOutputs(edges, similarity).fit([["a", "b", "c"]])
    lengths = np.array([4, 1, 3])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    F = RANDOM.normal(size=(8, outputs.n_coordinates()))
    found = outputs.nearest(F, offsets)
    for i, n in enumerate(lengths):
        listed = [list(labels) for labels in product("abc", repeat=int(n))]
        part = F[offsets[i] : offsets[i + 1]].copy()
        # What a last token says of a pair is no part of any output.
        part[-1, 3:] = 0.0
        distances = [((part - outputs.targets([y], np.array([0, n]))) ** 2).sum() for y in listed]
        assert found[i] == listed[int(np.argmin(distances))]


WORDS = ["banana", "ananas", "cabana", "banana", "bandana"]


def test_outputs_with_a_kernel_are_scored_by_it():
    outputs = KernelOutputs(Spectrum(2)).fit(WORDS)
    assert len(outputs.outputs_) == 4
    T = outputs.targets(WORDS, one(5))
    np.testing.assert_allclose(T @ outputs.metric_ @ T.T, Spectrum(2)(WORDS), atol=1e-9)
    weights = RANDOM.normal(size=(10, 5))
    K = Spectrum(2)(WORDS)
    scores = 2 * weights @ K - np.diag(K)
    found = outputs.nearest(weights @ T, one(10))
    assert found == [WORDS[i] for i in scores.argmax(axis=1)]
    others = KernelOutputs(Spectrum(2), candidates=["ban", "ana"]).fit(WORDS)
    K = Spectrum(2)(WORDS, ["ban", "ana"])
    scores = 2 * weights @ K - Spectrum(2).diagonal(["ban", "ana"])
    assert others.nearest(weights @ T, one(10)) == [["ban", "ana"][i] for i in scores.argmax(axis=1)]


def test_components_keep_all_at_full_rank_and_the_most_of_less():
    K = Spectrum(2)(WORDS)
    full = KernelOutputs(Spectrum(2), n_components=10).fit(WORDS)
    Z = full.targets(WORDS, one(5))
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-9)
    few = KernelOutputs(Spectrum(2), n_components=2).fit(WORDS).targets(WORDS, one(5))
    values = np.linalg.eigvalsh(K)
    assert np.linalg.norm(K - few @ few.T) == pytest.approx(np.linalg.norm(values[:-2]), abs=1e-8)


def test_landmarks_of_full_rank_are_exact_and_fewer_project():
    words = ["".join(letters) for letters in product("ab", repeat=5)]
    truths = [words[i] for i in RANDOM.integers(len(words), size=40)]
    kernel, X, new = Spectrum(2), RANDOM.normal(size=(40, 2)), RANDOM.normal(size=(30, 2))
    exact = VectorValuedRidge(KernelOutputs(kernel, words), RBF(0.5), lam=0.1).fit(X, truths)
    full = VectorValuedRidge(KernelOutputs(kernel, words, n_landmarks=40), RBF(0.5), lam=0.1).fit(X, truths)
    # Counts of four pairs of letters, whatever the number of words.
    assert full.outputs_.n_coordinates() == 4
    scores = [each.outputs_._scores(each.decision_function(new), words) for each in (exact, full)]
    np.testing.assert_allclose(*scores, atol=1e-8)
    assert full.objective_ == pytest.approx(exact.objective_, abs=1e-8)
    assert full.predict(new) == exact.predict(new)
    few = KernelOutputs(kernel, n_landmarks=2).fit(truths)
    Z, K, B = few.targets(truths, one(40)), kernel(truths), kernel(truths, few.basis_)
    np.testing.assert_allclose(Z @ Z.T, B @ np.linalg.solve(kernel(few.basis_), B.T), atol=1e-8)
    assert (np.diag(K) - (Z * Z).sum(axis=1) >= -1e-9).all()
    main = KernelOutputs(kernel, n_landmarks=40, n_components=2).fit(truths).targets(truths, one(40))
    assert np.linalg.norm(K - main @ main.T) == pytest.approx(np.linalg.norm(np.linalg.eigvalsh(K)[:-2]), abs=1e-8)


def test_thousands_of_different_outputs_cost_landmarks_alone(monkeypatch):
    asked = []

    def counted(left, right):
        asked.append(len(left) * len(right))
        return np.exp(-(np.subtract.outer([float(y) for y in left], [float(y) for y in right]) ** 2))

    Y = [str(i / 700) for i in range(3000)]
    outputs = KernelOutputs(FunctionKernel(counted, rows=False), n_landmarks=12).fit(Y)
    assert outputs.targets(Y, one(3000)).shape == (3000, 12)
    assert sum(asked) <= 3000 * (2 + 12 + 12) + 100 * 100
    assert len(outputs.outputs_) == 3000
    assert len(outputs.nearest(np.ones((2, 12)), one(2))) == 2
    monkeypatch.setattr("structlearn.outputs.kernel_outputs.available_memory", lambda: 1000)
    with pytest.raises(ValueError, match=r"matrix of 40 different outputs would take 13 kB, .*give n_landmarks"):
        KernelOutputs(FunctionKernel(counted, rows=False)).fit(Y[::75])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LabelOutputs().fit(["a", "a"]), "y has one class only, 'a'"),
        (lambda: LabelOutputs(np.eye(3)).fit(["a", "b"]), "expected a matrix of 2 × 2 labels"),
        (lambda: LabelOutputs([[1.0, 2.0], [2.0, 1.0]]).check_options(), "similarity is not positive semidefinite"),
        (lambda: LabelSetOutputs().fit([set(), set()]), "no example of y has a label"),
        (lambda: LabelSequenceOutputs(-1.0).check_options(), "edges is -1.0"),
        (
            lambda: LabelSequenceOutputs().fit([["a", "b"]]).targets([["a", "a"]], np.array([0, 1])),
            r"Y\[0\] has 2 labels",
        ),
        (lambda: LabelSequenceOutputs().fit([["a", "b"]]).targets([["z"]], np.array([0, 1])), r"Y\[0\]\[0\] is 'z'"),
        (
            lambda: LabelSequenceOutputs().fit([["a"], ["a", "a"]]),
            "all tokens of Y have one label, 'a'; two are needed",
        ),
        (lambda: VectorOutputs().fit([[1.0, np.nan]]), r"y\[0, 1\] is nan"),
        (lambda: VectorOutputs().fit([1.0]).targets([1.0, 2.0], one(1)), "X has 1 example but y has 2 entries"),
        (lambda: KernelOutputs(Spectrum(2), candidates=[]).check_options(), "candidates is empty"),
        (lambda: KernelOutputs(Spectrum(2), n_components=0).check_options(), "n_components is 0"),
        (lambda: KernelOutputs(Spectrum(2), n_landmarks=0).check_options(), "n_landmarks is 0"),
        (lambda: KernelOutputs(Spectrum(1), n_landmarks=3).fit(["ab", "ba"]), "all outputs of y are the same to"),
        (lambda: KernelOutputs(Spectrum(3), n_landmarks=3).fit(["ab", "ba"]), "all outputs of y are the same to"),
        (
            lambda: KernelOutputs(lambda X, Z: -np.ones((len(X), len(Z))), n_landmarks=2).fit([[1.0], [2.0]]),
            "the kernel matrix of 2 examples of y is not positive semidefinite",
        ),
        (
            lambda: KernelOutputs(FunctionKernel(lambda X, Z: -np.ones((len(X), len(Z))), rows=False)).fit(["a"]),
            "the kernel matrix of the outputs is not positive semidefinite",
        ),
    ],
)
def test_outputs_that_cannot_be_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_labels_that_are_missing_are_refused_and_those_that_are_new_named():
    with pytest.raises(ValueError, match=r"y\[1\] is None: labels that are known in part"):
        LabelOutputs().fit(["a", None, "b"])
    with pytest.raises(ValueError, match=r"Y\[1\]\[0\] is None: labels that are known in part"):
        LabelSequenceOutputs().fit([["a", "b"], [None, "a"]])
    sets = LabelSetOutputs().fit([{"a"}, {"b"}])
    with pytest.raises(ValueError, match=r"a label of Y\[1\] is 'z', which is not among the 2 classes"):
        sets.encode([{"a"}, {"z"}, {"b"}], np.arange(4))
