import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.data.tokens.sequences import read_sequences
from structlearn.io import FormatError, JsonLines, Lines, recognise

words = st.text(st.characters(codec="utf-8"), max_size=5)
values = st.one_of(st.booleans(), st.integers(-9, 9), st.floats(-9, 9), words, st.lists(words, unique=True))
features = st.dictionaries(words, values | st.dictionaries(words, values, max_size=2), max_size=3)


def read(text, form=None):
    return list((form or recognise(text.split("\n"))).read(Lines([text.encode()], "tags.jsonl")))


def complaint(text, form):
    with pytest.raises(FormatError) as caught:
        read(text, form)
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "structure", "x", "y"),
    [
        ('{"tokens": ["The", "dog"], "labels": ["DET", "NOUN"]}', "words", ["The", "dog"], ["DET", "NOUN"]),
        ('{"tokens": [["The", "DT"]], "labels": [3]}', "words", [("The", "DT")], [3]),
        ('{"tokens": [["The"]]}', "words", ["The"], None),
        ('{"tokens": ["a\\u2028b"], "labels": null}', "words", ["a\u2028b"], None),
        (
            '{"tokens": [{"w": "a", "n": 2}, {}], "labels": [true, 0]}',
            "attributes",
            [{"w=a": 1.0, "n": 2.0}, {}],
            [True, 0],
        ),
        ('{"features": {"a": 1, "b": true}, "label": "x"}', "row", {"a": 1.0, "b": 1.0}, "x"),
        ('{"features": {}, "label": null}', "row", {}, None),
    ],
)
def test_the_first_line_says_what_the_lines_hold(line, structure, x, y):
    form = recognise([line])
    assert (form.name, form.structure) == ("jsonl", structure)
    (example,) = read(f"\n{line}\n\n", form)
    assert (example.x, example.y, example.line, example.source) == (x, y, 2, (line,))


@given(st.lists(features, min_size=1, max_size=3))
def test_features_have_the_names_that_a_chain_gives_them(tokens):
    text = json.dumps({"tokens": tokens})
    try:
        (example,) = read(text, JsonLines("attributes"))
    except FormatError as error:
        assert "is there twice" in str(error)  # noqa: PT017
    else:
        assert read_sequences([example.x]).names == read_sequences([tokens]).names


def test_predictions_come_beside_all_other_keys():
    (example,) = read('{"id": 10000000000000000000001, "tokens": ["Ä"], "predicted": 0}')
    line = '{"id": 10000000000000000000001, "tokens": ["Ä"], "predicted": ["X"]}\n'
    assert JsonLines().annotate(example, np.array(["X"])) == line
    (row,) = read('{"features": {"a": 1}, "label": 3}')
    assert JsonLines("row").annotate(row, np.int64(4)) == '{"features": {"a": 1}, "label": 3, "predicted": 4}\n'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "tags.jsonl:1:2: this is no JSON: Expecting property name enclosed in double quotes"),
        ("[]", "tags.jsonl:1:1: expected an object, found a list of 0"),
        ("7", "tags.jsonl:1:1: expected an object, found a whole number"),
        ("{}", 'tags.jsonl:1:1: expected a list of "tokens", found nothing'),
        ('{"tokens": []}', 'tags.jsonl:1:1: expected a list of "tokens", found a list of 0'),
        ('{"tokens": "The dog"}', "tags.jsonl:1:1: expected a list of \"tokens\", found 'The dog'"),
        (
            '{"tokens": ["a", 1]}',
            "tags.jsonl:1:1: expected a string as tokens[1], like the tokens before it, found a whole",
        ),
        (
            '{"tokens": ["a", "b"], "labels": ["X"]}',
            'tags.jsonl:1:1: expected 2 "labels", one for each token, found a list of 1',
        ),
        ('{"tokens": ["a", "b"], "labels": ["X", null]}', "tags.jsonl:1:1: labels[1] is null, but a sequence has all"),
        (
            '{"tokens": ["a"], "labels": [0.5]}',
            "tags.jsonl:1:1: expected a string or a whole number as labels[0], found 0.5",
        ),
        ('{"tokens": ["a"], "tokens": ["b"]}', "tags.jsonl:1:1: an object has the key 'tokens' twice"),
        ('{"tokens": ["\\ud800"]}', "tags.jsonl:1:1: a string holds half a surrogate pair, which is no character"),
        ('{"tokens": ["a"], "score": NaN}', "tags.jsonl:1:1: NaN is no JSON number"),
        ('{"tokens": ["a"], "score": -Infinity}', "tags.jsonl:1:1: -Infinity is no JSON number"),
        ("[" * 100_000, "tags.jsonl:1:1: this is nested too deeply"),
        ('{"a":' * 100_000, "tags.jsonl:1:1: this is nested too deeply"),
        ('{"id": ' + "9" * 5000 + "}", "tags.jsonl:1:1: Exceeds the limit"),
        ("", "tags.jsonl:1:1: the file holds no example"),
    ],
)
def test_what_is_wrong_with_words_is_named_with_its_place(line, message):
    assert complaint(line, JsonLines()).startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"label": 1}', 'expected an object of "features", found nothing'),
        ('{"features": {"a": 1e999}}', "the feature 'a' of features is inf"),
        ('{"features": {"a": 1' + "0" * 400 + "}}", "a number of features is too large"),
        ('{"features": {"a": null}}', "expected a number, a string, strings or an object as 'a', found nothing"),
        ('{"features": {"a": [1]}}', "expected a number, a string, strings or an object as 'a', found a list of 1"),
        ('{"features": {"a=b": 1, "a": "b"}}', "the feature 'a=b' of features is there twice"),
        ('{"features": {"' + "a" * 300 + '": ["x", "y"]}}', "the name 'aaaaa"),
        ('{"features": ' + '{"a": ' * 900 + "1" + "}" * 901, "nested too deeply|too long"),
    ],
)
def test_what_is_wrong_with_features_is_named(line, message):
    with pytest.raises(FormatError, match=message):
        read(line, JsonLines("row"))


