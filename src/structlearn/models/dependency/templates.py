"""Templates of the features that arcs of dependency trees have.

A template joins fields by ``|``; a feature is a template with the values of its fields:

===========================  ==========================================================================
``head.form``                the column "form" of the head
``modifier.upos[-1]``         the column "upos" of the token before the modifier
``sibling.upos``              of the modifier of the same head that is next to this one on the way to it
``between.upos``              of the tokens between head and modifier, a feature for each value among them
``direction``                whether the modifier is to the right of the head or to the left
``distance``                 the same, with how far: 1, 2, 3, 4, 5-9, 10 or more tokens
===========================  ==========================================================================

In templates with a sibling, distances are those from the sibling.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn.data.examples import is_listed
from structlearn.wording import shown

#: As in ``core/dependency/features/templates.hpp``, by number.
PLACES = ("head", "modifier", "sibling", "between", "direction", "distance")
DISTANCES = ("", "1", "2", "3", "4", "5-9", "10 or more")
DIRECTIONS = ("right", "left")
#: Values that come before those of the data: beyond the ends of the sentence, the root, what was seen too rarely.
SPECIAL_VALUES = ("(outside)", "(root)", "(rare)")
#: Of a column whose values between two tokens are features: they are bits of one number.
MOST_VALUES_BETWEEN = 64 - len(SPECIAL_VALUES)

FIELD = re.compile(r"(?P<place>[a-z]+)(?:\.(?P<column>\w+)(?:\[(?P<offset>[+-]?[0-9]{1,4})\])?)?")


class Field(NamedTuple):
    """What one value of a feature is; the column is a number."""

    place: str
    column: int = 0
    offset: int = 0


Template = tuple[Field, ...]


def parse_templates(
    texts: Sequence[str], columns: Sequence[str], name: str, *, siblings: bool = False
) -> list[Template]:
    """The templates that texts stand for.

    >>> parse_templates(["head.upos[-1]|distance"], ["form", "upos"], "templates")
    [(Field(place='head', column=1, offset=-1), Field(place='distance', column=0, offset=0))]
    """
    if not is_listed(texts) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} is {shown(texts)}; expected a list of texts such as 'head.{columns[0]}|distance'")
    for k, text in enumerate(texts):
        if text in texts[:k]:
            raise ValueError(f"{name}[{k}] is {text!r}, which is there already")
    return [_parse(text, columns, f"{name}[{k}]", siblings) for k, text in enumerate(texts)]


def _parse(text: str, columns: Sequence[str], name: str, siblings: bool) -> Template:
    fields: list[Field] = []
    for part in text.split("|"):
        found = FIELD.fullmatch(part.strip())
        if found is None or found["place"] not in PLACES:
            raise ValueError(
                f"{name} is {text!r}, which cannot be read at {part!r}; a field is like head.{columns[0]}, "
                f"modifier.{columns[0]}[-1], between.{columns[-1]}, direction or distance"
            )
        place, column, offset = found["place"], found["column"], int(found["offset"] or 0)
        if (column is None) != (place in ("direction", "distance")):
            raise ValueError(f"{name} is {text!r}; {place} {'has no column' if column else 'needs a column'}")
        if column is not None and column not in columns:
            raise ValueError(f"{name} is {text!r}, but the columns of tokens are {', '.join(columns)}")
        if place == "sibling" and not siblings:
            raise ValueError(f"{name} is {text!r}; siblings are for sibling_templates, with order=2")
        if place == "between" and (siblings or offset or any(field.place == "between" for field in fields)):
            raise ValueError(
                f"{name} is {text!r}; only one field, of arcs, may be between head and modifier, without []"
            )
        fields.append(Field(place, 0 if column is None else columns.index(column), offset))
    return tuple(fields)


def check_between(
    groups: Sequence[Sequence[Template]], columns: Sequence[str], values: Sequence[Sequence[str]]
) -> None:
    """Refuses templates of arcs and of labels that ask for one of too many values between head and modifier."""
    for name, templates in zip(("templates", "label_templates"), groups, strict=False):
        for k, template in enumerate(templates):
            for field in template:
                if field.place == "between" and len(values[field.column]) > MOST_VALUES_BETWEEN:
                    raise ValueError(
                        f"{name}[{k}] is about {columns[field.column]} of the tokens between two, of which there are "
                        f"{len(values[field.column])}; at most {MOST_VALUES_BETWEEN} can be told apart"
                    )


def template_rows(templates: Sequence[Template]) -> npt.NDArray[np.int32]:
    """Their fields as the core takes them: template, place, column and offset a row."""
    rows = [
        (t, PLACES.index(field.place), field.column, field.offset)
        for t, template in enumerate(templates)
        for field in template
    ]
    return np.array(rows, np.int32).reshape(-1, 4)


def template_text(template: Template, columns: Sequence[str]) -> str:
    """
    >>> template_text((Field("head", 0), Field("modifier", 1, 1), Field("distance")), ["form", "upos"])
    'head.form|modifier.upos[+1]|distance'
    """
    texts = []
    for field in template:
        where = f"[{field.offset:+d}]" if field.offset else ""
        plain = field.place in ("direction", "distance")
        texts.append(field.place if plain else f"{field.place}.{columns[field.column]}{where}")
    return "|".join(texts)


def value_text(field: Field, value: int, values: Sequence[Sequence[str]]) -> str:
    """What the number of a value stands for, given the values of all columns."""
    if field.place == "direction":
        return DIRECTIONS[value]
    if field.place == "distance":
        return f"{DISTANCES[value // 2]} {DIRECTIONS[value % 2]}"
    return [*SPECIAL_VALUES, *values[field.column]][value]


def default_templates(columns: Sequence[str]) -> tuple[str, ...]:
    """For arcs, after McDonald, Crammer and Pereira (2005): both ends, the tags around them and between."""
    word, tag = columns[0], columns[min(1, len(columns) - 1)]
    h, m = f"head.{word}", f"modifier.{word}"
    H, M = f"head.{tag}", f"modifier.{tag}"
    ends = [h, m, f"{h}|{m}"]
    around = [f"{H}|{H}[+1]|{M}[-1]|{M}", f"{H}[-1]|{H}|{M}[-1]|{M}", f"{H}|{H}[+1]|{M}|{M}[+1]"]
    around += [f"{H}[-1]|{H}|{M}|{M}[+1]", f"{H}[-1]|{H}|{M}", f"{H}|{H}[+1]|{M}", f"{H}|{M}[-1]|{M}"]
    around += [f"{H}|{M}|{M}[+1]"]
    if len(columns) > 1:
        ends += [H, M, f"{h}|{H}", f"{m}|{M}", f"{H}|{M}", f"{h}|{H}|{m}|{M}", f"{H}|{m}|{M}", f"{h}|{H}|{M}"]
        ends += [f"{h}|{m}|{M}", f"{h}|{H}|{m}"]
        around += [f"{H}|between.{tag}|{M}"]
    return tuple(f"{template}|{how}" for template in (*ends, *around) for how in ("direction", "distance"))


def default_label_templates(columns: Sequence[str]) -> tuple[str, ...]:
    """For labels: these have a weight for each, and are few."""
    word, tag = columns[0], columns[min(1, len(columns) - 1)]
    h, m, H, M = f"head.{word}", f"modifier.{word}", f"head.{tag}", f"modifier.{tag}"
    found = [f"{h}|direction", f"{m}|direction", f"{H}|{M}|distance", f"{M}[-1]|{M}|{M}[+1]|direction"]
    if len(columns) > 1:
        found += [f"{h}|{M}|direction", f"{H}|{m}|direction", f"{m}|{M}|direction"]
    return tuple(found)


def default_sibling_templates(columns: Sequence[str]) -> tuple[str, ...]:
    """For two modifiers beside each other, after McDonald and Pereira (2006)."""
    word, tag = columns[0], columns[min(1, len(columns) - 1)]
    found = [f"head.{tag}|sibling.{tag}|modifier.{tag}", f"sibling.{tag}|modifier.{tag}"]
    if len(columns) > 1:
        found += [f"sibling.{word}|modifier.{word}", f"sibling.{word}|modifier.{tag}", f"sibling.{tag}|modifier.{word}"]
    return (*(f"{template}|direction" for template in found), f"sibling.{tag}|modifier.{tag}|distance")
