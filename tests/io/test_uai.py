import io

import numpy as np
import pytest

from structlearn.data import FactorGraph, Potts
from structlearn.inference.graphs.engines.enumeration import all_scores
from structlearn.io import FormatError, read_evidence, read_uai, write_uai
from tests.inference.graphs.random_graphs import mixed_graph

SMALL = b"MARKOV\n3\n2 2 3\n2\n2 0 1\n3 0 1 2\n\n4\n 4.000 2.400\n 1.000 0.000\n\n12\n" + b" 2.25 3.25 3.75" * 4


def test_a_file_is_read_with_its_zeros():
    graph = read_uai(io.BytesIO(SMALL))
    assert graph.n_labels.tolist() == [2, 2, 3]
    assert np.exp(graph.score([0, 1, 2])) == pytest.approx(2.4 * 3.75)
    assert graph.score([1, 1, 0]) == -np.inf


def test_a_graph_that_was_written_is_read_again(tmp_path):
    random = np.random.default_rng(0)
    for _ in range(10):
        graph = mixed_graph(random, forbidden=0.2)
        write_uai(graph, tmp_path / "graph.uai")
        np.testing.assert_allclose(all_scores(read_uai(tmp_path / "graph.uai")), all_scores(graph), atol=1e-12)


def test_scores_without_an_exponential_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="the score 1000"):
        write_uai(FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], Potts(1000.0)), tmp_path / "graph.uai")


@pytest.mark.parametrize("evidence", [b"1 2 1", b"1 1 2 1"], ids=["new", "old"])
def test_evidence_of_both_forms_is_read(evidence):
    assert read_evidence(io.BytesIO(evidence), read_uai(io.BytesIO(SMALL))) == {2: 1}
    graph = read_uai(io.BytesIO(SMALL), io.BytesIO(evidence))
    assert graph.score([0, 0, 0]) == -np.inf
    assert graph.score([0, 0, 1]) == pytest.approx(np.log(4.0 * 3.25))


@pytest.mark.parametrize("evidence", [b"", b"0"], ids=["empty", "none"])
def test_no_evidence_is_none(evidence):
    assert read_evidence(io.BytesIO(evidence), read_uai(io.BytesIO(SMALL))) == {}


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (b"1 7 0", "variable 7 is known; there are 3"),
        (b"1 0 2", "variable 0 has label 2; there are 2"),
        (b"2 0 1 0 0", "variable 0 has label 1 and label 0"),
        (b"2 0 1", "expected 2 variables"),
        (b"x", "expected a number, found 'x'"),
    ],
)
def test_bad_evidence_is_refused_by_name(evidence, message):
    with pytest.raises(FormatError, match=message):
        read_evidence(io.BytesIO(evidence), read_uai(io.BytesIO(SMALL)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "expected MARKOV or BAYES, found ''"),
        (b"WHAT 1 2 0", "expected MARKOV or BAYES"),
        (b"MARKOV -1", "expected the number of variables, found '-1'"),
        (b"MARKOV 99999999999999999 2", "expected the number of labels of a variable, found the end"),
        (b"MARKOV 2 2 0 0", "variable 1 has no labels"),
        (b"MARKOV 2 2000000000 2000000000 0", "at most 16777216 are read"),
        (b"MARKOV 2 2 2 1 2 0 2 4 1 1 1 1", "factor 0 has variable 2; there are 2"),
        (b"MARKOV 2 2 2 1 2 1 1 4 1 1 1 1", "factor 0 has a variable twice"),
        (b"MARKOV 2 2 2 1 2 0 1 3 1 1 1", "factor 0 has 3 values; its variables have 4 joint labels"),
        (b"MARKOV 2 2 2 1 2 0 1 4 1 1 1", "expected a value of factor 0, found the end of the file"),
        (b"MARKOV 2 2 2 1 2 0 1 4 1 1 nan 1", "found 'nan'"),
        (b"MARKOV 2 2 2 1 2 0 1 4 1 1 1e999 1", "the value inf"),
        (b"MARKOV 2 2 2 1 2 0 1 4 1 1 -1 1", "the value -1.0"),
        (b"MARKOV 2 2 2 1 2 0 1 4 1 1 1-1 1", "is no number"),
        (b"MARKOV 2 2 2 1 2 0 1 4 1 1 1 1 1", "'1' after the last factor"),
    ],
)
def test_damaged_files_are_refused_by_name(text, message):
    with pytest.raises(FormatError, match=message):
        read_uai(io.BytesIO(text))


def test_every_truncation_is_refused_or_read():
    for end in range(len(SMALL)):
        try:
            read_uai(io.BytesIO(SMALL[:end]))
        except FormatError:
            continue
        assert b"3.75".endswith(SMALL[end:])  # 3.7 is a number, too
