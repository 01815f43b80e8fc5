"""Training that is killed at random moments goes on from its checkpoint."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def killed_runs(kills, every, seed):
    command = [sys.executable, HERE / "killed_runs.py", str(kills), str(every), str(seed)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    assert len(lines) == kills + 1
    return lines[1:]


@pytest.mark.parametrize(
    ("kills", "every"),
    [(1, 0.0), pytest.param(20, 0.0, marks=pytest.mark.slow), pytest.param(20, 0.1, marks=pytest.mark.slow)],
)
def test_a_run_that_was_killed_loses_at_most_an_interval_and_an_iteration(kills, every):
    for kill in killed_runs(kills, every, seed=0):
        assert kill["identical"], kill
        assert kill["left"] == [], kill
        if every == 0.0:
            assert kill["iterations_lost"] <= 1, kill
        # The longest iteration is measured with the writing of the checkpoint.
        assert kill["seconds_lost"] <= every + 2.0 * kill["longest_iteration"] + 0.1, kill
