"""Whether a model written in Python keeps its promises, for `structlearn.testing.check_model`."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray
from structlearn.data.examples import same_output
from structlearn.models.own.pystruct_latent import adapter
from structlearn.models.own.relaxation import exactness_of, loss_between, relaxed_options
from structlearn.models.own.spot_check import CALLS, beaten

#: Random weights, given their number.
Draw = Callable[[int], FloatArray]


def python_findings(model: Any, X: Any, Y: Any, draw: Draw, n_weights: int) -> list[str]:
    """How the model breaks its rules on these examples at random weights, each way told once."""
    adapted = adapter(model)(model)
    model = adapted.checked_model(X, Y)
    check = _LatentCheck(model, X, Y, draw) if adapted.latent else _Check(model, X, Y, draw)
    check.features()
    if not check.findings:
        check.losses()
        check.listed_outputs()
    if not check.unusable:
        for _ in range(n_weights):
            check.oracles()
    return check.findings


class _OracleError(Exception):
    """An oracle raised; it has been told."""


class _Check:
    """Findings are kept in a dict from a mistake's kind and place to its sentence, so that each is told once."""

    def __init__(self, model: Any, X: Any, Y: Any, draw: Draw):
        self._model = model
        self._X = X
        self._Y = Y
        self._draw = draw
        self._exactness = exactness_of(model)
        self._size = 0
        self._told: dict[str, str] = {}
        self._truths = list(Y)
        self._seen: list[list[Any]] = [[y] for y in self._truths]

    @property
    def unusable(self) -> bool:
        """Whether the features are in such a state that oracles cannot be asked."""
        return not self._told.keys().isdisjoint({"shape", "size", "finite", "broken"})

    @property
    def findings(self) -> list[str]:
        return list(self._told.values())

    def features(self) -> None:
        for i, (x, y) in enumerate(zip(self._X, self._truths, strict=True)):
            feature = _dense(self._model.joint_feature(x, y))
            if feature.ndim != 1:
                return self._tell("shape", f"joint_feature(X[{i}], Y[{i}]) has {feature.ndim} dimensions, not one")
            self._size = self._size or len(feature)
            if len(feature) != self._size:
                self._tell("size", f"joint_feature(X[{i}], Y[{i}]) has size {len(feature)}, that of X[0] {self._size}")
            if not np.isfinite(feature).all():
                self._tell("finite", f"joint_feature(X[{i}], Y[{i}]) holds {feature[~np.isfinite(feature)][0]}")
            elif not np.array_equal(feature, _dense(self._model.joint_feature(x, y))):
                self._tell("stable", f"joint_feature(X[{i}], Y[{i}]) is not the same when called again")

    def losses(self) -> None:
        for i, (y, truth) in enumerate(zip(self._Y, self._truths, strict=True)):
            if (loss := loss_between(self._model, y, copy.deepcopy(truth))) != 0:
                self._tell("truth", f"loss(Y[{i}], Y[{i}]) is {loss}, not zero")

    def listed_outputs(self) -> None:
        if not hasattr(self._model, "outputs"):
            return
        for i, (x, y) in enumerate(zip(self._X, self._truths, strict=True)):
            self._seen[i] = list(self._model.outputs(x))
            if not any(same_output(y, other) for other in self._seen[i]):
                self._tell("listed", f"outputs(X[{i}]) does not list the truth {y!r}")
            twice = _twice(self._seen[i])
            if twice is not None:
                self._tell("twice", f"outputs(X[{i}]) lists {twice!r} twice, which doubles its probability")
            for other in self._seen[i]:
                self._inspect(i, other)

    def oracles(self) -> None:
        w = self._draw(self._size)
        relaxed = relaxed_options(self._model)
        for i, (x, y) in enumerate(zip(self._X, self._Y, strict=True)):
            with suppress(_OracleError):
                if hasattr(self._model, "inference"):
                    self._argmax(i, "inference", (x, w), w, augmented=False)
                if hasattr(self._model, "loss_augmented_inference"):
                    self._argmax(i, "loss_augmented_inference", (x, y, w), w, augmented=True, **relaxed)
                if hasattr(self._model, "k_best"):
                    self._k_best(i, w)
                if hasattr(self._model, "best_per_loss_level"):
                    self._levels(i, w)

    def _argmax(
        self, i: int, name: str, arguments: tuple[Any, ...], w: FloatArray, *, augmented: bool, **options: bool
    ) -> None:
        output = self._call(i, name, arguments, **options)
        if not self._inspect(i, output) or not self._must_be_best(augmented):
            return
        value = self._value(i, output, w, augmented)
        others = ((self._value(i, y, w, augmented), y) for y in self._seen[i])
        sentence = beaten(CALLS[name].format(i), output, value, others, augmented=augmented)
        if sentence is not None:
            self._tell(name, sentence)
        self._remember(i, output)

    def _must_be_best(self, augmented: bool) -> bool:
        """Whether an oracle claims to find the argmax; a relaxed model does where the loss is added only."""
        return self._exactness == "exact" or (augmented and self._exactness == "relaxed")

    def _k_best(self, i: int, w: FloatArray) -> None:
        best = list(self._call(i, "k_best", (self._X[i], w, 2)))
        if not all(self._inspect(i, y) for y in best):
            return
        scores = [self._value(i, y, w, False) for y in best]
        if len(best) == 2 and same_output(*best):
            self._tell("k_best", f"k_best(X[{i}], w, 2) returns {best[0]!r} twice")
        elif scores != sorted(scores, reverse=True):
            self._tell("k_best", f"k_best(X[{i}], w, 2) is not in order of score: {scores}")
        elif self._must_be_best(False):
            others = [y for y in self._seen[i] if not any(same_output(y, known) for known in best)]
            better = self._better(scores[-1], ((self._value(i, y, w, False), y) for y in others))
            if better is not None or (len(best) < 2 and others):
                missed = others[0] if better is None else better[1]
                self._tell("k_best", f"k_best(X[{i}], w, 2) misses {missed!r}")
        for y in best:
            self._remember(i, y)

    def _levels(self, i: int, w: FloatArray) -> None:
        outputs = list(self._call(i, "best_per_loss_level", (self._X[i], self._Y[i], w)))
        if not all(self._inspect(i, y) for y in outputs) or not self._must_be_best(False):
            return
        level = {self._model.loss(self._Y[i], y): self._value(i, y, w, False) for y in outputs}
        for y in self._seen[i]:
            loss = self._model.loss(self._Y[i], y)
            score = self._value(i, y, w, False)
            if loss > 0 and score > level.get(loss, -np.inf) + _slack(score):
                found = f"has only {level[loss]:.3g}" if loss in level else "has nothing"
                self._tell(
                    "levels",
                    f"best_per_loss_level(X[{i}], Y[{i}], w) {found} at loss {loss}, but {y!r} has {score:.3g}",
                )
        for y in outputs:
            self._remember(i, y)

    def _call(self, i: int, name: str, arguments: tuple[Any, ...], **options: bool) -> Any:
        """Calls an oracle on copies, and tells if it changed them."""
        handed = copy.deepcopy(arguments)
        try:
            answer = getattr(self._model, name)(*handed, **options)
        except Exception as error:
            self._tell("broken", f"{name} fails on X[{i}]: {type(error).__name__}: {error}")
            raise _OracleError from error
        if not all(_unchanged(before, after) for before, after in zip(arguments, handed, strict=True)):
            self._tell(f"{name} changes", f"{name} changes its arguments for X[{i}]")
        return answer

    def _inspect(self, i: int, y: Any) -> bool:
        """Whether an output has proper features and a proper loss."""
        try:
            feature = _dense(self._model.joint_feature(self._X[i], y))
            loss = loss_between(self._model, self._Y[i], y)
        except Exception as error:
            self._tell("broken", f"{y!r} is no output for X[{i}]: {type(error).__name__}: {error}")
            return False
        if feature.shape != (self._size,):
            self._tell("size", f"joint_feature(X[{i}], {y!r}) has shape {feature.shape}, elsewhere ({self._size},)")
        elif not np.isfinite(feature).all():
            self._tell("finite", f"joint_feature(X[{i}], {y!r}) holds {feature[~np.isfinite(feature)][0]}")
        elif not np.isfinite(loss) or loss < 0:
            self._tell("loss", f"loss(Y[{i}], {y!r}) is {loss}; it must be finite and not negative")
        else:
            return True
        return False

    def _value(self, i: int, y: Any, w: FloatArray, augmented: bool) -> float:
        score = float(_dense(self._model.joint_feature(self._X[i], y)) @ w)
        return score + loss_between(self._model, self._Y[i], y) if augmented else score

    @staticmethod
    def _better(value: float, others: Iterable[tuple[float, Any]]) -> tuple[float, Any] | None:
        best = max(others, key=lambda pair: pair[0], default=None)
        return best if best is not None and best[0] > value + _slack(value) else None

    def _remember(self, i: int, y: Any) -> None:
        if not any(same_output(y, other) for other in self._seen[i]):
            self._seen[i].append(copy.deepcopy(y))

    def _tell(self, kind: str, sentence: str) -> None:
        self._told.setdefault(kind, sentence)


