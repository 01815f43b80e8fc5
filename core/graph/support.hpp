#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "graph/factor_graph.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Clears the flags of labels that no labelling can have because a factor forbids all joint labels with them, until every
// label that is left has a joint label in every factor (arc consistency). One flag for each unary.
class Support {
public:
    Support(const FactorGraph& graph, std::span<std::uint8_t> allowed)
        : graph_(graph), allowed_(allowed), adjacency_(graph), forbids_(graph.n_factors()), waits_(graph.n_factors(), 0) {
        for (std::size_t f = 0; f < graph.n_factors(); ++f) {
            forbids_[f] = forbids(f);
            enqueue(static_cast<std::int32_t>(f));
        }
        while (!queue_.empty()) {
            const auto f = queue_.front();
            queue_.pop_front();
            waits_[f] = 0;
            revise(f);
        }
    }

private:
    std::uint8_t* flags(std::int32_t i) { return allowed_.data() + graph_.unary_offsets[i]; }

    bool forbids(std::size_t f) const {
        const double* values = graph_.value(f);
        switch (graph_.kind(f)) {
            case FactorKind::table: return any_forbidden(values, graph_.table_size(f));
            case FactorKind::potts: return values[0] == minus_infinity;
            case FactorKind::truncated_linear: return false;
            case FactorKind::cardinality: return any_forbidden(values, graph_.scope(f).size() + 1);
        }
        return false;
    }
    static bool any_forbidden(const double* values, std::size_t n) {
        return std::find(values, values + n, minus_infinity) != values + n;
    }

    void enqueue(std::int32_t f) {
        if (!forbids_[f] || waits_[f]) return;
        queue_.push_back(f);
        waits_[f] = 1;
    }

    void revise(std::int32_t f) {
        if (graph_.kind(f) == FactorKind::cardinality) return revise_cardinality(f);
        const auto scope = graph_.scope(f);
        std::vector<std::vector<std::uint8_t>> found(scope.size());
        for (std::size_t k = 0; k < scope.size(); ++k) found[k].assign(graph_.n_labels[scope[k]], 0);
        graph_.each_joint(f, [&](std::span<const std::int32_t> joint, double score) {
            if (score == minus_infinity) return;
            for (std::size_t k = 0; k < joint.size(); ++k)
                if (!flags(scope[k])[joint[k]]) return;
            for (std::size_t k = 0; k < joint.size(); ++k) found[k][joint[k]] = 1;
        });
        for (std::size_t k = 0; k < scope.size(); ++k)
            for (std::size_t label = 0; label < found[k].size(); ++label)
                if (!found[k][label]) clear(scope[k], static_cast<std::int32_t>(label));
    }

    void revise_cardinality(std::int32_t f) {
        std::int64_t ones = 0, open = 0;
        for (const auto i : graph_.scope(f)) {
            ones += flags(i)[1] && !flags(i)[0];
            open += flags(i)[1] && flags(i)[0];
        }
        const double* values = graph_.value(f);
        const auto possible = [&](std::int64_t least, std::int64_t most) {
            return std::any_of(values + least, values + most + 1, [](double value) { return value > minus_infinity; });
        };
        for (const auto i : graph_.scope(f)) {
            const bool both = flags(i)[0] && flags(i)[1];
            if (flags(i)[0] && !possible(ones, ones + open - both)) clear(i, 0);
            if (flags(i)[1] && !possible(ones + both, ones + open)) clear(i, 1);
            if (both && !(flags(i)[0] && flags(i)[1])) return enqueue(f);  // the counts have changed
        }
    }

    void clear(std::int32_t i, std::int32_t label) {
        if (!flags(i)[label]) return;
        flags(i)[label] = 0;
        for (const auto f : adjacency_.of(i)) enqueue(f);
    }

    const FactorGraph& graph_;
    std::span<std::uint8_t> allowed_;
    Adjacency adjacency_;
    std::vector<std::uint8_t> forbids_, waits_;
    std::deque<std::int32_t> queue_;
};

}  // namespace structlearn
