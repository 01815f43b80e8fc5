import pytest

from structlearn.io import Columns, FormatError, Lines, recognise
from structlearn.io import format as format_module

CHUNKS = "The DT B-NP\ndog NN I-NP\n\nRuns VB B-VP\n"


def read(text, form):
    return list(form.read(Lines([text.encode()], "train.txt")))


def pairs(text, form):
    return [(example.x, example.y) for example in read(text, form)]


def complaint(text, form):
    with pytest.raises(FormatError) as caught:
        read(text, form)
    return str(caught.value)


def test_blank_lines_end_sequences():
    expected = [([("The", "DT"), ("dog", "NN")], ["B-NP", "I-NP"]), ([("Runs", "VB")], ["B-VP"])]
    form = Columns(("word", "pos"))
    assert pairs(CHUNKS, form) == expected
    assert pairs("\n\n" + CHUNKS.replace("\n\n", "\n \t \n\n") + "\n\n", form) == expected


def test_examples_know_their_lines():
    first, second = read("\n" + CHUNKS, Columns(("word", "pos")))
    assert (first.line, first.source) == (2, ("The DT B-NP", "dog NN I-NP"))
    assert (second.line, second.source) == (5, ("Runs VB B-VP",))


def test_a_line_with_the_inputs_alone_has_no_label():
    assert pairs("The DT\ndog NN\n", Columns(("word", "pos"))) == [([("The", "DT"), ("dog", "NN")], None)]
    assert pairs("The\ndog\n", Columns()) == [(["The", "dog"], None)]


@pytest.mark.parametrize(
    ("form", "x", "y"),
    [
        (Columns(("word", "_", "_")), ["EU"], ["B-ORG"]),
        (Columns(("word", "_", "chunk")), [("EU", "I-NP")], ["B-ORG"]),
        (Columns(("word", "pos", "_", "_"), label="pos"), ["EU"], ["NNP"]),
        (Columns(("word", "_", "_"), label=1), ["EU"], ["NNP"]),
        (Columns(("_", "chunk", "_"), label=0), ["I-NP"], ["EU"]),
        (Columns(("pos", "chunk", "_"), label=-4), [("NNP", "I-NP")], ["EU"]),
        (Columns(("word", "_", "_", "_"), label=None), ["EU"], None),
    ],
)
def test_columns_are_chosen_by_name_and_the_label_by_name_or_place(form, x, y):
    assert pairs("EU NNP I-NP B-ORG\n", form) == [(x, y)]


def test_lines_that_begin_documents_are_no_tokens():
    text = "-DOCSTART- -X- O\n\nThe DT O\n-DOCSTART- -X- O\ndog NN O\n"
    assert pairs(text, Columns(("word", "pos"))) == [([("The", "DT")], ["O"]), ([("dog", "NN")], ["O"])]


def test_blanks_are_spaces_and_tabs_and_no_other_white_space():
    text = "10\xa0000\t CD  O \na\u2028b\u3000c NN O\n"
    assert pairs(text, Columns(("word", "pos"))) == [([("10\xa0000", "CD"), ("a\u2028b\u3000c", "NN")], ["O", "O"])]


@pytest.mark.parametrize(
    ("separator", "line"), [("\t", "New York\tNNP\tO"), (",", "New York,NNP,O"), ("||", "New York||NNP||O")]
)
def test_any_text_can_separate_columns(separator, line):
    form = Columns(("word", "pos"), separator=separator)
    assert pairs(line, form) == [([("New York", "NNP")], ["O"])]
    assert form.write([("New York", "NNP")], ["O"]) == line + "\n\n"


def test_comments_stay_beside_the_tokens():
    form = Columns(comment="#")
    (example,) = read("# one\nThe DET\n#two\ndog NOUN\n", form)
    assert example.x == ["The", "dog"]
    assert form.annotate(example, ["X", "Y"]) == "# one\nThe DET X\n#two\ndog NOUN Y\n"
    assert pairs("# only\n\nThe DET\n", form) == [(["The"], ["DET"])]


