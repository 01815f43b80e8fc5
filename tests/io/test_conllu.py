import pytest

from structlearn.io import ConllU, FormatError, Lines

SENTENCE = [
    "# text = don't go",
    "1-2 don't _ _ _ _ _ _ _ SpaceAfter=No",
    "1 do do AUX VBP Mood=Ind 3 aux _ _",
    "2 n't not PART RB _ 3 advmod _ _",
    "2.1 you you PRON PRP _ _ _ 3:nsubj _",
    "3 go go VERB VB VerbForm=Inf 0 root _ _",
]


def conllu(*rows):
    return "\n".join(row if row.startswith("#") else row.replace(" ", "\t") for row in rows) + "\n"


def read(text, form=None):
    return list((form or ConllU()).read(Lines([text.encode()], "en.conllu")))


def complaint(*rows, form=None):
    with pytest.raises(FormatError) as caught:
        read(conllu(*rows), form)
    return str(caught.value)


@pytest.mark.parametrize(
    ("form", "x", "y"),
    [
        (ConllU(), ["do", "n't", "go"], ["AUX", "PART", "VERB"]),
        (ConllU(label="xpos"), ["do", "n't", "go"], ["VBP", "RB", "VB"]),
        (
            ConllU("deprel", ("form", "upos")),
            [("do", "AUX"), ("n't", "PART"), ("go", "VERB")],
            ["aux", "advmod", "root"],
        ),
        (ConllU("feats", ("lemma",)), ["do", "not", "go"], ["Mood=Ind", "_", "VerbForm=Inf"]),
    ],
)
def test_words_that_are_there_are_read(form, x, y):
    (example,) = read(conllu(*SENTENCE), form)
    assert (example.x, example.y) == (x, y)
    assert (example.line, len(example.source)) == (1, 6)


def test_predictions_replace_the_label_and_nothing_else():
    (example,) = read(conllu(*SENTENCE))
    expected = conllu(*SENTENCE).replace("AUX", "A").replace("PART", "B").replace("VERB", "C")
    assert ConllU().annotate(example, ["A", "B", "C"]) == expected


def test_underscores_stand_for_no_labels():
    (example,) = read(conllu("1 Go _ _ _ _ _ _ _ _", "2 ! _ _ _ _ _ _ _ _"))
    assert (example.x, example.y) == (["Go", "!"], None)
    assert read(ConllU().annotate(example, ["VERB", "PUNCT"]))[0].y == ["VERB", "PUNCT"]


def test_words_may_hold_spaces_and_be_underscores():
    text = conllu("1 _ _ X _ _ _ _ _ _").replace("X", "SYM") + conllu("2 a b X _ _ _ _ _ _").replace("a\tb", "a b\tb")
    assert read(text)[0].x == ["_", "a b"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["1 He"], r"en.conllu:1:1: expected 10 columns separated by tabs, found 2: '1\tHe'"),
        (["1 a  X _ _ _ _ _ _"], "en.conllu:1:5: the column lemma is empty"),
        (["x a _ X _ _ _ _ _ _"], "en.conllu:1:1: expected the number of a word, found 'x'"),
        (["1 a _ X _ _ _ _ _ _", "1 b _ X _ _ _ _ _ _"], "en.conllu:2:1: expected word 2 of the sentence, found 1"),
        (["2 a _ X _ _ _ _ _ _"], "en.conllu:1:1: expected word 1 of the sentence, found 2"),
        (["1 a _ X _ _ _ _ _ _", "2 b _ _ _ _ _ _ _ _"], "en.conllu:2:7: this word has no upos, but others"),
        (["# nothing"], "en.conllu:1:1: the file holds no example"),
        (["1-2 a _ _ _ _ _ _ _ _"], "en.conllu:1:1: the file holds no example"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(rows, message):
    assert complaint(*rows).startswith(message)


def test_a_file_has_labels_throughout_or_not_at_all():
    text = conllu("1 a _ X _ _ _ _ _ _") + "\n" + conllu("1 b _ _ _ _ _ _ _ _")
    with pytest.raises(FormatError, match=r"en.conllu:3:1: an example with no labels, where those before have some"):
        read(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "lemma"}, "label is 'lemma'; it may be upos, xpos, deprel, feats"),
        ({"columns": ("form", "upos")}, "columns holds 'upos'; beside the label there are form"),
        ({"columns": ()}, "expected a tuple of different names"),
        ({"columns": "form"}, "expected a tuple of different names"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ConllU(**options)


@pytest.mark.parametrize(("x", "y"), [(["a\tb"], ["X"]), (["a"], ["_"]), (["a"], [""]), ([""], ["X"]), ([], [])])
def test_what_could_not_be_read_again_is_not_written(x, y):
    with pytest.raises(ValueError, match="cannot be written"):
        ConllU().write(x, y)
