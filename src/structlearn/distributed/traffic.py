"""What moved between client and workers, and who was slowest."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np


@dataclass
class Traffic:
    """Counted since the last time that it was told.

    Attributes
    ----------
    sent, came : int
        Bytes of the arrays that went to workers, and of those that came back.
    seconds : Counter
        How long each worker took.
    lost : int
        How often a part lost its worker.
    """

    sent: int = 0
    came: int = 0
    lost: int = 0
    seconds: Counter[str] = field(default_factory=Counter)

    def received(self, address: str, size: int, seconds: float) -> None:
        self.came += size
        self.seconds[address] += seconds  # type: ignore[assignment]

    def told(self) -> dict[str, Any]:
        told: dict[str, Any] = {"bytes_sent": self.sent, "bytes_received": self.came, "lost_parts": self.lost}
        if self.seconds:
            address, seconds = self.seconds.most_common(1)[0]
            told |= {"slowest_worker": address, "slowest_seconds": float(seconds)}
        self.sent = self.came = self.lost = 0
        self.seconds.clear()
        return told


def nbytes(value: Any) -> int:
    """The bytes of all arrays in a value.

    >>> nbytes((np.zeros(3), [np.zeros(1), "text"]))
    32
    """
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, (tuple, list)):
        return sum(map(nbytes, value))
    if isinstance(value, dict):
        return sum(map(nbytes, value.values()))
    if is_dataclass(value):
        return sum(nbytes(getattr(value, each.name)) for each in fields(value))
    return 0
