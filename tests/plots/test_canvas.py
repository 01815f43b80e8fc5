"""Pictures are optional: the library does without matplotlib until one is drawn."""

import subprocess
import sys

WITHOUT = """
import sys
from structlearn import plots
print("matplotlib" in sys.modules)
sys.modules["matplotlib"] = None
try:
    plots.confusion([["a"]], [["a"]])
except ImportError as error:
    print(error)
"""


def test_matplotlib_is_imported_when_something_is_drawn_and_the_error_says_what_to_install():
    result = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.splitlines() == ["False", 'pictures need matplotlib: pip install "structlearn[plot]"']
