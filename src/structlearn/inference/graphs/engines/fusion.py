"""The compiled moves between labellings."""

from __future__ import annotations

from structlearn import _core
from structlearn.data.factor_graphs import GridGraph

Fusion = _core.SparseFusion | _core.GridFusion4 | _core.GridFusion8


def grid_fusion(grid: GridGraph) -> _core.GridFusion4 | _core.GridFusion8:
    """Moves on a grid, whose table is finite; the grid has to outlive them."""
    kind = _core.GridFusion4 if grid.neighbours == 4 else _core.GridFusion8
    weights = [] if grid.weights is None else [one.ravel() for one in grid.weights]
    return kind(*grid.shape, grid.n_labels, grid.unaries.ravel(), grid.table.ravel(), weights)
