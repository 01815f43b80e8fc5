"""Ctrl-C during training."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class Interruption:
    """While it is entered, the first Ctrl-C only asks for an end; the second interrupts at once.

    In threads other than the main one, and where the program has a handler of its own, nothing is changed.

    Attributes
    ----------
    requested : bool
        Whether Ctrl-C was pressed.
    """

    def __init__(self) -> None:
        self.requested = False
        self._installed = False

    def __enter__(self) -> Self:
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._installed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        logging.getLogger("structlearn").warning(
            "training stops after this iteration; press Ctrl-C again to interrupt it at once"
        )
