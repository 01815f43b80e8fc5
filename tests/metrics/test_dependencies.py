import numpy as np
import pytest

from structlearn.metrics import (
    bootstrap_counts,
    correct_dependency_trees,
    dependency_counts,
    dependency_measures,
    dependency_report,
    las,
    mcnemar,
    punctuation,
    ratio,
    uas,
)

X = [["I", "saw", "her", "."], ["Go", "!?", "…"], ["$"]]
Y = [
    [(2, "nsubj"), (0, "root"), (2, "obj"), (2, "punct")],
    [(0, "root"), (1, "punct"), (1, "punct")],
    [(0, "root")],
]
FOUND = [
    [(2, "nsubj"), (0, "root"), (2, "nsubj"), (3, "punct")],
    [(2, "root"), (0, "punct"), (1, "punct")],
    [(0, "root")],
]


def test_counts_by_hand():
    # In the second sentence the first two have wrong heads; right heads, both, labels, all.
    assert dependency_counts(Y, FOUND).tolist() == [[3, 2, 3, 4], [1, 1, 3, 3], [1, 1, 1, 1]]
    assert (uas(Y, FOUND), las(Y, FOUND)) == (5 / 8, 4 / 8)
    assert (uas(Y, Y), las(Y, Y)) == (1.0, 1.0)


def test_punctuation_does_not_count_where_it_is_ignored():
    ignore = punctuation(X)
    assert ignore == [[False, False, False, True], [False, True, True], [False]]
    assert punctuation([[(word, "X") for word in x] for x in X]) == ignore
    assert (
        (uas(Y, FOUND, ignore=ignore), las(Y, FOUND, ignore=ignore))
        == (4 / 5, 3 / 5)
        == (
            4 / 5,
            dependency_measures(Y, FOUND, X).scores()["las_without_punctuation"],
        )
    )
    assert dependency_counts(Y, FOUND, ignore=[[True] * len(x) for x in X]).tolist() == [[0, 0, 0, 0]] * 3
    assert uas(Y, FOUND, ignore=[[True] * len(x) for x in X]) == 0.0


def test_measures_are_the_scores_and_come_with_the_trees_that_are_right():
    measures = dependency_measures(Y, FOUND, X)
    assert measures.scores() == {
        "las": las(Y, FOUND),
        "uas": uas(Y, FOUND),
        "label_accuracy": 7 / 8,
        "las_without_punctuation": las(Y, FOUND, ignore=punctuation(X)),
        "uas_without_punctuation": uas(Y, FOUND, ignore=punctuation(X)),
        "correct_roots": 2 / 3,
        "unlabelled_trees": 1 / 3,
    }
    assert measures.right.tolist() == correct_dependency_trees(Y, FOUND).tolist() == [False, False, True]


def test_trees_without_labels_have_no_scores_of_labels():
    heads, found = ([[head for head, _ in y] for y in trees] for trees in (Y, FOUND))
    assert list(dependency_measures(heads, found, X).scores()) == [
        "uas",
        "uas_without_punctuation",
        "correct_roots",
    ]
    assert uas(heads, found) == las(heads, found) == uas(Y, FOUND)
    assert uas([np.array(y) for y in heads], [np.array(y) for y in found]) == uas(Y, FOUND)


def test_a_tree_may_be_right_but_for_its_labels():
    found = [[(head, "x") for head, _ in y] for y in Y]
    assert correct_dependency_trees(Y, found).tolist() == [False] * 3
    assert correct_dependency_trees(Y, found, labelled=False).tolist() == [True] * 3


def test_the_report_has_precision_and_recall_of_each_label():
    report = dependency_report(Y, FOUND)
    assert (report["nsubj"].precision, report["nsubj"].recall, report["nsubj"].support) == (1 / 2, 1.0, 1)
    assert (report["obj"].precision, report["obj"].recall) == (0.0, 0.0)
    assert (report["punct"].precision, report["root"].recall) == (1 / 3, 2 / 3)
    assert report.f1 == report.precision == report.recall == las(Y, FOUND)
    with pytest.raises(ValueError, match=r"Y\[0\] or Y_pred\[0\] has no labels"):
        dependency_report([[0]], [[0]])


def test_counts_go_into_tests_and_intervals():
    counts, same = dependency_counts(Y, FOUND), dependency_counts(Y, Y)
    interval = bootstrap_counts(counts, lambda sums: ratio(sums[..., 0], sums[..., 3]), random_state=0)
    assert interval.low <= interval.estimate == uas(Y, FOUND) <= interval.high
    assert mcnemar(correct_dependency_trees(Y, FOUND), correct_dependency_trees(Y, Y)).p_value <= 1.0
    assert same[:, 0].tolist() == [4, 3, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0]], [[0], [0]]), "Y has 1 trees but Y_pred has 2"),
        (([[0]], [[0, 1]]), r"Y\[0\] has 1 tokens but Y_pred\[0\] has 2"),
        (([[0]], [["x"]]), r"Y_pred\[0\]\[0\] is 'x'; a head is a whole number"),
        (([[None]], [[0]]), r"Y\[0\] is known in part; scores need whole trees"),
    ],
)
def test_what_is_no_tree_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        uas(*arguments)


@pytest.mark.parametrize(
    ("ignore", "message"),
    [
        ([], "Y has 1 trees but ignore is about 0 sentences"),
        ([[True, True]], r"Y\[0\] has 1 tokens but ignore\[0\] has 2"),
    ],
)
def test_what_is_ignored_has_a_value_for_each_token(ignore, message):
    with pytest.raises(ValueError, match=message):
        uas([[0]], [[0]], ignore=ignore)
