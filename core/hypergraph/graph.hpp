#pragma once

#include <concepts>
#include <cstdint>

#include "batch/ragged.hpp"

namespace structlearn {

// One way to derive an item: from no, one or two others, −1 for none. It adds a score, and then what all edges of the item add;
// apart, so that sums are rounded as in the structure's own recursion, and ties are ties. Where levels are counted it takes
// `step` of them.
struct Edge {
    double score = 0.0;
    double of_item = 0.0;
    std::int64_t left = -1, right = -1;
    std::int32_t step = 0;
    std::int32_t name = 0;  // for `write`
};

// A hypergraph of derivations: items are numbered, and every way to derive the goal is an output of its own. Graphs are views
// on the scores of one example, which list the edges of an item when they are asked to:
//
//     n_items(), goal()
//     each_item(visit)          visit(item) for all of them, those that others are derived from first, the goal last
//     each_edge(item, visit)    visit(edge)
//     write(item, edge, codes)  what an edge of a derivation says of the output; from the goal down, left before right
//
// and, for decoders that begin with it, value(item): ⊕ over its derivations as the structure's own recursion has found it.
template <class G>
concept Hypergraph = requires(const G graph, std::int64_t item, const Edge& edge, Codes& codes) {
    { graph.n_items() } -> std::same_as<std::int64_t>;
    { graph.goal() } -> std::same_as<std::int64_t>;
    graph.each_item([](std::int64_t) {});
    graph.each_edge(item, [](const Edge&) {});
    graph.write(item, edge, codes);
};

// What the best, or all, derivations are worth that end with this edge.
template <Hypergraph Graph>
double value_of(const Graph& graph, const Edge& edge) {
    double value = edge.left >= 0 ? graph.value(edge.left) : 0.0;
    if (edge.right >= 0) value += graph.value(edge.right);
    return value + edge.score + edge.of_item;
}

}  // namespace structlearn
