#pragma once

#include <cstdint>
#include <vector>

#include "hypergraph/graph.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Appends the codes of the best derivation, given the best value of every item; of equal edges the first. The goal must have
// one.
template <Hypergraph Graph>
void trace_best(const Graph& graph, std::vector<std::int64_t>& rest, Codes& codes) {
    rest.assign(1, graph.goal());
    while (!rest.empty()) {
        const std::int64_t item = rest.back();
        rest.pop_back();
        Edge best;
        double top = minus_infinity;
        graph.each_edge(item, [&](const Edge& edge) {
            const double value = value_of(graph, edge);
            if (value > top) top = value, best = edge;
        });
        graph.write(item, best, codes);
        if (best.right >= 0) rest.push_back(best.right);
        if (best.left >= 0) rest.push_back(best.left);
    }
}

}  // namespace structlearn
