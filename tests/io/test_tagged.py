import io

import pytest

from structlearn.io import Columns, FormatError, Lines, Tagged, read_examples, recognise


def read(text, form=None):
    return [(example.x, example.y) for example in (form or Tagged()).read(Lines([text.encode()], "brown.txt"))]


def test_the_last_separator_counts():
    assert read("1/2/CD and/or/CC //: ./.\n") == [(["1/2", "and/or", "/", "."], ["CD", "CC", ":", "."])]
    assert read("snake_case_NN\n", Tagged("_")) == [(["snake_case"], ["NN"])]
    assert read("1\\/2/CD\n") == [(["1\\/2"], ["CD"])]


def test_blanks_around_and_blank_lines_do_not_matter():
    assert read("\n\tThe/at  dog/nn \r\n\n \nruns/vbz") == [(["The", "dog"], ["at", "nn"]), (["runs"], ["vbz"])]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("The/DT dog/NN\na/DT cat runs/VB\n", "2:6: expected a word and a tag with '/' between, found 'cat'"),
        ("The/DT dog/NN\n a/DT /NN\n", "2:7: .* found '/NN'"),
        ("The/DT dog/ cat/NN\n", "1:8: .* found 'dog/'"),
    ],
)
def test_a_token_without_a_tag_is_named(text, place):
    with pytest.raises(FormatError, match=f"brown.txt:{place}"):
        read(text)


def test_running_text_is_words_without_tags():
    assert read("The dog barks and/or bites .\nand/or\n") == [
        (["The", "dog", "barks", "and/or", "bites", "."], None),
        (["and/or"], None),
    ]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (["The/DT dog/NN"], Tagged()),
        (["\tThe/at dog/nn-tl ./.", "", "", "\tA/at cat/nn"], Tagged()),
        (["The_DT dog_NN"], Tagged("_")),
        (["The/DT dog/NN barks/VBZ"] * 4 + ["a/DT cat"], Tagged()),
        (["The/DT dog/NN barks"], Columns(("word", "pos"))),
        (["1/2/3 B", "4/5/6 O"], Columns()),
        (["a/b\tc/d", "e/f\tg/h"], Columns(separator="\t")),
        (["The/DT", "dog/NN"], Columns()),
    ],
)
def test_only_files_are_recognised_that_are_hard_to_mistake(head, expected):
    assert recognise(head) == expected


def test_named_files_find_their_separator():
    form, examples = read_examples(io.BytesIO(b"The_DT dog_NN\na_DT cat\n"), "tagged")
    assert form == Tagged("_")
    with pytest.raises(FormatError, match=r"stream:2:6: .* found 'cat'"):
        list(examples)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"the dog runs\n", None),
        (b"the dog runs\na cat sleeps\n", None),
        (b"the DT\ndog NN\n\na DT\n", "columns"),
        (b'{"tokens": ["a"]}\n', "jsonl"),
        (b"1 3:0.5\n2 4:1\n", "svmlight"),
        (b"(S (N a))\n", "brackets"),
    ],
)
def test_running_text_fits_a_model_of_tagged_text_and_other_formats_do_not(content, told):
    if told is None:
        assert list(read_examples(io.BytesIO(content), Tagged(), check=True)[1])
    else:
        with pytest.raises(FormatError, match=f"expected a file in the format tagged; this one looks like {told}"):
            read_examples(io.BytesIO(content), Tagged(), check=True)


def test_predictions_replace_tags():
    (example,) = Tagged().read(Lines([b"The/DT dog/VB\n"], "brown.txt"))
    assert Tagged().annotate(example, ["DT", "NN"]) == "The/DT dog/NN\n"


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (["dog"], ["N/N"], r"y\[0\] 'N/N' cannot be written"),
        (["a dog"], ["NN"], r"x\[0\] 'a dog' cannot be written"),
        (["and/or"], None, "'and/or' cannot be written without tags"),
    ],
)
def test_what_would_be_read_otherwise_is_not_written(x, y, message):
    with pytest.raises(ValueError, match=message):
        Tagged().write(x, y)


@pytest.mark.parametrize("separator", ["", " ", "a b", "\n"])
def test_a_separator_that_cannot_be_is_refused(separator):
    with pytest.raises(ValueError, match=r"separator is .*; expected a text without blanks"):
        Tagged(separator)


def test_tags_behind_another_separator_are_no_part_of_words():
    with pytest.raises(FormatError, match=r"a:1:1: the words are tagged with '_', not with '/'"):
        list(Tagged("/").read(Lines([b"the_D dog_N barks_V\n"], "a")))


def test_words_that_look_tagged_in_another_way_are_not_written_without_tags():
    with pytest.raises(ValueError, match="they look tagged"):
        Tagged("/").write(["0_0", "0_0"], None)
