#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/factor_graph.hpp"
#include "cuts/grid_flow.hpp"
#include "cuts/max_flow.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// The negative scores of a graph of pairs, for `Fusion`. What is forbidden costs more than all that is not could.
class SparseEnergy {
public:
    MaxFlow flow;

    explicit SparseEnergy(const FactorGraph& graph)
        : flow(SparseNetwork(graph.n_variables(), graph.scopes)),
          graph_(graph),
          adjacency_(graph),
          lowest_(graph.n_factors()) {
        for (std::size_t i = 0; i < graph.n_variables(); ++i) {
            const auto scores = graph.unary(i);
            const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
            price_ += *high - *low;
        }
        for (std::size_t f = 0; f < graph.n_factors(); ++f) add_range(f);
    }

    std::size_t n_variables() const { return graph_.n_variables(); }
    std::int32_t n_labels(std::size_t i) const { return graph_.n_labels[i]; }
    std::int32_t node(std::size_t i) const { return static_cast<std::int32_t>(i); }
    double cost(std::size_t i, std::int32_t a) const { return -graph_.unary(i)[a]; }
    double pair_cost(std::size_t f, std::int32_t a, std::int32_t b) const {
        const double score = graph_.pair_score(f, a, b);
        return score == minus_infinity ? price_ : -score;
    }
    double lowest_pair_cost(std::size_t f) const { return lowest_[f]; }

    void add_pair(std::size_t f, double first, double second, double half) {
        flow.net.excess(graph_.scope(f)[0]) += first;
        flow.net.excess(graph_.scope(f)[1]) += second;
        flow.net.set_edge(f, half, half);
    }

    template <class Visit>
    void each_variable(Visit&& visit) const {
        for (std::size_t i = 0; i < n_variables(); ++i) visit(i, static_cast<std::int32_t>(i));
    }

    template <class Visit>
    void each_edge(Visit&& visit) const {
        for (std::size_t f = 0; f < graph_.n_factors(); ++f)
            visit(f, static_cast<std::size_t>(graph_.scope(f)[0]), static_cast<std::size_t>(graph_.scope(f)[1]));
    }

    template <class Visit>
    void each_edge_of(std::size_t i, Visit&& visit) const {
        for (const auto f : adjacency_.of(i)) {
            const auto scope = graph_.scope(f);
            const bool is_first = scope[0] == static_cast<std::int32_t>(i);
            visit(static_cast<std::size_t>(f), static_cast<std::size_t>(scope[is_first ? 1 : 0]), is_first);
        }
    }

private:
    void add_range(std::size_t f) {
        double low = -minus_infinity, high = minus_infinity;
        const auto take = [&](std::int32_t a, std::int32_t b) {
            const double score = graph_.pair_score(f, a, b);
            high = std::max(high, score);
            if (score != minus_infinity) low = std::min(low, score);
        };
        const auto rows = graph_.n_labels[graph_.scope(f)[0]], columns = graph_.n_labels[graph_.scope(f)[1]];
        // Of compact factors, the first row and one more agreement have all scores.
        for (std::int32_t a = 0; a < (graph_.kind(f) == FactorKind::table ? rows : 1); ++a)
            for (std::int32_t b = 0; b < columns; ++b) take(a, b);
        take(rows - 1, columns - 1);
        lowest_[f] = -high;
        if (high != minus_infinity) price_ += high - low + std::max(-high, 0.0);
    }

    FactorGraph graph_;
    Adjacency adjacency_;
    std::vector<double> lowest_;
    double price_ = 1.0;
};

// The same of a grid whose neighbours share a table of costs, counted by weights.
template <int n_arcs>
class GridEnergy {
public:
    struct Edge {
        std::int32_t first;
        std::uint8_t slot;
        double weight;
    };
    // Of each direction, row after row; empty for weights of 1.
    using Weights = std::array<std::span<const double>, n_arcs / 2>;

    GridFlow<n_arcs> flow;

