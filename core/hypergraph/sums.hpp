#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "hypergraph/graph.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

// For structures without a recursion of their own: the value of every item, in the semiring.
template <Semiring S>
class InsideValues {
public:
    // Writes value[item] for all items of a graph whose own values are these.
    template <Hypergraph Graph>
    void run(const Graph& graph, std::vector<double>& value) {
        graph.each_item([&](std::int64_t item) {
            scores_.clear();
            graph.each_edge(item, [&](const Edge& edge) { scores_.push_back(value_of(graph, edge)); });
            value[item] = semiring_.total(static_cast<std::int64_t>(scores_.size()), scores_.data());
        });
    }

private:
    S semiring_;
    std::vector<double> scores_;
};

// How often each edge is expected in a derivation drawn with probability exp F(y) / Z, given log Σ exp of every item: calls
// visit(edge, number). The goal hands 1 to the edges that derive it, in the shares they have in its sum, and so on down.
template <Hypergraph Graph, class Visit>
void each_expected_edge(const Graph& graph, std::vector<double>& expected, Visit&& visit) {
    std::vector<std::int64_t> order;
    graph.each_item([&](std::int64_t item) { order.push_back(item); });
    expected.assign(static_cast<std::size_t>(graph.n_items()), 0.0);
    expected[graph.goal()] = graph.value(graph.goal()) > minus_infinity ? 1.0 : 0.0;
    for (auto item = order.rbegin(); item != order.rend(); ++item) {
        if (expected[*item] == 0.0) continue;
        graph.each_edge(*item, [&](const Edge& edge) {
            const double number = expected[*item] * std::exp(value_of(graph, edge) - graph.value(*item));
            if (!(number > 0.0)) return;
            for (const std::int64_t tail : {edge.left, edge.right})
                if (tail >= 0) expected[tail] += number;
            visit(edge, number);
        });
    }
}

}  // namespace structlearn
