import pytest

from structlearn.features.templates import default_templates, name, parse
from structlearn.features.word_attributes import attribute


def expanded(*texts):
    return [name(template) for template in parse(texts)]


@pytest.mark.parametrize(
    ("text", "templates"),
    [
        ("word[0]", ["word[0]"]),
        ("word[+1]", ["word[1]"]),
        ("word[-1..1]", ["word[-1]", "word[0]", "word[1]"]),
        ("word.suffix2..3[-1]", ["word.suffix2[-1]", "word.suffix3[-1]"]),
        ("word.lower[0] | pos[-1]", ["word.lower[0]|pos[-1]"]),
        ("a[0..1]|b[0..1]", ["a[0]|b[0]", "a[0]|b[1]", "a[1]|b[0]", "a[1]|b[1]"]),
        ("pairs of pos[-1..1]", ["pos[-1]|pos[0]", "pos[0]|pos[1]"]),
        ("triples of pos[-1..2]", ["pos[-1]|pos[0]|pos[1]", "pos[0]|pos[1]|pos[2]"]),
        ("pairs of w.prefix1..2[0..1]", ["w.prefix1[0]|w.prefix1[1]", "w.prefix2[0]|w.prefix2[1]"]),
        ("bias", ["bias"]),
    ],
)
def test_abbreviations_stand_for_templates(text, templates):
    assert expanded(text) == templates


def test_a_template_counts_once():
    assert expanded("w[0..1]", "w[-1..1]", "pairs of w[0..1]", "w[0]|w[1]") == ["w[0]", "w[1]", "w[-1]", "w[0]|w[1]"]


def test_the_templates_of_crfpp_for_chunking_are_nineteen():
    templates = ["w[-2..2]", "pairs of w[-1..1]", "pos[-2..2]", "pairs of pos[-2..2]", "triples of pos[-2..2]"]
    assert len(expanded(*templates)) == 5 + 2 + 5 + 4 + 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word", r"the template 'word' cannot be read at 'word'; a field is like"),
        ("word[0]|", r"cannot be read at ''"),
        ("word[x]", r"cannot be read at 'word\[x\]'"),
        ("word[2..-2]", r"the template 'word\[2..-2\]' has the empty range 2..-2"),
        ("word.suffix3..1[0]", "has the empty range 3..1"),
        ("pairs of word[0]", r"the template 'pairs of word\[0\]' has fewer than 2 places"),
        ("triples of word[0..1]", "has fewer than 3 places"),
        ("pairs of word[0..1]|pos[0]", "cannot be read"),
    ],
)
def test_templates_that_cannot_be_read_are_refused_by_name(text, message):
    with pytest.raises(ValueError, match=message):
        parse([text])


def test_the_default_for_words_uses_words_and_for_tags_their_runs():
    words = expanded(*default_templates(["form"]))
    assert all(template == "bias" or template.startswith("form") for template in words)
    both = expanded(*default_templates(["form", "tag"]))
    assert both[: len(words)] == words
    assert len(both) == len(words) + 5 + 4 + 3


@pytest.mark.parametrize(
    ("which", "values"),
    [
        ("lower", {"The": "the", "ÉT": "ét", "": ""}),
        ("prefix2", {"the": "th", "of": "of", "a": None, "": None}),
        ("suffix3", {"walking": "ing", "of": None}),
        ("suffix12", {"abcdefghijklm": "bcdefghijklm"}),
        ("shape", {"USA": "XXX", "B-52s": "X-ddx", "Île": "Xxx", "中文": "xx", "$1.50": "$d.dd", "": ""}),
        ("short_shape", {"USA": "X", "B-52s": "X-dx", "...": ".", "Île": "Xx", "1,000,000": "d,d,d"}),
        ("is_capitalised", {"The": "yes", "THE": "yes", "the": None, "": None, "2nd": None}),
        ("is_upper", {"USA": "yes", "U.S.": "yes", "Usa": None, "12": None}),
        ("is_number", {"12": "yes", "1,200.5": "yes", "-3": "yes", "3rd": None, ".": None, "-": None, "": None}),
        ("is_punctuation", {"--": "yes", "$": "yes", "a.": None, "": None}),
        ("has_digit", {"B2": "yes", "B": None}),
        ("has_hyphen", {"a-b": "yes", "ab": None}),
    ],
)
def test_attributes_of_words(which, values):
    assert {word: attribute(which)(word) for word in values} == values


@pytest.mark.parametrize("which", ["stem", "prefix", "prefix0", "suffix-1", "lower2"])
def test_an_unknown_attribute_is_refused_with_the_known_ones(which):
    with pytest.raises(ValueError, match=f"there is no attribute '{which}'; there are lower, shape, .* suffixN"):
        attribute(which)
