#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "relaxations/dual_ascent.hpp"

namespace structlearn {

// Cycles of pairs that cannot all have the labels that each of them likes best (Sontag, Choe and Li 2012). A node stands
// for a variable and one of its labels, against all others; the weight of an edge is what two such choices gain if they
// agree, less what they gain if they do not. A cycle with an odd number of negative edges is a contradiction: a cluster
// of its variables lowers the bound by its smallest weight at least.
class CycleFinder {
public:
    // After a forward pass that kept what it sent to the pairs.
    CycleFinder(DualAscent& dual, const std::vector<double>& sent);

    // Variables of cycles, those of the largest weights first, for about `most` clusters of three.
    std::vector<std::vector<std::int32_t>> cycles(std::size_t most);
    // The factor of two variables, or −1.
    std::int64_t factor(std::int32_t first, std::int32_t second) const {
        const auto at = factors_.find(static_cast<std::uint64_t>(first) << 32 | second);
        return at == factors_.end() ? -1 : at->second;
    }

private:
    struct Edge {
        std::int32_t node;
        bool negative;
        double weight;
    };

    void choose_nodes(const std::vector<double>& sent);
    bool has_nodes(std::int32_t i) const { return first_node_[i] < first_node_[i + 1]; }
    double share(std::size_t i, const std::vector<double>& sent);
    void add_nodes(std::size_t i, bool all);
    void add_edges(std::size_t f, const std::vector<double>& sent);
    void weigh(std::size_t f, const std::vector<double>& sent);
    void search(std::int32_t start, double least);
    void keep(std::vector<std::int32_t> cycle);

    DualAscent& dual_;
    const FactorGraph& graph_;
    std::unordered_map<std::uint64_t, std::int64_t> factors_;
    std::vector<double> shares_;  // what a variable's scores give to each of its pairs
    std::vector<std::int64_t> first_node_;
    std::vector<std::int32_t> variables_, choices_;  // of the nodes
    std::vector<std::vector<Edge>> edges_;
    std::vector<double> cells_;
    double heaviest_ = 0.0;

    std::vector<std::vector<std::int32_t>> found_;
    std::set<std::vector<std::int32_t>> known_;
    std::size_t n_triplets_ = 0;
    std::vector<std::int32_t> parents_, depths_, reached_;
};

}  // namespace structlearn
