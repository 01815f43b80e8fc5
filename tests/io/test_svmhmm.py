import pytest

from structlearn.io import FormatError, Lines, SvmHmm
from structlearn.io import svmhmm as svmhmm_module

TAGS = "1 qid:1 3:1 # the\n2 qid:1 5:0.5 # dog\n\n2 qid:7 # empty\n"


def read(text):
    return list(SvmHmm().read(Lines([text.encode()], "tags.txt")))


def test_lines_of_one_number_are_a_sequence():
    first, second = read(TAGS)
    assert (first.x, first.y, first.line) == ([{"3": 1.0}, {"5": 0.5}], ["1", "2"], 1)
    assert (second.x, second.y, second.line) == ([{}], ["2"], 4)


def test_predictions_replace_the_labels():
    first, _ = read(TAGS)
    assert SvmHmm().annotate(first, ["8", 9]) == "8 qid:1 3:1 # the\n9 qid:1 5:0.5 # dog\n"
    (unlabelled,) = read("qid:1 3:1\n")
    assert unlabelled.y is None
    assert SvmHmm().annotate(unlabelled, ["8"]) == "8 qid:1 3:1\n"


def test_written_sequences_are_numbered():
    form = SvmHmm()
    assert form.write([{"1": 1.0}, {}], ["1", "2"]) == "1 qid:1 1:1\n2 qid:1\n"
    assert form.write([["3", "2"]], None) == "qid:2 2:1 3:1\n"
    assert form == SvmHmm()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 qid:1\n1 qid:2\n1 qid:1 1:1\n", "tags.txt:3:3: qid:1 comes back, after the sequence that begins in line 1"),
        ("1 1:1\n", "tags.txt:1:3: expected qid:number, found '1:1'"),
        ("1\n", "tags.txt:1:2: expected qid:number, found nothing"),
        ("1 qid:x\n", "tags.txt:1:3: expected qid:number, found 'qid:x'"),
        ("1 qid:1 2:1 1:1\n", "tags.txt:1:13: the index 1 comes after 2"),
        ("1 qid:1\nqid:1\n", "tags.txt:2:1: a token without a label, unlike those before it"),
        ("qid:1\n1 qid:1\n", "tags.txt:2:1: a token with a label, unlike those before it"),
        ("NN qid:1\n", "tags.txt:1:1: expected a finite number, found 'NN' as label"),
        ("", "tags.txt:1:1: the file holds no example"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text, message):
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(message)


def test_a_sequence_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(svmhmm_module, "LONGEST_SEQUENCE", 10)
    with pytest.raises(FormatError, match=r"tags.txt:11:1: more than 10 lines with qid:1"):
        read("1 qid:1\n" * 11)


def test_sequences_without_tokens_are_not_written():
    with pytest.raises(ValueError, match="without tokens"):
        SvmHmm().write([], [])
