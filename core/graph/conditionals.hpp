#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/factor_graph.hpp"

namespace structlearn {

// What the labels of one variable score given those of all others.
class Conditionals {
public:
    explicit Conditionals(const FactorGraph& graph) : graph_(graph), adjacency_(graph) {}

    // Valid until the next call.
    std::vector<double>& of(std::size_t i, std::span<const std::int32_t> labels) {
        const auto unary = graph_.unary(i);
        scores_.assign(unary.begin(), unary.end());
        for (auto at = adjacency_.offsets[i]; at < adjacency_.offsets[i + 1]; ++at)
            add(adjacency_.factors[at], static_cast<std::size_t>(adjacency_.places[at]), labels);
        return scores_;
    }

    const Adjacency& adjacency() const { return adjacency_; }

private:
    void add(std::size_t f, std::size_t place, std::span<const std::int32_t> labels) {
        const auto scope = graph_.scope(f);
        const auto n = static_cast<std::int32_t>(scores_.size());
        if (scope.size() == 2) {
            const auto other = labels[scope[1 - place]];
            for (std::int32_t label = 0; label < n; ++label)
                scores_[label] += place == 0 ? graph_.pair_score(f, label, other) : graph_.pair_score(f, other, label);
            return;
        }
        // Where the values of this variable's labels begin, and how far apart they are.
        std::int64_t begin = 0, step = 1;
        if (graph_.kind(f) == FactorKind::cardinality) {
            for (std::size_t k = 0; k < scope.size(); ++k) begin += k == place ? 0 : labels[scope[k]];
        } else {
            for (std::size_t k = 0; k < scope.size(); ++k) {
                begin = begin * graph_.n_labels[scope[k]] + (k == place ? 0 : labels[scope[k]]);
                if (k > place) step *= graph_.n_labels[scope[k]];
            }
        }
        for (std::int32_t label = 0; label < n; ++label) scores_[label] += graph_.value(f)[begin + label * step];
    }

    const FactorGraph& graph_;
    Adjacency adjacency_;
    std::vector<double> scores_;
};

}  // namespace structlearn
