"""Fits that were stopped and left a checkpoint, one of every kind of state."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from structlearn import (
    ConditionalRandomField,
    LatentConditionalRandomField,
    LatentStructuralSVM,
    StructuralSVM,
    StructuredPerceptron,
)
from structlearn.models import Chain, DependencyTree, LatentChain, Multiclass
from tests.abuse.subjects import ARCS, PARSED
from tests.estimators.test_checkpoint import StopAt, sequences

SEQUENCES = sequences(8)
TOKENS = (np.concatenate(SEQUENCES[0]), np.concatenate(SEQUENCES[1]))
SOLVERS = ("block_coordinate", "n_slack", "one_slack", "subgradient", "exponentiated_gradient", "extragradient")


class Run(NamedTuple):
    make: Callable[[], Any]
    data: tuple[Any, Any]
    options: dict[str, Any]

    def stop(self, path):
        """Writes the checkpoint of a fit that was stopped after its first iteration."""
        self.make().set_callbacks(StopAt(1)).fit(*self.data, checkpoint=path, **self.options)
        assert path.exists()
        return path

    def resume(self, path):
        w = self.make().fit(*self.data, checkpoint=path, checkpoint_every=1e9, **self.options).w_
        assert np.isfinite(w).all(), "weights that are not finite"


def of_tokens(make, **options):
    return Run(make, TOKENS, options)


def of_sequences(make):
    return Run(make, SEQUENCES, {})


RUNS = {
    f"run_{solver}": of_tokens(lambda solver=solver: StructuralSVM(Multiclass(), solver=solver, max_iter=12))
    for solver in (*SOLVERS, "excessive_gap")
} | {
    "run_held_out": of_tokens(lambda: StructuralSVM(Multiclass(), max_iter=12), validation=TOKENS),
    "run_perceptron": of_tokens(lambda: StructuredPerceptron(Multiclass(), max_iter=12)),
    "run_crf": of_tokens(lambda: ConditionalRandomField(Multiclass(), max_iter=12)),
    "run_dual_coordinate": of_tokens(
        lambda: ConditionalRandomField(Multiclass(), solver="dual_coordinate", max_iter=12)
    ),
    "run_chain": of_sequences(lambda: StructuralSVM(Chain(), max_iter=12)),
    "run_dependency_tree": Run(lambda: StructuralSVM(DependencyTree(), max_iter=12), (PARSED, ARCS), {}),
    "run_latent_crf": of_sequences(
        lambda: LatentConditionalRandomField(LatentChain(2), C=10, solver="em", max_iter=6, random_state=0)
    ),
    "run_latent": of_sequences(lambda: LatentStructuralSVM(LatentChain(2), C=10, max_iter=6, random_state=0)),
}
