from structlearn.data import Links
from structlearn.drawing import draw_matching


def test_possible_pairs_are_no_mistakes():
    drawing = draw_matching("ab", "xy", [(0, 0), (1, 1)], Links([(0, 0)], possible=[(1, 1)]))
    assert str(drawing).splitlines()[0] == "2 right, 0 made up, 0 missed"


def test_a_report_has_a_line_for_every_pair():
    html = draw_matching(["<a>", "b"], ["x", "y"], [(0, 0), (1, 0)], [(0, 0), (1, 1)]).html
    assert html.count("<line") == 3
    assert html.count("stroke-dasharray") == 1
    assert "&lt;a&gt;" in html
    assert "made up" in html


def test_many_rows_are_counted_and_long_names_are_cut():
    pairs = [(k, k) for k in range(100)]
    drawing = draw_matching(["long" * 20] * 100, range(100), pairs, width=40)
    lines = str(drawing).splitlines()
    assert lines[-1] == "and 60 more"
    assert max(map(len, lines)) <= 40
    assert "40 pairs beyond the first 60 are not shown" in drawing.html


def test_nothing_at_all():
    drawing = draw_matching([], [], [], [])
    assert str(drawing) == "0 right, 0 made up, 0 missed"
    assert "<svg" in drawing.html
