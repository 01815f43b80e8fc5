"""Pictures of outputs, for terminals and for reports; a file for each structure."""

from structlearn.drawing.alignments import draw_alignment
from structlearn.drawing.base import Drawing
from structlearn.drawing.dependencies import draw_dependencies
from structlearn.drawing.documents import draw_document
from structlearn.drawing.grids import draw_grid
from structlearn.drawing.label_sets import draw_label_set
from structlearn.drawing.matchings import draw_matching
from structlearn.drawing.networks import draw_network
from structlearn.drawing.patterns import draw_pattern
from structlearn.drawing.rankings import draw_ranking
from structlearn.drawing.sites import draw_site
from structlearn.drawing.trees import draw_tree

__all__ = [
    "Drawing",
    "draw_alignment",
    "draw_dependencies",
    "draw_document",
    "draw_grid",
    "draw_label_set",
    "draw_matching",
    "draw_network",
    "draw_pattern",
    "draw_ranking",
    "draw_site",
    "draw_tree",
]
