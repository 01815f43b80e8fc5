import numpy as np
import pytest

from structlearn.io import FormatError, Letor, Lines, recognise

QUERIES = """# two queries
2 qid:7 1:0.5 2:NULL #docid = a
0 qid:7 2:3 #docid = b
1 qid:7 1:1 2:1 #docid = c

0 qid:9 1:4 2:1 #docid = a
"""


def read(text):
    return list(Letor().read(Lines([text.encode()], "train.txt")))


def test_documents_of_a_query_belong_together():
    one, other = read(QUERIES)
    assert one.x == [{"1": 0.5}, {"2": 3.0}, {"1": 1.0, "2": 1.0}]
    assert one.y == [2.0, 0.0, 1.0]
    assert (other.x, other.y, other.line) == ([{"1": 4.0, "2": 1.0}], [0.0], 6)


def test_a_ranking_is_written_as_labels_that_are_larger_for_better_documents():
    one, other = read(QUERIES)
    assert Letor().annotate(one, np.array([2, 0, 1])) == (
        "2 qid:7 1:0.5 2:NULL #docid = a\n1 qid:7 2:3 #docid = b\n3 qid:7 1:1 2:1 #docid = c\n"
    )
    assert Letor().annotate(other, np.array([0])) == "1 qid:9 1:4 2:1 #docid = a\n"
    (unlabelled,) = read("qid:1 1:1\nqid:1 1:2\n")
    assert unlabelled.y is None
    assert Letor().annotate(unlabelled, [1, 0]) == "1 qid:1 1:1\n2 qid:1 1:2\n"


@pytest.mark.parametrize("y", [[0.0, 1.0, 2.0], [0, 1], [0, 1, 1], ["1", "2", "0"]])
def test_what_is_no_ranking_cannot_be_written(y):
    with pytest.raises(ValueError, match="is no ranking of 3 documents"):
        Letor().annotate(read(QUERIES)[0], y)


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (["1 qid:1 1:1 #docid = a", "2 qid:1 2:1 #docid = b"], "letor"),
        (["0 qid:1 1:0.5 2:1", "3 qid:1 1:0.1 2:0"], "letor"),
        (["qid:1 1:1 #docid = a"], "letor"),
        (["0 qid:1 1:0.5", "3 qid:1 1:0.1 2:0"], "svmhmm"),
        (["3 qid:1 1:1 2:1 # 1A", "2 qid:1 1:0 2:0 # 1B"], "svmhmm"),
        (["0 1:0.5 2:1", "1 1:0.5 2:1"], "svmlight"),
    ],
)
def test_queries_are_told_from_sequences_and_rows(lines, name):
    assert recognise(lines).name == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 qid:1 1:x\n", "train.txt:1:9: expected a finite number, found 'x'"),
        ("0 1:1\n", "train.txt:1:3: expected qid:number, found '1:1'"),
        ("good qid:1 1:1\n", "train.txt:1:1: expected a finite number, found 'good' as label"),
        ("0 qid:1 1:1\n0 qid:2 1:1\n0 qid:1 1:1\n", "train.txt:3:3: qid:1 comes back"),
    ],
)
def test_what_cannot_be_read_is_named(text, message):
    with pytest.raises(FormatError, match=message):
        read(text)
