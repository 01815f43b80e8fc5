#pragma once

#include <cstdint>
#include <vector>

#include "batch/ragged.hpp"
#include "chain/scores.hpp"
#include "linear/tokens.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// A chain model bound to data. Weights: emissions (n_inputs, n_labels), transitions (n_labels, n_labels), then,
// with boundaries, start (n_labels) and stop (n_labels), then those of the features of label pairs, (n_pair_inputs,
// n_labels, n_labels). `balance` is η, the size of the transition features.
struct ChainData {
    CsrMatrix X;
    Ragged tokens;  // of the sequences
    std::int64_t n_labels;
    std::int64_t n_inputs;
    double balance;
    bool boundaries;
    CsrMatrix P{};  // row of token t: features of the pair of labels at t and t + 1
    std::int64_t n_pair_inputs = 0;
    const std::uint8_t* allowed_labels = nullptr;       // (n_tokens, n_labels), null if all are
    const std::uint8_t* allowed_transitions = nullptr;  // (n_labels, n_labels), then start and stop, null if all are
    const std::uint8_t* kept = nullptr;                 // (n_weights,): the features that Ψ has, null if all

    std::int64_t length(std::int64_t i) const { return tokens.size(i); }
    // Where outputs lie in an array of labels or codes.
    Ragged outputs() const { return tokens; }
    std::int64_t transitions_at() const { return n_inputs * n_labels; }
    std::int64_t start_at() const { return transitions_at() + n_labels * n_labels; }
    std::int64_t stop_at() const { return start_at() + n_labels; }
    std::int64_t pairs_at() const { return start_at() + (boundaries ? 2 * n_labels : 0); }
    std::int64_t n_weights() const { return pairs_at() + n_pair_inputs * n_labels * n_labels; }

    void forbid_labels(std::int64_t i, double* emission) const {
        if (allowed_labels) forbid(length(i) * n_labels, allowed_labels + tokens.begin(i) * n_labels, emission);
    }
    static void forbid(std::int64_t n, const std::uint8_t* allowed, double* scores) {
        for (std::int64_t k = 0; k < n; ++k)
            if (!allowed[k]) scores[k] = minus_infinity;
    }
};

// Where the scores of one sequence are written.
struct ChainWorkspace {
    std::vector<double> emission;    // (length, n_labels)
    std::vector<double> transition;  // one matrix for every pair of neighbours, where they differ
};

// The weights as scores of sequences.
class ChainWeights {
public:
    ChainWeights(const ChainData& data, const double* w) : w_(w), transition_(w + data.transitions_at()) {
        const std::int64_t L = data.n_labels;
        start_.assign(static_cast<std::size_t>(L), 0.0);
        stop_.assign(static_cast<std::size_t>(L), 0.0);
        if (data.boundaries) {
            add_scaled(L, data.balance, w + data.start_at(), start_.data());
            add_scaled(L, data.balance, w + data.stop_at(), stop_.data());
        }
        if (data.balance == 1.0 && !data.allowed_transitions) return;
        own_.assign(static_cast<std::size_t>(L * L), 0.0);
        add_scaled(L * L, data.balance, transition_, own_.data());
        transition_ = own_.data();
        if (const std::uint8_t* allowed = data.allowed_transitions) {
            ChainData::forbid(L * L, allowed, own_.data());
            ChainData::forbid(L, allowed + L * L, start_.data());
            ChainData::forbid(L, allowed + L * L + L, stop_.data());
        }
    }
    ChainWeights(const ChainWeights&) = delete;
    ChainWeights& operator=(const ChainWeights&) = delete;

    // Scores of sequence i; the workspace must outlive the result.
    ChainScores scores(const ChainData& data, std::int64_t i, ChainWorkspace& workspace) const {
        const std::int64_t L = data.n_labels;
        const std::int64_t length = data.length(i);
        workspace.emission.resize(static_cast<std::size_t>(length * L));
        for (std::int64_t t = 0; t < length; ++t)
            token_scores(data.X, data.tokens.begin(i) + t, w_, L, &workspace.emission[t * L]);
        data.forbid_labels(i, workspace.emission.data());
        if (!data.n_pair_inputs)
            return {length, L, workspace.emission.data(), transition_, start_.data(), stop_.data()};
        workspace.transition.resize(static_cast<std::size_t>((length - 1) * L * L));
        for (std::int64_t t = 0; t + 1 < length; ++t) {
            double* here = &workspace.transition[t * L * L];
            token_scores(data.P, data.tokens.begin(i) + t, w_ + data.pairs_at(), L * L, here);
            add_scaled(L * L, 1.0, transition_, here);
        }
        return {length, L, workspace.emission.data(), workspace.transition.data(), start_.data(), stop_.data(), true};
    }

