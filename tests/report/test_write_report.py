import re
import struct
import zlib
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from rich.text import Text
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.drawing import Drawing
from structlearn.drawing.markup import element
from structlearn.features import TextFeatures
from structlearn.models import Chain, Grammar, Multiclass, Segments
from structlearn.report import write_report
from structlearn.report.charts import Line, line_chart
from structlearn.report.learning_curve import learnt
from structlearn.report.pictures import png

VOID = {"meta", "img", "input", "br"}
WORDS = [["the", "dog", "sleeps"], ["ann", "runs"], ["a", "dog", "runs"], ["bob", "sleeps"]] * 5
TAGS = [["B-NP", "I-NP", "B-VP"], ["B-NP", "B-VP"], ["B-NP", "I-NP", "B-VP"], ["B-NP", "B-VP"]] * 5
OTHER_TAGS = [["B-NP", "I-NP", "O"], *TAGS[1:]]


class Page(HTMLParser):
    """Checks that elements are closed in order, and collects them with their text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.text = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)

    def of(self, tag, **attributes):
        return [
            a for t, a in self.elements if t == tag and all(a.get(k.strip("_")) == v for k, v in attributes.items())
        ]

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def report(path, estimator, X, Y, **options):
    write_report(path, estimator, X, Y, **options)
    return Page(path.read_text("utf-8"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "report.html"


@pytest.fixture(scope="module")
def tagger():
    return make_pipeline(TextFeatures(["word[-1..0]"]), StructuralSVM(Chain(), C=10)).fit(WORDS, TAGS)


def test_a_report_says_what_was_learnt_from_what(path, tagger):
    page = report(path, tagger, WORDS, OTHER_TAGS, title="Chunks", data_name="the kennel")
    assert "<title>Chunks</title>" in path.read_text("utf-8")
    for words in (
        "StructuralSVM over Chain, trained on 20 sequences, judged on 20 sequences with 50 tokens",
        "20 sequences with 50 tokens, the kennel",
        "with a certificate, a proof that no weights whatsoever could lower",
        "word[0]=dog",
        "1 of 20 sequences has a mistake",
        "Tags are read as spans by the rule conlleval.",
        "O taken for B-VP",
    ):
        assert words in page.words
    assert "B-VP taken for O" not in page.words
    for heading in ("Scores", "Confusions", "Mistakes", "Transitions", "Features", "Training"):
        assert page.of("section", id=heading.lower())


def test_nothing_is_loaded_from_elsewhere(path, tagger):
    page = report(path, tagger, WORDS, OTHER_TAGS)
    text = path.read_text("utf-8")
    assert not re.search(r"https?:|@import|url\(", text)
    for tag, attributes in page.elements:
        assert attributes.get("src", "data:").startswith("data:"), tag
        assert attributes.get("href", "#").startswith("#"), tag
    (policy,) = page.of("meta", **{"http-equiv": "Content-Security-Policy"})
    assert "default-src 'none'" in policy["content"]


EVIL = "<script>alert(1)</script>"
QUOTED = "\"'><img src=x onerror=alert(2)>"


@pytest.mark.parametrize("evil", [EVIL, QUOTED, "</title></style><u>", "&lt;", "$title ${x}", "\x00\x1e\x1f", "\ud800"])
def test_data_are_text_wherever_they_appear(path, evil):
    def kinds(word):
        """The kinds of elements of a report in which a word is a token, a feature, a label old and new, and a name."""
        X = [[{"word": each, word: 1.0} for each in x] for x in ([word, "dog"], ["dog", word], ["cat"])]
        tagger = StructuralSVM(Chain(), C=10).fit(X, [[word, "N"], ["N", word], ["N"]])
        page = report(path, tagger, X, [["N", word], ["N", "new" + word], ["N"]], title=word, data_name=word)
        assert len(page.of("script")) == 1
        return {(tag, tuple(attributes)) for tag, attributes in page.elements}

    assert kinds(evil) == kinds("word")


def test_data_are_text_in_classes_too(path):
    svm = StructuralSVM(Multiclass(), C=10).fit([[0.0, 1.0], [1.0, 0.0]], [EVIL, QUOTED])
    page = report(path, svm, [[0.0, 1.0], [1.0, 0.0]], [QUOTED, EVIL])
    assert len(page.of("script")) == 1
    assert not page.of("img")
    assert EVIL in page.words
    assert page.of("g", **{"data-true": EVIL, "data-predicted": QUOTED})


def test_the_numbers_are_those_of_the_estimator(path, tagger):
    page = report(path, tagger, WORDS, OTHER_TAGS)
    assert "98.0 %" in page.words
    weight = dict(tagger[-1].top_weights(1, feature_names=tagger[:-1].get_feature_names_out()).features["B-VP"])
    assert f"{next(iter(weight.values())):+.2f}" in page.words
    transitions = tagger[-1].model_.unpack(tagger[-1].spec_, tagger[-1].w_).transitions
    labels = list(tagger[-1].classes_)
    value = transitions[labels.index("B-NP"), labels.index("I-NP")]
    assert value > 0
    assert f"B-NP → I-NP: {value:+.3f}" in page.words


def test_without_mistakes_there_is_nothing_to_show(path, tagger):
    page = report(path, tagger, WORDS, TAGS)
    assert "all 20 outputs are right" in page.words
    assert not page.of("section", id="confusions")


def test_many_labels_are_limited_and_it_says_so(path):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(6, 5)) for _ in range(260)]
    Y = [[f"label {k}" for k in rng.integers(200, size=6)] for _ in range(260)]
    page = report(path, StructuredPerceptron(Chain(), max_iter=1).fit(X, Y), X, Y)
    assert "Of 200 labels those 30 are drawn" in page.words
    assert "Of 200 labels the 30 most frequent are drawn" in page.words
    assert len(page.of("li", class_="mistake")) == 200
    assert path.stat().st_size < 4e6


def test_every_confusion_that_is_drawn_has_a_mistake_to_show(path):
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(30, 3)) for _ in range(400)]
    Y = [list(rng.choice(list("abc"), size=30)) for _ in range(399)] + [["d", *"a" * 29]]
    page = report(path, StructuredPerceptron(Chain(), max_iter=1).fit(X[:399], Y[:399]), X, Y)
    pairs = {pair for each in page.of("li", class_="mistake") for pair in each["data-pairs"].split("\x1e")}
    cells = [each for each in page.of("g") if "data-true" in each]
    assert cells
    assert {f"{cell['data-true']}\x1f{cell['data-predicted']}" for cell in cells} <= pairs


def test_long_sequences_show_the_neighbourhood_of_mistakes(path):
    X = [np.ones((500, 1))]
    Y = [["a"] * 250 + ["b"] + ["a"] * 249]
    page = report(path, StructuredPerceptron(Chain(), max_iter=1).fit([np.ones((2, 1))], [["a", "a"]]), X, Y)
    assert len(page.of("span", class_="token")) == 16
    assert "… 242 right …" in page.words


@pytest.mark.parametrize(
    "estimator",
    [
        ConditionalRandomField(Chain(order=2), C=10),
        StructuredPerceptron(Chain(allowed_transitions="BIO")),
        StructuralSVM(Chain(boundaries=False), solver="subgradient", max_iter=20, track_loss=True),
        StructuralSVM(Chain(loss="zero_one"), eps=0.1),
        StructuralSVM(Chain(label_weight={"B-NP": 0.5}), solver="one_slack"),
    ],
    ids=["crf", "perceptron", "subgradient", "eps", "weights"],
)
def test_every_learner_has_a_report(path, estimator):
    X = [[{"word": word} for word in x] for x in WORDS]
    write_report(path, clone(estimator).fit(X, TAGS), X, OTHER_TAGS)
    page = Page(path.read_text("utf-8"))
    assert "Training" in page.words
    assert page.of("svg", class_="chart")
    assert not re.search(r"\bnan\b", page.words)


def test_segments_have_a_report(path):
    X = [[{"word": word} for word in x] for x in WORDS]
    Y = [[("NP", 0, len(x) - 1), ("VP", len(x) - 1, len(x))] for x in X]
    page = report(path, StructuralSVM(Segments()).fit(X, Y), X, [[("NP", 0, 3)], *Y[1:]])
    assert "F1 of segments" in page.words
    assert "by the rule" not in page.words
    assert "I-NP taken for B-VP" in page.words


def test_trees_are_drawn_beside_the_truth(path):
    Y = [("S", ("NP", ("N", EVIL)), ("V", "runs")), ("S", ("N", "dogs"), ("VP", ("V", "run")))]
    X = [[(EVIL, "N"), ("runs", "V")], [("dogs", "N"), ("run", "V")]]
    parser = StructuralSVM(Grammar(), C=10).fit(X[:1], Y[:1])
    page = report(path, parser, X, Y)
    assert len(page.of("svg", class_="tree")) == 2
    for words in ("✗ NP", "✓ VP", "unlabelled F1", "brackets that are missed or made up", "none of the outputs it can"):
        assert words in page.words
    assert len(page.of("script")) == 1


def test_what_a_model_of_ones_own_draws_is_shown(path):
    class Sign:
        def joint_feature(self, x, y):
            return np.array([x * y])

        def loss(self, y, y_hat):
            return float(y != y_hat)

        def outputs(self, x):
            return [-1, 1]

        def drawing(self, x, y, truth=None, *, width=100):
            return Drawing(Text(f"{y}"), element("p", f"{x} is <{y}>, not {truth}"))

    page = report(path, StructuralSVM(Sign(), C=1).fit([2.0, -3.0], [1, -1]), [1.0], [-1])
    assert "1.0 is <1>, not -1" in page.words


def test_documents_are_shown_as_text(path):
    documents = ["good film", "bad film", "good", "bad"] * 3
    kinds = ["+", "-", "+", "-"] * 3
    pipeline = make_pipeline(CountVectorizer(), StructuralSVM(Multiclass(), C=10)).fit(documents, kinds)
    page = report(path, pipeline, ["a good day"], ["-"])
    assert "a good day" in page.words
    assert "made by CountVectorizer" in page.words
    assert "0.0 %" in page.words


def test_data_frames_have_the_names_of_their_columns(path):
    iris = load_iris(as_frame=True)
    svm = StructuralSVM(Multiclass(), C=1, fit_intercept=True).fit(iris.data, iris.target)
    page = report(path, svm, iris.data, iris.target)
    assert "petal length (cm)" in page.words
    assert "(intercept)" in page.words


def test_pixels_are_drawn(path):
    rng = np.random.default_rng(0)
    X = [rng.random((3, 6)) for _ in range(10)]
    Y = [list(rng.choice(["a", "b"], size=3)) for _ in range(10)]
    svm = StructuralSVM(Chain(), C=0.01).fit(X, Y)
    page = report(path, svm, X, Y, picture=(2, 3))
    assert len(page.of("img", class_="weights")) == 2
    assert len(page.of("img", class_="ink")) == 3 * len(page.of("li", class_="mistake"))
    with pytest.raises(ValueError, match=r"picture is \(2, 4\), 8 pixels, but X\[0\] has 6 numbers a row"):
        write_report(path, svm, X, Y, picture=(2, 4))


def test_a_png_has_the_pixels_it_was_given():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    data = png(pixels)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,), name = struct.unpack_from(">I", data, at), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length) == (zlib.crc32(name + body),)
        chunks[name] = body
        at += 12 + length
    assert struct.unpack(">IIBBBBB", chunks[b"IHDR"]) == (3, 2, 8, 6, 0, 0, 0)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(2, 13)
    assert (rows[:, 0] == 0).all()
    assert (rows[:, 1:].reshape(2, 3, 4) == pixels).all()


def test_a_learning_curve_ends_with_the_estimator_itself(path, tagger):
    points = learnt(tagger, (WORDS, TAGS), WORDS, OTHER_TAGS)
    assert [point.n for point in points] == [1, 2, 5, 10, 20]
    page = report(path, tagger, WORDS, OTHER_TAGS, learning_curve=(WORDS, TAGS))
    assert page.of("section", id="learning-curve")
    assert f"{100 * points[-1].error.estimate:.1f} %" in page.words
    with pytest.raises(ValueError, match="pair"):
        write_report(path, tagger, WORDS, TAGS, learning_curve=WORDS)
    with pytest.raises(ValueError, match="20 inputs but 1 outputs"):
        write_report(path, tagger, WORDS, TAGS, learning_curve=(WORDS, TAGS[:1]))


def test_a_path_that_cannot_be_written_is_refused_before_work(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_report(tmp_path / "missing" / "report.html", None, None, None)


def test_names_of_lines_do_not_cover_each_other():
    lines = [Line(name, [(0, 1.0), (1, 0.0)], "first") for name in ("a", "b", "c")]
    chart = line_chart(lines, title="", x_title="", y_title="", x_range=(0, 1), y_range=(0, 1))
    heights = sorted(float(y) for y in re.findall(r'y="([\d.]+)" class="name', chart))
    assert len(heights) == 3
    assert all(b - a >= 16 for a, b in pairwise(heights))
