"""HTML that is safe by construction: text is escaped unless it is already markup."""

from __future__ import annotations

import html
from typing import Any

#: Elements that hold nothing and are not closed.
_VOID = {"img"}


class Html(str):
    """A piece of markup, which is not escaped again."""

    __slots__ = ()


def markup(value: Any) -> Html:
    """Markup as it is, the parts of a list or tuple one after another, nothing for None, all else as escaped text.

    >>> markup("a < b"), markup(Html("<b>")), markup(["x", None, Html("&amp;")])
    ('a &lt; b', '<b>', 'x&amp;')
    """
    if isinstance(value, Html):
        return value
    if value is None:
        return Html("")
    if isinstance(value, (list, tuple)):
        return Html("".join(map(markup, value)))
    return Html(html.escape(str(value)))


def element(tag: str, *children: Any, **attributes: Any) -> Html:
    """An element; names of attributes have - for _ (and end with _ where Python has the word), None leaves one out.

    >>> element("a", "1 < 2", href='"', class_="x", data_n=3, title=None)
    '<a href="&quot;" class="x" data-n="3">1 &lt; 2</a>'
    """
    inside = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{inside}>" if tag in _VOID else f"<{tag}{inside}>{markup(children)}</{tag}>")