def test_predictions_are_a_further_column_beside_the_truth():
    form = Columns(("word", "pos"))
    first, _ = read(CHUNKS, form)
    assert form.annotate(first, ["O", "B-NP"]) == "The DT B-NP O\ndog NN I-NP B-NP\n"
    (unlabelled,) = read("The\tDT \n", form)
    assert form.annotate(unlabelled, ["O"]) == "The\tDT \tO\n"
    with pytest.raises(ValueError, match="there are 1 labels for 2 tokens"):
        form.annotate(first, ["O"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a DT O\ndog NN\n", "train.txt:2:1: expected 3 columns separated by blanks, found 2: 'dog NN'"),
        ("a DT O\n\nb DT\n", "train.txt:3:1: expected 3 columns separated by blanks, found 2: 'b DT'"),
        ("a DT\nb DT O\n", "train.txt:2:6: expected 2 columns separated by blanks, found 3: 'b DT O'"),
        ("a DT O O O\n", "train.txt:1:8: expected 3 or 2 columns separated by blanks, found 5: 'a DT O O O'"),
        ("a\n", "train.txt:1:1: expected 3 or 2 columns separated by blanks, found 1: 'a'"),
        ("", "train.txt:1:1: the file holds no example"),
        ("\n \n\t\n", "train.txt:3:1: the file holds no example"),
        ("-DOCSTART- -X- O\n", "train.txt:1:1: the file holds no example"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text, message):
    assert complaint(text, Columns(("word", "pos"))) == message


def test_long_lines_are_not_quoted_in_full():
    assert len(complaint("a b c " + "d" * 10_000, Columns())) < 200


def test_an_empty_column_is_named():
    form = Columns(("word", "pos"), separator="\t")
    assert complaint("a\t\tO\n", form) == r"train.txt:1:3: column 2 is empty: 'a\t\tO'"
    assert complaint("a\tDT\t\n", form) == r"train.txt:1:6: column 3 is empty: 'a\tDT\t'"


def test_tabs_within_commas_are_part_of_a_column():
    assert pairs("a\tb,O\n", Columns(separator=",")) == [(["a\tb"], ["O"])]


def test_a_file_without_blank_lines_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(format_module, "LONGEST_SEQUENCE", 1000)
    assert complaint("a O\n" * 1001, Columns()) == (
        "train.txt:1001:1: more than 1,000 lines without a blank one between sequences"
    )


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (["a b"], ["O"], "x\\[0\\] 'a b' cannot be written in this format: it holds ' '"),
        (["a", ""], ["O", "O"], "x\\[1\\] '' cannot be written: it is empty"),
        (["a"], ["B\n"], "holds '\\\\n'"),
        (["-DOCSTART-"], ["O"], "would not be read as a token"),
        (["#a"], ["O"], "would not be read as a token"),
        (["\ud800"], ["O"], "it is no text"),
        ([], [], "without tokens"),
        (["a"], ["O", "O"], "2 labels for 1 tokens"),
        ([("a", "DT")], ["O"], "but the columns are word"),
        ([3], ["O"], "x\\[0\\] is '3'; only a string can be written"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(x, y, message):
    with pytest.raises(ValueError, match=message):
        Columns(comment="#").write(x, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": "word"}, "expected a tuple of different names"),
        ({"columns": ("word", "word")}, "expected a tuple of different names"),
        ({"columns": ("word",), "label": "pos"}, "label is 'pos', which is none of the columns word"),
        ({"columns": ("word",), "label": 2}, "label is 2, but there are 2 columns with it"),
        ({"columns": ("_",)}, "at least one input"),
        ({"columns": ("pos",), "label": "pos"}, "at least one input"),
        ({"separator": ""}, "separator is ''"),
        ({"comment": ""}, "comment is empty"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Columns(**options)


@pytest.mark.parametrize(
    ("lines", "form"),
    [
        (["a", "b", "", "c"], Columns()),
        (["a DT", "b NN"], Columns()),
        (["a\tDT O", "b\tNN O"], Columns(separator="\t")),
        (["a DT  O", "b\tNN O"], Columns(("word", "pos"))),
        (["a,DT,x,O", "b,NN,y,O"], Columns(("word", "pos", "column3"), separator=",")),
        (["# a comment", "a DT", "b NN"], Columns(comment="#")),
        (["# NN", "b NN"], Columns()),
        (["-DOCSTART- -X- -X- O", "", "EU NNP O"], Columns(("word", "pos"))),
    ],
)
def test_options_are_found_from_the_first_lines(lines, form):
    assert recognise(lines) == form
