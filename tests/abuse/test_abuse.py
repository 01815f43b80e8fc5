"""Whatever is given to `fit`: it succeeds with finite weights, or says in a word of its own what is wrong."""

import re

import numpy as np
import pytest

from tests.abuse.tables import OPTION_ABUSES, SUBJECTS, cases

CASES = cases()
#: Every so many cases are in the quick tests; a prime, so that all subjects and abuses have their turn.
STRIDE = 13

#: How a message may speak of an argument, where not by its name: tables are refused in scikit-learn's own words.
NAMES = {
    "X": r"\bX\b|features|example|array|float",
    "Y": r"\b[Yy]\b|label|classes|quer|learnt",
    "sample_weight": "sample_weight|Sample weights",
    "random_state": "Seed|seed|random_state",
}


def fitted(subject, argument, change):
    estimator, X, Y = SUBJECTS[subject]
    if argument in OPTION_ABUSES:
        return estimator(**{argument: change}).fit(X, Y)
    if argument == "sample_weight":
        weight = change[: len(X)] if isinstance(change, (list, np.ndarray)) and len(change) == 3 else change
        return estimator().fit(X, Y, sample_weight=weight)
    return estimator().fit(change(X), Y) if argument == "X" else estimator().fit(X, change(Y))


def survives(subject, argument, change):
    refused = None
    try:
        estimator = fitted(subject, argument, change)
    except (ValueError, TypeError, FloatingPointError) as error:
        refused = f"{type(error).__name__}: {error}"
    if refused is None:
        assert np.isfinite(estimator.w_).all()
    else:
        assert re.search(NAMES.get(argument, argument), refused)


def named(case):
    return "-".join(case[:3])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES[::STRIDE], ids=named)
def test_a_sample_of_the_abuses_is_survived(case):
    survives(case[0], case[1], case[3])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=named)
def test_every_abuse_is_survived(case):
    survives(case[0], case[1], case[3])
