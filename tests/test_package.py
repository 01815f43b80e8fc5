import subprocess
import sys
import tomllib
from importlib import metadata, resources
from pathlib import Path

import structlearn


def test_importing_adds_at_most_half_of_what_scikit_learns_base_takes():
    code = """
import time
begin = time.process_time()
import sklearn.base
middle = time.process_time()
from structlearn import StructuralSVM
print((time.process_time() - middle) / (middle - begin))
"""
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    assert min(float(run.stdout) for run in runs) < 0.5


def test_matplotlib_is_not_imported():
    code = "import sys, structlearn; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
