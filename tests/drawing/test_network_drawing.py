import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.drawing import draw_network
from structlearn.drawing.label_signs import PALETTE, WRONG
from structlearn.drawing.network_layout import spring_layout
from structlearn.drawing.networks import MOST_LINES, MOST_NEIGHBOURS, MOST_NODES, WIDEST

graphs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20),
        *[st.lists(st.integers(0, 2), min_size=n, max_size=n)] * 2,
    )
)


def picture(drawing):
    (found,) = (svg for svg in re.findall(r"<svg.*?</svg>", drawing.html, re.DOTALL) if 'role="img"' in svg)
    return ElementTree.fromstring(found)


def nodes(drawing):
    """What is said of each node that is drawn, and its circle."""
    return {
        node.find("title").text: node.find("circle")
        for node in picture(drawing).iter("g")
        if node.find("circle") is not None
    }


@given(graphs)
def test_nodes_have_the_colours_of_their_labels_and_wrong_ones_an_outline(graph):
    n, edges, labels, truth = graph
    drawing = draw_network(edges, np.array(labels), truth, classes=np.arange(3))
    n_wrong = sum(a != b for a, b in zip(labels, truth, strict=True))
    assert str(drawing).startswith(f"{n_wrong} wrong of {n} node")
    found = nodes(drawing)
    for k, (label, true) in enumerate(zip(labels, truth, strict=True)):
        told = f"{k + 1}: {label}" + (f" ✗, true is {true}" if label != true else "")
        assert found[told].get("fill") == PALETTE[label]
        assert (found[told].get("stroke") == WRONG) == (label != true)


@given(graphs)
def test_lines_join_the_nodes_of_edges(graph):
    n, edges, labels, _ = graph
    drawing = draw_network(edges, labels)
    places = [(int(circle.get("cx")), int(circle.get("cy"))) for circle in nodes(drawing).values()]
    assert len(places) == n
    drawn = re.findall(r"M(\d+) (\d+)L(\d+) (\d+)", picture(drawing).find("path").get("d"))
    assert [tuple(map(int, each)) for each in drawn] == [(*places[a], *places[b]) for a, b in edges]
    width, height = int(picture(drawing).get("width")), int(picture(drawing).get("height"))
    assert all(0 < x < width and 0 < y < height for x, y in places)
    assert width <= WIDEST + 50


@settings(max_examples=40)
@given(graphs)
def test_nodes_lie_apart_and_always_at_the_same_places(graph):
    n, edges, _, _ = graph
    edges = np.array(edges, int).reshape(-1, 2)
    places = spring_layout(edges, n)
    assert np.isfinite(places).all()
    np.testing.assert_array_equal(places, spring_layout(edges, n))
    assert all(np.linalg.norm(places[a] - places[b]) > 0.2 for a, b in combinations(range(n), 2))


def test_neighbours_are_nearer_than_others():
    rows = np.arange(36).reshape(6, 6)
    edges = np.array(
        [
            *zip(rows[:, 1:].ravel(), rows[:, :-1].ravel(), strict=True),
            *zip(rows[1:].ravel(), rows[:-1].ravel(), strict=True),
        ]
    )
    places = spring_layout(edges, 36)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    beside = np.zeros((36, 36), bool)
    beside[edges[:, 0], edges[:, 1]] = beside[edges[:, 1], edges[:, 0]] = True
    np.fill_diagonal(distances, np.inf)
    # A grid is unfolded: the nearest of every node is a neighbour of it.
    assert beside[np.arange(36), distances.argmin(axis=1)].all()


def test_parts_without_a_connection_stand_side_by_side():
    edges = np.array([(k, k + 1) for k in range(29) if k % 10 != 9])
    places = spring_layout(edges, 30)
    boxes = [(places[k : k + 10].min(axis=0), places[k : k + 10].max(axis=0)) for k in (0, 10, 20)]
    for (low, high), (other_low, other_high) in combinations(boxes, 2):
        assert (high < other_low).any() or (other_high < low).any()


