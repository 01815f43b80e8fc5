#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cuts/search_trees.hpp"

namespace structlearn {

// Any sparse network, for `SearchTrees`. A slot is the number of an arc; arcs of a node stand one after another.
class SparseNetwork {
public:
    using Slot = std::int32_t;
    static constexpr Slot root = -1;
    static constexpr Slot none = -2;

    // Edge e joins ends[2 e] and ends[2 e + 1], with capacities of 0 in both directions.
    SparseNetwork(std::size_t n_nodes, std::span<const std::int32_t> ends)
        : nodes_(n_nodes + 1), arcs_(ends.size()), slots_(ends.size() / 2) {
        for (const auto v : ends) ++nodes_[v + 1].first;
        for (std::size_t v = 0; v < n_nodes; ++v) nodes_[v + 1].first += nodes_[v].first;
        std::vector<std::int32_t> next(n_nodes);
        for (std::size_t v = 0; v < n_nodes; ++v) next[v] = nodes_[v].first;
        for (std::size_t e = 0; e < slots_.size(); ++e) {
            const auto v = ends[2 * e], w = ends[2 * e + 1];
            const auto there = next[v]++, back = next[w]++;
            slots_[e] = there;
            arcs_[there] = {0.0, w, back};
            arcs_[back] = {0.0, v, there};
        }
    }

    std::size_t size() const { return nodes_.size() - 1; }
    void set_edge(std::size_t e, double there, double back) {
        auto& arc = arcs_[slots_[e]];
        arc.residual = there;
        arcs_[arc.back].residual = back;
    }

    double edge_there(std::size_t e) const { return arcs_[slots_[e]].residual; }
    double edge_back(std::size_t e) const { return arcs_[arcs_[slots_[e]].back].residual; }

    double& excess(std::int32_t v) { return nodes_[v].excess; }
    std::int32_t& distance(std::int32_t v) { return nodes_[v].distance; }
    std::int32_t distance(std::int32_t v) const { return nodes_[v].distance; }
    Slot& parent(std::int32_t v) { return nodes_[v].parent; }

    Slot begin(std::int32_t v) const { return nodes_[v].first; }
    Slot end(std::int32_t v) const { return nodes_[v + 1].first; }
    std::int32_t head(std::int32_t, Slot k) const { return arcs_[k].head; }
    Slot back(std::int32_t, Slot k) const { return arcs_[k].back; }
    double& out(std::int32_t, Slot k) { return arcs_[k].residual; }
    double& in(std::int32_t, Slot k, std::int32_t) { return arcs_[arcs_[k].back].residual; }

    template <class Visit>
    void each_node(Visit&& visit) {
        for (std::size_t v = 0; v < size(); ++v) visit(static_cast<std::int32_t>(v));
    }

private:
    struct Node {
        double excess = 0.0;
        std::int32_t distance = 0;
        Slot parent = none;
        std::int32_t first = 0;
    };
    struct Arc {
        double residual;
        std::int32_t head;
        Slot back;
    };

    std::vector<Node> nodes_;
    std::vector<Arc> arcs_;
    std::vector<Slot> slots_;
};

using MaxFlow = SearchTrees<SparseNetwork>;

}  // namespace structlearn