def test_lines_are_all_alike():
    assert "tags.jsonl:2:1: expected an object of features as tokens[0], found 'a'" in complaint(
        '{"tokens": [{"a": 1}]}\n{"tokens": ["a"]}', JsonLines("attributes")
    )
    assert "tags.jsonl:1:1: expected a list of 2 strings as tokens[0]" in complaint(
        '{"tokens": [["a"]]}', JsonLines(columns=("word", "pos"))
    )


@pytest.mark.parametrize(
    ("form", "x", "y"),
    [
        (JsonLines(), ["a"], ["X", "Y"]),
        (JsonLines(), [], []),
        (JsonLines(), ["\ud800"], ["X"]),
        (JsonLines("row"), {"a": float("nan")}, 1),
        (JsonLines("row"), {"a": 1.0}, object()),
    ],
)
def test_what_could_not_be_read_again_is_not_written(form, x, y):
    with pytest.raises(ValueError):
        form.write(x, y)


def test_options_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="content is 'trees'; it may be words, attributes, row"):
        JsonLines("trees")
    with pytest.raises(ValueError, match="expected a tuple of names"):
        JsonLines(columns=())


TREE = '{"tokens": ["I", "go"], "heads": [2, 0], "labels": ["nsubj", "root"]}'


@pytest.mark.parametrize(
    ("line", "partial", "y"),
    [
        (TREE, False, [(2, "nsubj"), (0, "root")]),
        ('{"tokens": ["I", "go"], "heads": [2, 0]}', False, [2, 0]),
        ('{"tokens": ["I", "go"], "heads": null}', False, None),
        ('{"tokens": ["I", "go"], "heads": [null, 0], "labels": [null, "root"]}', True, [None, (0, "root")]),
        ('{"tokens": ["I", "go"], "labels": ["nsubj", null]}', True, [(None, "nsubj"), None]),
    ],
)
def test_tokens_with_heads_are_dependency_trees(line, partial, y):
    form = JsonLines("dependencies", partial=partial)
    (example,) = read(line, form)
    assert (example.x, example.y) == (["I", "go"], y)
    (again,) = read(form.write(example.x, y), form)
    assert again.y == y


def test_predicted_trees_stand_beside_the_true_ones():
    form = JsonLines.recognise([TREE], "x.jsonl")
    assert (form.structure, form.inputs) == ("dependencies", ("word",))
    (example,) = read(TREE, form)
    assert (
        form.annotate(example, [(0, "root"), (1, "obj")]) == TREE[:-1] + ', "predicted": [[0, "root"], [1, "obj"]]}\n'
    )


@pytest.mark.parametrize(
    ("heads", "labels", "message"),
    [
        ("[2, 1]", '["a", "b"]', "this is no tree: no token has the head 0"),
        ("[0, 2]", "null", "this is no tree: token 2 is its own head"),
        ("[0]", "null", 'expected 2 "heads", one for each token, found a list of 1'),
        ("7", "null", 'expected 2 "heads", one for each token'),
        ("[0, 1]", '["a"]', 'expected 2 "labels", one for each token'),
        ("[0, 1.0]", "null", r"the tree.1. is 1.0; a head is a whole number"),
        ("[0, true]", "null", r"the tree.1. is True; a head is a whole number"),
        ("[0, null]", "null", r"the tree.1. is None; a head is a whole number"),
        ("[0, 1]", '["a", null]', r"the tree.1. is .1, None., without a label"),
        ("[0, 1]", '["a", ["b"]]', r"expected a string or a whole number as labels.1., found a list of 1"),
    ],
)
def test_what_is_wrong_with_trees_is_named(heads, labels, message):
    with pytest.raises(FormatError, match=message):
        read(f'{{"tokens": ["I", "go"], "heads": {heads}, "labels": {labels}}}', JsonLines("dependencies"))
