"""What is done to an estimator: values in the place of parts of X and Y, broken and odd matrices, weights, options."""

from __future__ import annotations

import copy
import datetime
import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tests.abuse.subjects import SUBJECTS, asked


class Case(NamedTuple):
    """A call of a method, or a fit with an option, in which one argument is abused.

    Attributes
    ----------
    make : function
        Makes the bad argument.
    plain : function, optional
        Makes an argument for which the answer must be the same.
    """

    subject: str
    method: str
    argument: str
    abuse: str
    make: Callable[[], Any]
    plain: Callable[[], Any] | None = None

    def __str__(self) -> str:
        return f"{self.subject}: {self.method} with {self.argument} {self.abuse}"


class Unhelpful:
    """What nothing here has ever seen."""

    def __repr__(self) -> str:
        return "Unhelpful()"


#: Made anew for every case: some are used up, some could be changed.
VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "a flag": lambda: True,
    "a number": lambda: 3,
    "below zero": lambda: -5,
    "a fraction": lambda: 2.5,
    "nan": lambda: np.nan,
    "inf": lambda: -np.inf,
    "huge": lambda: 1e200,
    "huge and whole": lambda: 10**400,
    "too long to print": lambda: 10**5000,
    "complex": lambda: 1j,
    "a text": lambda: "text",
    "a long text": lambda: "x" * 100_000,
    "an empty text": lambda: "",
    "odd letters": lambda: "é\x00\udcff",
    "bytes": lambda: b"text",
    "an empty list": lambda: [],
    "a list": lambda: [1.0],
    "lists": lambda: [["a"], ["b", "c"]],
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "mixed": lambda: ["a", 1, None],
    "deep": lambda: nested(400),
    "deeper": lambda: nested(100_000),
    "a deep tree": lambda: tree(2000),
    "a tuple": lambda: (1, 2),
    "a dict": lambda: {"a": 1.0},
    "an odd dict": lambda: {1: 2.0, None: object(), ("a",): True},
    "a set": lambda: {1, 2},
    "a generator": lambda: iter([1, 2]),
    "a class": lambda: int,
    "an object": lambda: Unhelpful(),
    "a date": lambda: datetime.date(2024, 1, 1),
    "0-d": lambda: np.array(1.0),
    "cube": lambda: np.ones((2, 2, 2)),
    "no rows": lambda: np.empty((0, 2)),
    "no columns": lambda: np.empty((2, 0)),
    "texts in an array": lambda: np.array(["a", "b"]),
    "objects in an array": lambda: np.array([None, {}], object),
    "records": lambda: np.zeros(2, [("a", float), ("b", int)]),
}

#: Those that are asked of every method, and at every depth; the others only where all enter, `fit` and `predict`.
COMMON = ("None", "a number", "nan", "a text", "an empty list", "ragged", "a dict", "an object", "cube", "a generator")


def nested(depth: int) -> Any:
    value: Any = ["a"]
    for _ in range(depth):
        value = [value]
    return value


def tree(depth: int) -> Any:
    value: Any = ("NN", "dog")
    for _ in range(depth):
        value = ("NP", value)
    return value


def replaced(data: Any, depth: int, value: Any) -> Any:
    """The data with a value in the place of its first part at a depth."""
    if depth == 0:
        return value
    if isinstance(data, Mapping):
        key = next(iter(data))
        return dict(data) | {key: replaced(data[key], depth - 1, value)}
    parts = list(data)
    parts[0] = replaced(parts[0], depth - 1, value)
    return like(data, parts)


def like(data: Any, parts: list[Any]) -> Any:
    """Parts in a tuple, a named one or a list, as the data are."""
    if not isinstance(data, tuple):
        return parts
    return type(data)(*parts) if hasattr(data, "_fields") else tuple(parts)


def depth_of(data: Any) -> int:
    """How deep the first parts go."""
    if isinstance(data, str) or not hasattr(data, "__len__") or not len(data):
        return 0
    return 1 + depth_of(next(iter(data.values() if isinstance(data, Mapping) else data)))


