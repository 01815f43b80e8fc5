"""Parsers that are kept: in files, pickles, clones, checkpoints, and files that somebody edited."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.models import DependencyTree
from structlearn.persistence import container, model_file
from tests.abilities.with_sums import dependency_tree
from tests.estimators.test_checkpoint import StopAt
from tests.persistence.test_hostile_files import item

pytestmark = pytest.mark.filterwarnings("ignore:stopped after max_iter")
KINDS = [{}, {"order": 2}, {"projective": False}, {"n_hashed": 40, "order": 2}]


def data():
    row = dependency_tree(np.random.default_rng(5))
    return [*row.X, *row.X[2:]], [*row.Y, row.Y[3], row.Y[2]]


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("learner", [StructuralSVM, ConditionalRandomField])
def test_a_parser_that_was_kept_predicts_the_same(options, learner, tmp_path):
    X, Y = data()
    parser = learner(DependencyTree(**options), C=10, max_iter=5).fit(X, Y)
    structlearn.save(parser, tmp_path / "parser.slm")
    new = [*X, [], [("new", "x"), ("u", "new")]]
    for again in (structlearn.load(tmp_path / "parser.slm"), pickle.loads(pickle.dumps(parser))):
        assert again.predict(new) == parser.predict(new)
        assert again.score(X, Y) == parser.score(X, Y)
        assert again.k_best(X, 3) == parser.k_best(X, 3)
        assert again.top_weights(5) == parser.top_weights(5)
        assert again.model.get_params() == parser.model.get_params()
    assert np.array_equal(clone(parser).fit(X, Y).w_, parser.w_)


def test_labels_of_any_type_are_kept(tmp_path):
    X = [[("a", "A"), ("b", "B")], [("b", "B")]]
    parser = StructuralSVM(DependencyTree(labels=[("obl", 1), True, 2.5]), C=10)
    Y = [[(2, ("obl", 1)), (0, 2.5)], [(0, True)]]
    structlearn.save(parser.fit(X, Y), tmp_path / "parser.slm")
    assert structlearn.load(tmp_path / "parser.slm").predict(X) == parser.predict(X)


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("solver", ["block_coordinate", "one_slack", "exponentiated_gradient"])
def test_a_stopped_fit_goes_on_where_it_was(options, solver, tmp_path):
    X, Y = data()

    def make():
        return StructuralSVM(DependencyTree(**options), C=30.0, tol=1e-9, max_iter=8, solver=solver)

    whole = make().fit(X, Y)
    make().set_callbacks(StopAt(3)).fit(X, Y, checkpoint=tmp_path / "c")
    continued = make().fit(X, Y, checkpoint=tmp_path / "c")
    assert continued.n_iter_ == whole.n_iter_ > 4
    np.testing.assert_array_equal(continued.w_, whole.w_)


def test_a_checkpoint_of_other_trees_or_options_is_refused(tmp_path):
    X, Y = data()
    parser = StructuralSVM(DependencyTree(), C=30.0, tol=1e-9)
    clone(parser).set_callbacks(StopAt(2)).fit(X, Y, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match=r"was written with (other data|\d+ features, this run has \d+)"):
        clone(parser).fit(X, [*Y[:-1], Y[-2]], checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match="model__projective=True, this run has model__projective=False"):
        clone(parser).set_params(model__projective=False).fit(X, Y, checkpoint=tmp_path / "c")


def test_a_warm_start_goes_on_from_the_last_fit():
    X, Y = data()
    parser = StructuralSVM(DependencyTree(), C=10.0, tol=1e-6, warm_start=True).fit(X, Y)
    first = parser.n_iter_
    assert parser.fit(X, Y).n_iter_ < first
    assert parser.predict(X) == StructuralSVM(DependencyTree(), C=10.0, tol=1e-6).fit(X, Y).predict(X)


def edit(name, value):
    def change(metadata):
        item(metadata["spec"], name)[1] = value

    return change


def edit_features(change):
    """A change of the matrix of the first template of arcs."""

    def changed(metadata):
        matrix = item(metadata["spec"], "features")[1]["tuple"][0]["tuple"][0]
        array = change(np.array(matrix["array"], matrix["dtype"]))
        matrix |= {"array": array.tolist(), "dtype": array.dtype.str, "shape": list(array.shape)}

    return changed


def with_option(name, value):
    def change(metadata):
        item(metadata["model_params"], name)[1] = value

    return change


def negative(array):
    return np.where(np.arange(array.size).reshape(array.shape) == 0, -1, array).astype(array.dtype)


@pytest.mark.parametrize(
    ("options", "change", "told"),
    [
        ({}, edit("values", 3), "values"),
        ({}, edit("values", {"tuple": [{"tuple": ["a", "a"]}, {"tuple": ["x", "y"]}]}), "values"),
        ({}, edit("values", {"tuple": [{"tuple": ["a", 7]}, {"tuple": ["x", "y"]}]}), "values"),
        ({}, edit("values", {"tuple": [{"tuple": ["a", "b"]}]}), "1 columns, but there are 2"),
        ({}, edit("values", {"tuple": [{"tuple": ["a"]}, {"tuple": [f"t{k}" for k in range(62)]}]}), "at most 61"),
        ({}, edit("labels", ["a", "b"]), "labels"),
        ({}, edit("labels", {"tuple": ["a", "a"]}), "labels"),
        ({}, edit("labels", {"tuple": ["a", "b", "c"]}), "w"),
        ({}, edit("features", None), "features are listed if and only if they are not hashed"),
        ({}, edit("features", {"tuple": []}), "features"),
        ({}, edit("features", {"tuple": [{"tuple": []}, {"tuple": []}, {"tuple": []}]}), "not those of the templates"),
        ({}, edit_features(lambda array: array[:, :1].copy()), "features are not those of the templates"),
        ({}, edit_features(lambda array: array.astype(np.float64)), "features holds what is no matrix of int32"),
        ({}, edit_features(np.ravel), "features holds what is no matrix of int32"),
        ({}, edit_features(negative), "features"),
        ({}, edit_features(lambda array: array + np.int32(10**6)), "features"),
        ({}, edit_features(lambda array: np.concatenate([array[:1], array[:1], array[2:]])), "w"),
        ({}, with_option("columns", {"tuple": ["word"]}), "columns"),
        ({}, with_option("templates", ["head.form"]), "features are not those of the templates"),
        ({}, with_option("templates", ["head.lemma"]), "head.lemma"),
        ({}, with_option("order", 2), "features are not those of the templates"),
        ({}, with_option("n_hashed", 7), "features are listed if and only if they are not hashed"),
        ({"n_hashed": 40}, with_option("n_hashed", 41), "w"),
        ({"n_hashed": 40}, with_option("n_hashed", 2**31 - 1), "w"),
        ({"n_hashed": 40}, with_option("n_hashed", -1), "n_hashed is -1"),
        ({"n_hashed": 40}, with_option("n_hashed", None), "features are listed if and only if they are not hashed"),
        ({"n_hashed": 40}, with_option("order", 2), "w"),
        ({"n_hashed": 40}, with_option("templates", ["head.upos[99999]"]), "cannot be read"),
    ],
)
def test_a_file_that_somebody_edited_is_refused(options, change, told, tmp_path):
    X, Y = data()
    structlearn.save(StructuralSVM(DependencyTree(**options), max_iter=2).fit(X, Y), tmp_path / "parser.slm")
    metadata, tensors = container.read(tmp_path / "parser.slm", "structlearn", what="model")
    change(metadata)
    container.write(tmp_path / "edited.slm", "structlearn", metadata, tensors)
    with pytest.raises(ValueError, match=r"edited\.slm") as refused:
        _ = model_file.read(tmp_path / "edited.slm").estimator
    assert told in str(refused.value)
