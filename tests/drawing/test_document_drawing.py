from structlearn.data import Document, Mention
from structlearn.drawing import draw_document
from structlearn.drawing.documents import MOST_SENTENCES
from structlearn.models import LatentForest

ALIKE = Document((("<b>", "met", "<b>"),) * 30, tuple(Mention(s, t, t + 1) for s in range(30) for t in (0, 2)))


def test_without_a_truth_all_sentences_are_shown():
    lines = str(draw_document(ALIKE, [0, 1] * 30)).split("\n")
    assert lines == ["[<b>]1 met [<b>]2"] * 30


def test_beside_a_truth_only_sentences_with_mistakes_are_and_not_too_many():
    found = [0, 1] * 30
    assert str(draw_document(ALIKE, found, found)) == str(draw_document(ALIKE, found))
    one_wrong = [*found[:-1], 0]
    assert str(draw_document(ALIKE, one_wrong, found)).split("\n") == [
        "1 wrong link, 0 missed, of 60 mentions",
        "[<b>]1 met [<b>]1✗",
    ]
    lines = str(draw_document(ALIKE, range(60), found)).split("\n")
    assert lines[0] == "0 wrong links, 58 missed, of 60 mentions"
    assert len(lines) == 1 + MOST_SENTENCES + 1
    assert lines[-1] == f"and {29 - MOST_SENTENCES} sentences more"


def test_words_are_escaped_in_reports():
    html = draw_document(ALIKE, [0] * 60, [0, 1] * 30).html
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_the_model_draws_documents_and_nothing_else():
    assert LatentForest().drawing(ALIKE, [0, 1] * 30) is not None
    assert LatentForest().drawing((2, [[1.0]]), [0, 1]) is None
