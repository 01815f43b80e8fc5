import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as lenient_scores
from seqeval.metrics.v1 import precision_recall_fscore_support as strict_scores
from seqeval.scheme import IOB1, IOB2, IOBES, Entities

from structlearn.data import from_bio, spans, to_bio
from structlearn.metrics import f1, span_counts, span_scores

STRICT = {"BIO": IOB2, "IOB1": IOB1, "BIOES": IOBES}
PREFIXES = {"BIO": "BI", "IOB1": "BI", "BIOES": "BIES", "conlleval": "BIES"}
SCHEMES = list(PREFIXES)


def tags(scheme):
    typed = st.builds("{}-{}".format, st.sampled_from(PREFIXES[scheme]), st.sampled_from(["A", "B", "A-B"]))
    return st.sampled_from("O") | typed | st.sampled_from(PREFIXES[scheme])


def tag_sequences(scheme):
    """Mostly malformed ones: any tag may follow any other."""
    return st.lists(tags(scheme), max_size=12)


def truth_and_prediction(scheme):
    """Sequences of which about half the tags are right, so that some spans are."""
    token = st.tuples(tags(scheme), tags(scheme), st.booleans()).map(lambda t: (t[0], t[0] if t[2] else t[1]))
    sequences = st.lists(st.lists(token, min_size=1, max_size=8), min_size=1, max_size=4)
    return sequences.map(lambda Z: ([[a for a, _ in z] for z in Z], [[b for _, b in z] for z in Z]))


def seqeval_spans(labels, scheme):
    if scheme == "conlleval":
        return [(kind, begin, last + 1) for kind, begin, last in get_entities(labels)]
    return [(entity.tag, entity.start, entity.end) for entity in Entities([labels], STRICT[scheme]).entities[0]]


def seqeval_scores(Y, Y_pred, scheme, average):
    if scheme == "conlleval":
        return lenient_scores(Y, Y_pred, average=average, zero_division=0)
    return strict_scores(Y, Y_pred, average=average, scheme=STRICT[scheme], zero_division=0)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(data=st.data())
def test_spans_of_any_tags_are_those_of_seqeval(scheme, data):
    labels = data.draw(tag_sequences(scheme))
    assert spans(labels, scheme) == seqeval_spans(labels, scheme)


@given(tag_sequences("IOB1"))
@example(["I-A", "B-A", "B-B"])
@example(["B-A", "I-A", "B-A", "B-A"])
def test_misplaced_begins_in_iob1_are_read_as_in_seqeval(labels):
    assert spans(labels, "IOB1") == seqeval_spans(labels, "IOB1")


# Which spans there are is another test's; this one counts them, and seqeval takes its time.
@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=25)
@given(data=st.data())
def test_scores_are_those_of_seqeval(scheme, data):
    Y, Y_pred = data.draw(truth_and_prediction(scheme))
    report = span_scores(Y, Y_pred, scheme)
    if not report.per_class:  # seqeval divides by the number of types
        assert report.macro == report.weighted == report.micro
        assert report.f1 == 0
        return
    for average, score in (("micro", report.micro), ("macro", report.macro), ("weighted", report.weighted)):
        *theirs, support = seqeval_scores(Y, Y_pred, scheme, average)
        np.testing.assert_allclose([score.precision, score.recall, score.f1], theirs, rtol=1e-12)
        assert score.support == support
    by_type = np.array(seqeval_scores(Y, Y_pred, scheme, None)).T
    ours = [(s.precision, s.recall, s.f1, s.support) for s in report.per_class.values()]
    np.testing.assert_allclose(ours, by_type, rtol=1e-12)


@st.composite
def segmentations(draw):
    """(type, begin, end) of spans that do not overlap, and the length of the sequence."""
    found, t = [], 0
    for _ in range(draw(st.integers(0, 5))):
        begin = t + draw(st.integers(0, 2))
        t = begin + draw(st.integers(1, 4))
        found.append((draw(st.sampled_from(["A", "B", "A-B"])), begin, t))
    return found, t + draw(st.integers(0, 2))


def written(segmentation, scheme):
    found, length = segmentation
    labels = ["O"] * length
    for kind, begin, end in found:
        labels[begin:end] = [f"I-{kind}"] * (end - begin)
        touches = begin > 0 and labels[begin - 1].partition("-")[2] == kind
        if scheme != "IOB1" or touches:
            labels[begin] = f"B-{kind}"
        if scheme == "BIOES":
            labels[end - 1] = f"E-{kind}" if end - begin > 1 else f"S-{kind}"
    return labels


@pytest.mark.parametrize(
    ("scheme", "reading"),
    [(scheme, reading) for scheme in STRICT for reading in (scheme, "conlleval")],
)
@given(segmentation=segmentations())
def test_spans_that_were_written_down_are_read_back(scheme, reading, segmentation):
    assert spans(written(segmentation, scheme), reading) == segmentation[0]


