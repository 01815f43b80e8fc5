import subprocess
import sys
import tomllib
from importlib import metadata, resources
from pathlib import Path

import pytest

import structlearn

#: Slow to import: scikit-learn alone takes several times as long as loading a model and predicting with it.
HEAVY = ("sklearn", "joblib", "pandas", "matplotlib", "scipy.stats", "scipy.optimize", "scipy.linalg", "rich")


def modules_after(code: str) -> set[str]:
    """What a fresh process has imported."""
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    return set(told.stdout.splitlines()[-1].split())


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    file = tmp_path_factory.mktemp("start") / "train.txt"
    file.write_text("the\tDET\ndog\tNOUN\n\na\tDET\ncat\tNOUN\n\n")
    return file


def test_training_loading_and_predicting_import_nothing_heavy(tmp_path):
    code = f"""
import structlearn
from structlearn import StructuralSVM
from structlearn.models import Chain
X, Y = [[["a", "b"], ["b"]], [["a"], ["c"]]], [["x", "y"], ["x", "y"]]
StructuralSVM(Chain()).fit(X, Y).save({str(tmp_path / "tagger.slm")!r})
assert structlearn.load({str(tmp_path / "tagger.slm")!r}).predict(X) == Y
"""
    assert not modules_after(code).intersection(HEAVY)


def test_commands_for_words_import_nothing_heavy(sentences, tmp_path):
    model, predicted = str(tmp_path / "tagger.slm"), str(tmp_path / "predicted.txt")
    train, predict = ["train", str(sentences), "-o", model, "-q"], ["predict", model, str(sentences), "-o", predicted]
    commands = (train, predict, ["evaluate", model, str(sentences), "--json"])
    runs = "\n".join(f"app({command!r}, standalone_mode=False)" for command in commands)
    # Only a terminal that shows something needs rich.
    assert not modules_after(f"from structlearn.cli import app\n{runs}").intersection(HEAVY) - {"rich"}
    assert (tmp_path / "predicted.txt").read_text().startswith("the\tDET\tDET\n")


def test_help_does_not_wait_for_scikit_learn():
    code = """
import sys
from structlearn.cli import app
app(["train", "--help"], standalone_mode=False)
sys.exit("sklearn" in sys.modules or "numpy" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.DEVNULL).returncode == 0


def test_one_version_everywhere():
    root = Path(__file__).parents[1]
    declared = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert declared == structlearn.__version__ == metadata.version("structlearn")
    assert f"version: {declared}\n" in (root / "CITATION.cff").read_text()


def test_type_information_is_shipped():
    assert resources.files("structlearn").joinpath("py.typed").is_file()
    assert resources.files("structlearn").joinpath("_core.pyi").is_file()
