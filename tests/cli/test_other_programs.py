"""Files of other programs, trained with their C, end at the objective that the library and those programs give."""

import numpy as np
import pycrfsuite
import pytest

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.models import Chain, Multiclass


@pytest.fixture
def sequences():
    random = np.random.default_rng(0)
    # CRFsuite leaves out attributes whose values add up to less than nothing: none is negative here.
    X = [random.integers(0, 6, size=(random.integers(1, 8), 6)).astype(float) for _ in range(30)]
    return X, [[str(1 + int(row[0] + row[1] > 5) + int(row[2] > 3)) for row in x] for x in X]


def numbered(row):
    return " ".join(f"{k}:{value:g}" for k, value in enumerate(row, start=1) if value)


def test_svm_hmm(folder, run_json, sequences):
    X, Y = sequences
    lines = [
        f"{label} qid:{i + 1} {numbered(row)}" for i in range(len(X)) for row, label in zip(X[i], Y[i], strict=True)
    ]
    folder.joinpath("train.dat").write_text("\n".join(lines) + "\n")
    told = run_json("train", "train.dat", "-c", "3", "--tol", "1e-7", "--no-boundaries")
    svm = StructuralSVM(Chain(boundaries=False), C=3, tol=1e-7).fit(X, Y)
    assert told["objective"] == pytest.approx(svm.objective_, rel=1e-6)
    assert (told["examples"], told["tokens"]) == (30, sum(map(len, X)))


def test_svm_multiclass(folder, run_json, sequences):
    X, Y = np.concatenate(sequences[0]), [label for y in sequences[1] for label in y]
    folder.joinpath("train.dat").write_text(
        "".join(f"{label} {numbered(row)}\n" for row, label in zip(X, Y, strict=True))
    )
    told = run_json("train", "train.dat", "-c", "30", "--tol", "1e-7")
    svm = StructuralSVM(Multiclass(), C=30, tol=1e-7).fit(X, Y)
    assert told["objective"] == pytest.approx(svm.objective_, rel=1e-6)


def test_crfsuite(folder, run_json, sequences):
    X, Y = sequences
    lines = []
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    c2 = 0.7
    trainer.set_params(
        {
            "c1": 0.0,
            "c2": c2,
            "feature.possible_states": True,
            "feature.possible_transitions": True,
            "epsilon": 1e-9,
            "delta": 1e-10,
        }
    )
    for x, y in zip(X, Y, strict=True):
        items = [{f"a:{k}": float(value) for k, value in enumerate(row) if value} for row in x]
        trainer.append(pycrfsuite.ItemSequence(items), y)
        for item, label in zip(items, y, strict=True):
            named = (f"{name.replace(':', chr(92) + ':')}:{value:g}" for name, value in item.items())
            lines.append("\t".join([label, *named]))
        lines.append("")
    folder.joinpath("train.crfsuite").write_text("\n".join(lines) + "\n")
    trainer.train(str(folder / "model.crfsuite"))
    theirs = trainer.logparser.last_iteration["loss"]
    C = len(X) / (2 * c2)
    words = ("--learner", "crf", "-c", str(C), "--tol", "1e-7", "--no-boundaries")
    told = run_json("train", "train.crfsuite", *words)
    # Theirs is Σ −log P + c2 ‖w‖², ours ½‖w‖² + (C/n) Σ −log P: the same up to the factor C/n.
    assert told["objective"] == pytest.approx(C / len(X) * theirs, rel=1e-5)
    crf = ConditionalRandomField(Chain(boundaries=False), C=C, tol=1e-7).fit(X, Y)
    assert told["objective"] == pytest.approx(crf.objective_, rel=1e-6)