@pytest.mark.parametrize("scheme", STRICT)
@given(segmentation=segmentations())
def test_tags_of_any_scheme_become_bio(scheme, segmentation):
    assert to_bio(from_bio(written(segmentation, scheme))) == written(segmentation, "BIO")


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("BIO", [("A", 1, 2)]),
        ("IOB1", [("A", 0, 1), ("A", 1, 2), ("B", 2, 3)]),
        ("BIOES", []),
        ("conlleval", [("A", 0, 1), ("A", 1, 2), ("B", 2, 3)]),
    ],
)
def test_schemes_differ_in_what_begins_and_ends_a_span(scheme, expected):
    assert spans(["I-A", "B-A", "I-B"], scheme) == expected


def test_tags_without_a_type_have_the_type_underscore():
    assert spans(["B", "I", "O", "B"]) == [("_", 0, 2), ("_", 3, 4)]


def test_arrays_and_tuples_of_tags_are_sequences_as_well():
    tags = ["B-A", "I-A", "O"]
    for same in (tuple(tags), np.array(tags), np.array(tags, object)):
        assert spans(same) == spans(tags)
        assert span_scores([same], [tags]).f1 == 1


@given(truth_and_prediction("BIO"))
def test_counts_of_sequences_add_up_to_the_scores(pair):
    counts = span_counts(*pair)
    report = span_scores(*pair)
    assert f1(counts.sum(axis=0)) == report.f1
    assert counts[:, 2].sum() == report.support


@pytest.mark.parametrize(
    ("Y_pred", "scheme", "message"),
    [
        ([["O", "O"], ["B-A"]], "BIO", r"Y\[1\] has 2 labels but Y_pred\[1\] has 1"),
        ([["O", "O"]], "BIO", "Y has 2 sequences but Y_pred has 1"),
        (
            [["O", "O"], ["B-A", "S-A"]],
            "BIO",
            r"Y_pred\[1\]\[1\] is 'S-A', which is no tag of BIO: its prefixes are B, I, O",
        ),
        ([["O", "O"], ["B-A", "NP"]], "conlleval", r"Y_pred\[1\]\[1\] is 'NP', which is no tag of conlleval"),
        ([["O", 3], ["B-A", "O"]], "IOB1", r"Y_pred\[0\]\[1\] is 3, which is no tag of IOB1"),
        (["OO", "OO"], "BIO", r"Y_pred\[0\] is 'OO'; expected a sequence of labels"),
        ([["O", "O"], ["O", "O"]], "IOB2", "scheme is 'IOB2'; expected one of 'conlleval', 'BIO', 'IOB1', 'BIOES'"),
    ],
)
def test_what_cannot_be_scored_is_refused_by_name(Y_pred, scheme, message):
    with pytest.raises(ValueError, match=message):
        span_scores([["O", "O"], ["B-A", "I-A"]], Y_pred, scheme)


@pytest.mark.parametrize("labels", [["O", "O-A"], ["O", "-A"], ["O", ""], ["O", "BI-A"], ["O", None]])
def test_a_label_that_is_no_tag_is_refused(labels):
    with pytest.raises(ValueError, match=r"labels\[1\] is .* which is no tag of conlleval"):
        spans(labels)


def test_one_string_is_no_sequence_of_tags():
    with pytest.raises(ValueError, match="labels is 'B-A'; expected a sequence of tags"):
        spans("B-A")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_report_of_spans_carries_its_rule(scheme):
    report = span_scores([["B-A", "O"]], [["B-A", "O"]], scheme)
    assert report.scheme == scheme
    assert str(report).endswith(f"spans by the rule {scheme}")
    assert f"scheme={scheme!r}" in repr(report)


def test_the_default_is_the_rule_of_conlleval():
    Y, Y_pred = [["B-A", "I-A", "B-B"]], [["B-A", "I-A", "I-B"]]
    assert span_scores(Y, Y_pred) == span_scores(Y, Y_pred, "conlleval")
    assert span_scores(Y, Y_pred).f1 == f1(span_counts(Y, Y_pred).sum(axis=0)) == 1
    assert span_scores(Y, Y_pred, "BIO").f1 < 1


def test_fifty_thousand_tokens_take_well_under_a_second():
    Y = [["B-NP", "I-NP", "O", "B-VP", "B-PP"] * 5] * 2000
    Y_pred = [["B-NP", "I-NP", "O", "I-VP", "B-PP"] * 5] * 2000
    begin = time.perf_counter()
    span_scores(Y, Y_pred, "conlleval")
    assert time.perf_counter() - begin < 1
