"""What a fitted estimator says about a case of `version_2_cases`, in values that JSON has."""

from operator import attrgetter

import numpy as np


def answers(estimator, case):
    """Predictions, facts, and the options that must have been kept."""
    last = last_step(estimator)
    found = facts(estimator) | {name: attrgetter(name)(last) for name in case.kept}
    found |= {"predict": estimator.predict([*case.X, *case.new]), "score": estimator.score(case.X, case.Y)}
    # A pipeline has no method of ours but these two.
    X, new = (_transformed(estimator, inputs) for inputs in (case.X, case.new))
    for name in case.asked:
        match name:
            case "k_best":
                found[name] = last.k_best(new, 2)
            case "complete" | "predict_log_proba":
                found[name] = getattr(last, name)(X, case.Y)
            case _:
                found[name] = getattr(last, name)(new)
    return plain(found)


def last_step(estimator):
    return estimator[-1] if hasattr(estimator, "steps") else estimator


def facts(estimator):
    """What can be said of every estimator or pipeline."""
    estimator = last_step(estimator)
    names = ("C_", "objective_", "duality_gap_", "n_iter_", "converged_", "n_features_in_")
    found = {
        "estimator": type(estimator).__name__,
        "model": type(estimator.model).__name__,
        "weights": len(estimator.w_),
        "norm": np.linalg.norm(estimator.w_),
        "records": len(estimator.history_),
        "examples": estimator.training_["examples"],
        **{name: getattr(estimator, name) for name in names if hasattr(estimator, name)},
    }
    return plain(found)


def plain(value):
    """Tuples and arrays as lists, numbers rounded."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return round(value, 9) if isinstance(value, float) else value


def _transformed(estimator, X):
    for _, step in getattr(estimator, "steps", [])[:-1]:
        X = step.transform(X)
    return X
