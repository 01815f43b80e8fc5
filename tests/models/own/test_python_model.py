import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from structlearn import StructuralSVM
from structlearn.models import PythonModel
from structlearn.waist import Scaling
from tests.models.enumerated import BEST, EnumeratedMulticlass, asked, bound
from tests.models.instances import SCALINGS, chain_instances


class OwnDecoders:
    """Zero-one multiclass with oracles and without a list of outputs."""

    n_classes = 3

    def joint_feature(self, x, y):
        return sp.csr_array(np.kron(x, np.eye(self.n_classes)[y])[None, :])

    def loss(self, y, y_hat):
        return float(abs(y - y_hat))

    def _scores(self, x, w):
        return x @ w.reshape(-1, self.n_classes)

    def inference(self, x, w):
        return int(self._scores(x, w).argmax())

    def loss_augmented_inference(self, x, y, w):
        return int((self._scores(x, w) + abs(np.arange(self.n_classes) - y)).argmax())

    def k_best(self, x, w, k):
        return np.argsort(-self._scores(x, w))[:k].tolist()

    def best_per_loss_level(self, x, y, w):
        levels = [[z for z in range(self.n_classes) if abs(z - y) == level] for level in range(self.n_classes)]
        return [max(level, key=lambda z: self._scores(x, w)[z]) for level in levels if level]


@settings(max_examples=30)
@given(chain_instances())
def test_listed_outputs_give_the_same_planes_as_compiled_ones(instance):
    twins, w = instance
    problem = twins.python_problem()
    assert problem.n_features == twins.problem.n_features
    every = np.arange(problem.n_examples)
    for scaling in SCALINGS:
        slow, fast = asked(problem, w, every, scaling), asked(twins.problem, w, every, scaling)
        np.testing.assert_array_equal(slow.examples, fast.examples)
        np.testing.assert_allclose(slow.bounds, fast.bounds, atol=1e-9)
    np.testing.assert_allclose(problem.max_losses(), twins.problem.max_losses(), rtol=1e-12)
    assert np.all(problem.radii() <= twins.problem.radii() + 1e-9)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_own_decoders_agree_with_enumeration(scaling):
    random = np.random.default_rng(0)
    X, Y = list(random.normal(size=(5, 2))), random.integers(3, size=5).tolist()
    problem = bound(PythonModel(OwnDecoders()), X, Y)
    listing = EnumeratedMulticlass(abs(np.arange(3)[:, None] - np.arange(3)))
    listed = bound(PythonModel(listing), X, Y)
    w = random.normal(size=6)
    found, expected = (each.oracle(w, np.arange(5), scaling) for each in (problem, listed))
    np.testing.assert_allclose(found.bounds, expected.bounds)
    np.testing.assert_array_equal(found.outputs, expected.outputs)


def test_what_is_missing_is_said_with_the_methods_to_write():
    class Bare:
        def joint_feature(self, x, y):
            return np.array([x * y])

        def loss(self, y, y_hat):
            return float(y != y_hat)

    problem = bound(PythonModel(Bare()), [1.0], [1])
    assert not problem.oracles
    assert problem.missing("loss_levels") == "; write best_per_loss_level or outputs in Bare"


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (lambda x, y: np.ones(2 if x else 3), r"joint_feature of example 1 has shape \(3,\) but the first had \(2,\)"),
        (lambda x, y: np.array([1.0, np.inf if y else 0.0]), "joint_feature of example 1 holds inf"),
        (lambda x, y: np.ones((1, 2)), "joint_feature of example 0 has 2 dimensions"),
    ],
)
def test_a_joint_feature_that_is_no_vector_is_refused(feature, message):
    class Broken:
        joint_feature = staticmethod(feature)

        def loss(self, y, y_hat):
            return 0.0

    with pytest.raises(ValueError, match=message):
        bound(PythonModel(Broken()), [1, 0], [0, 1])


@pytest.mark.parametrize("loss", [-1.0, np.nan, np.inf])
def test_a_loss_that_is_no_cost_is_refused(loss):
    problem = bound(PythonModel(EnumeratedMulticlass([[0.0, loss], [1.0, 0.0]])), [np.ones(1)], [0])
    with pytest.raises(ValueError, match=f"the loss of example 0 is {loss} for the output 1"):
        problem.losses([1])


def test_initialize_runs_on_a_copy():
    class Learns(EnumeratedMulticlass):
        seen = 0

        def initialize(self, X, Y):
            self.seen = len(X)

    model = Learns(1 - np.eye(2))
    assert PythonModel.prepared(model, [1, 2], [0, 1]).user_model.seen == 2
    assert model.seen == 0


def test_an_object_without_the_two_basic_methods_is_no_model():
    with pytest.raises(TypeError, match="object is no model: it has no method 'joint_feature'"):
        PythonModel.prepared(object(), [], [])


class Answers(OwnDecoders):
    """Multiclass whose methods answer in forms that are given."""

    def __init__(self, **answers):
        for method, answer in answers.items():
            setattr(self, method, lambda *arguments, answer=answer: answer)


@pytest.mark.parametrize(
    ("method", "answer", "scaling", "expected"),
    [
        ("k_best", [(1, 0.5), (0, 0.25)], Scaling(None, "linear"), "a list of outputs, best first, without scores"),
        ("k_best", 1, Scaling(None, "linear"), "a list of outputs, best first, without scores"),
        ("k_best", ["b"], Scaling(None, "linear"), "a list of outputs, best first"),
        ("best_per_loss_level", [(1.0, 1, 0.5)], Scaling("slack", "linear"), "one for each value of the loss, without"),
        ("best_per_loss_level", {1.0: 1}, Scaling("slack", "linear"), "a list of outputs, one for each value"),
        ("loss_augmented_inference", (1, 0.5), Scaling("margin", "linear"), "one output"),
        ("inference", (1, 0.5), BEST, "one output"),
    ],
)
def test_an_answer_in_another_form_is_refused(method, answer, scaling, expected):
    problem = bound(PythonModel(Answers(**{method: answer})), [np.ones(2)], [0])
    with pytest.raises(TypeError, match=f"^{method} of example 0 returned .*; expected .*{expected}"):
        asked(problem, np.zeros(6), np.arange(1), scaling)


def test_more_outputs_than_were_asked_for_are_refused():
    problem = bound(PythonModel(Answers(k_best=[0, 1, 2])), [np.ones(2)], [0])
    with pytest.raises(ValueError, match="k_best of example 0 returned 3 outputs for k=2"):
        problem.k_best(np.zeros(6), 2)


def test_outputs_that_are_tuples_are_outputs():
    class Pairs:
        def joint_feature(self, x, y):
            return np.array([x * y[0], y[1]])

        def loss(self, y, y_hat):
            return float(tuple(y) != tuple(y_hat))

        def outputs(self, x):
            return [(0.5, 1.0), (1.5, 2.0), (1.5, -2.0)]

    problem = bound(PythonModel(Pairs()), [1.0], [[0.5, 1.0]])
    assert problem.predict(np.ones(2)) == [(1.5, 2.0)]


def test_the_largest_loss_can_be_said_in_two_ways():
    problem = bound(PythonModel(OwnDecoders()), [np.ones(2)], [0])
    with pytest.raises(NotImplementedError, match=r"write max_loss\(y\) or outputs\(x\) in OwnDecoders"):
        problem.max_losses()


def test_options_of_a_class_without_set_params_say_what_to_derive_from():
    with pytest.raises(ValueError, match=r"model__n_classes cannot be set: .* from sklearn.base.BaseEstimator"):
        StructuralSVM(OwnDecoders()).set_params(model__n_classes=2)
