"""Who imports whom in the library, and the layers that CONTRIBUTING.md puts its rooms into."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = "structlearn"
CORE = "structlearn._core"


class Import(NamedTuple):
    """An import of one module of the library by another, wherever in the file it stands."""

    importer: str
    imported: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}, imports {self.imported}"


def modules(root: Path = ROOT) -> dict[str, Path]:
    """All modules of the library by name."""
    found = {}
    for path in (root / "src").rglob("*.py"):
        parts = path.relative_to(root / "src").with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(name: str, source: str, known: Iterable[str]) -> Iterator[Import]:
    """The imports of a module's source, at its top, in functions and for types only; anyone may import the core."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively, which this reading does not follow"
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in targets:
            if target.split(".")[0] == PACKAGE and target != CORE:
                yield Import(name, target if target in known else target.rpartition(".")[0], node.lineno)


@cache
def imports(root: Path = ROOT) -> list[Import]:
    known = modules(root)
    return [found for name, path in sorted(known.items()) for found in imports_of(name, path.read_text("utf-8"), known)]


def room(module: str) -> str:
    """The package or loose module right below the root that a module is in.

    >>> room("structlearn.models.chain.problem"), room("structlearn.wording"), room("structlearn")
    ('models', 'wording', '')
    """
    return [*module.split("."), ""][1]


def layers() -> dict[str, int]:
    """The height of every room, from the block of CONTRIBUTING.md that lists them from low to high."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (block,) = re.findall(r"reads this list:\n\n```text\n(.*?)```", text, re.DOTALL)
    rooms = [name for names in re.findall(r"^(\S.*?)  ", block, re.MULTILINE) for name in names.split()]
    return {name: height for height, name in enumerate(rooms)}


def upward(found: Iterable[Import], height: dict[str, int]) -> list[Import]:
    """The imports that go against the order, or from models to solvers; the root itself stands above everything."""
    wrong = []
    for each in found:
        above, below = room(each.importer), room(each.imported)
        if above in (below, ""):
            continue
        if below == "" or height[below] > height[above] or {above, below} == {"models", "solvers"}:
            wrong.append(each)
    return wrong


def rings(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The largest sets of two or more of which each can be reached from each other.

    >>> rings([("a", "b"), ("b", "c"), ("c", "b"), ("d", "d")])
    [['b', 'c']]
    """
    after: dict[str, set[str]] = {}
    for begin, end in edges:
        after.setdefault(begin, set()).add(end)

    def reached(begin: str) -> set[str]:
        found: set[str] = set()
        waiting = [begin]
        while waiting:
            new = after.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    reach = {node: reached(node) for node in after}
    found: list[list[str]] = []
    for node in sorted(after):
        ring = sorted({other for other in reach[node] if node in reach.get(other, set())} | {node})
        if len(ring) > 1 and ring not in found:
            found.append(ring)
    return found
