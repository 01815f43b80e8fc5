import pytest

from tests.abilities import page

STALE = "run python -m tests.abilities.page"


def test_the_page_has_what_models_declare():
    written = page.PAGE.read_text(encoding="utf-8")
    assert page.decoders() in written, STALE
    assert page.reasons() in written, STALE


@pytest.mark.slow
def test_the_page_has_what_solvers_take():
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), STALE
