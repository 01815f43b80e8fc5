"""What may become of an abuse: an answer without NaN, or a refusal in words of our own that name what is wrong."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.abuse.subjects import SUBJECTS, fitted, fresh
from tests.abuse.tables import Case

#: Characters that a message may have.
LONGEST = 1000

#: How a message may speak of an argument, where not by its name: tables are refused in scikit-learn's own words.
NAMES = {
    "X": r"\bX\b|features|example|array|float|tokens|Complex data",
    "x": r"\b[Xx]\b|features|array|float|possible",
    "y": r"\b[Yy]\b|label|class|quer|learnt",
    "sample_weight": r"sample_weight|Sample weights|\bY\b",
    "t": r"\bt\b|nothing to compare",
    "random_state": "[Ss]eed|random_state",
    "parents": "parents|taxonomy",
    "templates": "template",
    "threshold": "threshold|learnt",
    "validation": r"validation|array|\b[XY]\b",
}

#: What Python, NumPy and SciPy say when nobody looked at a value before them.
RAW = re.compile(
    r"broadcast|inhomogeneous shape.*$(?<!numbers)|setting an array element|truth value|unhashable|is not iterable|"
    r"has no len|not subscriptable|has no attribute|not supported between|unsupported operand|loop of ufunc|"
    r"incompatible function arguments|positional argument|must be real number|indices must be|out of bounds|"
    r"cannot be interpreted|not callable|invalid literal|unpack|zip\(\)|digits\) for integer|dimension mismatch"
)
OWN_CODE = "version_2_cases.py"


def outcome_of(case: Case) -> tuple[str, str]:
    """What became of a case, and of a failure what there is to know."""
    try:
        answer = called(case)
    except FloatingPointError:  # what solvers say of numbers with which they get nowhere
        return "refused", ""
    except (ValueError, TypeError) as error:
        if case.plain is not None and "dense data is required" not in str(error):
            return "raised", f"{case}\n{traceback.format_exc()}"
        if within_own_code(error):
            return "refused by a model of one's own", ""
        fault = wrong_with(str(error), case)
        return ("raised", f"{case}\n{fault}\n{traceback.format_exc()}") if fault else ("refused", "")
    except BaseException as error:
        if within_own_code(error):
            return "refused by a model of one's own", ""
        return "raised", f"{case}\n{traceback.format_exc()}"
    if has_nan(answer):
        return "raised", f"{case}\nNaN in {answer!r}"
    if case.plain is not None and not same(answer, called(case._replace(make=case.plain))):
        return "raised", f"{case}\nanother answer than for the plain form: {answer!r}"
    return "answered", ""


def called(case: Case) -> Any:
    subject = SUBJECTS[case.subject]
    if case.method == "fit" and case.argument in subject.estimator.get_params():
        estimator = fresh(case.subject, **{case.argument: case.make()}).fit(subject.X, subject.Y)
        return learnt(estimator)
    estimator = fresh(case.subject) if case.method == "fit" else fitted(case.subject)
    arguments = subject.arguments(case.method)
    arguments[case.argument] = case.make()
    answer = getattr(estimator, case.method)(**arguments)
    return learnt(answer) if case.method == "fit" else answer


def learnt(estimator: Any) -> Any:
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    names = ("w_", "coef_", "dual_coef_", "intercept_", "transition_", "pattern_", "threshold_")
    return {name: getattr(last, name) for name in names if hasattr(last, name)}


def wrong_with(message: str, case: Case) -> str:
    options = SUBJECTS[case.subject].estimator.get_params()
    # One thing may be refused for not being made for another.
    names = {case.argument.rpartition("__")[2], *(option.rpartition("__")[2] for option in options)}
    if len(message) > LONGEST:
        return f"a message of {len(message)} characters"
    if RAW.search(message) and "joint_feature" not in message:
        return "a message of somebody else"
    told = (NAMES.get(name, rf"\b{re.escape(name)}\b") for name in names)
    if not re.search("|".join([r"\b[XY]\[|joint_feature", *told]), message):
        return f"a message that does not name {case.argument}"
    return ""


def within_own_code(error: BaseException) -> bool:
    """Whether what was raised came out of a model of one's own, whose errors are its author's business."""
    return any(frame.filename.endswith(OWN_CODE) for frame in traceback.extract_tb(error.__traceback__))


def has_nan(answer: Any) -> bool:
    if isinstance(answer, (str, bytes)):
        return False
    if isinstance(answer, np.ndarray) and answer.dtype.kind != "O":
        return answer.dtype.kind == "f" and bool(np.isnan(answer).any())
    if isinstance(answer, Mapping):
        return any(map(has_nan, answer.values()))
    if isinstance(answer, (list, tuple, np.ndarray)):
        return any(map(has_nan, answer))
    return isinstance(answer, float) and answer != answer


def same(answer: Any, other: Any) -> bool:
    if isinstance(answer, Mapping):
        return answer.keys() == other.keys() and all(same(answer[key], other[key]) for key in answer)
    if isinstance(answer, (list, tuple)) or (isinstance(answer, np.ndarray) and answer.dtype.kind == "O"):
        return len(answer) == len(other) and all(map(same, answer, other))
    if isinstance(answer, (float, np.ndarray)) and np.asarray(answer).dtype.kind == "f":
        return np.allclose(answer, other, rtol=1e-9, atol=1e-9)
    return bool(np.all(answer == other))