    GridEnergy(std::int32_t n_rows, std::int32_t n_columns, std::int32_t n_labels, std::span<const double> scores,
               std::span<const double> table, const Weights& weights)
        : flow(GridNetwork<n_arcs>(n_rows, n_columns)), n_rows_(n_rows), n_columns_(n_columns), n_labels_(n_labels),
          scores_(scores), weights_(weights) {
        for (const double score : table) table_.push_back(-score);
        lowest_ = *std::min_element(table_.begin(), table_.end());
    }

    std::size_t n_variables() const { return static_cast<std::size_t>(n_rows_) * n_columns_; }
    std::int32_t n_labels(std::size_t) const { return n_labels_; }
    std::int32_t node(std::size_t i) const { return flow.net.node(row(i), column(i)); }
    double cost(std::size_t i, std::int32_t a) const { return -scores_[i * n_labels_ + a]; }
    double pair_cost(const Edge& edge, std::int32_t a, std::int32_t b) const {
        return edge.weight * table_[a * n_labels_ + b];
    }
    double lowest_pair_cost(const Edge& edge) const { return edge.weight * lowest_; }

    void add_pair(const Edge& edge, double first, double second, double half) {
        const std::int32_t w = flow.net.head(edge.first, edge.slot);
        flow.net.excess(edge.first) += first;
        flow.net.excess(w) += second;
        flow.net.out(edge.first, edge.slot) = half;
        flow.net.in(edge.first, edge.slot, w) = half;
    }

    template <class Visit>
    void each_variable(Visit&& visit) const {
        std::size_t i = 0;
        for (std::int32_t r = 0; r < n_rows_; ++r)
            for (std::int32_t c = 0; c < n_columns_; ++c) visit(i++, flow.net.node(r, c));
    }

    template <class Visit>
    void each_edge(Visit&& visit) const {
        std::array<std::size_t, n_arcs / 2> next{};
        std::size_t i = 0;
        for (std::int32_t r = 0; r < n_rows_; ++r)
            for (std::int32_t c = 0; c < n_columns_; ++c, ++i)
                for (int d = 0; d < n_arcs / 2; ++d) {
                    const auto [down, right] = grid_steps[d];
                    if (r + down >= n_rows_ || c + right < 0 || c + right >= n_columns_) continue;
                    const double weight = weights_[d].empty() ? 1.0 : weights_[d][next[d]++];
                    visit(Edge{flow.net.node(r, c), static_cast<std::uint8_t>(2 * d), weight}, i,
                          i + down * n_columns_ + right);
                }
    }

    template <class Visit>
    void each_edge_of(std::size_t i, Visit&& visit) const {
        for (int d = 0; d < n_arcs / 2; ++d)
            for (const int sign : {1, -1}) {
                const auto r = row(i) + sign * grid_steps[d][0], c = column(i) + sign * grid_steps[d][1];
                if (r < 0 || r >= n_rows_ || c < 0 || c >= n_columns_) continue;
                const std::size_t j = static_cast<std::size_t>(r) * n_columns_ + c;
                visit(edge(sign > 0 ? i : j, d), j, sign > 0);
            }
    }

private:
    std::int32_t row(std::size_t i) const { return static_cast<std::int32_t>(i) / n_columns_; }
    std::int32_t column(std::size_t i) const { return static_cast<std::int32_t>(i) % n_columns_; }

    // The edge from a variable along step d.
    Edge edge(std::size_t i, int d) const {
        const int right = grid_steps[d][1];
        const auto place = static_cast<std::size_t>(row(i)) * (n_columns_ - std::abs(right)) + column(i) - (right < 0);
        return {node(i), static_cast<std::uint8_t>(2 * d), weights_[d].empty() ? 1.0 : weights_[d][place]};
    }

    std::int32_t n_rows_;
    std::int32_t n_columns_;
    std::int32_t n_labels_;
    std::span<const double> scores_;
    Weights weights_;
    std::vector<double> table_;
    double lowest_;
};

}  // namespace structlearn
