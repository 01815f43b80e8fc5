"""Training, prediction and evaluation on several machines by Dask: parts of the data that any worker can read again.

>>> from structlearn.distributed import distribute
"""

from typing import TYPE_CHECKING, Any

from structlearn.lazy import names

if TYPE_CHECKING:
    from structlearn.distributed.data import Distributed, distribute
    from structlearn.distributed.evaluations import evaluate_files
    from structlearn.distributed.local import workers_here
    from structlearn.distributed.predictions import predict_files

__all__ = ["Distributed", "distribute", "evaluate_files", "predict_files", "workers_here"]

_find, __dir__ = names(
    __name__,
    {
        "Distributed": "data",
        "distribute": "data",
        "evaluate_files": "evaluations",
        "predict_files": "predictions",
        "workers_here": "local",
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)
