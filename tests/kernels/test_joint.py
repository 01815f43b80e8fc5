"""Kernels of labelled inputs, against the joint features of models."""

import numpy as np
import pytest

from structlearn import KernelStructuralSVM
from structlearn.kernels import RBF, FunctionKernel, LabelledSequences, Linear, TensorProduct
from structlearn.models import Chain, Multiclass, Taxonomy


@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
def test_labelled_sequences_are_alike_as_the_joint_features_of_a_chain(balance):
    random = np.random.default_rng(0)
    model = Chain(boundaries=False, balance=balance)
    X = [random.normal(size=(T, 2)) for T in (1, 3, 4)]
    Y = [random.integers(3, size=len(x)).tolist() for x in X]
    psi = []
    for x, y in zip(X, Y, strict=True):
        emissions = np.zeros((2, 3))
        steps = np.zeros((3, 3))
        for t, label in enumerate(y):
            emissions[:, label] += x[t]
            if t:
                steps[y[t - 1], label] += balance
        psi.append(np.concatenate([emissions.ravel(), steps.ravel()]))
    spec = Chain([0, 1, 2], boundaries=False).specify(X, Y)
    assert len(psi[0]) == model.n_weights(spec)
    kernel = LabelledSequences(Linear(), balance)
    np.testing.assert_allclose(kernel(list(zip(X, Y, strict=True))), np.array(psi) @ np.array(psi).T, atol=1e-12)


def test_a_fitted_svm_is_a_combination_of_joint_kernels():
    """The score of an output is Σ α k((x_i, y_i), (x, y)) − …: its part of the tokens is that of the kernel alone."""
    random = np.random.default_rng(1)
    X = [random.normal(size=(3, 2)) for _ in range(6)]
    Y = [(x[:, 0] > 0).astype(int).tolist() for x in X]
    svm = KernelStructuralSVM(Chain(boundaries=False), RBF(1.0), C=5.0, solver="exact").fit(X, Y)
    kernel = LabelledSequences(RBF(1.0), 0.0)
    x, y = X[0], [0, 1, 1]
    score = sum(
        svm.coefficients_[j, label] * kernel([(svm.basis_[j : j + 1], [label])], [(x, y)])[0, 0]
        for j in range(len(svm.basis_))
        for label in (0, 1)
    )
    values = svm.kernel_(x, svm.basis_) @ svm.coefficients_
    assert score == pytest.approx(sum(values[t, label] for t, label in enumerate(y)))


def test_tensor_products_are_those_of_output_features():
    taxonomy = Taxonomy({"cat": "pet", "dog": "pet", "oak": "tree"})
    classes = ["cat", "dog", "oak"]
    table = taxonomy.matrix(classes)

    def alike(Y, Z):
        return np.array([table[classes.index(y)] for y in Y]) @ np.array([table[classes.index(z)] for z in Z]).T

    X, Y = np.random.default_rng(0).normal(size=(4, 3)), ["cat", "dog", "oak", "dog"]
    psi = [np.kron(x, table[classes.index(y)]) for x, y in zip(X, Y, strict=True)]
    kernel = TensorProduct(Linear(), FunctionKernel(alike, rows=False))
    np.testing.assert_allclose(kernel(list(zip(X, Y, strict=True))), np.array(psi) @ np.array(psi).T, atol=1e-12)
    model = Multiclass(output_features=taxonomy)
    assert model.n_weights(model.specify(X, Y)) == len(psi[0])


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([], "expected a list of pairs"),
        ([([[1.0]], "a", 3)], r"X\[0\] is .*expected a pair"),
        ([([[1.0]], "ab")], r"X\[0\] has 1 tokens but 2 labels"),
        ([([[np.nan]], "a")], "nan"),
        ([([[1.0]], 3)], "for its labels"),
    ],
)
def test_bad_pairs_are_refused_by_name(examples, message):
    with pytest.raises(ValueError, match=message):
        LabelledSequences(Linear())(examples)
