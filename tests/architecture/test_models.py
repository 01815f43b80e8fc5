"""Outside `models/` nobody asks which model it has: models describe themselves."""

import ast
import inspect
from importlib import import_module

import pytest

from structlearn import models
from structlearn.models import Model
from structlearn.models.partial import PartialModel
from structlearn.waist.problem import Problem
from tests.architecture.layers import modules, room

#: Who may know a model by its class, to make one: no other module has it in its hands.
MAKERS = {
    ("structlearn.estimators.generative.gibbs_motif", "Motif"),
    ("structlearn.evaluation.judging", "Chain"),
    ("structlearn.features.crfpp", "Chain"),
    ("structlearn.outputs.label_sequences", "Chain"),
    ("structlearn.outputs.labels", "MultiLabel"),
    ("structlearn.outputs.labels", "Multiclass"),
    ("structlearn.persistence.model_file", "UnknownModel"),
}
#: Classes that say what a model can do, and not which one it is.
INTERFACES = (Model, PartialModel)
#: Where models are chosen by their names, which is what these are there for, and where a name means a data set.
CHOSEN_BY_NAME = {"structlearn.cli.components", "structlearn.datasets"}

OUTSIDE = {name: path for name, path in modules().items() if room(name) not in ("models", "waist")}
NAMES = {
    name
    for name in models.__all__
    if inspect.isclass(getattr(models, name)) and issubclass(getattr(models, name), Model)
}


def known_models(source):
    """The classes of models and of their problems that a source imports, each with the line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("structlearn.models"):
            for alias in node.names:
                kind = getattr(import_module(node.module), alias.name)
                if inspect.isclass(kind) and issubclass(kind, (Model, Problem)) and kind not in INTERFACES:
                    yield alias.name, node.lineno


def model_names(source):
    """Texts that are the name of a model's class, each with the line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and node.value in NAMES - {"Model"}:
            yield node.value, node.lineno


def test_no_module_outside_knows_a_model_by_its_class():
    found = {
        f"{module}, line {line}: {name}"
        for module, path in OUTSIDE.items()
        for name, line in known_models(path.read_text("utf-8"))
        if (module, name) not in MAKERS
    }
    assert found == set()


def test_no_module_outside_knows_a_model_by_its_name():
    found = {
        f"{module}, line {line}: {name}"
        for module, path in OUTSIDE.items()
        for name, line in model_names(path.read_text("utf-8"))
        if module not in CHOSEN_BY_NAME
    }
    assert found == set()


def test_who_may_make_a_model_does():
    for module, name in MAKERS:
        source = OUTSIDE[module].read_text("utf-8")
        assert name in {known for known, _ in known_models(source)}
        tree = ast.parse(source)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert any(getattr(call.func, "id", "") == name for call in calls), f"{module} makes no {name}"
        asked = [call for call in calls if getattr(call.func, "id", "") in ("isinstance", "issubclass")]
        assert not any(name in ast.dump(call) for call in asked), f"{module} asks for {name}"


@pytest.mark.parametrize(
    "source",
    [
        "from structlearn.models import Chain",
        "def f():\n    from structlearn.models.chain.chain import Chain",
        "from structlearn.models.chain.problem import ChainProblem",
    ],
)
def test_imports_in_functions_and_of_problems_count(source):
    assert [line for _, line in known_models(source)] == [1 + source.count("\n")]


def test_names_in_comparisons_count():
    assert [name for name, _ in model_names("if type(model).__name__ == 'Chain': pass")] == ["Chain"]