def shortened(part: Any) -> Any:
    return dict(list(part.items())[:-1]) if isinstance(part, dict) else part[:-1]


def doubled(part: Any) -> Any:
    match part:
        case np.ndarray():
            return np.concatenate([part, part])
        case dict():
            return part | {f"{key} again": value for key, value in part.items()}
    return part + part


def first_at(data: Any, depth: int) -> Any:
    for _ in range(depth):
        data = next(iter(data.values() if isinstance(data, Mapping) else data))
    return data


def is_matrix(data: Any) -> bool:
    if isinstance(data, np.ndarray):
        return data.ndim == 2
    return isinstance(data, list) and depth_of(data) == 2 and isinstance(first_at(data, 2), float)


def has_matrices(data: Any) -> bool:
    if is_matrix(data):
        return True
    return isinstance(data, (list, tuple)) and any(map(has_matrices, data))


def with_matrices(data: Any, change: Callable[[Any], Any], *, only_first: bool = False) -> Any:
    """The data with whole numbers in its matrices, and these changed."""
    changes = itertools.chain([change], itertools.repeat(same if only_first else change))

    def visit(part: Any) -> Any:
        if is_matrix(part):
            return next(changes)(np.round(4.0 * np.asarray(part)))
        if not isinstance(part, (list, tuple)):
            return part
        return like(part, [visit(inner) for inner in part])

    return visit(data)


def same(matrix: Any) -> Any:
    return matrix


def sparse(**arrays: Any) -> Callable[[Any], Any]:
    """A sparse matrix, with some of its arrays put in the place of what they were."""

    def broken(matrix: Any) -> Any:
        made = sp.csr_array(matrix)
        for name, change in arrays.items():
            setattr(made, name, change(getattr(made, name)))
        return made

    return broken


def filled(value: Any, dtype: Any = None) -> Callable[[Any], Any]:
    return lambda x: np.full(x.shape, value, dtype)


def strided(matrix: Any) -> Any:
    wide = np.zeros((2 * matrix.shape[0], 3 * matrix.shape[1]))
    wide[::2, ::3] = matrix
    return wide[::2, ::3]


def read_only(matrix: Any) -> Any:
    matrix.flags.writeable = False
    return matrix


def disordered(matrix: Any) -> Any:
    """Sparse rows whose columns stand backwards, each twice with half of its value."""
    made = sp.coo_array(matrix)
    rows, columns = (np.concatenate([each, each])[::-1] for each in made.coords)
    return sp.coo_array((np.concatenate([made.data, made.data])[::-1] / 2, (rows, columns)), shape=matrix.shape)


def unsorted(matrix: Any) -> Any:
    made = sp.csr_array(matrix)
    for begin, end in zip(made.indptr[:-1], made.indptr[1:], strict=True):
        made.indices[begin:end] = made.indices[begin:end][::-1].copy()
        made.data[begin:end] = made.data[begin:end][::-1].copy()
    made.has_sorted_indices = False
    return made


MATRIX_ABUSES: dict[str, Callable[[Any], Any]] = {
    "too wide": lambda x: np.hstack([x, x]),
    "too narrow": lambda x: x[:, :-1],
    "too short": lambda x: x[:-1],
    "without rows": lambda x: x[:0],
    "without columns": lambda x: x[:, :0],
    "of one row": lambda x: x[0],
    "of nan": filled(np.nan),
    "of inf": filled(np.inf),
    "of huge numbers": filled(1e200),
    "of tiny numbers": filled(1e-310),
    "of complex numbers": filled(1j),
    "of dates": filled(datetime.date(2024, 1, 1), "M8[D]"),
    "of durations": filled(3, "m8[s]"),
    "of objects": filled("1.5", object),
    "of odd objects": filled(None, object),
    "of texts": filled("1.5"),
    "of flags": filled(True),
    "masked": lambda x: np.ma.masked_array(x, np.ones(x.shape, bool)),
    "of longer floats": lambda x: np.full(x.shape, np.longdouble("1e4000")),
    "with columns too far": sparse(indices=lambda k: k + 2**20),
    "with columns below zero": sparse(indices=lambda k: k - 9),
    "with columns of fractions": sparse(indices=lambda k: k + 0.5),
    "with starts that fall": sparse(indptr=lambda k: k[::-1].copy()),
    "with starts too far": sparse(indptr=lambda k: k + 1000),
    "with starts below zero": sparse(indptr=lambda k: k - 3),
    "with too few starts": sparse(indptr=lambda k: k[:-1]),
    "with too few values": sparse(data=lambda v: v[:1]),
    "with too few columns": sparse(indices=lambda k: k[:1]),
    "sparse with nan": sparse(data=lambda v: v * np.nan),
    "sparse and complex": sparse(data=lambda v: v * 1j),
}

