import subprocess
import sys


def seconds_to_import(module):
    code = f"import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    return min(float(run.stdout) for run in runs)


def test_importing_takes_half_a_second_more_than_scikit_learns_base_at_most():
    assert seconds_to_import("structlearn") - seconds_to_import("sklearn.base") < 0.5


def test_matplotlib_is_not_imported():
    code = "import sys, structlearn; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
