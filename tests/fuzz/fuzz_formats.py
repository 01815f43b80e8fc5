"""Coverage-guided fuzzing of everything that reads files; `make fuzz` runs it.

Options are those of libFuzzer, such as ``-max_total_time=600``, and a folder for the inputs it keeps.
"""

import sys
import tempfile
from pathlib import Path


def main() -> None:
    import atheris

    import structlearn

    assert structlearn.__path__
    # The finder of an editable install loads modules in a way that Atheris cannot look into; now that the package knows
    # its folders, they are found without it.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
    with atheris.instrument_imports(include=["structlearn.io", "structlearn.features.crfpp", "tests.fuzz.contract"]):
        from tests.fuzz import contract

    with tempfile.TemporaryDirectory() as folder:
        for k, seed in enumerate(contract.SEEDS):
            for kind in range(len(contract.READ_AS)):
                (Path(folder) / f"{k}-{kind}").write_bytes(bytes([kind, 0, 0, 3]) + seed)
        options = ["-max_len=4096", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], *options, *sys.argv[1:], folder], contract.check)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
