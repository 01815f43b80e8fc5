"""What a notebook shows of an estimator."""

import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning

from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.estimators.card import card, gap_in_words
from structlearn.models import Chain

X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}, {"word": "sleeps"}]]
Y = [["DET", "NOUN"], ["DET", "NOUN", "VERB"]]


class Page(HTMLParser):
    """Text and tags; refuses tags that do not close."""

    def __init__(self, html):
        super().__init__()
        self.text, self.tags, self._open = "", [], []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data + "\n"


def test_only_a_fitted_estimator_has_a_card():
    svm = StructuralSVM(Chain(), C=10)
    assert "structlearn-card" not in svm._repr_html_()
    assert "sk-estimator" in svm._repr_html_()
    svm.fit(X, Y)
    assert "structlearn-card" in svm._repr_html_()
    assert "sk-estimator" in svm._repr_html_()
    assert svm._repr_mimebundle_()["text/html"].count('class="structlearn-card"') == 1


def test_text_stays_text_where_scikit_learn_is_told_so():
    with sklearn.config_context(display="text"):
        assert not hasattr(StructuralSVM(Chain()).fit(X, Y), "_repr_html_")


def test_the_card_says_what_was_learnt():
    svm = StructuralSVM(Chain(), C=10).fit(X, Y)
    text = Page(card(svm)).text
    assert "3: DET, NOUN, VERB" in text
    assert f"5 ({len(svm.w_)} weights)" in text
    assert "2 (5 tokens)" in text
    assert f"{svm.objective_:.6g}, the best possible is at most" in text


def test_the_sparkline_ends_lowest_where_the_gap_is_smallest():
    crf = ConditionalRandomField(Chain(), C=10).fit(X, Y)
    (line,) = (attributes for tag, attributes in Page(card(crf)).tags if tag == "polyline")
    points = np.array([point.split(",") for point in line["points"].split()], float)
    assert len(points) == len(crf.history_)
    assert (np.diff(points[:, 0]) > 0).all()
    assert points[-1, 1] == points[:, 1].max()


def test_labels_are_escaped_and_many_are_cut():
    labels = ["<script>", *map(str, range(20))]
    svm = StructuralSVM(Chain(), C=10).fit([np.eye(21)], [labels])
    assert "<script>" not in card(svm)
    assert "21: 0, 1, 10, 11, 12, 13, 14, 15, …" in Page(card(svm)).text
    svm = StructuralSVM(Chain(), C=10).fit([np.eye(1)], [["<script>"]])
    assert "1: <script>" in Page(card(svm)).text


def test_without_a_bound_nothing_is_claimed():
    perceptron = StructuredPerceptron(Chain()).fit(X, Y)
    assert "<svg" not in card(perceptron)
    assert "objective" not in card(perceptron)
    subgradient = StructuralSVM(Chain(), solver="subgradient", max_iter=3).fit(X, Y)
    assert "no certificate" in card(subgradient)


def test_a_run_that_was_cut_off_says_so():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm = StructuralSVM(Chain(), C=10, max_iter=1, tol=1e-9).fit(X, Y)
    assert gap_in_words(svm).endswith("stopped before the tolerance was met")


@pytest.mark.parametrize(
    ("gap", "words"), [(0.25, "25 %"), (0.00089, "0.089 %"), (0.0, "0.001 %"), (-1e-12, "0.001 %")]
)
def test_gaps_are_percentages(gap, words):
    svm = StructuralSVM(Chain(), C=10).fit(X, Y)
    svm.duality_gap_, svm.converged_ = gap, True
    assert gap_in_words(svm) == f"the best possible is at most {words} lower"


def test_a_model_of_ones_own_has_a_card():
    class Sign:
        def joint_feature(self, x, y):
            return np.array([x * y])

        def loss(self, y, y_hat):
            return float(y != y_hat)

        def outputs(self, x):
            return [-1, 1]

    svm = StructuralSVM(Sign(), C=10).fit([1.0, -2.0], [1, -1])
    text = Page(card(svm)).text
    assert "Sign" in text
    assert "weights\n1\n" in text
