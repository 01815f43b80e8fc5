"""What users' models return as joint features, checked and stacked: dense where they are dense and not too many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.matrices import checked_matrix
from structlearn.waist.rows import DenseRows, Rows, SparseRows

#: Numbers that a dense stack may have: 32 MB.
DENSE = 2**22

#: One row an example: dense, or sparse.
Stack: TypeAlias = "FloatArray | sp.csr_array"


def feature_row(feature: Any, i: int, size: int | None) -> sp.csr_array:
    """A joint feature of example i as a row of this size, or of any size."""
    feature = checked_matrix(feature, f"joint_feature of example {i}")
    if not sp.issparse(feature):
        if feature.ndim != 1:
            raise ValueError(f"joint_feature of example {i} has {feature.ndim} dimensions; a vector is expected")
        feature = feature[None, :]
    row = sp.csr_array(feature, dtype=np.float64)
    if size is not None and row.shape != (1, size):
        raise ValueError(f"joint_feature of example {i} has shape {row.shape[1:]} but the first had ({size},)")
    if not np.isfinite(row.data).all():
        raise ValueError(f"joint_feature of example {i} holds {row.data[~np.isfinite(row.data)][0]}")
    return row


def stacked(features: Iterable[Any], examples: IntArray, size: int) -> Stack:
    """The joint features of these examples, one a row; they are asked for a few at a time if they are many."""
    features = iter(features)
    group = max(1, DENSE // size)
    if len(examples) <= group:
        return _group(features, examples, size)
    groups = [
        sp.csr_array(_group(islice(features, group), examples[begin : begin + group], size))
        for begin in range(0, len(examples), group)
    ]
    return sp.csr_array(sp.vstack(groups, format="csr"))


def joined(stacks: list[Stack], size: int) -> Stack:
    """The rows of several stacks, one after another, in the form that they would have in one."""
    stacks = [stack for stack in stacks if stack.shape[0]] or stacks[:1]
    if len(stacks) == 1:
        return stacks[0]
    n = sum(stack.shape[0] for stack in stacks)
    if isinstance(stacks[0], np.ndarray) and n <= max(1, DENSE // size):
        return np.concatenate([stack if isinstance(stack, np.ndarray) else stack.toarray() for stack in stacks])
    return sp.csr_array(sp.vstack([sp.csr_array(stack) for stack in stacks], format="csr"))


def checked_stack(rows: Any, examples: IntArray, size: int) -> Stack:
    """What a model's `joint_features` returned for these examples."""
    rows = rows if sp.issparse(rows) else np.asarray(rows)
    if rows.shape != (len(examples), size):
        raise ValueError(f"joint_features returned an array of the shape {rows.shape}, not {(len(examples), size)}")
    if sp.issparse(rows) or rows.size > DENSE:
        rows = sp.csr_array(rows, dtype=np.float64)
    else:
        rows = np.asarray(rows, np.float64)
    if not np.isfinite(rows.sum()):
        _refuse_infinite(sp.csr_array(rows), examples, size)
    return rows


def score(feature: Any, i: int, w: FloatArray) -> float:
    """⟨w, Ψ⟩ of a joint feature of example i."""
    if _is_dense(feature, len(w)):
        value = float(feature @ w)
        if np.isfinite(value):
            return value
    return float((feature_row(feature, i, len(w)) @ w)[0])


def difference_rows(truths: Stack, others: Stack) -> Rows:
    """The differences, row by row."""
    if sp.issparse(others):
        return SparseRows.from_matrix(sp.csr_array(sp.csr_array(truths) - others))
    return DenseRows((truths if isinstance(truths, np.ndarray) else truths.toarray()) - others)


def _group(features: Iterator[Any], examples: IntArray, size: int) -> Stack:
    first = next(features, None)
    if not _is_dense(first, size):
        rest = [] if first is None else [first, *features]
        rows = [feature_row(feature, int(i), size) for feature, i in zip(rest, examples, strict=True)]
        return sp.csr_array(sp.vstack([*rows, sp.csr_array((0, size))], format="csr"))
    stack = np.empty((len(examples), size))
    stack[0] = first
    for k, feature in enumerate(features, start=1):
        stack[k] = feature if _is_dense(feature, size) else feature_row(feature, int(examples[k]), size).toarray()[0]
    if not np.isfinite(stack.sum()):
        _refuse_infinite(sp.csr_array(stack), examples, size)
    return stack


def _is_dense(feature: Any, size: int) -> bool:
    return type(feature) is np.ndarray and feature.shape == (size,) and feature.dtype.kind in "fiub"


def _refuse_infinite(rows: sp.csr_array, examples: IntArray, size: int) -> None:
    for k in np.flatnonzero(~np.isfinite(rows @ np.ones(size))):
        feature_row(rows[[int(k)]], int(examples[k]), size)
