"""A sample of the edited files that `make fuzz` reads, and a look at the fuzzer itself."""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from structlearn.persistence import container
from tests.fuzz import fuzz_model_files
from tests.fuzz.edits import edited
from tests.fuzz.fuzz_model_files import fuzz, original_of


def test_edited_files_are_refused_or_predict():
    # In a process of its own: children of one whose kernels have started threads may wait for them forever.
    words = [sys.executable, "-W", "ignore", "-m", "tests.fuzz.fuzz_model_files", "--count", "40", "--seed", "0"]
    done = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 files: " in done.stdout
    assert "accepted" in done.stdout
    assert "refused" in done.stdout


def test_a_seed_gives_the_same_edits_in_every_run():
    metadata, tensors = container.read(original_of("text_features"), "structlearn", what="model")
    changed = 0
    for seed in range(30):
        (first, arrays), (second, others) = (edited(metadata, tensors, Random(seed)) for _ in range(2))
        assert json.dumps(first) == json.dumps(second)
        for name in arrays:
            np.testing.assert_array_equal(arrays[name], others[name])
        changed += json.dumps(first) != json.dumps(metadata) or any(
            arrays[name] is not tensors[name] for name in arrays
        )
    assert changed > 20


def crash(name, path):
    os._exit(3)


def stumble(name, path):
    raise KeyError(name)


@pytest.mark.parametrize(("fault", "outcome"), [(crash, "crashed"), (stumble, "raised")])
def test_the_fuzzer_sees_what_goes_wrong_and_goes_on(monkeypatch, fault, outcome):
    monkeypatch.setattr(fuzz_model_files, "opened", fault)
    found = fuzz(range(3), seed=0, checkpoints=False)
    assert found.outcomes == {outcome: 3}
    assert [k for k, _ in found.failures] == [0, 1, 2]
