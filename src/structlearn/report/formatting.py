"""Numbers as a reader sees them."""

from __future__ import annotations

import math

from structlearn.metrics import Interval


def number(value: float) -> str:
    """Four digits that matter; a minus sign where there is one.

    >>> number(0.123456), number(-1234.5), number(3.0), number(float("nan"))
    ('0.1235', '−1,234', '3', '–')
    """
    if math.isnan(value):
        return "–"
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        digits = 0 if value == 0 else max(0, 3 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{digits}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = f"{value:.3g}"
    return text.replace("-", "−")


def signed(value: float, digits: int) -> str:
    """
    >>> signed(0.5, 1), signed(-0.26, 1)
    ('+0.5', '−0.3')
    """
    return f"{value:+.{digits}f}".replace("-", "−")


def percent(share: float, digits: int = 1) -> str:
    """
    >>> percent(0.9613), percent(1.0)
    ('96.1 %', '100.0 %')
    """
    return "–" if math.isnan(share) else f"{100 * share:.{digits}f} %"


def percent_range(interval: Interval) -> str:
    """
    >>> percent_range(Interval(0.5, 0.25, 0.75))
    '25.0 to 75.0 %'
    """
    return "" if math.isnan(interval.low) else f"{100 * interval.low:.1f} to {percent(interval.high)}"


def duration(seconds: float) -> str:
    """
    >>> duration(0.0013), duration(0.25), duration(17.9), duration(3725)
    ('1.3 ms', '0.25 s', '18 s', '1 h 2 min')
    """
    if seconds < 0.1:
        return f"{1000 * seconds:.2g} ms"
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
