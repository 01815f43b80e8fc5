import datetime

import numpy as np
import pytest

from structlearn.data.labels import LabelCodes, observed_classes
from structlearn.models import Chain

DAY = datetime.date(2024, 2, 29)


@pytest.mark.parametrize(
    ("classes", "labels", "codes"),
    [
        (("a", "b"), ["b", np.str_("a"), "b"], [1, 0, 1]),
        ((0, 1), [np.int8(1), True, 0.0], [1, 1, 0]),
        ((None, ("a", 1)), [("a", 1), None], [1, 0]),
        (("x", DAY), [np.datetime64(DAY), "x"], [1, 0]),
        (("a",), [], []),
        (("a", "b"), np.array(["b", "a"]), [1, 0]),
    ],
)
def test_labels_equal_to_a_class_have_its_code(classes, labels, codes):
    found = LabelCodes(classes).encode(labels, "Y")
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, codes)


@pytest.mark.parametrize("label", ["z", ["a"], 7])
def test_an_unknown_label_is_refused_or_has_no_code(label):
    with pytest.raises(ValueError, match=r"Y\[1\] is .* which is not among the 2 classes"):
        LabelCodes(("a", "b")).encode(["a", label], "Y")
    np.testing.assert_array_equal(LabelCodes(("a", "b"), allow_unknown=True).encode(["a", label], "Y"), [0, -1])


@pytest.mark.parametrize("allow_unknown", [False, True])
@pytest.mark.parametrize("classes", [("a",), ("a", np.nan)])
def test_a_label_that_is_not_equal_to_itself_is_refused(classes, allow_unknown):
    with pytest.raises(ValueError, match=r"Y\[1\] is nan; a label must be equal to itself"):
        LabelCodes(classes, allow_unknown=allow_unknown).encode(["a", np.nan], "Y")


def test_observed_labels_are_plain_and_distinct():
    found = observed_classes([np.int64(2), 1, np.int8(1), 2])
    assert found == (1, 2)
    assert {type(label) for label in found} == {int}


@pytest.mark.parametrize("classes", [("a\0", "b"), (("a", 1), ("b", 2)), (None, "a"), (2**70, 1), (1.5, DAY)])
def test_predictions_hold_the_labels_themselves(classes):
    model = Chain(classes=classes, boundaries=False)
    X = [np.eye(2), np.eye(2)[:1]]
    problem = model.bind(model.specify(X, [list(classes), [classes[0]]]), X)
    w = np.concatenate([np.eye(2).ravel(), np.zeros(4)])
    predicted = problem.present(problem.predict(w))
    assert predicted == [list(classes), [classes[0]]]
    assert all(label is classes[k] for y in predicted for k, label in enumerate(y))
