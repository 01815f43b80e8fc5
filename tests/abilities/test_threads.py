"""Every structure with every kind of learner finds the same for any number of threads."""

import numpy as np
import pytest

from structlearn import (
    ConditionalRandomField,
    LatentConditionalRandomField,
    LatentStructuralSVM,
    StructuralSVM,
    StructuredPerceptron,
)
from structlearn.data.examples import same_output
from structlearn.models import Graph, Grid
from tests.abilities.structures import structures

SVM = {"tol": 1e-6, "max_iter": 3}
LEARNERS = {
    "dual ascent": lambda model, n: StructuralSVM(model, n_jobs=n, **SVM),
    "slack rescaling": lambda model, n: StructuralSVM(model, rescaling="slack", n_jobs=n, **SVM),
    "cutting planes": lambda model, n: StructuralSVM(model, solver="one_slack", n_jobs=n, **SVM),
    "n slack": lambda model, n: StructuralSVM(model, solver="n_slack", n_jobs=n, **SVM),
    "subgradient": lambda model, n: StructuralSVM(model, solver="subgradient", max_iter=3, n_jobs=n),
    "extragradient": lambda model, n: StructuralSVM(model, solver="extragradient", n_jobs=n, **SVM),
    "exponentiated gradient": lambda model, n: StructuralSVM(model, solver="exponentiated_gradient", n_jobs=n, **SVM),
    "likelihood": lambda model, n: ConditionalRandomField(model, solver="lbfgs", n_jobs=n, **SVM),
    "online likelihood": lambda model, n: ConditionalRandomField(model, n_jobs=n, **SVM),
    "contrastive divergence": lambda model, n: ConditionalRandomField(
        model, solver="contrastive_divergence", max_iter=3, n_jobs=n
    ),
    "perceptron": lambda model, n: StructuredPerceptron(model, max_iter=3, n_jobs=n),
    "latent SVM": lambda model, n: LatentStructuralSVM(model, max_iter=2, random_state=0, n_jobs=n),
    "latent CRF": lambda model, n: LatentConditionalRandomField(model, max_iter=2, random_state=0, n_jobs=n),
}
#: What a learner has no use for, which says so by one of these.
REFUSED = (ValueError, TypeError, NotImplementedError)
METHODS = {
    "predict": lambda ask, X, Y: ask(X),
    "k_best": lambda ask, X, Y: ask(X, 2),
    "predict_marginals": lambda ask, X, Y: ask(X),
    "predict_log_proba": lambda ask, X, Y: ask(X, Y),
    "predict_latent": lambda ask, X, Y: ask(X),
    "decision_function": lambda ask, X, Y: ask(X),
    "score": lambda ask, X, Y: ask(X, Y),
}


def searched(random):
    """Structures whose engine looks at one graph at a time."""
    images = [random.normal(size=(5, 6, 2)) for _ in range(4)]
    pixels = [random.integers(3, size=(5, 6)) for _ in images]
    for likelihood in ("pseudo", "piecewise", "belief_propagation"):
        yield f"images, {likelihood}", Grid(engine="dual_ascent", likelihood=likelihood), images, pixels
        edges = np.array([(i, j) for i in range(6) for j in range(i)])
        X = [(random.normal(size=(6, 2)), edges) for _ in range(4)]
        Y = [random.integers(3, size=6).tolist() for _ in X]
        yield f"graphs, {likelihood}", Graph(engine="dual_ascent", likelihood=likelihood), X, Y


def cases():
    found = [(one.name, one.model, list(one.X), list(one.Y)) for one in structures()]
    return [*found, *searched(np.random.default_rng(0))]


def all_that_is_found(estimator, X, Y):
    found = [estimator.w_]
    for name, call in METHODS.items():
        if hasattr(estimator, name):
            try:
                found.append(listed(call(getattr(estimator, name), X, Y)))
            except REFUSED as error:
                found.append(str(error))
    return found


def listed(value):
    """Dicts as lists of their items."""
    if isinstance(value, dict):
        value = list(value.items())
    return list(map(listed, value)) if isinstance(value, (list, tuple)) else value


@pytest.mark.sample(4)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("name", "model", "X", "Y"), [pytest.param(*case, id=case[0]) for case in cases()])
def test_what_is_found_does_not_depend_on_the_number_of_threads(name, model, X, Y, learner):
    make = LEARNERS[learner]
    try:
        one = make(model, None).fit(X, Y)
    except REFUSED:
        pytest.skip(f"{learner} has no use for {name}")
    expected = all_that_is_found(one, X, Y)
    for n_jobs in (2, 3):
        several = make(model, n_jobs).fit(X, Y)
        assert same_output(all_that_is_found(several, X, Y), expected)
