from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn import StructuralSVM
from structlearn.features import read_crfpp_templates
from structlearn.io import FormatError

CHUNKING = b"""# Unigram
U00:%x[-2,0]
U01:%x[0,0]
U05:%x[-1,0]/%x[0,0]
U20:%x[-1,1]/%x[0,1]/%x[1,1]
U

# Bigram
B
"""


def read(text, columns=None):
    return read_crfpp_templates([text], columns)


def expanded(template, x, t):
    """The feature of CRF++ as its manual has it: macros replaced by values, _B-1, _B-2, … before and _B+1, … after."""
    while "%" in template:
        before, _, rest = template.partition("%x[")
        place, _, after = rest.partition("]")
        row, column = map(int, place.split(","))
        k = t + row
        value = x[k][column] if 0 <= k < len(x) else f"_B{k}" if k < 0 else f"_B+{k - len(x) + 1}"
        template = before + value + after
    return template


tokens = st.tuples(st.sampled_from("abc"), st.sampled_from("XY"))
macros = st.builds("%x[{},{}]".format, st.integers(-4, 4), st.integers(0, 1))
templates = st.lists(st.lists(macros, max_size=3).map("/".join), min_size=1, max_size=4)


@given(st.lists(st.lists(tokens, min_size=1, max_size=5), min_size=1, max_size=3), templates)
def test_tokens_share_the_features_that_they_share_in_crfpp(X, bodies):
    bodies = list(dict.fromkeys(bodies))
    lines = [f"U{k:02}:{body}" for k, body in enumerate(bodies)]
    rows = read("\n".join(lines).encode(), ("word", "pos")).features().fit_transform(X).tokens.toarray()
    strings = [{expanded(line, x, t) for line in lines} for x in X for t in range(len(x))]
    assert rows.shape[1] == len(set.union(*strings))
    assert (rows @ rows.T).tolist() == [[len(a & b) for b in strings] for a in strings]


def test_the_template_of_the_manual_is_read():
    found = read(CHUNKING)
    assert found.templates == ("word[-2]", "word[0]", "word[-1]|word[0]", "pos[-1]|pos[0]|pos[1]", "bias")
    assert (found.pair_templates, found.transitions, found.columns) == ((), True, ("word", "pos"))


def test_a_file_is_read_from_its_path(tmp_path):
    path = tmp_path / "template"
    path.write_bytes(CHUNKING)
    assert read_crfpp_templates(path) == read(CHUNKING)


def test_columns_may_have_other_names_and_be_more_than_the_templates_use():
    assert read(b"U:%x[0,1]", ("form", "tag", "cluster")).templates == ("tag[0]",)
    assert read(b"U:%x[0,1]", ("form", "tag", "cluster")).columns == ("form", "tag", "cluster")
    assert read(b"U:%x[0,3]").columns == ("word", "pos", "column3", "column4")


def test_without_a_line_b_there_are_no_transitions():
    with_b, without = (read(text).chain() for text in (b"U:%x[0,0]\nB", b"U:%x[0,0]"))
    assert (with_b.balance, with_b.boundaries) == (1.0, False)
    assert (without.balance, without.boundaries) == (0.0, False)
    X, Y = [np.eye(2)] * 3, [["a", "b"]] * 3
    svm = StructuralSVM(without, C=10).fit(X, Y)
    assert not svm.model_.unpack(svm.spec_, svm.w_).transitions.any()
    svm = StructuralSVM(with_b, C=10).fit(X, Y)
    assert svm.model_.unpack(svm.spec_, svm.w_).transitions.any()


def test_features_of_pairs_stand_at_the_second_token_in_crfpp():
    """The label changes at "!" and nowhere else, which only a feature of the pair can say."""
    found = read(b"B01:%x[0,0]\nB02:%x[-1,0]/%x[0,0]")
    assert found.pair_templates == ("word[1]", "word[0]|word[1]")
    X = [list("ab!ba!a"), list("!a!!b"), list("bb!b"), list("ab")]
    Y = [["odd" if (x[: t + 1].count("!") + (i % 2)) % 2 else "even" for t in range(len(x))] for i, x in enumerate(X)]
    features = found.features()
    rows = features.fit_transform(X)
    names = features.get_feature_names_out()
    chain = found.chain(features)
    assert {names[k].partition("=")[0] for k in chain.pair_features} == set(found.pair_templates)
    labels = StructuralSVM(chain, C=1000).fit(rows, Y).predict(features.transform([list("aa!a"), list("b!!!")]))
    changes = [[a != b for a, b in pairwise(y)] for y in labels]
    assert changes == [[False, True, False], [True, True, True]]


def test_features_of_pairs_need_fitted_features():
    found = read(b"U:%x[0,0]\nB01:%x[0,0]")
    with pytest.raises(ValueError, match=r"the columns of 'word\[1\]' are needed: give the fitted features"):
        found.chain()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            b"U00:%x[-1,0]\nX01:%x[0,0]",
            "templates:2:1: expected a template that begins with U or B, found 'X01:%x[0,0]'",
        ),
        (b"U00:%x[0]", "templates:1:5: expected %x[row,column], found '%x[0]'"),
        (b"U00:%y[0,0]", "templates:1:5: expected %x[row,column], found '%y[0,0]'"),
        (b"U00:%x[5,0]", "templates:1:5: %x[5,0] looks 5 tokens away; CRF++ allows 4"),
        (b"U00:%x[0,2]", "templates:1:5: %x[0,2] is the column after the last of word, pos"),
        (
            b"U:%x[-1,0]\nU:%x[0,0]",
            "templates:2:1: 'U:%x[0,0]' looks elsewhere than 'U:%x[-1,0]' in line 1 but has the",
        ),
        (b"# nothing\n", "templates:1:1: the file holds no template of features"),
        (b"B\n", "templates:1:1: the file holds no template of features"),
        (b"U00:%x[0,0]\n\xff", "templates:2:1: the byte 0xff is no text in utf-8"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text, message):
    with pytest.raises(FormatError) as caught:
        read(text, ("word", "pos"))
    assert str(caught.value).startswith(message)
