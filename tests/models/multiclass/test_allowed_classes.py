import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.models import ClassAttributes, Multiclass
from tests.models.enumerated import EnumeratedMulticlass
from tests.models.restrictions import check_partial_loss, check_restricted, restricted


def labels_of(known, n_classes):
    return range(n_classes) if known is None else known if isinstance(known, (set, list)) else [known]


def partial(random, y, n_classes):
    """What could be known of a label: anything that allows it."""
    others = np.flatnonzero(random.integers(2, size=n_classes)).tolist()
    return [None, y, {y, *others}, [y, *others]][random.integers(4)]


@st.composite
def instances(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, n_classes = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    X, Y = random.normal(size=(n, 3)), random.integers(n_classes, size=n).tolist()
    cost = random.integers(0, 4, (n_classes, n_classes)) / 2 * (1.0 - np.eye(n_classes))
    attributes = random.normal(size=(n_classes, 2))
    features = ClassAttributes(dict(enumerate(attributes))) if draw(st.booleans()) else None
    model = Multiclass(classes=list(range(n_classes)), cost=cost, output_features=features)
    reference = EnumeratedMulticlass(cost, None if features is None else np.hstack([np.eye(n_classes), attributes]))
    allowed = [partial(random, y, n_classes) for y in Y]
    size = 3 * (n_classes + 2 * (features is not None))
    w = random.integers(-1, 2, size).astype(float) if draw(st.booleans()) else random.normal(size=size)
    return model, reference, X, Y, allowed, w


@settings(max_examples=100)
@given(instances())
def test_every_decoder_keeps_to_allowed_classes(instance):
    model, reference, X, Y, allowed, w = instance
    twins = restricted(
        model, reference, list(X), Y, allowed, lambda y, known: y in labels_of(known, len(reference.cost))
    )
    check_restricted(twins, w)
    for known, p in zip(allowed, twins.problem.label_probabilities(w), strict=True):
        assert set(np.flatnonzero(p)) <= set(labels_of(known, len(p)))


@settings(max_examples=60)
@given(instances())
def test_a_loss_of_what_is_known_is_the_least_of_what_is_possible(instance):
    model, reference, X, Y, allowed, w = instance

    def loss(y, known):
        return min(reference.cost[label, y] for label in labels_of(known, len(reference.cost)))

    check_partial_loss(model, reference, list(X), Y, allowed, loss, w)


def test_estimators_take_what_is_allowed():
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(30, 3)), random.choice(["a", "b", "c"], 30)
    crf = ConditionalRandomField(Multiclass()).fit(X, Y)
    allowed = [["b", {"a", "c"}, None][i % 3] for i in range(30)]
    predicted, free = crf.predict(X, allowed=allowed), crf.predict(X)
    assert set(predicted[::3]) == {"b"}
    assert "b" not in predicted[1::3]
    assert list(predicted[2::3]) == list(free[2::3])
    assert list(predicted) != list(free)
    assert crf.predict_marginals(X, allowed=allowed)[0].tolist() == [0.0, 1.0, 0.0]
    assert [sorted(y for y, _ in best) for best in crf.k_best(X[:2], 3, allowed=allowed[:2])] == [["b"], ["a", "c"]]
    assert set(crf.sample(X, 20, random_state=0, allowed=allowed)[0]) == {"b"}
    assert crf.entropy(X, allowed=allowed)[0] == pytest.approx(0.0)
    assert list(StructuralSVM(Multiclass()).fit(X, Y).predict(X, allowed=["a"] * 30)) == ["a"] * 30


def test_training_aims_at_allowed_classes_only():
    X, Y = np.eye(3), ["a", "b", "c"]
    free = StructuralSVM(Multiclass(), C=5, tol=1e-6).fit(X, Y)
    held = StructuralSVM(Multiclass(), C=5, tol=1e-6).fit(X, Y, allowed=[{"a", "b"}, "b", None])
    assert held.objective_ < free.objective_


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        (["a"], "each of the 2 examples"),
        ("ab", "each of the 2 examples"),
        (["a", "z"], r"allowed\[1\] is 'z', but 'z' is not one of the labels"),
        (["a", {"a", "z"}], r"but 'z' is not one of the labels"),
        (["a", []], r"allowed\[1\] is \[\]: no label is left"),
        (["a", {"a": 1}], r"allowed\[1\] is .*must be hashable"),
        (["b", None], r"Y\[0\] is 'a', but allowed\[0\] is 'b'"),
    ],
)
def test_impossible_restrictions_name_the_example(allowed, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Multiclass(classes=["a", "b"])).fit(np.eye(2), ["a", "b"], allowed=allowed)
