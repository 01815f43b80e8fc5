"""Files of version 2 say what they said when they were written; see `write_version_2`."""

import json
from pathlib import Path

import pytest

import structlearn
from tests.persistence.version_2_answers import answers, facts
from tests.persistence.version_2_cases import CASES
from tests.persistence.version_2_commands import COMMANDS, labelled

FOLDER = Path(__file__).parent / "version_2"
PREDICTIONS = json.loads(FOLDER.joinpath("predictions.json").read_text("utf-8"))


def alike(found, stored):
    """Whether two values of JSON are the same but for rounding."""
    if type(found) is not type(stored):
        return False
    if isinstance(stored, dict):
        return found.keys() == stored.keys() and all(alike(found[key], stored[key]) for key in stored)
    if isinstance(stored, list):
        return len(found) == len(stored) and all(map(alike, found, stored))
    return found == (pytest.approx(stored, rel=1e-8, abs=1e-8, nan_ok=True) if isinstance(stored, float) else stored)


def differences(found, stored):
    found, stored = in_order(found), in_order(stored)
    return {name: (found.get(name), said) for name, said in stored.items() if not alike(found.get(name), said)}


def in_order(answers):
    """The same with outputs of equal score in one order: k best lists promise none."""
    if "k_best" not in answers:
        return answers
    sorted_lists = [sorted(best, key=lambda pair: (-round(pair[1], 7), repr(pair[0]))) for best in answers["k_best"]]
    return {**answers, "k_best": sorted_lists}


@pytest.mark.parametrize("name", CASES)
def test_an_estimator_of_version_2_predicts_what_it_did(name):
    loaded = structlearn.load(FOLDER / f"{name}.slm", model=CASES[name].model)
    assert differences(answers(loaded, CASES[name]), PREDICTIONS[name]) == {}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_model_of_the_command_line_of_version_2_labels_files_as_it_did(name, tmp_path):
    path = FOLDER / f"{name}.slm"
    found = facts(structlearn.load(path)) | labelled(path, COMMANDS[name], tmp_path)
    assert differences(found, PREDICTIONS[name]) == {}


def test_every_file_of_version_2_is_asked():
    assert {path.stem for path in FOLDER.glob("*.slm")} == PREDICTIONS.keys() == CASES.keys() | COMMANDS.keys()
