#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cuts/components.hpp"
#include "graph/factor_graph.hpp"
#include "cuts/max_flow.hpp"
#include "cuts/pair_costs.hpp"

namespace structlearn {

// Roof duality (Hammer, Hansen and Simeone 1984; Boros and Hammer 2002; Kolmogorov and Rother 2007) for pairs of
// variables of two labels, submodular or not. Every variable i has two nodes, i and i + n, on opposite sides of a cut:
// i on the side of the source is label 0, i + n there is label 1. Where a least cut has both on the same side, the
// variable has no label. All costs are doubled.
class RoofDual {
public:
    explicit RoofDual(const FactorGraph& graph)
        : graph_(graph), n_(static_cast<std::int32_t>(graph.n_variables())), flow_(SparseNetwork(0, {})) {
        std::vector<double> costs(n_);
        std::vector<std::uint8_t> forced(2 * n_, 0);
        for (const double constant : graph.constants) value_ -= 2.0 * constant;
        for (std::int32_t i = 0; i < n_; ++i) {
            costs[i] = graph.unary(i)[0] - graph.unary(i)[1];
            value_ -= 2.0 * graph.unary(i)[0];
        }
        for (std::size_t f = 0; f < graph.n_factors(); ++f) add_pair(f, costs, forced);
        flow_ = MaxFlow(SparseNetwork(2 * graph.n_variables(), ends_));
        for (std::size_t e = 0; e < ends_.size() / 2; ++e)
            flow_.net.set_edge(e, capacities_[2 * e], capacities_[2 * e + 1]);
        start(costs, forced);
        flow_.restart(value_);
    }

    // False if every labelling is forbidden. Labels are 0, 1, or −1 for none.
    bool solve(std::span<std::int32_t> labels) {
        flow_.solve();
        if (!feasible_ || !flow_.feasible()) return false;
        for (std::int32_t i = 0; i < n_; ++i) labels[i] = reached(i) ? 0 : reached(i + n_) ? 1 : -1;
        label_components(labels);
        return true;
    }

    // No labelling scores more.
    double bound() const { return -0.5 * flow_.value(); }

private:
    static constexpr double infinite = std::numeric_limits<double>::infinity();

    std::int32_t opposite(std::int32_t v) const { return v < n_ ? v + n_ : v - n_; }

    void add_pair(std::size_t f, std::vector<double>& costs, std::vector<std::uint8_t>& forced) {
        const auto i = graph_.scope(f)[0], j = graph_.scope(f)[1];
        PairCosts pair = pair_costs(graph_, f);
        const auto forbidden = ForbiddenPairs::taken_from(pair);
        const double half = 0.5 * pair.curvature();
        costs[i] += pair.first();
        costs[j] += pair.second();
        value_ += 2.0 * (pair.at[0][0] + std::min(half, 0.0));
        for (int a = 0; a < 2; ++a) {
            forced[i + (1 - a) * n_] |= forbidden.first[a];
            forced[j + (1 - a) * n_] |= forbidden.second[a];
        }
        const auto cost = [&](int a, int b) {
            return forbidden.joint[a][b] ? infinite : std::max(a == b ? -half : half, 0.0);
        };
        add_edges(i, j, cost(0, 1), cost(1, 0));
        add_edges(i, j + n_, cost(0, 0), cost(1, 1));
    }

    // From v to w and back, and the same between their opposites.
    void add_edges(std::int32_t v, std::int32_t w, double there, double back) {
        if (there == 0.0 && back == 0.0) return;
        ends_.insert(ends_.end(), {v, w, opposite(v), opposite(w)});
        capacities_.insert(capacities_.end(), {there, back, back, there});
    }

    // forced[v]: v must be on the side of the source.
    void start(const std::vector<double>& costs, const std::vector<std::uint8_t>& forced) {
        for (std::int32_t i = 0; i < n_; ++i) {
            const bool zero = forced[i], one = forced[i + n_];
            feasible_ = feasible_ && !(zero && one);
            flow_.net.excess(i) = zero ? infinite : one ? -infinite : costs[i];
            flow_.net.excess(i + n_) = -flow_.net.excess(i);
            value_ += zero ? 0.0 : 2.0 * (one ? costs[i] : std::min(costs[i], 0.0));
        }
    }

    // Whether a node is on the side of the source in all least cuts.
    bool reached(std::int32_t v) const {
        return flow_.exhausted_source() ? flow_.net.distance(v) > 0 : flow_.net.distance(opposite(v)) < 0;
    }

    // Of the rest, those get labels whose two nodes cannot reach each other in both directions: as for formulas of two
    // literals a clause, all components take the side that what follows from it can take, too.
    void label_components(std::span<std::int32_t> labels) {
        for (std::size_t e = 0; e < ends_.size() / 2; e += 2) make_symmetric(e);
        const auto free = [&](std::int32_t v) { return labels[v % n_] < 0; };
        const auto component = strong_components(flow_.net, free);
        std::vector<std::int32_t> found(labels.begin(), labels.end());
        for (std::int32_t i = 0; i < n_; ++i)
            if (labels[i] < 0 && component[i] != component[i + n_]) found[i] = component[i] < component[i + n_] ? 0 : 1;
        std::copy(found.begin(), found.end(), labels.begin());
    }

    // The mean of a flow and its mirror image is as good a flow.
    void make_symmetric(std::size_t e) {
        auto& net = flow_.net;
        const double there = 0.5 * (net.edge_there(e) + net.edge_back(e + 1));
        const double back = 0.5 * (net.edge_back(e) + net.edge_there(e + 1));
        net.set_edge(e, there, back);
        net.set_edge(e + 1, back, there);
    }

    FactorGraph graph_;
    std::int32_t n_;
    double value_ = 0.0;
    bool feasible_ = true;
    std::vector<std::int32_t> ends_;
    std::vector<double> capacities_;
    MaxFlow flow_;
};

// Gives each variable without a label, −1, in their order, the one that scores most beside those that have one.
inline void complete_greedily(const FactorGraph& graph, std::span<std::int32_t> labels) {
    const Adjacency adjacency(graph);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] >= 0) continue;
        double score[2] = {graph.unary(i)[0], graph.unary(i)[1]};
        for (const auto f : adjacency.of(i)) {
            const auto scope = graph.scope(f);
            const bool is_first = scope[0] == static_cast<std::int32_t>(i);
            const auto other = labels[scope[is_first ? 1 : 0]];
            for (int a = 0; a < 2 && other >= 0; ++a)
                score[a] += is_first ? graph.pair_score(f, a, other) : graph.pair_score(f, other, a);
        }
        labels[i] = score[1] > score[0] ? 1 : 0;
    }
}

}  // namespace structlearn
