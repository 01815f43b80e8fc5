#pragma once

#include <cstdint>
#include <vector>

#include "hypergraph/graph.hpp"
#include "linear/log_weights.hpp"

namespace structlearn {

// Draws derivations with probability exp F(y) / Z, given log Σ exp of every item; uniform() gives numbers of [0, 1).
template <Hypergraph Graph, class Uniform>
void draw_derivation(const Graph& graph, Uniform&& uniform, Codes& codes) {
    std::vector<std::int64_t> rest{graph.goal()};
    std::vector<Edge> edges;
    std::vector<double> weights;
    while (!rest.empty()) {
        const std::int64_t item = rest.back();
        rest.pop_back();
        edges.clear(), weights.clear();
        graph.each_edge(item, [&](const Edge& edge) {
            edges.push_back(edge), weights.push_back(value_of(graph, edge));
        });
        const Edge& drawn = edges[draw(static_cast<std::int64_t>(edges.size()), weights.data(), uniform())];
        graph.write(item, drawn, codes);
        if (drawn.right >= 0) rest.push_back(drawn.right);
        if (drawn.left >= 0) rest.push_back(drawn.left);
    }
}

}  // namespace structlearn
