"""Pictures of training, of what was learnt, and of predictions; they need matplotlib, ``structlearn[plot]``.

Every function draws into `ax`, or into a new figure if there is none, and returns the Axes. An estimator may also be a
Pipeline whose last step is one.
"""

from structlearn.plots.graphs import bounds, grid
from structlearn.plots.logos import motif_logo
from structlearn.plots.matrices import confusion, transitions
from structlearn.plots.regions import decision_regions
from structlearn.plots.sequences import sequence
from structlearn.plots.training import convergence

__all__ = ["bounds", "confusion", "convergence", "decision_regions", "grid", "motif_logo", "sequence", "transitions"]
