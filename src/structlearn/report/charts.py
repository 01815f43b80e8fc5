"""Line charts and small marks, drawn as SVG; colours come from the style sheet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from structlearn.drawing.markup import Html, element
from structlearn.metrics import Interval
from structlearn.report.formatting import number

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 20, 30, 46
#: Least distance of two labels, one above the other.
LINE_HEIGHT = 16


@dataclass(frozen=True)
class Line:
    """Points joined by a line with a name at its end; `style` is a class of the style sheet."""

    name: str
    points: Sequence[tuple[float, float]]
    style: str
    whiskers: Sequence[Interval] | None = None


@dataclass(frozen=True)
class Axis:
    """The values from `low` to `high` along `length` pixels from `start`, which may run backwards."""

    title: str
    low: float
    high: float
    start: float
    length: float
    log: bool = False
    whole: bool = False
    written: Callable[[float], str] = number

    def place(self, value: float) -> float:
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(value) - low) / (high - low) if high > low else 0.5
        # What lies far outside of the frame is cut off; some programs cannot draw what lies much further.
        return self.start + min(max(share, -2.0), 3.0) * self.length

    def ticks(self) -> list[float]:
        if self.log:
            return _log_ticks(self.low, self.high)
        return _linear_ticks(self.low, self.high, 1.0 if self.whole else 0.0)

    def _scaled(self, value: float) -> float:
        return math.log10(max(value, 1e-300)) if self.log else value


def line_chart(
    lines: Sequence[Line],
    *,
    title: str,
    x_title: str,
    y_title: str,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    log_x: bool = False,
    log_y: bool = False,
    whole: bool = False,
    x_ticks: Sequence[float] | None = None,
    written: Callable[[float], str] = number,
    limit: tuple[float, str] | None = None,
) -> Html:
    """Lines over two axes, of whole numbers if `whole`; `limit` is a value of y and its name, for a dashed line."""
    x = Axis(x_title, *x_range, LEFT, WIDTH - LEFT - RIGHT, log_x, whole)
    y = Axis(y_title, *y_range, HEIGHT - BOTTOM, -(HEIGHT - TOP - BOTTOM), log_y, whole, written)
    parts = [element("title", title), *_frame(x, y, x.ticks() if x_ticks is None else x_ticks)]
    if limit is not None and y.low <= limit[0] <= y.high:
        level = y.place(limit[0])
        parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=_px(level), y2=_px(level), class_="limit"))
        parts.append(element("text", limit[1], x=LEFT + 6, y=_px(level - 6), class_="limit-name"))
    parts += [_line(line, x, y) for line in lines]
    parts += _names(lines, x, y)
    return element("svg", parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="chart", role="img", aria_label=title)


def interval_mark(interval: Interval, low: float = 0.0, high: float = 1.0) -> Html:
    """A dot with its interval on a short scale from `low` to `high`."""
    width = 96
    scale = Axis("", low, high, 4, width - 8)
    parts = [element("line", x1=4, x2=width - 4, y1=8, y2=8, class_="scale")]
    if not math.isnan(interval.low):
        ends = {"x1": _px(scale.place(interval.low)), "x2": _px(scale.place(interval.high))}
        parts.append(element("line", **ends, y1=8, y2=8, class_="whisker"))
    parts.append(element("circle", cx=_px(scale.place(interval.estimate)), cy=8, r=3.5, class_="dot"))
    return element("svg", parts, viewBox=f"0 0 {width} 16", width=width, height=16, class_="mark", aria_hidden="true")


def _frame(x: Axis, y: Axis, x_ticks: Sequence[float]) -> list[Html]:
    bottom = HEIGHT - BOTTOM
    parts = []
    for value in y.ticks():
        level = _px(y.place(value))
        parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=level, y2=level, class_="grid"))
        parts.append(element("text", y.written(value), x=LEFT - 8, y=level, dy="0.32em", class_="tick y"))
    for value in x_ticks:
        at = _px(x.place(value))
        parts.append(element("line", x1=at, x2=at, y1=bottom, y2=bottom + 5, class_="axis"))
        parts.append(element("text", x.written(value), x=at, y=bottom + 19, class_="tick x"))
    parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=bottom, y2=bottom, class_="axis"))
    parts.append(element("text", y.title, x=4, y=14, class_="axis-title"))
    parts.append(element("text", x.title, x=WIDTH - RIGHT, y=HEIGHT - 6, class_="axis-title end"))
    return parts


def _line(line: Line, x: Axis, y: Axis) -> Html:
    places = [(x.place(a), y.place(b)) for a, b in line.points]
    inside = [place for place, (_, value) in zip(places, line.points, strict=True) if y.low <= value <= y.high]
    drawn = []
    if len(places) > 1:
        drawn.append(element("path", d="M" + "L".join(f"{_px(a)} {_px(b)}" for a, b in places), class_="stroke"))
    if line.whiskers is not None:
        for (a, _), whisker in zip(places, line.whiskers, strict=True):
            if not math.isnan(whisker.low):
                ends = {"y1": _px(y.place(whisker.low)), "y2": _px(y.place(whisker.high))}
                drawn.append(element("line", x1=_px(a), x2=_px(a), **ends, class_="whisker"))
    # An inner <svg> cuts off what is outside of the frame.
    box = {"x": LEFT, "y": TOP - 2, "width": WIDTH - LEFT - RIGHT, "height": HEIGHT - TOP - BOTTOM + 2}
    window = element("svg", drawn, **box, viewBox="{x} {y} {width} {height}".format(**box))
    dots = []
    for (a, b), (value_x, value_y) in zip(places, line.points, strict=True):
        if (a, b) in inside:
            tip = f"{line.name}: {y.written(value_y)} at {x.written(value_x)} {x.title}"
            dots.append(element("circle", element("title", tip), cx=_px(a), cy=_px(b), r=3, class_="dot"))
    return element("g", window, dots, class_=f"line {line.style}")


def _names(lines: Sequence[Line], x: Axis, y: Axis) -> list[Html]:
    """The names of the lines near their ends, the upper line's above and the others' below."""
    if len(lines) < 2:
        return []
    ends = sorted(
        ((y.place(line.points[-1][1]), x.place(line.points[-1][0]), line) for line in lines), key=lambda e: e[0]
    )
    parts = []
    # From below, so that the names keep their distance above the axis.
    next_ = HEIGHT - BOTTOM - 6.0
    for k, (level, at, line) in reversed(list(enumerate(ends))):
        wanted = level - 9 if k == 0 else level + LINE_HEIGHT + 3
        height = min(max(wanted, TOP + 4), next_)
        next_ = height - LINE_HEIGHT
        parts.append(element("text", line.name, x=_px(at), y=_px(height), class_=f"name end {line.style}"))
    return parts


def _linear_ticks(low: float, high: float, least_step: float = 0.0, about: int = 5) -> list[float]:
    """
    >>> _linear_ticks(0, 17.9)
    [0.0, 5.0, 10.0, 15.0]
    """
    if not high > low:
        return [low]
    rough = (high - low) / about
    size = 10.0 ** math.floor(math.log10(rough))
    step = max(least_step, next(step for step in (size, 2 * size, 5 * size, 10 * size) if step >= 0.8 * rough))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """
    >>> _log_ticks(0.0005, 1)
    [0.001, 0.01, 0.1, 1.0]
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside = [10.0**k for k in decades if low <= 10.0**k * (1 + 1e-9) and 10.0**k <= high * (1 + 1e-9)]
    if len(inside) > 2:
        return inside[:: math.ceil(len(inside) / 6)]
    fine = [m * 10.0**k for k in decades for m in (1, 2, 5)]
    return [value for value in fine if low <= value * (1 + 1e-9) and value <= high * (1 + 1e-9)]


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
