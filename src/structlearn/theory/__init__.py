"""What theorems promise of training by cutting planes, as numbers, and beside what happened."""

from structlearn.theory.approximate_cuts import (
    projection_gap,
    sampled_cuts,
    sampling_gap,
    sampling_tail,
    subspace_iterations,
)
from structlearn.theory.cutting_planes import (
    PreconditionError,
    constraints_added,
    cutting_plane_iterations,
    dual_gain,
    line_search_gain,
)
from structlearn.theory.training import Bound, TrainingBounds, training_bounds

__all__ = [
    "Bound",
    "PreconditionError",
    "TrainingBounds",
    "constraints_added",
    "cutting_plane_iterations",
    "dual_gain",
    "line_search_gain",
    "projection_gap",
    "sampled_cuts",
    "sampling_gap",
    "sampling_tail",
    "subspace_iterations",
    "training_bounds",
]
