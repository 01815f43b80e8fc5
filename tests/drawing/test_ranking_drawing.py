from structlearn.drawing import draw_ranking
from structlearn.drawing.rankings import MOST_DOCUMENTS
from structlearn.models import PrecisionAtK, Ranking


def test_documents_stand_in_their_order():
    assert str(draw_ranking([1, 2, 0])).split("\n") == [
        "place  document",
        "    1         2",
        "    2         3",
        "    3         1",
    ]


def test_documents_before_more_relevant_ones_are_marked():
    lines = str(draw_ranking([0, 1, 2, 3], [1, 2, 0.5, 0])).split("\n")
    assert [line.endswith("✗") for line in lines] == [False, True, False, False, False]
    assert lines[3].split() == ["3", "3", "0.5"]
    assert draw_ranking([0, 1], [0, 1]).html.count("given") == 1


def test_a_relevance_of_many_digits_has_room():
    assert str(draw_ranking([0], [-1.23456e-10])).split("\n")[1].split() == ["1", "1", "-1.23456e-10"]


def test_of_many_documents_only_the_first_are_shown():
    lines = str(draw_ranking(range(50))).split("\n")
    assert len(lines) == MOST_DOCUMENTS + 2
    assert lines[-1] == f"and {50 - MOST_DOCUMENTS} more"
    late = [0] * 49 + [1]
    assert str(draw_ranking(range(50), late)).count("✗") == MOST_DOCUMENTS


def test_models_draw_a_line_after_the_documents_that_count():
    for model in (PrecisionAtK(k=2), Ranking("ndcg", k=2)):
        lines = str(model.drawing(None, [0, 1, 2], [1, 0, 0])).split("\n")
        assert set(lines[3]) == {"-"}
    assert "---" not in str(Ranking().drawing(None, [0, 1, 2]))
