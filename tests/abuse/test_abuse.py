"""Whatever an estimator is given: it answers without NaN, or says in a word of its own what is wrong."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from structlearn import StructuralSVM
from tests.abuse import contract
from tests.abuse.tables import Case, cases

#: Every so many cases are in the quick tests; a prime, so that all subjects and abuses have their turn.
EVERY = 997


def run(*options):
    """The harness in a process of its own: children of one whose kernels have started threads may wait forever."""
    words = [sys.executable, "-W", "ignore", "-m", "tests.abuse.run", *options]
    return subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True)


def test_a_sample_of_the_abuses_is_survived():
    done = run("--every", str(EVERY))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused" in done.stdout


@pytest.mark.slow
def test_every_abuse_is_survived():
    done = run()
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_thousands_of_abuses_and_no_two_of_one_name():
    names = list(map(str, cases()))
    assert len(names) == len(set(names)) > 5000


CHAIN = Case("chain", "fit", "X", "as it is", lambda: contract.SUBJECTS["chain"].X)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (KeyError("x"), "KeyError"),
        (ValueError("operands could not be broadcast"), "a message of somebody else"),
        (ValueError("no"), "does not name X"),
        (ValueError("X" * 2000), "2000 characters"),
    ],
)
def test_the_contract_sees_what_goes_wrong(monkeypatch, fault, told):
    def fit(*arguments, **options):
        raise fault

    monkeypatch.setattr(StructuralSVM, "fit", fit)
    outcome, details = contract.outcome_of(CHAIN)
    assert outcome == "raised"
    assert told in details


@pytest.mark.filterwarnings("ignore")
def test_the_contract_sees_nan_and_another_answer(monkeypatch):
    assert contract.outcome_of(CHAIN) == ("answered", "")
    doubled = CHAIN._replace(plain=lambda: [2.0 * x for x in CHAIN.make()])
    assert "another answer" in contract.outcome_of(doubled)[1]
    monkeypatch.setattr(contract, "learnt", lambda estimator: np.full(2, np.nan))
    assert "NaN" in contract.outcome_of(CHAIN)[1]
