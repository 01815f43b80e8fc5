import numpy as np
import pytest

from tests.models.enumerated import BEST, asked
from tests.models.instances import SCALINGS, chain_twins, multiclass_twins

PROBLEMS = {
    "multiclass": lambda random: multiclass_twins(random, n=50).problem,
    "multiclass with output features": lambda random: multiclass_twins(random, n=50, output_features=True).problem,
    "chain": lambda random: chain_twins(random, lengths=random.integers(1, 9, 50)).problem,
    "chain with label weights": lambda random: chain_twins(random, lengths=[5] * 40, label_weight={0: 2.0}).problem,
    "chain, zero-one": lambda random: chain_twins(random, lengths=[5] * 40, loss="zero_one").problem,
}


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("scaling", [BEST, *SCALINGS], ids=str)
def test_threads_do_not_change_a_bit(kind, scaling):
    random = np.random.default_rng(0)
    problem = PROBLEMS[kind](random)
    w = random.normal(size=problem.n_features)
    examples = random.permutation(problem.n_examples)
    answers = []
    for problem.n_threads in (1, 3):
        answers.append(asked(problem, w, examples, scaling))
    alone, together = answers
    np.testing.assert_array_equal(alone.examples, together.examples)
    np.testing.assert_array_equal(alone.bounds, together.bounds)
    np.testing.assert_array_equal(
        np.concatenate([*alone.outputs], axis=None), np.concatenate([*together.outputs], axis=None)
    )
    for name in ("indptr", "indices", "values"):
        np.testing.assert_array_equal(getattr(alone.rows.sparse(), name), getattr(together.rows.sparse(), name))


def test_threads_do_not_change_the_best_lists():
    random = np.random.default_rng(0)
    problem = PROBLEMS["chain"](random)
    w = random.normal(size=problem.n_features)
    alone = problem.k_best(w, 4)
    problem.n_threads = 3
    assert problem.k_best(w, 4) == alone
