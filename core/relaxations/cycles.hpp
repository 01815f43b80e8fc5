#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "relaxations/dual_ascent.hpp"

namespace structlearn {

// Cycles of pairs that cannot all have the labels that each of them likes best (Sontag, Choe and Li 2012). A node stands
// for a variable and one of its labels, against all others; the weight of an edge is what two such choices gain if they
// agree, less what they gain if they do not. A cycle with an odd number of negative edges is a contradiction.
class CycleFinder {
public:
    // What a pair is charged with for labels that lose something elsewhere. A share of what they lose at their variable makes
    // all pairs together lose no more than there is: a cluster lowers the bound by the smallest weight of its cycle at
    // least. All that they lose at their variable and at other pairs shows contradictions that are hidden by labels which
    // only another pair rules out; most clusters lower the bound then as well.
    enum class Charge { share, all };

    // After a forward pass that kept what it sent to the pairs.
    CycleFinder(DualAscent& dual, const std::vector<double>& sent, Charge charge);

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

    void find_losses();
    void add_messages(std::size_t i);
    void choose_nodes();
    double margin(std::size_t i) const;
    bool has_nodes(std::int32_t i) const { return first_node_[i] < first_node_[i + 1]; }
    void add_nodes(std::size_t i, bool all);
    void add_edges(std::size_t f);
    std::pair<std::int32_t, std::int32_t> weigh(std::size_t f);
    void add_other_losses(std::int32_t i, std::int32_t j);
    void search(std::int32_t start, double least);
    std::vector<std::int32_t> way(std::int32_t at, std::int32_t from) const;
    void keep(std::vector<std::int32_t> cycle);

    DualAscent& dual_;
    const FactorGraph& graph_;
    std::unordered_map<std::uint64_t, std::int64_t> factors_;
    const std::vector<double>& sent_;
    Charge charge_;
    std::vector<double> losses_;  // of each label against the best of its variable, there or there and at all pairs of it
    std::vector<std::int32_t> n_pairs_;  // of each variable
    std::vector<std::int64_t> first_node_;
    std::vector<std::int32_t> variables_, choices_;  // of the nodes
    std::vector<std::vector<Edge>> edges_;
    std::vector<double> cells_, rows_, columns_;
    double heaviest_ = 0.0;

    std::vector<std::vector<std::int32_t>> found_;
    std::set<std::vector<std::int32_t>> known_;
    std::size_t n_triplets_ = 0;
    std::vector<std::int32_t> parents_, depths_, reached_;
};

}  // namespace structlearn
