"""The command `structlearn`: training and using models from files."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from typing import Any

from structlearn.cli.app import app

__all__ = ["app", "main", "run"]

#: What the command's exit status says beside 0 for success, 2 for a wrong option and 130 after Ctrl-C.
FAILED = 1


def main() -> None:
    """The whole life of the process `structlearn`."""
    # Modules and parsed text are many objects that live to the end: looking for garbage among them took a fifth of the
    # time of a prediction.
    gc.set_threshold(200_000, 50, 100)
    try:
        run()
    except SystemExit as exit:
        if not exit.code:
            gc.freeze()
        raise


def run() -> None:
    """Runs the command line; errors that a user can do something about are one line, without a traceback."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            app(prog_name="structlearn")
    except SystemExit as exit:
        # Ctrl-C where no command had more to say of it: typer makes it an exit.
        if isinstance(getattr(exit.__context__, "__cause__", None), KeyboardInterrupt):
            print("structlearn: stopped", file=sys.stderr)
        raise
    except BrokenPipeError:
        # Whoever read our output, such as `head`, has enough; Python would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (OSError, ValueError, TypeError, ImportError, MemoryError) as error:
        if os.environ.get("STRUCTLEARN_TRACEBACK"):
            raise
        print(f"structlearn: {_message(error)}", file=sys.stderr)
        sys.exit(FAILED)


def _warn(message: Warning | str, *where: Any, **more: Any) -> None:
    """One line, without the place in the code."""
    print(f"structlearn: warning: {message}", file=sys.stderr)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
