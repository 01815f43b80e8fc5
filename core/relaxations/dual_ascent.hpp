#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "relaxations/clusters.hpp"
#include "graph/factor_graph.hpp"
#include "relaxations/max_marginals.hpp"

namespace structlearn {

class CycleFinder;

// Ascent on the dual of the local polytope's linear program, one variable at a time (Kolmogorov 2015, SRMP; for pairs
// it is his TRW-S of 2006). With messages m from factors to their variables,
//
//     F(y) = constant + Σ_i h_i(y_i) + Σ_f [θ_f(y_f) − Σ_i m_fi(y_i)]   where   h_i = θ_i + Σ_f m_fi,
//
// so the sum of the maxima is an upper bound. A pass visits all variables: at i, the messages to i become the
// max-marginals of their factors, and h_i less its maximum c_i goes back in equal shares to the factors that reach
// further in the direction of the pass. After a pass all factors have the maximum 0, whatever the messages were before,
// so that the bound is constant + Σ_i c_i; passes go forward and backward in turn, and no pass raises it.
//
// A factor of two variables needs only the message to the one that the next pass meets first, and one vector holds it:
// when it has been used, that to the other takes its place. Others, and pairs that belong to clusters, have one for each
// of their variables.
class DualAscent {
public:
    explicit DualAscent(const FactorGraph& graph);
    DualAscent(const DualAscent&) = delete;

    // The bound after one more pass; −∞ where it finds that everything is forbidden.
    double pass();
    // Adds clusters of three variables where cycles contradict themselves, about so many; returns how many.
    std::size_t tighten(std::size_t most);
    // Other scores of the labels: messages stay, and the bound begins anew.
    void set_unaries(std::span<const double> unaries);

    const FactorGraph& graph() const { return graph_; }
    const Adjacency& adjacency() const { return adjacency_; }
    // The smallest bound on what the labels left can score.
    double bound() const { return bound_; }
    double score() const { return score_; }
    std::span<const std::int32_t> labels() const { return labels_; }
    std::size_t n_clusters() const { return clusters_.size(); }
    // About how many labels local search can look at in the time of a pass.
    double pass_work() const { return static_cast<double>(messages_.size()) + table_cells_ / 4.0 + clusters_.work(); }
    // Messages of passes without clusters, in which the next one is forward; and a start with those of another graph of
    // the same variables and factors: whatever they are, the bound is valid.
    std::span<const double> messages() const { return std::span(messages_).first(n_messages_); }
    void begin_with(std::span<const double> messages) { std::copy(messages.begin(), messages.end(), messages_.begin()); }
    // Takes labels from elsewhere if they are better.
    void offer(std::span<const std::int32_t> labels);

    // All that passes change and a search has to restore.
    struct State {
        std::vector<double> messages;
        Clusters::State clusters;
        std::vector<std::uint8_t> alive;
        double bound;
        bool forward;
    };
    State state() const { return {messages_, clusters_.state(), alive_, bound_, forward_}; }
    void restore(const State& state);
    std::size_t state_bytes() const;
    // For labels that come back while the messages stay as they are.
    void forget_bound() { bound_ = infinity; }

    // Labels that cannot be in a labelling above this score are dropped on the way.
    void set_cutoff(double cutoff) { cutoff_ = cutoff; }
    std::vector<std::uint8_t>& alive() { return alive_; }
    std::span<const std::uint8_t> alive(std::size_t i) const {
        return std::span(alive_).subspan(graph_.unary_offsets[i], graph_.n_labels[i]);
    }

    // The labels that the last pass decoded, and, if asked for, what they lose against the bound: at each variable, and
    // at the factors that it is in.
    std::span<const std::int32_t> decoded() const { return decoded_; }
    void watch_conflicts();
    std::span<const double> conflicts() const { return conflicts_; }

private:
    friend class CycleFinder;

    // A factor of the variable that is visited.
    struct Arc {
        std::size_t factor, place;
        double* message;
        std::int32_t other;  // the other variable of a pair with one vector, −1 for all others
        bool ahead, behind;  // whether it has variables that are still to come, or that have been visited
    };

    DualView view() const { return {graph_, messages_, offsets_, alive_}; }
    bool one_vector(std::size_t f) const { return graph_.scope(f).size() == 2 && !clusters_.has(f); }
    bool met(std::int32_t j, std::int32_t i) const { return forward_ ? j < i : j > i; }
    double* message(std::size_t f, std::size_t place);
    Arc arc(std::int32_t i, std::size_t f, std::size_t place);

    double visit(std::int32_t i);
    void gather(std::int32_t i);
    const double* left(std::size_t f);
    const double* left_given(std::size_t f, std::int32_t i);
    void drop_unsupported(std::int32_t i, double* message);
    void drop_hopeless(std::int32_t i, double top);
    void decode(std::int32_t i);
    void add_conditional(const Arc& arc, std::int32_t i);
    void distribute(std::int32_t i, double top);
    void note_conflicts(std::int32_t i, double top, double kept);
    std::size_t add_clusters(CycleFinder& finder, std::size_t most, const std::vector<double>& sent);
    void convert(std::size_t f, const std::vector<double>& sent);

    FactorGraph graph_;
    Adjacency adjacency_;
    Clusters clusters_;
    MaxMarginals marginals_;
    std::vector<std::int64_t> offsets_;  // where the messages of each factor begin
    std::vector<double> messages_;
    std::size_t n_messages_ = 0;  // without clusters
    std::vector<std::uint8_t> alive_;
    double table_cells_ = 0.0;
    bool forbids_ = false;  // whether a factor has −∞
    bool forward_ = false;  // the direction of the last pass
    double bound_ = infinity, cutoff_ = minus_infinity, score_ = minus_infinity;
    std::vector<std::int32_t> labels_, decoded_;
    double decoded_score_ = 0.0;

    // Of the variable that is visited: h_i, the same given the labels decoded before, and what goes to one factor.
    std::vector<double> belief_, conditional_, sent_;
    std::vector<Arc> arcs_;
    std::vector<double> group_;
    std::vector<double> base_, conflicts_;
    std::vector<double>* record_ = nullptr;  // where all that is sent to pairs of one vector is kept
};

}  // namespace structlearn