#: The same numbers in other forms, which must give the same answers.
MATRIX_FORMS: dict[str, Callable[[Any], Any]] = {
    "in lists": lambda x: x.tolist(),
    "in Fortran's order": np.asfortranarray,
    "strided": strided,
    "backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "of single precision": lambda x: x.astype(np.float32),
    "of half precision": lambda x: x.astype(np.float16),
    "of long floats": lambda x: x.astype(np.longdouble),
    "of small whole numbers": lambda x: x.astype(np.int8),
    "of whole numbers": lambda x: x.astype(np.int64),
    "of the other byte order": lambda x: x.astype(">f8"),
    "of objects that are numbers": lambda x: x.astype(object),
    "sparse in rows": sp.csr_array,
    "sparse in columns": sp.csc_array,
    "sparse with unsorted columns": unsorted,
    "sparse in triplets, twice": disordered,
    "sparse of single precision": lambda x: sp.csr_array(x.astype(np.float32)),
}

WEIGHTS: dict[str, Callable[[Any], Any]] = {
    "a number": lambda n: 3.0,
    "a text": lambda n: "text",
    "texts": lambda n: ["1"] * n,
    "below zero": lambda n: [-1.0, *[1.0] * (n - 1)],
    "nan": lambda n: [np.nan, *[1.0] * (n - 1)],
    "inf": lambda n: [np.inf, *[1.0] * (n - 1)],
    "huge": lambda n: [1e308, *[1e308] * (n - 1)],
    "tiny": lambda n: [1e-320] * n,
    "zeros": lambda n: [0.0] * n,
    "but one zero": lambda n: [1.0, *[0.0] * (n - 1)],
    "complex": lambda n: [1j, *[1.0] * (n - 1)],
    "dates": lambda n: np.array(["2024"] * n, "M8[Y]"),
    "a matrix": lambda n: np.ones((n, 1)),
    "too many": lambda n: np.ones(n + 1),
    "empty": lambda n: [],
    "nones": lambda n: [None] * n,
    "masked": lambda n: np.ma.masked_array(np.ones(n), np.ones(n, bool)),
    "a dict": lambda n: {0: 1.0},
    "a generator": lambda n: iter([1.0] * n),
    "huge and whole": lambda n: [10**400, *[1] * (n - 1)],
    "ragged": lambda n: [[1.0], *[1.0] * (n - 1)],
}

OPTIONS: list[Any] = [True, 0, -1, 2.5, np.nan, np.inf, 1e300, 10**30, "unknown", "", [], ["a", "a"], [np.nan], {}]
OPTIONS += [{"a": np.nan}, {"a": "b"}, Unhelpful(), np.array([1.0, 2.0]), b"bytes", (1, 2), [[1, 2], [3]], None, 1j]
#: Options that say how much is printed, or how often something is repeated.
LEFT_OUT = {"verbose", "n_sweeps", "memory", "steps", "transform_input"}

