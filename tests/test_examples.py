"""Every script of the gallery runs as it stands: it prints something and draws a picture.

`make docs` runs them, too, and fails with them, so that here this is left to `make check-all`.
"""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import pytest

SCRIPTS = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def test_there_is_a_gallery():
    assert len(SCRIPTS) >= 7


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_it_runs_prints_and_draws(script, tmp_path):
    finished = subprocess.run(
        [sys.executable, "-W", "error", str(script), "picture.png"],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    assert len(finished.stdout.splitlines()) >= 2
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]
    picture = matplotlib.image.imread(tmp_path / "picture.png")
    assert min(picture.shape[:2]) > 200
    assert picture[..., :3].std() > 0.02


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_it_begins_with_a_title_and_says_how_it_is_run(script):
    title, empty, *text = script.read_text(encoding="utf-8").split('"""')[1].splitlines()
    assert title.endswith((".", "?"))
    assert empty == ""
    assert f"    python examples/{script.name} [picture.png]" in text
