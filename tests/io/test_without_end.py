"""An example without end is refused in every format before it fills the memory."""

import pytest

from structlearn.io import FORMATS, FormatError, Lines, brackets, conll2012, fasta, format, svmhmm

HALF = {
    "columns": ("", "the DT\n"),
    "conllu": ("", "# comment\n"),
    "crfsuite": ("", "D\tw=the\n"),
    "brackets": ("(S\n", "(A a)\n"),
    "conll2012": ("#begin document (d)\n", "d 0 0 the - -\n"),
    "fasta": (">a label=1\n", "A\n"),
    "pairs": (">a\n", "\n;\n"),
    "svmhmm": ("1 qid:1 1:1\n", "# comment\n"),
    "letor": ("1 qid:1 1:1\n", "1 qid:1 1:1\n"),
}


@pytest.mark.parametrize("name", HALF)
def test_an_example_of_too_many_lines_is_refused(name, monkeypatch):
    for module in (brackets, conll2012, fasta, format, svmhmm):
        monkeypatch.setattr(module, "LONGEST_SEQUENCE", 1000)
    begin, unit = HALF[name]
    long = [(begin + 5000 * unit).encode()]
    with pytest.raises(FormatError, match=r"more than 1,000 lines"):
        next(FORMATS[name]().read(Lines(long, "long")))


def test_the_other_formats_have_an_example_in_every_line():
    assert set(FORMATS) - set(HALF) == {
        "jsonl",
        "nodelink",
        "word_alignments",
        "svmlight",
        "multilabel",
        "arff",
        "tagged",
    }
