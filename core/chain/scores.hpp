#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/semirings.hpp"

namespace structlearn {

// Scores of one label sequence: F(y) = start[y_0] + Σ_t emission[t, y_t] + Σ_t transition[y_t, y_{t+1}] + stop[y_T].
// A score of −∞ forbids.
struct ChainScores {
    std::int64_t length;
    std::int64_t n_labels;
    const double* emission;    // (length, n_labels)
    const double* transition;  // (n_labels, n_labels): from, to; or one such matrix for every pair of neighbours
    const double* start;       // (n_labels,)
    const double* stop;        // (n_labels,)
    bool varying = false;      // whether transitions differ from place to place

    // The transitions from position t − 1 to position t.
    const double* into(std::int64_t t) const { return varying ? transition + (t - 1) * n_labels * n_labels : transition; }

    // In the order of the decoders, so that a sequence has exactly the score with which they find it.
    double of(const std::int32_t* labels) const {
        double score = start[labels[0]] + emission[labels[0]];
        for (std::int64_t t = 1; t < length; ++t)
            score = score + into(t)[labels[t - 1] * n_labels + labels[t]] + emission[t * n_labels + labels[t]];
        return score + stop[labels[length - 1]];
    }
};

// Makes the largest of some logarithms 0 and returns what it was.
inline double take_top(std::int64_t n, double* values) {
    const double top = *std::max_element(values, values + n);
    for (std::int64_t k = 0; top > minus_infinity && k < n; ++k) values[k] -= top;
    return top;
}

// The one forward recursion of a chain, O(T L²): message[t, l] is the value of all prefixes that end with l at t. Logarithms of
// sums are made smaller at every position, or they would lose digits along the sequence; returns by how much in all.
template <Semiring S>
double chain_messages(const ChainScores& scores, S& semiring, std::vector<double>& message) {
    const std::int64_t L = scores.n_labels;
    message.resize(static_cast<std::size_t>(scores.length * L));
    double taken = 0.0;
    for (std::int64_t t = 0; t < scores.length; ++t) {
        double* here = &message[t * L];
        const double* emission = scores.emission + t * L;
        if (t > 0)
            semiring.product(L, here - L, scores.into(t), emission, here);
        else
            for (std::int64_t l = 0; l < L; ++l) here[l] = scores.start[l] + emission[l];
        if constexpr (!S::idempotent) taken += take_top(L, here);
    }
    return taken;
}

}  // namespace structlearn
