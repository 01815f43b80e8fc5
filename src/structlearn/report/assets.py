"""The files of this package's templates, and how their places are filled."""

from __future__ import annotations

from functools import cache
from importlib import resources
from string import Template
from typing import Any

from structlearn.drawing.markup import Html, markup


def fill(template: str, **values: Any) -> Html:
    """A template of this package with its $places filled."""
    return Html(_template(template).substitute({name: markup(value) for name, value in values.items()}))


@cache
def asset(name: str) -> str:
    """A file of this package's templates."""
    return (resources.files(__package__) / "templates" / name).read_text("utf-8")


@cache
def _template(name: str) -> Template:
    return Template(asset(f"{name}.html"))
