import numpy as np
import pytest

from structlearn.metrics import PUNCTUATION, bracket_counts, bracket_scores, correct_trees, crossing_brackets

TRUE = "(TOP (S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (NNS cats)) (PRT (RP off))) (. .)))"


def test_the_truth_scores_1_and_leaves_and_roots_are_no_brackets():
    assert bracket_counts([TRUE], [TRUE]).tolist() == [[5, 5, 5]]
    assert bracket_scores([TRUE], [TRUE]).f1 == 1.0
    assert correct_trees([TRUE], [TRUE]).tolist() == [True]


def test_counts_by_hand():
    found = "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (NNS cats) (RP off))) (. .))"
    # S, NP and VP are right, NP of two words is wrong; NP of one word and PRT are missed.
    assert bracket_counts([TRUE], [found]).tolist() == [[3, 4, 5]]
    scores = bracket_scores([TRUE], [found])
    assert (scores.precision, scores.recall) == (3 / 4, 3 / 5)
    assert (scores["NP"].precision, scores["NP"].recall, scores["PRT"].recall) == (1 / 2, 1 / 2, 0.0)
    assert not correct_trees([TRUE], [found])[0]


def test_labels_can_be_ignored_or_made_equal():
    found = TRUE.replace("PRT", "ADVP").replace("VP (VBD", "XX (VBD")
    assert bracket_counts([TRUE], [found]).tolist() == [[3, 5, 5]]
    assert bracket_counts([TRUE], [found], labelled=False).tolist() == [[5, 5, 5]]
    assert bracket_counts([TRUE], [found], equal={"PRT": "ADVP"}).tolist() == [[4, 5, 5]]


def test_the_same_bracket_twice_counts_twice():
    assert bracket_counts(["(A (A (X x) (Y y)))"], ["(A (X x) (Y y))"]).tolist() == [[1, 1, 2]]


def test_punctuation_is_deleted_before_counting():
    # Without the full stop both have the same spans.
    found = "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (NNS cats)) (PRT (RP off)) (. .)))"
    assert not correct_trees([TRUE], [found])[0]
    assert correct_trees([TRUE], [found], delete=PUNCTUATION)[0]
    assert bracket_counts(["(S (X (. .)) (Y y))"], ["(S (. .) (Y y))"], delete=PUNCTUATION).tolist() == [[1, 1, 1]]


def test_brackets_cross_if_they_overlap_without_one_within_the_other():
    found = ["(S (DT the) (X (NN dog) (VBD saw)) (Y (NNS cats) (RP off) (. .)))"]
    # X crosses NP and VP but counts once; Y crosses VP.
    assert crossing_brackets([TRUE], found).tolist() == [2]
    assert crossing_brackets([TRUE], found, delete=PUNCTUATION).tolist() == [1]
    assert crossing_brackets([TRUE], [TRUE]).tolist() == [0]


def test_a_flat_tree_has_no_brackets():
    found = "(ROOT (DT the) (NN dog) (VBD saw) (NNS cats) (RP off) (. .))"
    scores = bracket_scores([TRUE], [found])
    assert (scores.precision, scores.recall, scores.f1) == (0.0, 0.0, 0.0)


def test_trees_of_other_sizes_are_named():
    with pytest.raises(ValueError, match=r"Y\[1\] has 2 leaves but Y_pred\[1\] has 1"):
        bracket_counts(["(A (B b))", "(A (B b) (C c))"], ["(A (B b))"] * 2)
    with pytest.raises(ValueError, match="Y has 1 trees but Y_pred has 2"):
        correct_trees(["(A (B b))"], ["(A (B b))"] * 2)
    assert bracket_counts([], []).shape == (0, 3)
    assert crossing_brackets([], []).dtype == np.int64
