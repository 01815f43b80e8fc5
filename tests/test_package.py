import subprocess
import sys


def test_importing_takes_half_a_second_more_than_scikit_learns_base_at_most():
    code = """
import time, sklearn.base
begin = time.perf_counter()
from structlearn import StructuralSVM
print(time.perf_counter() - begin)
"""
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    assert min(float(run.stdout) for run in runs) < 0.5


def test_matplotlib_is_not_imported():
    code = "import sys, structlearn; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
