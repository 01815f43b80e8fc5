"""Imports go down: the order of the rooms stands in CONTRIBUTING.md, that of the core in core/README.md."""

import re

import pytest

from tests.architecture.layers import ROOT, Import, imports, imports_of, layers, modules, rings, room, upward


def test_every_room_has_its_layer():
    rooms = {room(module) for module in modules()} - {"", "__main__"}
    assert rooms == set(layers())


def test_no_import_goes_up():
    assert [str(each) for each in upward(imports(), layers() | {"__main__": len(layers())})] == []


def test_no_modules_of_different_folders_import_one_another_in_a_ring():
    folders = [(each.importer.rpartition(".")[0], each.imported.rpartition(".")[0]) for each in imports()]
    # A package's own list of names imports what is in it, and what is in it finds its neighbours beside it.
    across = [(a, b) for a, b in folders if a and b and not (a.startswith(f"{b}.") or b.startswith(f"{a}."))]
    assert rings(across) == []


@pytest.mark.parametrize(
    "source",
    [
        "from structlearn.cli import main",
        "def f():\n    from structlearn.cli import main",
        "if TYPE_CHECKING:\n    import structlearn.cli.app",
        "from structlearn import estimators",
    ],
)
def test_imports_in_functions_and_for_types_count(source):
    (found,) = imports_of("structlearn.data.labels", source, modules())
    assert upward([found], layers()) == [found]


def test_models_and_solvers_do_not_know_each_other():
    sideways = Import("structlearn.solvers.base", "structlearn.models.base", 1)
    assert upward([sideways], layers()) == [sideways]


def test_no_include_of_the_core_goes_up():
    core = ROOT / "core"
    lines = re.findall(r"^- (.*?):", (core / "README.md").read_text("utf-8"), re.MULTILINE)
    height = {name: k for k, line in enumerate(lines) for name in re.findall(r"`(\w+)/`", line)}
    assert set(height) == {path.name for path in core.iterdir() if path.is_dir()}
    for path in [*core.rglob("*.hpp"), *core.rglob("*.cpp")]:
        own = path.relative_to(core).parts[0]
        for included in re.findall(r'#include "(\w+)/', path.read_text("utf-8")):
            assert included == own or height[included] < height[own], f"{path.relative_to(core)} includes {included}/"
