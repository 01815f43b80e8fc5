"""Label images once more, as a plain slow class that lists all labellings."""

import numpy as np

from structlearn.models.grid.neighbours import contrast_scale
from tests.models.graph.enumerated_graph import EnumeratedGraph

STEPS = [(0, 1), (1, 0), (1, 1), (1, -1)]


class EnumeratedGrid(EnumeratedGraph):
    """An image as a graph with a list of its edges; features of edges are those of each direction in turn."""

    def __init__(self, n_labels, pairwise, neighbours, directions, beta):
        super().__init__(n_labels, pairwise)
        self.steps = STEPS[: neighbours // 2]
        self.directions = directions
        self.beta = beta

    def graph(self, image):
        rows, columns = image.shape[:2]
        edges, features = [], []
        for k, (down, right) in enumerate(self.steps):
            for r in range(rows - down):
                for c in range(max(0, -right), columns - max(0, right)):
                    edges.append((r * columns + c, (r + down) * columns + c + right))
                    change = image[r, c] - image[r + down, c + right]
                    own = [1.0] if self.beta is None else [1.0, np.exp(-self.beta * change @ change)]
                    group = k if self.directions else 0
                    row = np.zeros((len(self.steps) if self.directions else 1, len(own)))
                    row[group] = own
                    features.append(row.ravel())
        width = (len(self.steps) if self.directions else 1) * (1 if self.beta is None else 2)
        return image.reshape(rows * columns, -1), edges, np.array(features).reshape(-1, width)

    def joint_feature(self, image, y):
        return super().joint_feature(self.graph(image), np.ravel(y).tolist())

    def loss(self, y, y_hat):
        return super().loss(np.ravel(y).tolist(), np.ravel(y_hat).tolist())

    def outputs(self, image):
        return super().outputs((image.reshape(-1, image.shape[2]),))


def networks(model, images):
    """The same images as inputs of a `Graph`, with features of edges where a `Grid` has several weights for a pair."""
    beta = contrast_scale(images, model.neighbours) if model.contrast else None
    listed = EnumeratedGrid(2, model.pairwise, model.neighbours, model.directions, beta)
    found = [listed.graph(image) for image in images]
    return found if model.contrast or model.directions else [x[:2] for x in found]
