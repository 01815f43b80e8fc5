"""States of solvers as plain values and arrays, field by field, and back."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from structlearn import _core
from structlearn.solvers.base import Solver
from structlearn.solvers.kernel.cuts import Cuts
from structlearn.solvers.states import State
from structlearn.waist.objective import Objective

_SETS = (_core.SparseSets, _core.PartSets, _core.DependencySets, _core.MulticlassSets, Cuts)


def save(state: State) -> dict[str, Any]:
    """Everything in a state but its objective: numbers, texts, arrays, and lists, tuples and mappings of them.

    Arrays are those of the state itself, not copies.

    >>> save(State(w=np.zeros(2), iteration=3))["fields"]["iteration"]
    3
    """
    saved: dict[str, Any] = _saved(state, type(state).__name__)
    return saved


def restore(saved: Any, solver: Solver, problem: Any, objective: Any) -> State:
    """The state that was saved, for the same solver, problem and objective.

    What is given may come from a file that anybody could have written: everything must have the form that the solver's
    own states have.
    """
    template = solver.template(problem, objective)
    state: State = _restored(saved, template, type(template).__name__)
    completions = getattr(state, "completions", None)
    if completions is not None:
        problem.check_completions(completions)
    return state


def _saved(value: Any, where: str) -> Any:
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Objective):
        return None
    if is_dataclass(value):
        parts = {field.name: _saved(getattr(value, field.name), f"{where}.{field.name}") for field in fields(value)}
        return {"state": type(value).__name__, "fields": parts}
    if isinstance(value, np.random.Generator):
        return dict(value.bit_generator.state)
    if isinstance(value, _SETS):
        return value.save()
    if isinstance(value, tuple):
        return tuple(_saved(item, where) for item in value)
    if isinstance(value, (list, deque)):
        return [_saved(item, where) for item in value]
    if isinstance(value, Mapping):
        return {key: _saved(item, f"{where}[{key!r}]") for key, item in value.items()}
    raise TypeError(f"{where} is a {type(value).__name__}, which cannot be saved")


def _restored(saved: Any, template: Any, where: str) -> Any:
    if isinstance(template, Objective):
        return template
    if saved is None:
        return None
    if isinstance(template, np.ndarray):
        if not isinstance(saved, np.ndarray) or (saved.dtype, saved.shape) != (template.dtype, template.shape):
            raise ValueError(f"{where} is {_form(saved)}, not {_form(template)}")
        # What no example has shown yet may be infinite, in the template as well.
        _check_finite(saved, where, infinite=bool(np.isinf(template).any()))
        return saved.copy()
    if isinstance(template, (bool, int, float, np.number)):
        if not isinstance(saved, (bool, int, float)) or np.isnan(saved):
            raise ValueError(f"{where} is {_form(saved)}, not a number")
        return saved
    if is_dataclass(template):
        return _restored_fields(saved, template, where)
    try:
        if isinstance(template, np.random.Generator):
            generator = copy.deepcopy(template)
            generator.bit_generator.state = saved
            return generator
        if isinstance(template, _SETS):
            for name, array in saved.items():
                # Squared slacks put no upper bounds u on the multipliers.
                _check_finite(array, f"{where}[{name!r}]", infinite=name == "u")
            template.restore(saved)
            return template
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ValueError(f"{where} cannot be put back: {error}") from error
    if isinstance(template, deque) and isinstance(saved, list):
        return deque(_plain(saved, where), maxlen=template.maxlen)
    return _plain(saved, where)


def _restored_fields(saved: Any, template: Any, where: str) -> Any:
    names = [field.name for field in fields(template)]
    parts = saved["fields"] if _is_state(saved) else None
    if not isinstance(parts, Mapping) or list(parts) != names:
        raise ValueError(f"{where} is {_form(saved)}, not a {type(template).__name__} with {', '.join(names)}")
    state = copy.copy(template)
    for field in fields(template):
        form = getattr(template, field.name)
        if (
            parts[field.name] is None
            and not isinstance(form, Objective)
            and form is not None
            and field.default is not None
        ):
            raise ValueError(f"{where}.{field.name} is missing")
        # States within states may be frozen.
        object.__setattr__(state, field.name, _restored(parts[field.name], form, f"{where}.{field.name}"))
    return state


def _plain(saved: Any, where: str) -> Any:
    """What has no form in the template and must do without: no states, and arrays that can be written to."""
    if isinstance(saved, np.ndarray):
        _check_finite(saved, where)
        return saved.copy()
    if isinstance(saved, (list, tuple)):
        return type(saved)(_plain(item, where) for item in saved)
    if isinstance(saved, Mapping):
        if _is_state(saved):
            raise ValueError(f"{where} is {_form(saved)}, of which the solver's template() has none")
        return {key: _plain(item, where) for key, item in saved.items()}
    return saved


def _check_finite(array: Any, where: str, *, infinite: bool = False) -> None:
    if isinstance(array, np.ndarray) and array.dtype.kind == "f":
        bad = np.isnan(array) if infinite else ~np.isfinite(array)
        if bad.any():
            raise ValueError(f"{where} holds {array[bad][0]}")


def _is_state(saved: Any) -> bool:
    return isinstance(saved, Mapping) and saved.keys() == {"state", "fields"}


def _form(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    if _is_state(value):
        return f"a {value['state']}"
    return repr(value) if isinstance(value, (bool, int, float)) or value is None else f"a {type(value).__name__}"
