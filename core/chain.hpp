#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sparse.hpp"
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

    double of(const std::int32_t* labels) const {
        double score = start[labels[0]] + stop[labels[length - 1]];
        for (std::int64_t t = 0; t < length; ++t) score += emission[t * n_labels + labels[t]];
        for (std::int64_t t = 0; t + 1 < length; ++t) score += transition[labels[t] * n_labels + labels[t + 1]];
        return score;
    }
};

// The one forward recursion of a chain. A semiring keeps one message a position and says how a message begins,
// how it is carried over one label's transitions, and how it takes in the emissions of its position.
template <class Semiring>
void forward(const ChainScores& scores, Semiring& semiring) {
    const std::int64_t L = scores.n_labels;
    semiring.begin(scores);
    for (std::int64_t t = 1; t < scores.length; ++t) {
        for (std::int64_t from = 0; from < L; ++from) semiring.extend(t, from, scores.transition + from * L);
        semiring.weigh(t, scores.emission + t * L);
    }
}

// Max-plus: the best sequence (Viterbi). No back-pointers: the arg-max is found again on the way back.
class BestSequence {
public:
    void begin(const ChainScores& scores) {
        L_ = scores.n_labels;
        message_.assign(static_cast<std::size_t>(scores.length * L_), minus_infinity);
        for (std::int64_t l = 0; l < L_; ++l) message_[l] = scores.start[l] + scores.emission[l];
    }
    void extend(std::int64_t t, std::int64_t from, const double* transition) {
        max_plus(L_, message_[(t - 1) * L_ + from], transition, &message_[t * L_]);
    }
    void weigh(std::int64_t t, const double* emission) { add_scaled(L_, 1.0, emission, &message_[t * L_]); }

    // Writes the best labels and returns their score.
    double trace(const ChainScores& scores, std::int32_t* labels) {
        const std::int64_t last = scores.length - 1;
        double* end = &message_[last * L_];
        add_scaled(L_, 1.0, scores.stop, end);
        std::int64_t label = std::max_element(end, end + L_) - end;
        const double best = end[label];
        labels[last] = static_cast<std::int32_t>(label);
        for (std::int64_t t = last; t > 0; --t) {
            const double* before = &message_[(t - 1) * L_];
            std::int64_t from = 0;
            double top = minus_infinity;
            for (std::int64_t l = 0; l < L_; ++l) {
                const double candidate = before[l] + scores.transition[l * L_ + label];
                if (candidate > top) top = candidate, from = l;
            }
            labels[t - 1] = static_cast<std::int32_t>(label = from);
        }
        return best;
    }

private:
    std::int64_t L_ = 0;
    std::vector<double> message_;  // (length, n_labels)
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

// The part of the weights that all sequences share, scaled by η once a call.
class ChainWeights {
public:
    ChainWeights(const ChainData& data, const double* w) : emission_(w) {
        const std::int64_t L = data.n_labels;
        transition_.resize(static_cast<std::size_t>(L * L));
        start_.assign(static_cast<std::size_t>(L), 0.0);
        stop_.assign(static_cast<std::size_t>(L), 0.0);
        add_scaled(L * L, data.balance, w + data.transitions_at(), transition_.data());
        if (data.boundaries) {
            add_scaled(L, data.balance, w + data.start_at(), start_.data());
            add_scaled(L, data.balance, w + data.stop_at(), stop_.data());
        }
    }

    // Scores of sequence i; `emission` is the caller's workspace and must outlive the result.
    ChainScores scores(const ChainData& data, std::int64_t i, std::vector<double>& emission) const {
        const std::int64_t L = data.n_labels;
        const std::int64_t length = data.length(i);
        emission.resize(static_cast<std::size_t>(length * L));
        for (std::int64_t t = 0; t < length; ++t)
            token_scores(data.X, data.offsets[i] + t, emission_, L, &emission[t * L]);
        return {length, L, emission.data(), transition_.data(), start_.data(), stop_.data()};
    }

private:
    const double* emission_;
    std::vector<double> transition_;
    std::vector<double> start_;
    std::vector<double> stop_;
};

// Calls visit(index, value) for the entries of Ψ(x_i, labels) − Ψ(x_i, other); an index may come more than once.
template <class Visit>
void chain_difference(const ChainData& data, std::int64_t i, const std::int32_t* labels, const std::int32_t* other,
                      Visit&& visit) {
    const std::int64_t L = data.n_labels;
    const std::int64_t length = data.length(i);
    for (std::int64_t t = 0; t < length; ++t) {
        if (labels[t] == other[t]) continue;
        const std::int64_t token = data.offsets[i] + t;
        for (std::int64_t k = data.X.indptr[token]; k < data.X.indptr[token + 1]; ++k) {
            const std::int64_t feature = std::int64_t{data.X.columns[k]} * L;
            visit(feature + labels[t], data.X.values[k]);
            visit(feature + other[t], -data.X.values[k]);
        }
    }
    for (std::int64_t t = 0; t + 1 < length; ++t) {
        if (labels[t] == other[t] && labels[t + 1] == other[t + 1]) continue;
        visit(data.transitions_at() + labels[t] * L + labels[t + 1], data.balance);
        visit(data.transitions_at() + other[t] * L + other[t + 1], -data.balance);
    }
    if (!data.boundaries) return;
    if (labels[0] != other[0]) {
        visit(data.start_at() + labels[0], data.balance);
        visit(data.start_at() + other[0], -data.balance);
    }
    if (labels[length - 1] != other[length - 1]) {
        visit(data.stop_at() + labels[length - 1], data.balance);
        visit(data.stop_at() + other[length - 1], -data.balance);
    }
}

}  // namespace structlearn
