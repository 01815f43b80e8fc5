"""What is refused where it enters, whatever it is: in a line or two that name it."""

import re

import numpy as np
import pytest

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.data import as_tree, parse_tree
from structlearn.data.examples import check_examples
from structlearn.data.matrices import checked_numbers
from structlearn.data.options import declared_option
from structlearn.models import Chain, Multiclass
from structlearn.solvers import OneSlack
from structlearn.wording import shown


def nested(depth):
    value = ["a"]
    for _ in range(depth):
        value = [value]
    return value


def test_every_value_is_shown_in_a_line_or_two():
    for value in (10**5000, "x" * 10**6, nested(100_000), {"x": "y" * 10**6}, np.zeros(10**6), [[]] * 999):
        assert len(shown(value)) <= 200


@pytest.mark.parametrize("given", [None, 3, "text", b"text", {"a": 1}, {1, 2}, iter([1]), np.array(1.0), list])
def test_what_is_no_list_is_no_list_of_examples(given):
    with pytest.raises((ValueError, TypeError), match=r"^X is .*; a list or an array is needed"):
        check_examples("X", given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([[1.0, 2.0], [3.0]], "X[1] has 1 entries but X[0] has 2"),
        ([[1.0, {}], [3.0, 4.0]], "X[0][1] is {}"),
        ([[1.0, 10**400], [3.0, 4.0]], "X[0][1] is <int of 1329 bits>"),
        ([[1.0, 2.0], 3.0], "X[1] is 3.0"),
        ({"a": 1}, "it is {'a': 1}"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_named(given, told):
    with pytest.raises(ValueError, match=re.escape(f"X is not a matrix of numbers: {told}")):
        checked_numbers(given, "X")


def test_trees_have_a_depth_that_can_be_walked():
    deep = ("NN", "dog")
    for _ in range(300):
        deep = ("NP", deep)
    with pytest.raises(ValueError, match=r"Y\[0\] is a tree of more than 250 levels"):
        as_tree(deep, "Y[0]")
    with pytest.raises(ValueError, match="more than 250 brackets are open at character"):
        parse_tree("(NP " * 300)


@pytest.mark.parametrize(
    ("declared", "good", "bad"),
    [
        (int, [0, 3, np.int64(2)], [-1, 2.5, "3", True, None, 10**30]),
        (float, [0, 0.5], [-1.0, np.nan, np.inf, "1", None]),
        (bool, [True, 0], [2, "no", None]),
        (int | None, [None, 3], ["3", 2.5]),
        (Chain, [Chain(), 3], []),
    ],
)
def test_an_option_is_of_the_type_that_is_declared(declared, good, bad):
    for value in good:
        declared_option("size", value, declared)
    for value in bad:
        with pytest.raises(ValueError, match=r"^size is "):
            declared_option("size", value, declared)


X, Y = [np.eye(2)], [["a", "b"]]


def test_options_of_solvers_are_refused_by_name():
    with pytest.raises(ValueError, match="cache is 'many'; it must be a whole number"):
        StructuralSVM(Chain(), solver=OneSlack(cache="many")).fit(X, Y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("k", [0, 2.5, "2", None, np.nan, 10**30])
def test_a_number_of_outputs_is_whole(k):
    svm = StructuralSVM(Chain(), max_iter=1).fit(X, Y)
    with pytest.raises(ValueError, match=r"^k is "):
        svm.k_best(X, k)


@pytest.mark.filterwarnings("ignore")
def test_scores_need_labels():
    svm = StructuralSVM(Multiclass(), max_iter=1).fit(np.eye(2), ["a", "b"])
    with pytest.raises(ValueError, match="y is None; a list or an array is needed"):
        svm.score(np.eye(2), None)


@pytest.mark.filterwarnings("ignore")
def test_validation_without_examples_is_refused():
    with pytest.raises(ValueError, match="validation holds no examples"):
        ConditionalRandomField(Chain(), max_iter=1).fit(X, Y, validation=([], []))


def test_weights_add_up_to_a_number():
    with pytest.raises(ValueError, match="sample_weight adds up to infinity"):
        StructuralSVM(Chain()).fit(X * 2, Y * 2, sample_weight=[1e308, 1e308])
