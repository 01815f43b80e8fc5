from functools import cache

import pytest


@pytest.fixture(autouse=True, scope="session")
def _commands_are_built_once():
    """Typer makes all commands and their hundreds of options anew for every line, longer than most of them take."""
    import typer.main
    import typer.testing

    with pytest.MonkeyPatch.context() as patch:
        built = cache(typer.main.get_command)
        patch.setattr(typer.main, "get_command", built)
        patch.setattr(typer.testing, "_get_command", built)
        yield
