"""Writes the files of `version_2` and what they predict; only for a library that writes version 2 of the format.

``python -m tests.persistence.write_version_2``
"""

import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import structlearn
from tests.persistence.version_2_answers import answers, facts
from tests.persistence.version_2_cases import CASES
from tests.persistence.version_2_commands import COMMANDS, labelled

FOLDER = Path(__file__).parent / "version_2"


def fit_and_ask(name, case):
    case.estimator.fit(case.X, case.Y)
    structlearn.save(case.estimator, FOLDER / f"{name}.slm")
    return answers(case.estimator, case)


def train_and_label(name, command):
    with tempfile.TemporaryDirectory() as folder:
        words = [f"train.{command.suffix}", "--quiet", *command.options.split()]
        Path(folder, words[0]).write_text(command.train)
        if command.templates:
            Path(folder, "templates").write_text(command.templates)
            words += ["--templates", "templates"]
        subprocess.run([sys.executable, "-m", "structlearn", "train", *words], cwd=folder, check=True)
        model = Path(shutil.move(Path(folder, "model.slm"), FOLDER / f"{name}.slm"))
        return facts(structlearn.load(model)) | labelled(model, command, Path(folder))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    FOLDER.mkdir(exist_ok=True)
    found = {name: fit_and_ask(name, case) for name, case in CASES.items()}
    found |= {name: train_and_label(name, command) for name, command in COMMANDS.items()}
    lines = (f"{json.dumps(name)}: {json.dumps(said, ensure_ascii=False)}" for name, said in found.items())
    (FOLDER / "predictions.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
