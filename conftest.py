"""What holds for all tests and doctests. Pictures are drawn without a screen, and put away afterwards."""

import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator

import hypothesis
import pytest

# How long an example takes says more about what else the machine does than about us.
hypothesis.settings.register_profile("structlearn", deadline=None)
hypothesis.settings.load_profile("structlearn")
os.environ.setdefault("MPLBACKEND", "Agg")
# Every core has a worker already. With threads of BLAS, tests of tune took four times the time on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A shell starts jobs in the background with Ctrl-C ignored; the tests of it need it in any case.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """All modules and tests live to the end: nobody need look for garbage among them, again and again."""
    gc.disable()
    found = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return found


@pytest.fixture(autouse=True)
def _no_figure_is_left_open() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def _diagonal(item: pytest.Function, number: int) -> int:
    """The sum of the places of a combination along its axes: multiples of n are one in n, and meet every value."""
    places = 0
    for axis in reversed([*item.iter_markers("parametrize")][1:]):
        number, place = divmod(number, len(axis.args[1]))
        places += place
    return places + number


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without the slow tests: samples of combinations, and a tenth of the random examples, at least ten."""
    if config.getoption("markexpr") != "not slow":
        return
    tests, numbers = [item for item in items if isinstance(item, pytest.Function)], Counter[object]()
    for item in tests:
        for mark in item.iter_markers("sample"):
            if _diagonal(item, numbers[item.function]) % mark.args[0]:
                item.add_marker("slow")
            numbers[item.function] += 1
    for test in {item.function for item in tests}:
        if hypothesis.is_hypothesis_test(test):
            asked = test._hypothesis_internal_use_settings
            quick = max(asked.max_examples // 10, min(asked.max_examples, 10))
            test._hypothesis_internal_use_settings = hypothesis.settings(asked, max_examples=quick)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Compressed bytes hold the time of their making: tests named after them would be others in every process."""
    return argname if isinstance(val, bytes) else None
