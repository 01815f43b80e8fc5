#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "graph/factor_graph.hpp"

namespace structlearn {

// Local search with large moves: the variables around a random one get random labels, then random forests among them the
// best labels given all others, a few times over; what is worse than before is taken back. A forest is exact by dynamic
// programming, and in a sparse graph it has most of the variables. After a long time without gain all labels are drawn
// anew.
class ForestMoves {
public:
    ForestMoves(const FactorGraph& graph, const Adjacency& adjacency, std::uint64_t seed);

    void start(std::span<const std::int32_t> labels);
    // Moves until about so many labels were looked at, once for each of their factors; whether the best labels got better.
    bool run(std::int64_t work);
    std::span<const std::int32_t> labels() const { return best_; }

private:
    struct Edge {
        std::int32_t node, factor;  // the other one in the forest
    };
    struct Node {
        std::int32_t variable, parent, factor, tree;
        std::int64_t scores;
    };

    bool move();
    void restart();
    double penalised_score() const;
    void choose_ball();
    void optimise_forest();
    void join(std::int32_t i);
    void add_conditional(std::int32_t k);
    void order_nodes();
    void send(std::int32_t k);
    std::int32_t free_member(std::size_t f, std::int32_t i) const;
    std::int32_t root(std::int32_t k) {
        while (nodes_[k].tree != k) k = nodes_[k].tree = nodes_[nodes_[k].tree].tree;
        return k;
    }
    double local_score();
    double finite(double score) const { return score < -penalty_ ? -penalty_ : score; }
    template <class LabelOf>
    double factor_score(std::size_t f, LabelOf&& label_of) const {
        return finite(graph_.factor_score(f, label_of));
    }

    const FactorGraph& graph_;
    const Adjacency& adjacency_;
    std::mt19937_64 random_;
    double penalty_ = 0.0;  // what a forbidden score counts as
    std::int64_t work_ = 0, idle_ = 0;
    double score_ = 0.0, best_score_ = 0.0;
    std::vector<std::int32_t> labels_, best_, before_, ball_, shuffled_;
    std::vector<std::int32_t> place_;  // in the forest, −1 for all others
    std::vector<std::uint8_t> in_ball_;
    std::vector<std::uint32_t> counted_;
    std::uint32_t round_ = 0;
    std::vector<Node> nodes_;
    std::vector<std::vector<Edge>> edges_;
    std::vector<std::int32_t> order_;
    std::vector<double> scores_;
    std::vector<std::int32_t> choices_;  // the best label of a node for each of its parent's
    std::vector<std::int64_t> choice_offsets_;
};

}  // namespace structlearn
