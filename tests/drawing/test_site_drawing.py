from structlearn.data import Site
from structlearn.drawing import draw_site
from structlearn.drawing.sites import MOST_LINES
from structlearn.io.pairs import NamedSequence
from structlearn.models import Motif


def test_the_letters_of_a_site_are_marked_in_the_direction_in_which_they_are_read():
    assert str(draw_site("ACGTACGT", Site(1, "+", 3), "yes")).split("\n") == [
        "yes, site 2 to 4 on strand +: CGT",
        "1 ACGTACGT 8",
        "   >>>",
    ]
    assert str(draw_site("ACGTACGT", Site(1, "-", 3), "yes")).split("\n") == [
        "yes, site 2 to 4 on strand -: ACG",
        "1 ACGTACGT 8",
        "   <<<",
    ]


def test_a_site_goes_on_in_the_next_line():
    lines = str(draw_site("A" * 25, Site(8, "+", 4), 1, width=16)).split("\n")
    assert lines == [
        "1, site 9 to 12 on strand +: AAAA",
        " 1 AAAAAAAAAA 10",
        "           >>",
        "11 AAAAAAAAAA 20",
        "   >>",
        "21 AAAAA 25",
    ]


def test_of_a_long_sequence_only_the_lines_of_the_site_are_shown():
    letters = "A" * (10 * MOST_LINES + 1)
    lines = str(draw_site(letters, Site(33, "+", 4), 1, width=16)).split("\n")
    assert lines[1:] == ["31 AAAAAAAAAA 40", "      >>>>", "… of 61 letters"]
    assert str(draw_site(letters, None, 0, width=16)).split("\n") == [
        "0, no site",
        " 1 AAAAAAAAAA 10",
        "… of 61 letters",
    ]


def test_a_name_comes_first_and_a_wrong_label_is_marked():
    named = NamedSequence("ACGT", "seq7 of <yeast>")
    assert str(draw_site(named, None, -1, 1)).startswith("seq7: -1, no site ✗ true is 1\n")
    assert "✗" not in str(draw_site(named, None, -1, -1))


def test_data_are_escaped_in_reports():
    html = draw_site(NamedSequence("ACGT", "<b>"), Site(0, "+", 2), "<i>").html
    assert "<b>:" not in html
    assert "<i>" not in html
    assert "<mark>AC</mark>" in html


def test_the_model_draws_the_site_that_it_found():
    drawn = Motif(width=3).latent_drawing("ACGTACGT", 1, Site(1, "+", 3), 0)
    assert str(drawn) == str(draw_site("ACGTACGT", Site(1, "+", 3), 1, 0))
