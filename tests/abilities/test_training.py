"""Structure × objective × solver: all that take it find the same minimum, the others refuse it before training."""

import warnings

import numpy as np
import pytest

from structlearn.solvers.n_slack import InseparableError
from tests.abilities.structures import structures
from tests.abilities.training import learners, refusal

ALL = structures()
LEARNERS = learners()
#: Solvers whose steps grow short long before the optimum is near; what they reach is compared, if they bound it at all.
SLOW = (
    "subgradient",
    "excessive_gap",
    "extragradient",
    "exponentiated_gradient",
    "iterative_scaling",
    "contrastive_divergence",
)


def pairs():
    """All of them; in a quick run one in nine, each structure with others."""
    for s, structure in enumerate(ALL):
        for k, learner in enumerate(LEARNERS):
            sample = (k + 2 * s) % 9 == 0
            yield pytest.param(
                structure, learner, id=f"{structure.name}-{learner.name}", marks=() if sample else pytest.mark.slow
            )


@pytest.mark.parametrize(("structure", "learner"), list(pairs()))
def test_declared_solvers_find_the_same_and_others_are_refused(structure, learner):
    primals, duals = [], []
    for solver in learner.solvers:
        refused = refusal(learner, solver, structure)
        if refused is not None:
            check_reason(structure, learner, refused)
            continue
        try:
            fitted = trained(learner, solver, structure)
        except InseparableError:
            assert learner.options["slack"] == "hard"
            continue
        assert np.isfinite(fitted.w_).all()
        # Latent objectives have many minima.
        if not learner.estimator.__name__.startswith("Latent"):
            primals.append(fitted.objective_)
            duals.append(fitted.objective_ * (1.0 - fitted.duality_gap_))
    # Every objective is above every lower bound: all of them belong to one minimum.
    assert np.nanmin([*primals, np.inf]) >= np.nanmax([*duals, -np.inf]) * (1.0 - 1e-9)


def trained(learner, solver, structure):
    options = {"C": 2.0 * len(structure.X)} if learner.name != "StructuredPerceptron" else {}
    if solver in SLOW:
        options["max_iter"] = 200
    elif learner.estimator.__name__ == "StructuralSVM":
        options["tol"] = 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = learner.with_solver(structure.model, solver, **options).fit(*learner.data(structure))
    exact = structure.bound().exactness != "approximate"
    if exact and solver not in SLOW and learner.estimator.__name__ in ("StructuralSVM", "ConditionalRandomField"):
        assert fitted.duality_gap_ <= 1.001e-3, solver
    return fitted


def check_reason(structure, learner, refused):
    """What the structure does not have is refused for the reason that it declares."""
    model = structure.model
    for decoder in ("second_best", "loss_augmented", "loss_levels", "sums"):
        if f"needs the oracle {decoder!r}" in refused:
            if decoder == "second_best" and learner.estimator.__name__.startswith("Latent") and decoder in model.costs:
                # The best output that does not agree with a partial one is the best of all losses above zero.
                assert "loss_levels" not in model.costs
                assert "takes loss levels" in refused or model.refusal("loss_levels") in refused
                continue
            assert decoder not in model.costs
            assert model.refusal(decoder) in refused
