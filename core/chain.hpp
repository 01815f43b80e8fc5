#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "tokens.hpp"
#include "vector.hpp"

namespace structlearn {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Scores of one label sequence: F(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_t transition[y_t, y_{t+1}] + stop[y_T].
struct ChainScores {
    std::int64_t length;
    std::int64_t n_labels;
    const double* emission;    // (length, n_labels)
    const double* transition;  // (n_labels, n_labels): from, to
    const double* start;       // (n_labels,)
    const double* stop;        // (n_labels,)

    // In the order of the decoders, so that a sequence has exactly the score with which they find it.
    double of(const std::int32_t* labels) const {
        double score = start[labels[0]] + emission[labels[0]];
        for (std::int64_t t = 1; t < length; ++t)
            score = score + transition[labels[t - 1] * n_labels + labels[t]] + emission[t * n_labels + labels[t]];
        return score + stop[labels[length - 1]];
    }
};

// The one forward recursion of a chain. A semiring keeps one message a position and says how a message begins and how it
// goes over to the next position.
template <class Semiring>
void forward(const ChainScores& scores, Semiring& semiring) {
    semiring.begin(scores);
    for (std::int64_t t = 1; t < scores.length; ++t) semiring.step(scores, t);
}

// Max-plus: the best sequence (Viterbi). No back-pointers: the arg-max is found again on the way back.
class BestSequence {
public:
    void begin(const ChainScores& scores) {
        L_ = scores.n_labels;
        message_.resize(static_cast<std::size_t>(scores.length * L_));
        candidates_.resize(static_cast<std::size_t>(L_));
        for (std::int64_t l = 0; l < L_; ++l) message_[l] = scores.start[l] + scores.emission[l];
    }
    void step(const ChainScores& scores, std::int64_t t) {
        max_plus_product(L_, &message_[(t - 1) * L_], scores.transition, scores.emission + t * L_, &message_[t * L_]);
    }

    // Writes the best labels and returns their score.
    double trace(const ChainScores& scores, std::int32_t* labels) {
        const std::int64_t last = scores.length - 1;
        double* end = &message_[last * L_];
        add_scaled(L_, 1.0, scores.stop, end);
        std::int64_t label = std::max_element(end, end + L_) - end;
        const double best = end[label];
        labels[last] = static_cast<std::int32_t>(label);
        for (std::int64_t t = last; t > 0; --t) {
            label = arg_max_plus(L_, &message_[(t - 1) * L_], scores.transition, label, candidates_.data());
            labels[t - 1] = static_cast<std::int32_t>(label);
        }
        return best;
    }

private:
    std::int64_t L_ = 0;
    std::vector<double> message_;  // (length, n_labels)
    std::vector<double> candidates_;
};

// A chain model bound to data. Weights: emissions (n_inputs, n_labels), transitions (n_labels, n_labels), then,
// with boundaries, start (n_labels) and stop (n_labels). `balance` is η, the size of the transition features.
struct ChainData {
    CsrMatrix X;
    const std::int64_t* offsets;  // tokens of sequence i: offsets[i] ... offsets[i + 1] - 1
    std::int64_t n_labels;
    std::int64_t n_inputs;
    double balance;
    bool boundaries;

    std::int64_t length(std::int64_t i) const { return offsets[i + 1] - offsets[i]; }
    std::int64_t transitions_at() const { return n_inputs * n_labels; }
    std::int64_t start_at() const { return transitions_at() + n_labels * n_labels; }
    std::int64_t stop_at() const { return start_at() + n_labels; }
};

// The weights as scores of sequences.
class ChainWeights {
public:
    ChainWeights(const ChainData& data, const double* w) : emission_(w), transition_(w + data.transitions_at()) {
        const std::int64_t L = data.n_labels;
        start_.assign(static_cast<std::size_t>(L), 0.0);
        stop_.assign(static_cast<std::size_t>(L), 0.0);
        if (data.boundaries) {
            add_scaled(L, data.balance, w + data.start_at(), start_.data());
            add_scaled(L, data.balance, w + data.stop_at(), stop_.data());
        }
        if (data.balance == 1.0) return;
        scaled_.assign(static_cast<std::size_t>(L * L), 0.0);
        add_scaled(L * L, data.balance, transition_, scaled_.data());
        transition_ = scaled_.data();
    }
    ChainWeights(const ChainWeights&) = delete;
    ChainWeights& operator=(const ChainWeights&) = delete;

    // Scores of sequence i; `emission` is the caller's workspace and must outlive the result.
    ChainScores scores(const ChainData& data, std::int64_t i, std::vector<double>& emission) const {
        const std::int64_t L = data.n_labels;
        const std::int64_t length = data.length(i);
        emission.resize(static_cast<std::size_t>(length * L));
        for (std::int64_t t = 0; t < length; ++t)
            token_scores(data.X, data.offsets[i] + t, emission_, L, &emission[t * L]);
        return {length, L, emission.data(), transition_, start_.data(), stop_.data()};
    }

private:
    const double* emission_;
    const double* transition_;
    std::vector<double> scaled_;  // transitions times η, unless η is 1
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
void differing_positions(const ChainData& data, std::int64_t i, const std::int32_t* labels, const std::int32_t* other,
                         Visit&& visit) {
    for (std::int64_t t = 0; t < data.length(i); ++t)
        if (labels[t] != other[t]) visit(t);
}

// Calls visit(index, value) for the entries of Ψ(x_i, labels) − Ψ(x_i, other); an index may come more than once.
template <class Visit>
void chain_difference(const ChainData& data, std::int64_t i, const std::int32_t* labels, const std::int32_t* other,
                      Visit&& visit) {
    differing_positions(data, i, labels, other, [&](std::int64_t t) {
        data.X.row(data.offsets[i] + t, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
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
}

// ⟨w, Ψ(x_i, labels) − Ψ(x_i, other)⟩
inline double chain_difference_dot(const ChainData& data, std::int64_t i, const std::int32_t* labels,
                                   const std::int32_t* other, const double* w) {
    double emissions = 0.0;
    double transitions = 0.0;
    differing_positions(data, i, labels, other, [&](std::int64_t t) {
        emissions += pair_score(data.X, data.offsets[i] + t, w, data.n_labels, labels[t], other[t]);
    });
    transition_difference(data, i, labels, other, [&](std::int64_t index, double sign) {
        transitions += sign * w[data.transitions_at() + index];
    });
    return emissions + data.balance * transitions;
}

}  // namespace structlearn
