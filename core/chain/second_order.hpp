#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chain/scores.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

// Scores of one label sequence: those of a chain + Σ_t triplet[y_t, y_{t-1}, y_{t+1}].
struct SecondOrderScores {
    ChainScores chain;
    const double* triplet;  // (n_labels, n_labels, n_labels): middle, before, after; all finite

    // The triplets with a given label in the middle: (n_labels, n_labels), from the one before to the one after.
    const double* around(std::int64_t middle) const { return triplet + middle * chain.n_labels * chain.n_labels; }

    // values[a, b] += what the label b at t adds if a is at t − 1, triplets aside.
    void arrive(std::int64_t t, double* values) const {
        const std::int64_t L = chain.n_labels;
        const double* transition = chain.into(t);
        const double* emission = chain.emission + t * L;
        for (std::int64_t a = 0; a < L; ++a)
            for (std::int64_t b = 0; b < L; ++b) values[a * L + b] += transition[a * L + b] + emission[b];
    }

    // In the order of the decoder, so that a sequence has exactly the score with which it is found.
    double of(const std::int32_t* labels) const {
        const std::int64_t L = chain.n_labels;
        double score = chain.start[labels[0]] + chain.emission[labels[0]];
        for (std::int64_t t = 1; t < chain.length; ++t) {
            const std::int32_t b = labels[t];
            if (t > 1) score += around(labels[t - 1])[labels[t - 2] * L + b];
            score += chain.into(t)[labels[t - 1] * L + b] + chain.emission[t * L + b];
        }
        return score + chain.stop[labels[chain.length - 1]];
    }
};

// message[0, a, b], which the recursion over pairs of labels begins with; there is room for all that follow.
inline void first_pairs(const SecondOrderScores& scores, std::vector<double>& message) {
    const ChainScores& chain = scores.chain;
    const std::int64_t L = chain.n_labels;
    message.resize(static_cast<std::size_t>(std::max<std::int64_t>(chain.length - 1, 0) * L * L));
    if (chain.length < 2) return;
    for (std::int64_t a = 0; a < L; ++a) std::fill_n(&message[a * L], L, chain.start[a] + chain.emission[a]);
    scores.arrive(1, message.data());
}

// The one forward recursion over pairs of labels, O(T L³): message[t − 1, a, b] is the value of all prefixes that end with a at
// t − 1 and b at t.
template <Semiring S>
class PairMessages {
public:
    void run(const SecondOrderScores& scores, std::vector<double>& message) {
        const std::int64_t L = scores.chain.n_labels;
        before_.resize(static_cast<std::size_t>(L));
        zeros_.assign(before_.size(), 0.0);
        first_pairs(scores, message);
        for (std::int64_t t = 2; t < scores.chain.length; ++t) {
            const double* pairs = &message[(t - 2) * L * L];
            double* here = &message[(t - 1) * L * L];
            for (std::int64_t a = 0; a < L; ++a) {
                for (std::int64_t c = 0; c < L; ++c) before_[c] = pairs[c * L + a];
                semiring_.product(L, before_.data(), scores.around(a), zeros_.data(), here + a * L);
            }
            scores.arrive(t, here);
        }
    }

private:
    S semiring_;
    std::vector<double> before_, zeros_;
};

// values[a, b] of all pairs at the end of a sequence, or values[b] of a single label.
inline void last_values(const SecondOrderScores& scores, const std::vector<double>& message, std::vector<double>& values) {
    const ChainScores& chain = scores.chain;
    const std::int64_t L = chain.n_labels;
    if (chain.length == 1) {
        values.resize(static_cast<std::size_t>(L));
        for (std::int64_t b = 0; b < L; ++b) values[b] = chain.start[b] + chain.emission[b] + chain.stop[b];
        return;
    }
    values.assign(message.end() - L * L, message.end());
    for (std::int64_t a = 0; a < L; ++a)
        for (std::int64_t b = 0; b < L; ++b) values[a * L + b] += chain.stop[b];
}

// The best sequence of labels. As in a chain, the arg-max is found again on the way back.
class BestOfSecondOrder {
public:
    // Writes the best labels and returns their score.
    double run(const SecondOrderScores& scores, std::int32_t* labels) {
        const std::int64_t L = scores.chain.n_labels;
        const std::int64_t last = scores.chain.length - 1;
        scratch_.resize(static_cast<std::size_t>(2 * L));
        double* before = scratch_.data();
        messages_.run(scores, message_);
        last_values(scores, message_, values_);
        const auto best = std::max_element(values_.begin(), values_.end());
        const std::int64_t pair = best - values_.begin();
        labels[last] = static_cast<std::int32_t>(pair % L);
        if (last > 0) labels[last - 1] = static_cast<std::int32_t>(pair / L);
        for (std::int64_t t = last; t > 1; --t) {
            const std::int64_t a = labels[t - 1];
            for (std::int64_t c = 0; c < L; ++c) before[c] = message_[((t - 2) * L + c) * L + a];
            labels[t - 2] =
                static_cast<std::int32_t>(arg_max_plus(L, before, scores.around(a), labels[t], before + L));
        }
        return *best;
    }

private:
    PairMessages<MaxPlus> messages_;
    std::vector<double> message_;  // (length − 1, n_labels, n_labels)
    std::vector<double> values_, scratch_;
};

}  // namespace structlearn
