"""What the decoders of every structure must find, by enumeration."""

import numpy as np
import pytest

from tests.models.enumerated import BEST, asked
from tests.models.instances import SCALINGS


def check_most_violating(twins, w, scalings=(BEST, *SCALINGS)):
    """The planes have the largest violation of all outputs, and the losses of their own."""
    every = np.arange(twins.problem.n_examples)
    for scaling in scalings:
        planes = asked(twins.problem, w, every, scaling)
        found = dict(zip(planes.examples.tolist(), planes.bounds, strict=True))
        for i, listed in enumerate(twins.listed()):
            best = listed.violations(w, scaling).max()
            if best == -np.inf:
                assert i not in found
            else:
                assert found[i] == pytest.approx(best, abs=1e-8)
        shown = zip(planes.examples, twins.problem.present(planes.outputs), planes.losses, strict=True)
        for i, output, loss in shown:
            output = tuple(output) if isinstance(output, list) else output
            assert twins.reference.loss(twins.Y[i], output) == pytest.approx(loss)
            assert scaling is BEST or scaling.rescaling is not None or output != twins.Y[i]


def check_k_best(twins, w, k):
    """The k highest scores, in order, of outputs that differ and have them."""
    for i, best in enumerate(twins.problem.k_best(w, k)):
        scores = [twins.reference.joint_feature(twins.X[i], y) @ w for y in twins.reference.outputs(twins.X[i])]
        expected = sorted(scores, reverse=True)[:k]
        assert [value for _, value in best] == pytest.approx(expected, abs=1e-8)
        assert [twins.reference.joint_feature(twins.X[i], y) @ w for y, _ in best] == pytest.approx(expected, abs=1e-8)
        assert len({repr(y) for y, _ in best}) == min(k, len(scores))