    const double* transition() const { return transition_; }

private:
    const double* w_;
    const double* transition_;
    std::vector<double> own_;  // transitions times η and with their mask, unless they are the weights themselves
    std::vector<double> start_;
    std::vector<double> stop_;
};

// Calls visit(index, sign) for the transitions and ends in which Ψ(x_i, labels) and Ψ(x_i, other) differ. An index counts
// from the first transition weight; it may come more than once.
template <class Visit>
void transition_difference(const ChainData& data, std::int64_t i, const std::int32_t* labels, const std::int32_t* other,
                           Visit&& visit) {
    const std::int64_t L = data.n_labels;
    const std::int64_t last = data.length(i) - 1;
    auto exchange = [&](std::int64_t left, std::int64_t right) {
        visit(left, 1.0);
        visit(right, -1.0);
    };
    for (std::int64_t t = 0; t < last; ++t)
        if (labels[t] != other[t] || labels[t + 1] != other[t + 1])
            exchange(labels[t] * L + labels[t + 1], other[t] * L + other[t + 1]);
    if (!data.boundaries) return;
    if (labels[0] != other[0]) exchange(L * L + labels[0], L * L + other[0]);
    if (labels[last] != other[last]) exchange(L * L + L + labels[last], L * L + L + other[last]);
}

// Calls visit(t) for the positions at which two labellings of sequence i differ.
template <class Visit>
[[gnu::always_inline]] inline void differing_positions(const ChainData& data, std::int64_t i, const std::int32_t* labels,
                                                       const std::int32_t* other, Visit&& visit) {
    for (std::int64_t t = 0; t < data.length(i); ++t)
        if (labels[t] != other[t]) visit(t);
}

// Calls visit(token, pair, other pair) for the neighbours with features of their own in whose pair of labels, k L + l, two
// labellings of sequence i differ.
template <class Visit>
void differing_pairs(const ChainData& data, std::int64_t i, const std::int32_t* labels, const std::int32_t* other,
                     Visit&& visit) {
    if (!data.n_pair_inputs) return;
    const std::int64_t L = data.n_labels;
    for (std::int64_t t = 0; t + 1 < data.length(i); ++t)
        if (labels[t] != other[t] || labels[t + 1] != other[t + 1])
            visit(data.tokens.begin(i) + t, labels[t] * L + labels[t + 1], other[t] * L + other[t + 1]);
}

// Calls visit(index, value) for the entries of Ψ(x_i, labels) − Ψ(x_i, other); an index may come more than once.
template <class Visit>
void difference(const ChainData& data, std::int64_t i, const std::int32_t* labels, const std::int32_t* other,
                      Visit&& visit_kept) {
    auto visit = [&](std::int64_t index, double value) __attribute__((always_inline)) {
        if (!data.kept || data.kept[index]) visit_kept(index, value);
    };
    differing_positions(data, i, labels, other, [&](std::int64_t t) {
        data.X.row(data.tokens.begin(i) + t, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
            for (std::int64_t k = 0; k < count; ++k) {
                const std::int64_t feature = columns[k] * data.n_labels;
                visit(feature + labels[t], double{x[k]});
                visit(feature + other[t], -double{x[k]});
            }
        });
    });
    transition_difference(data, i, labels, other, [&](std::int64_t index, double sign) {
        visit(data.transitions_at() + index, sign * data.balance);
    });
    differing_pairs(data, i, labels, other, [&](std::int64_t token, std::int64_t right, std::int64_t wrong) {
        data.P.row(token, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
            for (std::int64_t k = 0; k < count; ++k) {
                const std::int64_t feature = data.pairs_at() + columns[k] * data.n_labels * data.n_labels;
                visit(feature + right, double{x[k]});
                visit(feature + wrong, -double{x[k]});
            }
        });
    });
}

// ⟨w, Ψ(x_i, labels) − Ψ(x_i, other)⟩
inline double difference_dot(const ChainData& data, std::int64_t i, const std::int32_t* labels,
                                   const std::int32_t* other, const double* w) {
    double emissions = 0.0;
    double transitions = 0.0;
    differing_positions(data, i, labels, other, [&](std::int64_t t) {
        emissions += pair_score(data.X, data.tokens.begin(i) + t, w, data.n_labels, labels[t], other[t]);
    });
    transition_difference(data, i, labels, other, [&](std::int64_t index, double sign) {
        transitions += sign * w[data.transitions_at() + index];
    });
    differing_pairs(data, i, labels, other, [&](std::int64_t token, std::int64_t right, std::int64_t wrong) {
        emissions += pair_score(data.P, token, w + data.pairs_at(), data.n_labels * data.n_labels, right, wrong);
    });
    return emissions + data.balance * transitions;
}

}  // namespace structlearn
