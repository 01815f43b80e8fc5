"""Counts what a reader of the code meets: ``python -m tests.architecture.survey [ROOT]``.

ROOT is another checkout to compare with, such as one of an earlier commit.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.layers import PACKAGE, ROOT, imports, rings, room

CODE = (".py", ".pyi", ".cpp", ".hpp")
#: Places where one part begins after another, summed by hand: in NumPy, and in loops of the core.
OFFSET_SUMS = re.compile(
    r"concatenate\(\s*\[\[0\], np\.cumsum|cumsum\(\[0, \*|np\.split\([^\n]*cumsum|push_back\([^\n]*\.back\(\) \+"
)
#: The compiled structure whose cost is counted: neither the smallest nor the largest.
STRUCTURE = re.compile(r"\bsegment(?:s|_parts|_sums)?\b|Segments?(?:Problem|Spec|Data|Parts|Sums)?\b")
#: The flag that tells a decoder's other purposes from prediction, where methods of their own would do.
MODE_FLAG = re.compile(r"\bPREDICTION\b")
#: Ways in which dynamic programs of the core get their semiring, by what is written for each and for no other. One that
#: occurs counts once, however often; a new way has to be added here.
SEMIRINGS = {
    "begin and step": re.compile(r"void step\(const \w+Scores&"),
    "functions": re.compile(r"template <class (?:OverLengths|Step)\b"),
    "rows of cells": re.compile(r"\bset_one\("),
    "bool sums": re.compile(r"template <bool sums>"),
    "concept": re.compile(r"\bconcept \w*Semiring\b"),
}


def files(folder: Path, *endings: str) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix in (endings or CODE))


def lines(paths: Iterator[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def largest_folder(folder: Path) -> str:
    name, n = Counter(path.parent for path in files(folder)).most_common(1)[0]
    return f"{n} files in {name.relative_to(folder.parent)}"


def offset_sums(folder: Path) -> int:
    # The one place where they belong is the ragged container itself.
    return sum(len(OFFSET_SUMS.findall(path.read_text("utf-8"))) for path in files(folder) if path.stem != "ragged")


def mode_flags(folder: Path) -> str:
    found = [n for path in files(folder) if (n := len(MODE_FLAG.findall(path.read_text("utf-8"))))]
    return f"{sum(found)} in {len(found)} files"


def semirings(core: Path) -> str:
    text = "\n".join(path.read_text("utf-8") for path in files(core))
    found = [name for name, pattern in SEMIRINGS.items() if pattern.search(text)]
    return f"{len(found)}: {', '.join(found)}"


def cost_of_a_structure(root: Path) -> str:
    """Of `Segments`: the files that are its own, their lines, and in how many others one must write its name."""
    own, elsewhere = [], []
    for path in [*files(root / "core"), *files(root / "src"), root / "CMakeLists.txt"]:
        inside = path.relative_to(root).as_posix()
        if re.search(r"segment", inside) and not re.search(r"data/|drawing/|metrics/", inside):
            own.append(path)
        elif STRUCTURE.search(path.read_text("utf-8")) and "segments" in path.read_text("utf-8").lower():
            elsewhere.append(path)
    return f"{len(own)} files of {lines(iter(own))} lines, named in {len(elsewhere)} others"


def survey(root: Path) -> Iterator[tuple[str, object]]:
    package, core = root / "src" / PACKAGE, root / "core"
    found = imports(root)
    edges = {(room(each.importer), room(each.imported)) for each in found}
    in_rings = [name for ring in rings(edge for edge in edges if edge[0] != edge[1] and all(edge)) for name in ring]
    yield "rooms in a ring of imports", f"{len(in_rings)} {' '.join(in_rings)}".strip()
    yield "largest folder of the library", largest_folder(package)
    yield "largest folder of the core", largest_folder(core)
    yield "largest file of the library", max(len(path.read_text("utf-8").splitlines()) for path in files(package))
    yield "lines of the library", lines(files(package))
    yield "lines of models", lines(files(package / "models"))
    yield "lines of the core without bindings", lines(files(core)) - lines(files(core / "bindings"))
    yield "lines of bindings", lines(files(core / "bindings"))
    yield "offsets summed by hand", offset_sums(package) + offset_sums(core)
    yield "mode flags PREDICTION", mode_flags(package)
    yield "spellings of semirings", semirings(core)
    yield "the compiled structure Segments", cost_of_a_structure(root)


if __name__ == "__main__":
    for what, value in survey(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT):
        print(f"{what:36} {value}")
