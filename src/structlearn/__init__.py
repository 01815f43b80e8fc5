"""structlearn: learning to predict label sequences and other structured outputs with large margins.

>>> from structlearn import StructuralSVM
>>> from structlearn.models import Chain
>>> tagger = StructuralSVM(Chain())
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from structlearn.estimators import (
        ConditionalRandomField,
        GibbsMotif,
        HiddenMarkov,
        LatentConditionalRandomField,
        LatentStructuralSVM,
        RelativeFrequencies,
        StructuralSVM,
        StructuredPerceptron,
        explain,
        top_weights,
    )
    from structlearn.persistence import load, save

    __version__: str

__all__ = [
    "ConditionalRandomField",
    "GibbsMotif",
    "HiddenMarkov",
    "LatentConditionalRandomField",
    "LatentStructuralSVM",
    "RelativeFrequencies",
    "StructuralSVM",
    "StructuredPerceptron",
    "__version__",
    "explain",
    "load",
    "save",
    "top_weights",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second or two to import: who only asks for a version or for help need not wait for it.
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("structlearn")
    elif name in ("load", "save"):
        value = getattr(import_module("structlearn.persistence"), name)
    elif name in __all__:
        value = getattr(import_module("structlearn.estimators"), name)
    else:
        raise AttributeError(f"module 'structlearn' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
