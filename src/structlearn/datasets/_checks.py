"""Argument checks shared by the loaders and generators."""

from collections.abc import Sequence

import numpy as np

RandomState = int | np.random.Generator | None


def check_at_least(name: str, value: float, minimum: float) -> None:
    # negated so that NaN fails as well
    if not value >= minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value!r}")


def check_fraction(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value!r}")


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def as_generator(random_state: RandomState) -> np.random.Generator:
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be None, a numpy Generator or an int of at least 0, got {random_state!r}"
        ) from error
