"""scikit-learn's contract, kept without waiting for scikit-learn.

Its import takes longer than loading a model and predicting with it, so nothing that this needs derives from its
`BaseEstimator`. The classes here have what `BaseEstimator` has: what every fit and every file need is written out, and
the rest, which nobody asks for who has not imported scikit-learn, is taken from there when it is asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, wraps
from importlib import metadata
from types import MethodType
from typing import Any, Self, TypeVar

from structlearn.wording import shown

Method = TypeVar("Method", bound=Callable[..., Any])


@cache
def library_version() -> str:
    """The version of this library, which every fit records; to read it from the files takes as long as a small fit."""
    return metadata.version("structlearn")


class Parameters:
    """Options that are arguments of the constructor and kept under their names: to be read, set, cloned and searched.

    >>> class Model(Parameters):
    ...     def __init__(self, order=1, loss="hamming"):
    ...         self.order, self.loss = order, loss
    >>> Model(order=2).set_params(loss="f1").get_params(), Model(loss="f1")
    ({'loss': 'f1', 'order': 2}, Model(loss='f1'))
    """

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # mypy doubts that a class can be hashed.
        kind: Any = cls
        return sorted(_arguments(kind))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All options by name; with `deep` also those of options that have some, as ``model__order``."""
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{inner}": each for inner, each in value.get_params().items()}
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Self:
        """Sets options by the names that `get_params` gives them."""
        from sklearn.base import BaseEstimator

        for name in params:
            outer, _, inner = name.partition("__")
            value = params.get(outer, getattr(self, outer, None))
            if inner and value is not None and not hasattr(value, "set_params"):
                raise ValueError(
                    f"{name} cannot be set: {outer} is {shown(value)}, without set_params; give an object that has "
                    "options, and derive a class of your own from sklearn.base.BaseEstimator"
                )
        changed: Self = BaseEstimator.set_params(self, **params)
        return changed

    def __repr__(self) -> str:
        kind: Any = type(self)
        defaults = _arguments(kind)
        options = ((name, getattr(self, name, None)) for name in self._get_param_names())
        changed = (f"{name}={shown(value)}" for name, value in options if repr(value) != repr(defaults[name]))
        return f"{type(self).__name__}({', '.join(changed)})"


class Estimator(Parameters):
    """What scikit-learn, its meta-estimators and notebooks ask of an estimator."""

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)

    def _html_repr(self) -> str:
        from sklearn.utils import estimator_html_repr

        diagram: str = estimator_html_repr(self)
        return diagram

    def __dir__(self) -> list[str]:
        # Without the methods that this model does not have.
        return [name for name in super().__dir__() if hasattr(self, name)]

    def __getattr__(self, name: str) -> Any:
        if name in _LATE or (name.startswith("set_") and name.endswith("_request")):
            kind: Any = type(self)
            found = inspect.getattr_static(_with_base_estimator(kind), name, None)
            if found is not None:
                return found.__get__(self, kind) if hasattr(found, "__get__") else found
        # Raises what sent us here, with the reason why this object does not have a method.
        return object.__getattribute__(self, name)


#: Attributes of `BaseEstimator` for the routing of metadata and for HTML.
_LATE = frozenset(
    {
        "_doc_link_module",
        "_doc_link_template",
        "_doc_link_url_param_generator",
        "_get_class_level_metadata_request_values",
        "_get_doc_link",
        "_get_fitted_attr_html",
        "_get_metadata_request",
        "_get_params_html",
        "_repr_html_",
        "_repr_html_inner",
        "_repr_mimebundle_",
        "get_metadata_routing",
    }
)


@cache
def _with_base_estimator(kind: Any) -> type:
    """A class derived from ours and from `BaseEstimator`, which gives it all methods that it makes by itself."""
    from sklearn.base import BaseEstimator

    return type(kind.__name__, (kind, BaseEstimator), {})


@cache
def _arguments(kind: type) -> dict[str, Any]:
    """The arguments of a constructor with their defaults."""
    signature = inspect.signature(kind)
    return {name: argument.default for name, argument in signature.parameters.items()}


class CallbackSupport:
    """scikit-learn's mixin of almost that name, for an estimator whose `fit` is decorated by `with_callbacks`."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Sets what shall be called during `fit`: see `structlearn.callbacks`."""
        from sklearn.callback import CallbackSupportMixin

        changed: Self = CallbackSupportMixin.set_callbacks(self, *callbacks)
        return changed

    def _init_callback_context(self, **sizes: Any) -> Any:
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin._init_callback_context(self, **sizes)


def has_callbacks(estimator: Any) -> bool:
    """Whether there are any, of its own or from a meta-estimator around it."""
    return hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")


def with_callbacks(fit: Method) -> Method:
    """A decorator for `fit`, after which callbacks are torn down, however it ends."""

    @wraps(fit)
    def managed(estimator: Any, *args: Any, **options: Any) -> Any:
        if not has_callbacks(estimator):
            return fit(estimator, *args, **options)
        from sklearn.callback import with_callbacks

        return with_callbacks(fit)(estimator, *args, **options)

    return managed  # type: ignore[return-value]


class _Available:
    """A method that exists for some objects only."""

    def __init__(self, method: Callable[..., Any], check: Callable[[Any], bool]):
        self._method = method
        self._check = check
        self.__doc__ = method.__doc__

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self._method
        refusal = f"This {kind.__name__!r} has no attribute {self._method.__name__!r}"
        try:
            available = self._check(owner)
        except Exception as reason:
            raise AttributeError(refusal) from reason
        if not available:
            raise AttributeError(refusal)
        return MethodType(self._method, owner)


def available_if(check: Callable[[Any], bool]) -> Callable[[Callable[..., Any]], Any]:
    """A decorator for methods that exist only where `check` is true of the object; it may raise the reason why not."""
    return lambda method: _Available(method, check)


def check_is_fitted(estimator: Any) -> None:
    """Refuses an estimator without anything learnt, in scikit-learn's words."""
    told = getattr(estimator, "__sklearn_is_fitted__", None)
    if not (told() if told else any(name.endswith("_") and not name.startswith("__") for name in vars(estimator))):
        from sklearn.utils.validation import check_is_fitted as refuse

        refuse(estimator)
