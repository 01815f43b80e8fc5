#pragma once

#include <cstdint>

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

// The one forward recursion of a chain. A semiring keeps one message a position and says how a message begins and how it
// goes over to the next position.
template <class Semiring>
void forward(const ChainScores& scores, Semiring& semiring) {
    semiring.begin(scores);
    for (std::int64_t t = 1; t < scores.length; ++t) semiring.step(scores, t);
}

}  // namespace structlearn
