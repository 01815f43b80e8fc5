#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/factor_graph.hpp"

namespace structlearn {

// What a dual solver has of labels and messages, for the clusters to read.
struct DualView {
    const FactorGraph& graph;
    std::span<const double> messages;
    std::span<const std::int64_t> offsets;  // where the messages of a factor begin
    std::span<const std::uint8_t> alive;
};

// Clusters of three variables, each with messages λ to its three pairs: they make the linear program tighter. A pair
// that is in clusters has a table of its own, θ plus the messages from them; it is that of a factor, which has messages
// to its two variables, or a chord, which is a pair of clusters only.
class Clusters {
public:
    struct State {
        std::vector<double> tables, messages;
    };

    std::size_t size() const { return triplets_.size(); }
    // Of a sweep: how many labels could be looked at instead.
    double work() const { return 8.0 * static_cast<double>(size()) + work_; }
    bool has(std::size_t f) const { return !pair_of_factor_.empty() && pair_of_factor_[f] >= 0; }
    // The variable of lower number stands first in tables and messages.
    bool stands_first(std::size_t f, std::int32_t i) const { return pairs_[pair_of_factor_[f]].variables[0] == i; }

    // Makes the three largest sums of pairs equal: one step of MPLP (Sontag et al. 2008) for each cluster.
    void sweep(const DualView& view, bool forward);
    // Σ max of the chords, which like any sum of maxima belongs to the bound.
    double chord_maxima(const DualView& view);
    // Max-marginals of a factor on the variable i.
    void collect(const DualView& view, std::size_t f, std::int32_t i, double* out);

    // The number of a pair that clusters may use; `factor` is −1 for a chord.
    std::int32_t add_pair(const FactorGraph& graph, std::int32_t first, std::int32_t second, std::int64_t factor);
    bool has_pair(std::int32_t first, std::int32_t second) const { return number_.contains(key(first, second)); }
    // A cluster of i < j < k whose pairs are there already; false if there is such a cluster.
    bool add(const FactorGraph& graph, std::int32_t i, std::int32_t j, std::int32_t k);
    bool has(std::int32_t i, std::int32_t j, std::int32_t k) const;
    // Adds what labels lose at clusters to each of their variables.
    void add_losses(const DualView& view, std::span<const std::int32_t> labels, std::span<double> losses) const;
    // The table of a factor's pair.
    const double* table(std::size_t f) const { return tables_.data() + pairs_[pair_of_factor_[f]].table; }
    // Takes from the scores of the labels of i what clusters have sent to pairs of it, where both others `are_known`.
    template <class AreKnown>
    void subtract_known(const FactorGraph& graph, std::int32_t i, std::span<const std::int32_t> labels,
                        AreKnown&& are_known, double* scores) const {
        if (of_variable_.empty()) return;
        for (const auto t : of_variable_[i]) {
            const auto& triplet = triplets_[t];
            const double* sent = messages_.data() + triplet.messages;
            if (!are_known(triplet.variables)) continue;
            for (const auto p : triplet.pairs) {
                const auto [a, b] = pairs_[p].variables;
                const std::int32_t n = graph.n_labels[i], m = graph.n_labels[b];
                for (std::int32_t x = 0; x < n && a == i; ++x) scores[x] -= sent[x * m + labels[b]];
                for (std::int32_t x = 0; x < n && b == i; ++x) scores[x] -= sent[labels[a] * m + x];
                sent += cells(graph, pairs_[p]);
            }
        }
    }

    State state() const { return {tables_, messages_}; }
    void restore(const State& state);
    std::size_t state_bytes() const { return 8 * (tables_.size() + messages_.size()); }

private:
    struct Pair {
        std::array<std::int32_t, 2> variables;
        std::int64_t factor, table;
    };
    struct Triplet {
        std::array<std::int32_t, 3> variables, pairs;  // the pairs (i, j), (i, k) and (j, k)
        std::int64_t messages;
    };

    static std::uint64_t key(std::uint64_t first, std::uint64_t second) { return first << 32 | second; }
    std::int64_t cells(const FactorGraph& graph, const Pair& pair) const {
        return static_cast<std::int64_t>(graph.n_labels[pair.variables[0]]) * graph.n_labels[pair.variables[1]];
    }
    const double* left(const DualView& view, const Pair& pair, int side);
    void update(const DualView& view, const Triplet& triplet);
    double* weigh(const DualView& view, const Triplet& triplet, int e);

    std::vector<Pair> pairs_;
    std::vector<Triplet> triplets_;
    std::vector<std::int32_t> pair_of_factor_;
    std::vector<std::vector<std::int32_t>> of_variable_;  // the triplets of each variable
    std::unordered_map<std::uint64_t, std::int32_t> number_;  // of a pair
    std::unordered_map<std::uint64_t, std::vector<std::int32_t>> thirds_;
    std::vector<double> tables_, messages_;
    double work_ = 0.0;
    std::array<std::vector<double>, 3> weighed_, largest_;
    std::array<std::vector<double>, 2> left_;
};

}  // namespace structlearn
