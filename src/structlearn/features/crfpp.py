"""Template files of CRF++, as templates of `TextFeatures` and options of `Chain`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structlearn.features.templates import Field, Template, name
from structlearn.features.text import TextFeatures
from structlearn.io.columns import default_names
from structlearn.io.text import Lines, Source, open_text, quoted
from structlearn.models.chain.chain import Chain

MACRO = re.compile(r"%x\[(-?[0-9]{1,3}),([0-9]{1,3})\]")
#: How far CRF++ lets a template look.
FARTHEST = 4


@dataclass(frozen=True, slots=True)
class CrfppTemplates:
    """What a template file of CRF++ says.

    Attributes
    ----------
    templates : tuple of str
        Of the lines that begin with U: features of a token and its label.
    pair_templates : tuple of str
        Of the lines such as ``B01:%x[0,0]``: features of a token and the labels of it and the next one. CRF++ counts
        from the second of the two tokens, so that ``%x[0,0]`` is ``word[1]`` here.
    transitions : bool
        Whether there is a line B without values: scores for pairs of labels alone.
    columns : tuple of str
        The names of the columns of a token.

    Notes
    -----
    CRF++ has no scores for the first and the last label, and without a line B none for pairs of labels: these are
    ``boundaries=False`` and ``balance=0`` of a `Chain`. Features of pairs also score the first label of the two by
    itself, which CRF++ does only if there is such a line with U. Templates that say the same count once.

    Examples
    --------
    >>> lines = [b"U00:%x[-1,0]\\n", b"U01:%x[-1,0]/%x[0,1]\\n", b"B\\n"]
    >>> found = read_crfpp_templates(lines, columns=("word", "pos"))
    >>> found.templates, found.transitions
    (('word[-1]', 'word[-1]|pos[0]'), True)
    >>> features = found.features(min_count=2)
    >>> chain = found.chain(classes=["B", "I", "O"])
    """

    templates: tuple[str, ...]
    pair_templates: tuple[str, ...]
    transitions: bool
    columns: tuple[str, ...]

    def features(self, **options: Any) -> TextFeatures:
        """`TextFeatures` with these templates, and with further options of its own."""
        return TextFeatures([*self.templates, *self.pair_templates], columns=self.columns, **options)

    def chain(self, features: TextFeatures | None = None, **options: Any) -> Chain:
        """A `Chain` as CRF++ has it, and with further options of its own.

        Where there are features of label pairs, their columns are known only when features have been fitted; these
        must be given then.
        """
        pairs: list[int] = []
        if self.pair_templates and "pair_features" not in options:
            if features is None:
                raise ValueError(f"the columns of {self.pair_templates[0]!r} are needed: give the fitted features")
            pairs = self.pair_columns(features)
        chosen: dict[str, Any] = {
            "boundaries": False,
            "balance": 1.0 if self.transitions else 0.0,
            "pair_features": pairs or False,
        }
        return Chain(**chosen | options)

    def pair_columns(self, features: TextFeatures) -> list[int]:
        """The columns of fitted features that score pairs of labels."""
        names = features.get_feature_names_out()
        return [k for k, feature in enumerate(names) if feature.partition("=")[0] in self.pair_templates]


def read_crfpp_templates(source: Source | list[bytes], columns: Sequence[str] | None = None) -> CrfppTemplates:
    """Read a template file of CRF++.

    Parameters
    ----------
    source : path, "-", binary stream or list of bytes
    columns : sequence of str, optional
        The names of all columns of a token; None takes "word", "pos", "column3", … as far as the templates look.

    Raises
    ------
    FormatError
        For what cannot be read, and for two templates whose texts differ only in where they look: CRF++ would put their
        values into one bag, which `TextFeatures` cannot.
    """
    if isinstance(source, list):
        return _parse(Lines(source, "templates"), columns)
    with open_text(source) as lines:
        return _parse(lines, columns)


def _parse(lines: Lines, columns: Sequence[str] | None) -> CrfppTemplates:
    names = default_names(1000) if columns is None else tuple(columns)
    first_lines: dict[str, tuple[int, str]] = {}
    templates: dict[str, None] = {}
    pair_templates: dict[str, None] = {}
    transitions = False
    n_columns = 1
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if line[0] not in "UB":
            raise lines.error(f"expected a template that begins with U or B, found {quoted(line)}")
        fields, width = _fields(lines, line, names)
        n_columns = max(n_columns, width)
        number, other = first_lines.setdefault(MACRO.sub("%", line), (lines.number, line))
        if other != line:
            raise lines.error(
                f"{quoted(line)} looks elsewhere than {quoted(other)} in line {number} but has the same name; CRF++ "
                "would make no difference between their values: give them different names, such as U00 and U01"
            )
        if line[0] == "U":
            templates[name(fields)] = None
        elif fields:
            pair_templates[name(tuple(Field(part.column, "", part.offset + 1) for part in fields))] = None
        else:
            transitions = True
    if not templates and not pair_templates:
        raise lines.error("the file holds no template of features")
    known = names[:n_columns] if columns is None else names
    return CrfppTemplates(tuple(templates), tuple(pair_templates), transitions, known)


def _fields(lines: Lines, line: str, names: Sequence[str]) -> tuple[Template, int]:
    """The fields of a template, and how many columns it looks at; other text in it is only a part of its name."""
    fields = []
    width = 0
    place = line.find("%")
    while place >= 0:
        match = MACRO.match(line, place)
        if not match:
            raise lines.error(f"expected %x[row,column], found {quoted(line[place:])}", place + 1)
        row, column = int(match[1]), int(match[2])
        if abs(row) > FARTHEST:
            raise lines.error(f"{match[0]} looks {abs(row)} tokens away; CRF++ allows {FARTHEST}", place + 1)
        if column >= len(names):
            raise lines.error(f"{match[0]} is the column after the last of {', '.join(names)}", place + 1)
        fields.append(Field(names[column], "", row))
        width = max(width, column + 1)
        place = line.find("%", match.end())
    return tuple(fields), width
