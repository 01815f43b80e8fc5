"""Draws functions of the library for a newcomer to find: ``python -m tests.architecture.drawn SEED``.

Each is shown by its name and the first line of its description; ``--answers`` shows the files as well. With
CONTRIBUTING.md alone, in which file would one look?
"""

import ast
import random
import sys
from collections.abc import Iterator

from tests.architecture.layers import ROOT, modules


def described() -> Iterator[tuple[str, str, str]]:
    """(file, name, description) of all functions and methods that have a description and a name that occurs once."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for path in modules().values():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and (text := ast.get_docstring(node)):
                file = path.relative_to(ROOT).as_posix()
                found.setdefault(node.name, []).append((file, node.name, text.splitlines()[0]))
    return (each[0] for _, each in sorted(found.items()) if len(each) == 1)


if __name__ == "__main__":
    seed, *options = sys.argv[1:]
    for k, (file, name, text) in enumerate(random.Random(int(seed)).sample(list(described()), 20), 1):
        print(f"{k:2}. {name}: {text}" + (f"\n    {file}" if "--answers" in options else ""))
