"""Networks in JSON lines."""

import json

import networkx
import numpy as np
import pytest

from structlearn.io import FormatError, Lines, NamedNetwork, NodeLink, read_examples
from structlearn.models import Graph

NODES = '"nodes": [{"id": "a", "label": "x"}, {"id": 2, "label": "y"}, {"id": "c", "label": "x"}]'


def read(text, form=None):
    return list((form or NodeLink()).read(Lines([text.encode()], "pages.jsonl")))


def line(edges, nodes=NODES):
    return f'{{{nodes}, "edges": [{edges}]}}'


def test_nodes_and_edges_keep_their_order():
    (example,) = read(line('{"source": 2, "target": "a"}, {"source": "a", "target": "c"}'))
    assert example.x == NamedNetwork([{}, {}, {}], [(1, 0), (0, 2)], None, ("a", 2, "c"))
    assert example.y == ["x", "y", "x"]


def test_features_are_objects_or_numbers():
    (example,) = read(
        '{"nodes": [{"features": [1, 0.5]}, {"features": [0, 2]}], '
        '"links": [{"source": 0, "target": 1, "features": {"kind": "cites", "n": 3}}]}'
    )
    np.testing.assert_array_equal(example.x.nodes, [[1, 0.5], [0, 2]])
    assert example.x.edge_features == [{"kind=cites": 1.0, "n": 3.0}]
    assert example.x.names == (0, 1)


def test_what_networkx_writes_is_read_and_what_is_written_networkx_reads():
    graph = networkx.Graph()
    graph.add_node("a", label="x", features={"w": "dog"}, size=3)
    graph.add_node("b", label="y", features={"w": "cat"})
    graph.add_edge("a", "b", features=[0.5])
    text = json.dumps(networkx.node_link_data(graph))
    (example,) = read(text)
    assert (example.x.nodes, example.y) == ([{"w=dog": 1.0}, {"w=cat": 1.0}], ["x", "y"])
    again = networkx.node_link_graph(json.loads(NodeLink().annotate(example, ["y", "y"])))
    assert again.nodes["a"] == {"label": "y", "features": {"w": "dog"}, "size": 3}
    assert list(again.edges(data="features")) == [("a", "b", [0.5])]
    directed = json.dumps(networkx.node_link_data(graph.to_directed()))
    with pytest.raises(FormatError, match='"directed" is not false'):
        read(directed)


def test_older_networkx_calls_edges_links():
    text = line('{"source": 2, "target": "a"}')
    assert read(text)[0].x == read(text.replace("edges", "links"))[0].x


def test_labels_may_be_known_in_part():
    text = '{"nodes": [{"label": "x"}, {"label": ["x", "y"]}, {}, {"label": null}], "edges": []}\n'
    (example,) = read(text, NodeLink(partial=True))
    assert example.y == ["x", {"x", "y"}, None, None]
    with pytest.raises(
        FormatError, match=r"expected a string or a whole number as nodes\[1\].label, found a list of 2"
    ):
        read(text)


