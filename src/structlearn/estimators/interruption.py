"""Ctrl-C during training."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType, TracebackType
from typing import ClassVar, Self


class Interruption:
    """While it is entered, the first Ctrl-C only asks for an end; the second interrupts at once.

    Ctrl-C reaches the main thread only: what is entered elsewhere meanwhile, or within, learns of it from there. Where
    the program has a handler of its own, nothing is changed.
    """

    _installed_one: ClassVar[Interruption | None] = None

    def __init__(self) -> None:
        self._requested = False
        self._outer: Interruption | None = None

    @property
    def requested(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._requested or (self._outer is not None and self._outer.requested)

    def __enter__(self) -> Self:
        self._outer = Interruption._installed_one
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            Interruption._installed_one = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if Interruption._installed_one is self:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            Interruption._installed_one = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._requested:
            raise KeyboardInterrupt
        self._requested = True
        logging.getLogger("structlearn").warning(
            "training stops after this iteration; press Ctrl-C again to interrupt it at once"
        )