class _Pairs:
    """A model with latent parts as one whose outputs are pairs (y, h)."""

    def __init__(self, model: Any):
        self._model = model

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._model, name)

    def joint_feature(self, x: Any, pair: Any) -> Any:
        return self._model.joint_feature(x, *pair)

    def loss(self, y: Any, pair: Any) -> Any:
        return self._model.loss(y, *pair)


class _LatentCheck(_Check):
    """The same for pairs (y, h); truths are completed at random weights."""

    def __init__(self, model: Any, X: Any, Y: Any, draw: Draw):
        super().__init__(_Pairs(model), X, Y, draw)
        n_features = adapter(model)(model).specify(X, Y).n_features
        self._truths = [(y, model.complete(x, y, draw(n_features))) for x, y in zip(X, Y, strict=True)]
        self._seen = [[truth] for truth in self._truths]

    def oracles(self) -> None:
        super().oracles()
        w = self._draw(self._size)
        for i, (x, y) in enumerate(zip(self._X, self._Y, strict=True)):
            with suppress(_OracleError):
                self._complete(i, x, y, w)

    def _complete(self, i: int, x: Any, y: Any, w: FloatArray) -> None:
        pair = (y, self._call(i, "complete", (x, y, w)))
        if not self._inspect(i, pair):
            return
        if (loss := loss_between(self._model, y, pair)) != 0:
            self._tell("complete", f"complete(X[{i}], Y[{i}], w) returns {pair[1]!r}, with which the loss is {loss}")
        if hasattr(self._model, "completions"):
            for h in self._model.completions(x, y):
                self._remember(i, (y, h))
        value = self._value(i, pair, w, False)
        others = [other for other in self._seen[i] if same_output(other[0], y)]
        call, scored = f"complete(X[{i}], Y[{i}], w)", ((self._value(i, other, w, False), other[1]) for other in others)
        sentence = beaten(call, pair[1], value, scored)
        if sentence is not None and self._exactness == "exact":
            self._tell("complete", sentence)
        self._remember(i, pair)


def _dense(feature: Any) -> FloatArray:
    if sp.issparse(feature):
        feature = feature.toarray().ravel()
    return np.asarray(feature, np.float64)


def _twice(outputs: list[Any]) -> Any | None:
    """An output that is listed twice. By their bytes: with each other, many outputs would take too long."""
    seen = set()
    for y in outputs:
        with suppress(Exception):
            written = pickle.dumps(y)
            if written in seen:
                return y
            seen.add(written)
    return None


def _slack(value: float) -> float:
    return 1e-9 * (1.0 + abs(value))


def _unchanged(before: Any, after: Any) -> bool:
    if sp.issparse(before):
        return bool((before != after).nnz == 0)
    try:
        if isinstance(before, (list, tuple)):
            return len(before) == len(after) and all(map(_unchanged, before, after))
        # What is not a number is not equal to itself.
        return same_output(before, after) or bool(np.array_equal(before, after, equal_nan=True))
    except Exception:
        # Objects that cannot be compared are given the benefit of the doubt.
        return True
