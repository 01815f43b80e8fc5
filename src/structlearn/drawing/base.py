"""What a picture of an output is."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from structlearn.drawing.markup import Html


@dataclass(frozen=True, eq=False)
class Drawing:
    """A picture of an output, which `print` and rich show as text.

    Attributes
    ----------
    text : rich.text.Text
        Lines for a terminal. What they say by colours they also say without.
    html : Html
        A piece of a report, made by `structlearn.drawing.markup.element`, which escapes data. Colours come from the
        report's style sheet.
    """

    text: Text
    html: Html

    def __str__(self) -> str:
        return self.text.plain

    def __rich__(self) -> Text:
        return self.text
