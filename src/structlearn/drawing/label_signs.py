"""How labels are told apart in pictures: by a colour, and by a sign for those who see none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_letters, ascii_lowercase, digits
from typing import Any, NamedTuple

from rich.text import Text

from structlearn.data.labels import observed_classes, plain
from structlearn.drawing.markup import Html, element

#: Light enough for dark letters on them; those next to each other differ most.
PALETTE = (
    "#8fb8de", "#f2b880", "#9ccf9c", "#e79a97", "#c3a6d8", "#dcd66a",
    "#7fd0d6", "#f0a8cf", "#c9b18f", "#a9b3f0", "#d3e8a0", "#bdbdbd",
)  # fmt: skip
INK, WRONG = "#1d2126", "#c0261a"
NUMBERS = digits + ascii_lowercase
#: Labels that a legend names, and the letters of each.
MOST_NAMED, LONGEST = 30, 30


class Sign(NamedTuple):
    """What stands for a label."""

    letter: str
    colour: str


class LabelSigns:
    """A sign for every label of a picture, which colours repeat if there are many, and a legend of those that occur.

    Labels of one letter stand for themselves and small whole numbers for their digits, the others are lettered.

    >>> signs = LabelSigns(["sea", "sky"])
    >>> signs["sky"].letter, str(signs.legend(["sky", "sea"]))
    ('b', 'a sea  b sky')
    >>> [LabelSigns(range(12))[k].letter for k in (0, 9, 10)]
    ['0', '9', 'a']
    """

    def __init__(self, labels: Sequence[Any]):
        letters = self._letters(list(labels))
        self._signs = {
            label: Sign(letter, PALETTE[k % len(PALETTE)])
            for k, (label, letter) in enumerate(zip(labels, letters, strict=True))
        }

    @classmethod
    def of(cls, labels: Iterable[Any], classes: Sequence[Any] | None = None) -> LabelSigns:
        """For the labels of a picture, where all classes have theirs first, whether they occur or not."""
        first = [] if classes is None else list(map(plain, classes))
        return cls(list(dict.fromkeys([*first, *observed_classes(labels)])))

    def __getitem__(self, label: Any) -> Sign:
        return self._signs[label]

    @staticmethod
    def _letters(labels: list[Any]) -> list[str]:
        names = [str(label) for label in labels]
        if all(len(name) == 1 and name.isprintable() for name in names) and len(set(names)) == len(names):
            return names
        if all(type(label) is int and 0 <= label < len(NUMBERS) for label in labels):
            return [NUMBERS[label] for label in labels]
        return [ascii_letters[k] if k < len(ascii_letters) else "?" for k in range(len(labels))]

    def _shown(self, labels: Iterable[Any]) -> tuple[list[Any], int]:
        """The labels that a legend names, in their order, and how many it leaves out."""
        there = set(labels)
        found = [label for label in self._signs if label in there]
        return found[:MOST_NAMED], max(len(found) - MOST_NAMED, 0)

    def legend(self, labels: Iterable[Any]) -> Text:
        named, n_more = self._shown(labels)
        line = Text()
        for k, label in enumerate(named):
            letter, colour = self[label]
            line.append("  " if k else "").append(letter, f"{INK} on {colour}")
            line.append("" if str(label) == letter else f" {cut(str(label))}")
        return line.append(f"  and {n_more} more" if n_more else "")

    def legend_html(self, labels: Iterable[Any]) -> Html:
        named, n_more = self._shown(labels)
        items = []
        for label in named:
            letter, colour = self[label]
            square = element("rect", width=14, height=14, rx=3, fill=colour)
            name = element("text", letter, x=7, y=11, fill=INK, font_size=11, text_anchor="middle")
            picture = element("svg", square, name, width=14, height=14, aria_hidden="true")
            items.append(element("li", picture, f" {cut(str(label))}"))
        if n_more:
            items.append(element("li", f"and {n_more} more"))
        return element("ul", items, class_="legend")


def cut(text: str) -> str:
    """A text that is not too long for a legend.

    >>> cut("sky"), len(cut("x" * 100))
    ('sky', 30)
    """
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
