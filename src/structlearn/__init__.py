"""structlearn: learning to predict label sequences and other structured outputs with large margins.

>>> from structlearn import StructuralSVM
>>> from structlearn.models import Chain
>>> tagger = StructuralSVM(Chain())
"""

from typing import TYPE_CHECKING, Any

from structlearn.lazy import names

if TYPE_CHECKING:
    from structlearn.estimators import (
        BinaryPerceptron,
        BinarySVM,
        ConditionalRandomField,
        GibbsMotif,
        HiddenMarkov,
        KernelStructuralSVM,
        LatentConditionalRandomField,
        LatentStructuralSVM,
        RegularizedRisk,
        RelativeFrequencies,
        StructuralSVM,
        StructuredPerceptron,
        VectorValuedRidge,
        VectorValuedSVM,
        explain,
        top_weights,
    )
    from structlearn.persistence import load, save
    from structlearn.shards import open_shards, write_shards

    __version__: str

__all__ = [
    "BinaryPerceptron",
    "BinarySVM",
    "ConditionalRandomField",
    "GibbsMotif",
    "HiddenMarkov",
    "KernelStructuralSVM",
    "LatentConditionalRandomField",
    "LatentStructuralSVM",
    "RegularizedRisk",
    "RelativeFrequencies",
    "StructuralSVM",
    "StructuredPerceptron",
    "VectorValuedRidge",
    "VectorValuedSVM",
    "__version__",
    "explain",
    "load",
    "open_shards",
    "save",
    "top_weights",
    "write_shards",
]


_HOMES = {"load": "persistence", "save": "persistence", "open_shards": "shards", "write_shards": "shards"}
_find, __dir__ = names(__name__, {name: _HOMES.get(name, "estimators") for name in __all__})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("structlearn")
    return _find(name)