def test_networks_without_labels_have_none():
    (example,) = read('{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}')
    assert example.y is None
    assert json.loads(NodeLink().annotate(example, ["x", 3]))["nodes"] == [
        {"id": 1, "label": "x"},
        {"id": 2, "label": 3},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"nodes": [{"id": 1}', "this is no JSON: Expecting ',' delimiter"),
        ('{"nodes": ' + "[" * 100_000, "this is nested too deeply"),
        ('{"nodes": [], "edges": []}', 'the list of "nodes" is empty'),
        ('{"nodes": 3, "edges": []}', 'expected a list of "nodes", found a whole number'),
        ('{"nodes": [3], "edges": []}', "expected an object as nodes[0], found a whole number"),
        ('{"nodes": [{}]}', 'expected a list of "edges" or one of "links", found neither'),
        ('{"nodes": [{}], "edges": [], "links": []}', 'expected a list of "edges" or one of "links", found both'),
        ('{"nodes": [{}], "links": {}}', 'expected a list of "links", found an object of 0'),
        ('{"nodes": [{"id": 1}, {"id": 1}], "edges": []}', "nodes[0] and nodes[1] have the same id, '1'"),
        ('{"nodes": [{"id": 1}, {}], "edges": []}', "nodes[0] and nodes[1] have the same id, '1'"),
        ('{"nodes": [{"id": 1.5}], "edges": []}', "expected a string or a whole number as nodes[0].id, found 1.5"),
        ('{"nodes": [{"id": true}], "edges": []}', "expected a string or a whole number as nodes[0].id, found True"),
        ('{"nodes": [{"id": null}], "edges": []}', "expected a string or a whole number as nodes[0].id, found nothing"),
        ('{"nodes": [{"label": "x"}, {}], "edges": []}', "nodes[1] has no label, but nodes[0] has one"),
        (
            '{"nodes": [{"label": 0.5}], "edges": []}',
            "expected a string or a whole number as nodes[0].label, found 0.5",
        ),
        ('{"nodes": [{"features": 1}], "edges": []}', "expected an object or a list of numbers, as nodes[0].features"),
        ('{"nodes": [{"features": {"a": NaN}}], "edges": []}', "NaN is no JSON number"),
        ('{"nodes": [{"features": {"a": 1e999}}], "edges": []}', "the feature 'a' of nodes[0].features is inf"),
        ('{"nodes": [{"features": [1e999]}], "edges": []}', "expected numbers as nodes[0].features, found inf"),
        (
            '{"nodes": [{"features": [1' + "0" * 400 + ']}], "edges": []}',
            "expected numbers as nodes[0].features, found a",
        ),
        ('{"nodes": [{"features": [1' + "0" * 9000 + ']}], "edges": []}', "Exceeds the limit"),
        ('{"nodes": [{"features": [true]}], "edges": []}', "expected numbers as nodes[0].features, found True"),
        (
            '{"nodes": [{"features": [1]}, {"features": [1, 2]}], "edges": []}',
            "expected 1 number as nodes[1].features",
        ),
        ('{"nodes": [{"features": [1]}, {"features": {}}], "edges": []}', "expected 1 number as nodes[1].features"),
        ('{"nodes": [{"features": [1]}, {}], "edges": []}', "expected 1 number as nodes[1].features, found nothing"),
        (
            '{"nodes": [{"features": {}}, {"features": [1]}], "edges": []}',
            "an object, as those before, as nodes[1]",
        ),
        (line("7"), "expected an object as edges[0], found a whole number"),
        (line('{"source": 2}'), "expected a string or a whole number as edges[0].target, found nothing"),
        (line('{"source": 2, "target": "b"}'), "edges[0].target is 'b', which is the id of no node"),
        (line('{"source": "2", "target": "a"}'), "edges[0].source is '2', which is the id of no node"),
        (line('{"source": 2, "target": 2}'), "edges[0] joins '2' to itself"),
        (
            line('{"source": 2, "target": "a"}, {"source": "a", "target": 2}'),
            "edges[0] and edges[1] join the same two nodes; edges have no direction",
        ),
        ('{"nodes": [{}], "nodes": [{}], "edges": []}', "an object has the key 'nodes' twice"),
        ('{"nodes": [{"label": "\\ud800"}], "edges": []}', "a string holds half a surrogate pair"),
    ],
)
def test_broken_networks_are_refused_with_file_line_and_value(text, message):
    with pytest.raises(FormatError) as error:
        read(f"{line('')}\n{text}\n")
    told = str(error.value)
    assert told.startswith("pages.jsonl:2:")
    assert message in told
    assert len(told) < 500


def test_files_are_recognised_also_where_they_are_broken(tmp_path):
    path = tmp_path / "pages.jsonl"
    for text in (line(""), line("")[:-1], "\n\n" + line("")):
        path.write_text(text)
        assert read_examples(path)[0] == NodeLink()


def test_what_is_read_is_what_models_take():
    first, second = (line(edge) for edge in ('{"source": 2, "target": "a"}', '{"source": 2, "target": "c"}'))
    examples = read(first.replace('"x"', '"x", "features": {"f": 2}') + "\n" + second)
    spec = Graph().specify([example.x for example in examples], [example.y for example in examples])
    assert (spec.classes, spec.vocabulary) == (("x", "y"), ("f",))
