"""A problem with parts written in Python: four methods, and all that follows from them agrees with the compiled one."""

import numpy as np
import pytest

from structlearn.solvers import (
    LBFGS,
    DualCoordinate,
    ExcessiveGap,
    ExponentiatedGradient,
    Extragradient,
    IterativeScaling,
)
from structlearn.waist import LikelihoodObjective, MarginObjective, PartProblem
from tests.models.instances import chain_twins, multiclass_twins


class PlainParts(PartProblem):
    """What a compiled problem says of its parts, and nothing of what its core does with them."""

    oracles = frozenset({"best", "loss_augmented", "sums"})

    def __init__(self, compiled):
        self.n_examples, self.n_features = compiled.n_examples, compiled.n_features
        self.part_offsets = compiled.part_offsets
        for name in ("best", "loss_augmented", "differences", "max_losses", "radii", "present"):
            setattr(self, name, getattr(compiled, name))
        for name in ("scores", "expectations", "push", "true_parts", "part_losses"):
            setattr(self, name, getattr(compiled, name))

    best = differences = max_losses = radii = present = scores = expectations = push = true_parts = None


TWINS = {"chain": chain_twins, "classes": lambda random: multiclass_twins(random, cost="ones")}


@pytest.fixture(params=TWINS)
def compiled(request):
    return TWINS[request.param](np.random.default_rng(3)).problem


def test_what_follows_from_the_parts(compiled):
    random = np.random.default_rng(0)
    plain = PlainParts(compiled)
    w, weight = random.normal(size=plain.n_features), random.uniform(0.5, 2.0, plain.n_examples)
    gradients = np.zeros((2, plain.n_features))
    losses = [each.log_losses(w, weight, gradients[k]) for k, each in enumerate((plain, compiled))]
    np.testing.assert_allclose(losses[0], losses[1], atol=1e-12)
    np.testing.assert_allclose(gradients[0], gradients[1], atol=1e-12)
    for name in ("log_probabilities", "log_partitions", "output_entropies"):
        np.testing.assert_allclose(getattr(plain, name)(w), getattr(compiled, name)(w), atol=1e-12)
    examples = np.arange(plain.n_examples)
    _, marginals = plain.expectations(plain.scores(w, examples), examples)
    np.testing.assert_array_equal(np.concatenate(plain.label_probabilities(w)), marginals)


@pytest.mark.parametrize(
    ("solver", "objective"),
    [
        (LBFGS, LikelihoodObjective),
        (DualCoordinate, LikelihoodObjective),
        (ExponentiatedGradient, LikelihoodObjective),
        (ExponentiatedGradient, MarginObjective),
        (Extragradient, MarginObjective),
        (ExcessiveGap, MarginObjective),
    ],
)
def test_solvers_walk_the_same_way(compiled, solver, objective):
    objective = objective(np.linspace(0.5, 2.0, compiled.n_examples), 4.0)
    runs = [solver(max_iter=8, tol=1e-12).run(each, objective) for each in (compiled, PlainParts(compiled))]
    np.testing.assert_allclose(runs[0].w, runs[1].w, atol=1e-8)
    for left, right in zip(runs[0].history, runs[1].history, strict=True):
        assert (left["primal"], left["dual"]) == pytest.approx((right["primal"], right["dual"]), rel=1e-9, abs=1e-9)


def test_iterative_scaling_is_refused_where_totals_are_unknown(compiled):
    with pytest.raises(ValueError, match="features of an output, which PlainParts does not tell"):
        IterativeScaling().run(PlainParts(compiled), LikelihoodObjective(np.ones(compiled.n_examples)))