SMALL: dict[str, list[Any]] = {
    "k": [0, -1, 2.5, "2", None, True, np.nan, [1], 1000, 10**30],
    "t": [10**6, -(10**6), 2.5, "0", None, np.nan, [0], 10**30],
    "label": ["never seen", 3, np.nan, [1], {}, 10**30, Unhelpful()],
    "against": ["never seen", 3, np.nan, [1], {}, 10**30, Unhelpful()],
    "feature_names": ["text", 3, ["a"], [None] * 3, {}],
    "n": [0, -1, 2.5, "2", None, np.nan, [1], 10**30],
    "n_samples": [0, -1, 2.5, "2", None, np.nan, [1], 10**30],
    "n_sequences": [0, -1, 2.5, "2", None, np.nan, [1], 10**30],
    "lengths": [0, -1, 2.5, "2", None, np.nan, [1], 10**30, [3, 0], [[1, 2]]],
    "random_state": ["x", -1, 1.5, np.nan, [1], 10**30],
    "validation": [3, "text", [], (None, None), ([], []), ([1], [2]), ("ab", "cd"), [1, 2, 3]],
    "checkpoint_every": ["x", np.nan, -1, None],
    "posterior": ["x", 3, None],
    "background": [3, [], ["ACGT", 3], "ACGT"],
}


def cases() -> list[Case]:
    return [case for name, methods in asked().items() for case in cases_of(name, methods)] + list(option_cases())


def cases_of(name: str, methods: tuple[str, ...]) -> Iterator[Case]:
    subject = SUBJECTS[name]
    if "fit" not in methods and has_matrices(subject.X):
        yield from matrix_cases(partial(Case, name, "fit", "X"), subject.X)
    for method in methods:
        accepted, arguments = subject.accepted(method), subject.arguments(method)
        for argument in ("X", "x", "y"):
            if argument in arguments:
                yield from data_cases(name, method, argument, arguments[argument])
        if "allowed" in accepted and getattr(subject.estimator.model, "takes_allowed", False):
            yield from data_cases(name, method, "allowed", list(subject.Y))
        if "sample_weight" in accepted:
            for abuse, made in WEIGHTS.items():
                yield Case(name, method, "sample_weight", abuse, partial(made, len(subject.Y)))
        for argument, values in SMALL.items():
            if argument in accepted:
                for value in values:
                    yield Case(name, method, argument, f"= {value!r}", partial(copy.copy, value))


def data_cases(name: str, method: str, argument: str, data: Any) -> Iterator[Case]:
    case = partial(Case, name, method, argument)
    widely = method in ("fit", "predict")
    for depth in range(min(depth_of(data), 4) + 1):
        for value in VALUES if widely and depth < 3 else COMMON[: 10 if depth < 3 else 5]:
            yield case(f"{value} at depth {depth}", lambda d=depth, v=VALUES[value]: replaced(data, d, v()))
        part = first_at(data, depth)
        if widely and isinstance(part, (list, str, np.ndarray, dict)):
            yield case(f"short at depth {depth}", lambda d=depth, p=part: replaced(data, d, shortened(p)))
            yield case(f"doubled at depth {depth}", lambda d=depth, p=part: replaced(data, d, doubled(p)))
    if widely and has_matrices(data):
        yield from matrix_cases(case, data)


def matrix_cases(case: Callable[..., Case], data: Any) -> Iterator[Case]:
    for abuse, change in MATRIX_ABUSES.items():
        yield case(f"a matrix {abuse}", lambda c=change: with_matrices(data, c, only_first=True))
        if abuse.startswith("of"):
            yield case(f"matrices {abuse}", lambda c=change: with_matrices(data, c))
    for form, change in MATRIX_FORMS.items():
        # Sums in another order are other numbers, so sparse ones are compared with sparse ones.
        plain = sp.csr_array if "sparse" in form else same
        yield case(f"matrices {form}", partial(with_matrices, data, change), partial(with_matrices, data, plain))


def option_cases() -> Iterator[Case]:
    """Every option of every class once, in the first subject that has it."""
    seen = set()
    for name, subject in SUBJECTS.items():
        options = subject.estimator.get_params(deep=True)
        for option in sorted(options):
            owner, _, own = option.rpartition("__")
            holder = type(options[owner] if owner else subject.estimator)
            if own in LEFT_OUT or (holder, own) in seen or not holder.__module__.startswith("structlearn"):
                continue
            seen.add((holder, own))
            for value in OPTIONS:
                yield Case(name, "fit", option, f"= {value!r}", partial(copy.copy, value))
