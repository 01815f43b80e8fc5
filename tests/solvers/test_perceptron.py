import numpy as np
import pytest

from structlearn.models import Chain
from structlearn.solvers import Perceptron
from structlearn.waist import Objective
from tests.models.enumerated import bound
from tests.models.instances import chain_twins, multiclass_twins


def separable_chain(seed):
    """Sequences labelled by a chain, without those where another labelling comes close."""
    random = np.random.default_rng(seed)
    twins = chain_twins(random, lengths=[3] * 60, n_labels=2)
    w = random.normal(size=twins.problem.n_features)
    clear = [i for i, best in enumerate(twins.problem.k_best(w, 2)) if best[0][1] - best[1][1] > 0.5]
    X = [twins.X[i] for i in clear]
    Y = [twins.problem.k_best(w, 1)[i][0][0] for i in clear]
    return bound(Chain(classes=[0, 1]), X, Y)


@pytest.mark.parametrize("average", [True, False])
def test_a_run_ends_without_mistakes_on_separable_data(average):
    problem = separable_chain(0)
    solution = Perceptron(max_iter=1000, average=average).run(problem, Objective(np.ones(problem.n_examples)))
    assert solution.converged
    assert solution.history[-1]["mistakes"] == 0
    assert problem.losses(problem.predict(solution.state.iterate)).sum() == 0.0


def passes_by_definition(twins, weight, n_passes, seed):
    """All points of the perceptron, one after each example."""
    random = np.random.default_rng(seed)
    w, points = np.zeros(twins.problem.n_features), []
    for _ in range(n_passes):
        for i in random.permutation(len(twins.X)):
            x, y = twins.X[i], twins.Y[i]
            best = max(twins.reference.outputs(x), key=lambda other: twins.reference.joint_feature(x, other) @ w)
            if twins.reference.loss(y, best) > 0:
                w = w + weight[i] * (twins.reference.joint_feature(x, y) - twins.reference.joint_feature(x, best))
            points.append(w)
    return points


@pytest.mark.parametrize("n_passes", [1, 4])
def test_the_average_is_the_mean_of_all_points(n_passes):
    random = np.random.default_rng(0)
    for twins in (multiclass_twins(random, n=15, cost="zero_one"), chain_twins(random, lengths=(1, 2, 3, 3))):
        weight = random.uniform(0.5, 2.0, len(twins.X))
        points = passes_by_definition(twins, weight, n_passes, seed=3)
        runs = [
            Perceptron(max_iter=n_passes, random_state=3, average=average).run(twins.problem, Objective(weight))
            for average in (True, False)
        ]
        np.testing.assert_allclose(runs[0].w, np.mean(points, axis=0), atol=1e-12)
        np.testing.assert_allclose(runs[1].w, points[-1], atol=1e-12)


def test_a_loss_of_zero_is_no_mistake():
    twins = multiclass_twins(np.random.default_rng(0), cost=np.zeros((3, 3)))
    solution = Perceptron().run(twins.problem, Objective(np.ones(8)))
    assert solution.converged
    assert not solution.w.any()


def test_there_is_no_objective_and_no_certificate():
    twins = multiclass_twins(np.random.default_rng(0))
    for record in Perceptron(max_iter=2).run(twins.problem, Objective(np.ones(8))).history:
        assert not record["certified"]
        assert all(np.isnan(record[name]) for name in ("primal", "dual", "gap", "violation"))
