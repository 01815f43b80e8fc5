"""What is wrong with typed networks and their labels is refused by name."""

import re

import numpy as np
import pytest

from structlearn import StructuralSVM
from structlearn.losses import Hamming
from structlearn.models import Factor, TypedGraph
from tests.models.graph.test_typed_graph import texts

NODES = {"a": np.zeros((2, 1)), "b": np.zeros((1, 1))}
LABELS = {"a": [0, 1], "b": [0]}


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([], [], "X is empty"),
        (np.zeros((2, 1)), [LABELS], "expected a list of networks"),
        ([NODES], [LABELS], "X[0] is"),
        ([(np.zeros((2, 1)), {})], [LABELS], "X[0].nodes is array"),
        ([({3: np.zeros((2, 1))}, {})], [LABELS], "X[0].nodes has the type 3; expected a text"),
        ([({"a": np.zeros((0, 1))}, {})], [{"a": []}], "X[0] has no nodes"),
        ([(NODES, {"all": [(0, 1)]})], [LABELS], "X[0].factors has 'all', which is no template of the model"),
        ([(NODES, {("a",): [(0,)]})], [LABELS], "a factor has two nodes or more"),
        ([(NODES, {("a", 3): [(0, 0)]})], [LABELS], "a template is called by a name, or by a tuple of types"),
        (
            [(NODES, {("a", "c"): [(0, 0)]})],
            [LABELS],
            "X[0].factors[('a', 'c')][0] names node 0 of type 'c'; there are 0",
        ),
        ([(NODES, {("a", "c"): []})], [LABELS], "joins nodes of type 'c', of which X has none"),
        (
            [(NODES, {("a", "b"): [(2, 0)]})],
            [LABELS],
            "X[0].factors[('a', 'b')][0] names node 2 of type 'a'; there are 2",
        ),
        ([(NODES, {("a", "b"): [(0, 1)]})], [LABELS], "names node 1 of type 'b'; there is 1"),
        ([(NODES, {("a", "b"): [(0, 0, 0)]})], [LABELS], "expected (n_factors, 2), whole numbers"),
        ([(NODES, {("a", "b"): [(0, 0), (1,)]})], [LABELS], "rows of different lengths"),
        ([(NODES, {("a", "a"): [(1, 1)]})], [LABELS], "names node 1 of type 'a' twice"),
        ([(NODES, {("a", "b"): [(1, 0), (0, 0), (1, 0)]})], [LABELS], "has the nodes of factor 0, [1, 0]"),
        (
            [(NODES, {}, {("a", "b"): np.zeros((1, 1))})],
            [LABELS],
            "X[0].features has ('a', 'b'), of which X[0].factors",
        ),
        (
            [(NODES, {("a", "b"): [(0, 0)]}, {("a", "b"): np.zeros((2, 1))})],
            [LABELS],
            "1 factor ('a', 'b') but features of 2",
        ),
        (
            [(NODES, {("a", "b"): [(0, 0)]}, {("a", "b"): np.zeros((1, 1))}), (NODES, {("a", "b"): [(0, 0)]})],
            [LABELS, LABELS],
            "X[0] has features of ('a', 'b') but X[1] has none",
        ),
        ([({"a": 3}, {})], [LABELS], "X[0].nodes['a'] is 3; expected features: a matrix, or a list of dicts"),
        (
            [(NODES, {("a", "b"): [(0, 0)]}, {("a", "b"): 3})],
            [LABELS],
            "X[0].features[('a', 'b')] is 3; expected features",
        ),
        ([({"a": [[np.nan], [0.0]]}, {})], [{"a": [0, 1]}], "X[0].nodes['a'][0, 0] is nan"),
        ([(NODES, {})], [[0, 1, 0]], "Y[0] is [0, 1, 0]; expected a dict from types of nodes to labels"),
        ([(NODES, {})], [{"a": [0, 1]}], "Y has no labels of type 'b'; declare them: classes={'b': […]}"),
        ([(NODES, {})] * 2, [LABELS, {"a": [0, 1]}], "Y[1] has no labels of type 'b', of which X[1] has 1 node"),
        ([(NODES, {})], [LABELS | {"c": [0]}], "Y[0] has labels of type 'c'; the types are 'a', 'b'"),
        ([(NODES, {})], [{"a": [0], "b": [0]}], "Y[0]['a'] has 1 labels but X[0].nodes['a'] has 2 rows"),
        ([(NODES, {})], [{"a": [0, None], "b": [0]}], "Y[0]['a'][1] is None: labels that are known in part"),
        ([(NODES, {})], [{"a": [0, 1], "b": None}], "Y[0]['b'] is None: labels that are known in part"),
        ([(NODES, {})], [LABELS, LABELS], "X has 1 network but Y has 2 entries"),
    ],
)
def test_bad_networks_are_refused_by_name(X, Y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StructuralSVM(TypedGraph()).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factors": [("a", "b")]}, "expected a dict of templates"),
        ({"factors": {("a", "b"): "ising"}}, "the table of factors[('a', 'b')] is 'ising'"),
        ({"factors": {"all": "free"}}, "factors['all'] is 'free'; expected a tuple of types with a table"),
        ({"factors": {("a", "b"): Factor(("a", "b"))}}, "give a table, or a name to it"),
        ({"factors": {"all": Factor(("a",))}}, "a factor has two nodes or more"),
        ({"factors": {("a", "c"): "free"}}, "joins nodes of type 'c', of which X has none"),
        ({"factors": {("a", "a"): "free"}}, "X[0] has factors ('a', 'b'); the templates are ('a', 'a')"),
        ({"factors": {("a", "b"): "symmetric"}}, "its nodes have different labels"),
        ({"factors": {("a", "b"): {(0, 7): "odd"}}}, "its table has (0, 7), but 7 is not one of the labels"),
        ({"factors": {("a", "b"): {(0,): "odd"}}}, "expected a tuple of 2 labels"),
        ({"factors": {("a", "b"): "free", ("a",) * 30: "free"}}, "its table would have 1,073,741,824 entries"),
        ({"factors": {("a", "b"): "potts"}, "classes": {"b": [7]}}, "its nodes have no label in common"),
        ({"classes": [0, 1]}, "expected a dict from types of nodes to labels"),
        ({"classes": {"c": [0, 1]}}, "classes names the type 'c', of which X has no nodes"),
        ({"classes": {"b": []}}, "classes is empty"),
        ({"loss": "f1"}, "loss is 'f1'"),
        ({"loss": {"c": Hamming()}}, "loss names the type 'c'"),
        ({"loss": {"a": "hamming"}}, "loss['a'] is 'hamming'; expected a LabelLoss"),
        ({"engine": "magic"}, "engine is 'magic'"),
    ],
)
def test_bad_options_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StructuralSVM(TypedGraph(**options)).fit([(NODES, {("a", "b"): [(0, 0)]})], [LABELS])


def test_what_training_had_not_is_refused_by_name():
    X, Y = texts()
    svm = StructuralSVM(TypedGraph()).fit(X, Y)
    nodes, factors = dict(X[0].nodes), dict(X[0].factors)
    for x, message in (
        ((nodes | {"image": np.eye(2)}, factors), "X[0] has nodes of type 'image'; training had 'word', 'text'"),
        (
            (nodes, {("word", "word"): [(0, 1)]}),
            "X[0] has factors ('word', 'word'); the templates are ('word', 'text')",
        ),
        (
            (nodes, factors, {("word", "text"): np.eye(len(factors["word", "text"]))}),
            "features of ('word', 'text') but training",
        ),
        ((nodes | {"text": np.eye(3)}, {}), "nodes of type 'text': X has 3 features a token but training had 2"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            svm.predict([x])