def test_the_terminal_lists_wrong_nodes_with_their_neighbours():
    labels, truth = ["a"] * 4, ["a", "b", "a", "b"]
    assert str(draw_network([[0, 1], [1, 3], [1, 0]], labels, truth, names=["P", "Q", "R", "S"])).split("\n") == [
        "2 wrong of 4 nodes, 3 edges",
        "Q: a✗ true is b, beside P: a, S: a✗",
        "S: a✗ true is b, beside Q: a✗",
    ]


def test_many_neighbours_and_many_nodes_are_counted():
    star = [(0, k) for k in range(1, 100)]
    lines = str(draw_network(star, [0] * 100, width=200)).split("\n")
    assert lines[1].endswith(f"{MOST_NEIGHBOURS + 1}: 0, and {99 - MOST_NEIGHBOURS} more")
    assert lines[-1] == f"and {100 - MOST_LINES} more"
    assert max(map(len, lines)) <= 200
    assert str(draw_network(star, ["x" * 50] * 100, width=60)).split("\n")[1].endswith(", beside 99 others")


def chain(n):
    return [(k, k + 1) for k in range(n - 1)]


def test_of_a_large_graph_the_wrong_nodes_and_their_neighbours_are_drawn():
    n = MOST_NODES + 1
    truth = [0] * n
    labels = [1 if k in (50, 51, 120) else 0 for k in range(n)]
    drawing = draw_network(chain(n), labels, truth)
    drawn = {int(told.split(":")[0]) - 1 for told in nodes(drawing)}
    assert drawn == {49, 50, 51, 52, 119, 120, 121}
    assert "The wrong ones are shown with their neighbours, 7 nodes in all." in drawing.html
    assert picture(drawing).find("path").get("d").count("M") == 5


def test_of_many_wrong_nodes_the_first_are_drawn_as_far_as_there_is_room():
    n = 1000
    drawing = draw_network(chain(n), [k % 10 == 0 for k in range(n)], [False] * n)
    drawn = {int(told.split(":")[0]) - 1 for told in nodes(drawing)}
    # Three nodes each, but two for the first of the chain.
    n_shown = (MOST_NODES + 1) // 3
    assert drawn == {k for k in range(10 * n_shown) if k % 10 in (0, 1) or (k % 10 == 9 and k < 10 * n_shown - 10)}
    assert f"The first {n_shown} wrong ones are shown" in drawing.html


def test_a_wrong_node_with_too_many_neighbours_is_drawn_with_some():
    star = [(k, 499) for k in range(499)]
    found = nodes(draw_network(star, [0] * 499 + [1], [0] * 500))
    assert len(found) == MOST_NODES
    assert "500: 1 ✗, true is 0" in found


def test_of_a_large_graph_without_mistakes_the_surroundings_of_a_hub_are_drawn():
    n = 400
    edges = [*chain(n), *((300, k) for k in range(20))]
    found = nodes(draw_network(edges, [0] * n, [0] * n))
    assert len(found) == MOST_NODES
    assert {f"{k + 1}: 0" for k in (300, 299, 301, *range(20))} <= set(found)


def test_names_are_escaped():
    html = draw_network([], ["<i>"], ["<u>"], names=["<b>"]).html
    assert not re.search(r"<[biu]>", html)


@pytest.mark.parametrize(
    ("edges", "labels", "options", "message"),
    [
        ([], [], {}, "the graph has no nodes"),
        ([[0, 2]], ["a", "b"], {}, r"edges\[0\] is \[0, 2\]; there are 2 nodes"),
        ([[0, 1], [-1, 0]], ["a", "b"], {}, r"edges\[1\] is \[-1, 0\]"),
        ([], ["a"], {"truth": ["a", "b"]}, "there are 1 labels but 2 true ones"),
        ([], ["a"], {"names": []}, "there are 1 labels but 0 names"),
    ],
)
def test_what_is_no_graph_is_refused(edges, labels, options, message):
    with pytest.raises(ValueError, match=message):
        draw_network(edges, labels, **options)
