"""Pictures are optional: the library does without matplotlib until one is drawn."""

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["matplotlib"] = None
from structlearn import plots
try:
    plots.confusion([["a"]], [["a"]])
except ImportError as error:
    print(error)
"""


def test_without_matplotlib_the_error_says_what_to_install():
    result = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == 'pictures need matplotlib: pip install "structlearn[plot]"'


def test_importing_the_library_does_not_import_matplotlib():
    code = "import sys, structlearn, structlearn.plots; print('matplotlib' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == "False"
