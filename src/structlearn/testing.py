"""Checks for models and losses: brute force where outputs can be listed, sampled outputs where they cannot."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.models.base import Model
from structlearn.models.own.loss_check import loss_findings
from structlearn.models.own.python_check import python_findings

__all__ = ["ModelError", "check_loss", "check_model"]


def __dir__() -> list[str]:
    return __all__


class ModelError(AssertionError):
    """A model breaks the rules; `findings` lists how, one sentence each."""

    def __init__(self, findings: list[str]):
        super().__init__("\n".join(findings))
        self.findings = findings


Weights = Literal["normal", "nonnegative"] | Callable[[np.random.Generator, int], FloatArray]


def check_model(
    model: Any, X: Any, Y: Any, *, n_weights: int = 20, weights: Weights = "normal", random_state: int = 0
) -> None:
    """Looks for the usual mistakes in a model of your own and raises `ModelError` with all that it finds.

    Checked on the given examples: joint features are finite vectors of one size and do not change from call to call;
    the loss is zero on the truth, finite and nowhere negative; no output is listed twice; for random weights every
    oracle returns an output that no other one beats, compared with all outputs if the model has ``outputs(x)``,
    otherwise with outputs that its oracles return under other weights; nothing the model is handed is changed by it.
    Of a model with latent parts also: what completes a truth has no loss, and no other latent part of that truth scores
    more. Oracles that are declared to be approximate need not find the best output, but what they return must be one.
    Of a model put together from a scorer, an engine and a loss: whether scores are linear in w and `push` goes back the
    same way, and whether `best`, `k_best` and `sums` of the engine agree with each other.

    Parameters
    ----------
    model : object
        See `structlearn.models.PythonModel`, or `structlearn.models.PythonLatentModel` for one with latent parts, or a
        `structlearn.models.Composed`.
    X, Y : sequences
        A few examples, the smaller the faster.
    n_weights : int
        Number of random weight vectors.
    weights : {"normal", "nonnegative"} or callable
        From where they are drawn: for oracles that work for some weights only, such as graph cuts, those ≥ 0, or what a
        function of a random generator and the number of weights returns.
    random_state : int
        Seed of the weights.

    Examples
    --------
    >>> class Sign:
    ...     def joint_feature(self, x, y):
    ...         return np.array([x * y])
    ...     def loss(self, y, y_hat):
    ...         return float(y != y_hat)
    ...     def inference(self, x, w):
    ...         return -1 if x * w[0] > 0 else 1
    ...     def outputs(self, x):
    ...         return [-1, 1]
    >>> check_model(Sign(), [0.5, -2.0], [1, -1])
    Traceback (most recent call last):
    ...
    structlearn.testing.ModelError: inference(X[0], w) returns -1 with score -0.0629, but 1 has 0.0629
    """
    model = copy.deepcopy(model)
    if len(X) != len(Y) or len(X) == 0:
        raise ValueError(f"X has {len(X)} examples and Y has {len(Y)}; give a few of both")
    if hasattr(model, "initialize"):
        model.initialize(X, Y)
    if not (callable(weights) or weights in ("normal", "nonnegative")):
        raise ValueError(
            f"weights is {weights!r}; it may be 'normal', 'nonnegative' or a function of a generator and a size"
        )
    draw = _Draw(np.random.default_rng(random_state), weights)
    if isinstance(model, Model) and hasattr(model, "findings"):
        findings = model.findings(X, Y, draw, n_weights, np.random.default_rng(random_state))
        if findings:
            raise ModelError(findings)
        return
    if isinstance(model, Model):
        raise TypeError(
            f"check_model is for models written in Python, and {model.class_name} has compiled decoders or some of its "
            f"own; check_loss(model, X, Y) checks a loss of yours in it"
        )
    findings = python_findings(model, X, Y, draw, n_weights)
    if findings:
        raise ModelError(findings)


def check_loss(
    model: Any, X: Any, Y: Any, function: Callable[[Any, Any], Any] | None = None, *, n_weights: int = 20
) -> None:
    """Whether a loss of your own inside a model of the library is the loss that you meant; raises `ModelError` if not.

    Looks at predictions and most violating outputs of the given examples at random weights, on small examples nearly
    all outputs there are. Refuses a loss below zero, one of the truth, one that differs from `function`, and a search
    with the loss that misses what violates more. Warns where the loss is zero for all of them.

    Parameters
    ----------
    model : Model
        With the loss, such as ``Chain(loss=Mine())``.
    X, Y : sequences
        A few small examples.
    function : callable, optional
        Δ(y, ŷ) of two outputs in the form of Y, written down without a thought of speed.
    n_weights : int
        Number of random weight vectors.

    Examples
    --------
    >>> from structlearn.losses import AdditiveLoss
    >>> from structlearn.models import Chain
    >>> class Late(AdditiveLoss):
    ...     def parts(self, truth, local):
    ...         wrong = np.array([[label != true for label in local.labels] for true in truth])
    ...         return wrong * np.arange(len(truth))[:, None]
    >>> X, Y = [[{"w": "I"}, {"w": "am"}, {"w": "I"}]], [["P", "V", "P"]]
    >>> check_loss(Chain(loss=Late()), X, Y, lambda y, z: sum(t * (a != b) for t, (a, b) in enumerate(zip(y, z))))
    >>> check_loss(Chain(loss=Late()), X, Y, lambda y, z: sum(a != b for a, b in zip(y, z)))
    Traceback (most recent call last):
    ...
    structlearn.testing.ModelError: the loss of Y[0] and ['P', 'V', 'V'] is 2, but the function says 1
    """
    if not isinstance(model, Model):
        raise TypeError(f"check_loss is for models of the library; check_model checks the loss of {model!r}")
    if len(X) != len(Y) or len(X) == 0:
        raise ValueError(f"X has {len(X)} examples and Y has {len(Y)}; give a few of both")
    draw = _Draw(np.random.default_rng(0), "normal")
    findings, positive = loss_findings(model, X, Y, function, draw, n_weights)
    if findings:
        raise ModelError(findings)
    if not positive:
        warnings.warn("the loss is zero for every output that was met: nothing can be learnt from it", stacklevel=2)


class _Draw:
    """Random weights."""

    def __init__(self, random: np.random.Generator, weights: Weights):
        self._random = random
        self._weights = weights

    def __call__(self, size: int) -> FloatArray:
        if callable(self._weights):
            w = np.asarray(self._weights(self._random, size), np.float64)
            if w.shape != (size,):
                raise ValueError(f"weights returned an array of shape {w.shape}, but there are {size} weights")
            return w
        w = self._random.normal(size=size)
        return np.abs(w) if self._weights == "nonnegative" else w
