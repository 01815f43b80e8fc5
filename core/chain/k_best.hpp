#pragma once

#include <cstdint>
#include <vector>

#include "chain/scores.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// k-best semiring: every (position, label) keeps its k best prefixes, each with where it came from, so that
// equal scores still give different sequences.
class KBestSequences {
public:
    explicit KBestSequences(std::int64_t k) : k_(k) {}

    void begin(const ChainScores& scores) {
        L_ = scores.n_labels;
        prefixes_.assign(static_cast<std::size_t>(scores.length * L_ * k_), Prefix{});
        for (std::int64_t l = 0; l < L_; ++l) *at(0, l) = {scores.start[l] + scores.emission[l], 0, 0};
    }
    void step(const ChainScores& scores, std::int64_t t) {
        for (std::int64_t from = 0; from < L_; ++from) {
            const double* transition = scores.into(t) + from * L_;
            for (std::int64_t rank = 0; rank < k_; ++rank) {
                const double base = at(t - 1, from)[rank].score;
                if (base == minus_infinity) break;
                for (std::int64_t l = 0; l < L_; ++l) insert(at(t, l), {base + transition[l], from, rank});
            }
        }
        for (std::int64_t l = 0; l < L_; ++l)
            for (std::int64_t rank = 0; rank < k_; ++rank) at(t, l)[rank].score += scores.emission[t * L_ + l];
    }

    // Appends up to k sequences, best first, and their scores.
    void run(const ChainScores& scores, std::vector<std::vector<std::int32_t>>& found, std::vector<double>& values) {
        if (scores.length == 0) {
            found.emplace_back(), values.push_back(0.0);
            return;
        }
        forward(scores, *this);
        const std::int64_t last = scores.length - 1;
        std::vector<Prefix> ends(static_cast<std::size_t>(k_));
        for (std::int64_t l = 0; l < L_; ++l)
            for (std::int64_t rank = 0; rank < k_; ++rank)
                insert(ends.data(), {at(last, l)[rank].score + scores.stop[l], l, rank});
        for (const Prefix& end : ends) {
            if (end.score == minus_infinity) break;
            std::vector<std::int32_t>& labels = found.emplace_back(static_cast<std::size_t>(scores.length));
            std::int64_t label = end.from;
            std::int64_t rank = end.rank;
            for (std::int64_t t = last; t >= 0; --t) {
                labels[t] = static_cast<std::int32_t>(label);
                const Prefix prefix = at(t, label)[rank];
                label = prefix.from;
                rank = prefix.rank;
            }
            values.push_back(end.score);
        }
    }

private:
    struct Prefix {
        double score = minus_infinity;
        std::int64_t from = 0;
        std::int64_t rank = 0;
    };

    Prefix* at(std::int64_t t, std::int64_t label) { return &prefixes_[(t * L_ + label) * k_]; }

    void insert(Prefix* best, Prefix candidate) const {
        if (!(candidate.score > best[k_ - 1].score)) return;
        std::int64_t slot = k_ - 1;
        for (; slot > 0 && best[slot - 1].score < candidate.score; --slot) best[slot] = best[slot - 1];
        best[slot] = candidate;
    }

    std::int64_t k_;
    std::int64_t L_ = 0;
    std::vector<Prefix> prefixes_;  // (length, n_labels, k)
};

}  // namespace structlearn
