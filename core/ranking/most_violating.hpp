#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "ranking/orders.hpp"

namespace structlearn {

// The ranking with the largest 1 − AP + Σ (s_j − s_i)/(R N) over pairs of a relevant document i after another one j
// (Yue, Finley, Radlinski and Joachims 2007, Algorithm 2): both kinds keep the order of their scores, and each of the N
// others finds its place among the R relevant ones by itself. O(R N).
class LeastPrecise {
   public:
    void run(const double* scores, const std::uint8_t* relevant, std::int64_t n, std::int32_t* order) {
        all_.resize(static_cast<std::size_t>(n));
        rank(nullptr, scores, n, all_.data());
        good_.clear();
        bad_.clear();
        for (const std::int32_t document : all_) (relevant[document] ? good_ : bad_).push_back(document);
        const std::size_t R = good_.size(), N = bad_.size();
        std::size_t first = 0, placed = 0;
        for (std::size_t j = 0; j < N; ++j) {
            const double score = scores[bad_[j]];
            double gain = 0.0, most = 0.0;
            std::size_t best = R;
            // Later ones of the others never stand before earlier ones.
            for (std::size_t i = R; i-- > first;) {
                const double rank_of_good = static_cast<double>(i + j + 1);
                gain += static_cast<double>(i + 1) / (rank_of_good * (rank_of_good + 1.0)) +
                        (score - scores[good_[i]]) / static_cast<double>(N);
                if (gain > most) {
                    most = gain;
                    best = i;
                }
            }
            while (first < best) order[placed++] = good_[first++];
            order[placed++] = bad_[j];
        }
        while (first < R) order[placed++] = good_[first++];
    }

   private:
    std::vector<std::int32_t> all_, good_, bad_;
};

// The ranking with the smallest gain Σ_p d_p g(y_p) − (1/P) Σ (s_j − s_i), the last sum over the swapped pairs, in which
// i is of a higher grade than j and stands after it. Documents of one grade keep the order of their scores, so that a
// ranking is an interleaving of the grades: a dynamic programme over how many of each grade are among the first p, up to
// the last place k that counts, beyond which all others stand by their scores.
class LeastGain {
   public:
    // `grades` are 0, 1, …; a document of grade g gains gains[document], the same for all of a grade; d_p is weights[p],
    // zero from k on.
    void run(const double* scores, const std::int32_t* grades, const double* gains, const double* weights, double pairs,
             std::int64_t k, std::int64_t n, std::int32_t* order) {
        begin(scores, grades, n, k);
        const std::size_t G = groups_.size();
        value_.assign(stride_.back(), -INFINITY);
        last_.assign(stride_.back(), 0);
        value_[0] = 0.0;
        double most = -INFINITY;
        std::size_t best = 0;
        for (std::size_t state = 0; state < stride_.back(); ++state) {
            if (value_[state] == -INFINITY) continue;
            std::int64_t placed = 0;
            for (std::size_t g = 0; g < G; ++g) {
                count_[g] = (state / stride_[g]) % (stride_[g + 1] / stride_[g]);
                placed += static_cast<std::int64_t>(count_[g]);
            }
            if (placed == k) {
                const double value = value_[state] + rest(scores, grades, n) / pairs;
                if (value > most) {
                    most = value;
                    best = state;
                }
                continue;
            }
            // What all better documents that are not placed yet lose if one of this grade is placed now.
            double better = 0.0, better_score = 0.0;
            for (std::size_t g = G; g-- > 0;) {
                const auto& group = groups_[g];
                if (count_[g] < group.size()) {
                    const std::int32_t document = group[count_[g]];
                    const double value = value_[state] - weights[placed] * gains[document] +
                                         (better * scores[document] - better_score) / pairs;
                    const std::size_t next = state + stride_[g];
                    if (value > value_[next]) {
                        value_[next] = value;
                        last_[next] = static_cast<std::uint32_t>(g);
                    }
                }
                better += static_cast<double>(group.size() - count_[g]);
                better_score += suffix_[g][count_[g]];
            }
        }
        trace(best, k, n, order);
    }

   private:
    void begin(const double* scores, const std::int32_t* grades, std::int64_t n, std::int64_t k) {
        all_.resize(static_cast<std::size_t>(n));
        rank(nullptr, scores, n, all_.data());
        const auto G = static_cast<std::size_t>(1 + *std::max_element(grades, grades + n));
        groups_.assign(G, {});
        suffix_.assign(G, {});
        count_.assign(G, 0);
        stride_.assign(1, 1);
        for (const std::int32_t document : all_) groups_[static_cast<std::size_t>(grades[document])].push_back(document);
        for (std::size_t g = 0; g < G; ++g) {
            suffix_[g].assign(groups_[g].size() + 1, 0.0);
            for (std::size_t c = groups_[g].size(); c-- > 0;)
                suffix_[g][c] = suffix_[g][c + 1] + scores[groups_[g][c]];
            stride_.push_back(stride_.back() * (std::min(groups_[g].size(), static_cast<std::size_t>(k)) + 1));
        }
    }

    // Σ (s_j − s_i) over the swapped pairs of those that are not placed, by their scores.
    double rest(const double* scores, const std::int32_t* grades, std::int64_t n) {
        const std::size_t G = groups_.size();
        seen_.assign(G, 0);
        sum_.assign(G, 0.0);
        double total = 0.0;
        for (std::int64_t p = 0; p < n; ++p) {
            const std::int32_t document = all_[static_cast<std::size_t>(p)];
            const auto g = static_cast<std::size_t>(grades[document]);
            if (seen_[g]++ < count_[g]) continue;
            for (std::size_t lower = 0; lower < g; ++lower) {
                const std::size_t ahead = seen_[lower] - std::min(seen_[lower], count_[lower]);
                total += sum_[lower] - static_cast<double>(ahead) * scores[document];
            }
            sum_[g] += scores[document];
        }
        return total;
    }

    void trace(std::size_t state, std::int64_t k, std::int64_t n, std::int32_t* order) {
        for (std::size_t g = 0; g < groups_.size(); ++g) count_[g] = (state / stride_[g]) % (stride_[g + 1] / stride_[g]);
        taken_.assign(static_cast<std::size_t>(n), false);
        for (std::int64_t p = k; p-- > 0;) {
            const std::size_t g = last_[state];
            order[p] = groups_[g][--count_[g]];
            taken_[static_cast<std::size_t>(order[p])] = true;
            state -= stride_[g];
        }
        for (const std::int32_t document : all_)
            if (!taken_[static_cast<std::size_t>(document)]) order[k++] = document;
    }

    std::vector<std::int32_t> all_;
    std::vector<std::vector<std::int32_t>> groups_;
    std::vector<std::vector<double>> suffix_;
    std::vector<std::size_t> count_, stride_, seen_;
    std::vector<double> value_, sum_;
    std::vector<std::uint32_t> last_;
    std::vector<bool> taken_;
};

// The labels with the largest 1 − F1 + (1/n) Σ_wrong −y_j s_j. Of both kinds those with the largest scores are positive
// (Joachims 2005, who tries all numbers of them). What one more of the others gains never rises with how many have
// joined and never falls with how many positives are kept, so that their best number is found by going on. O(n log n).
class LeastF1 {
   public:
    void run(const double* scores, const std::uint8_t* positive, std::int64_t n, std::uint8_t* labels) {
        all_.resize(static_cast<std::size_t>(n));
        rank(nullptr, scores, n, all_.data());
        good_.clear();
        bad_.clear();
        for (const std::int32_t document : all_) (positive[document] ? good_ : bad_).push_back(document);
        const std::size_t P = good_.size(), N = bad_.size();
        double kept_score = 0.0, joined_score = 0.0, most = -1e300;
        std::size_t kept_best = 0, joined_best = 0, joined = 0;
        const double size = static_cast<double>(n);
        for (std::size_t kept = 0; kept <= P; ++kept) {
            if (kept > 0) kept_score += scores[good_[kept - 1]] / size;
            while (joined < N && loss(kept, joined + 1, P) + scores[bad_[joined]] / size > loss(kept, joined, P))
                joined_score += scores[bad_[joined++]] / size;
            const double value = loss(kept, joined, P) + kept_score + joined_score;
            if (value > most) {
                most = value;
                kept_best = kept;
                joined_best = joined;
            }
        }
        std::fill(labels, labels + n, std::uint8_t{0});
        for (std::size_t k = 0; k < kept_best; ++k) labels[good_[k]] = 1;
        for (std::size_t k = 0; k < joined_best; ++k) labels[bad_[k]] = 1;
    }

   private:
    // 1 − F1 = 1 − 2 TP/(P + TP + FP); F1 = 1 where nothing is positive in truth or prediction.
    static double loss(std::size_t kept, std::size_t joined, std::size_t P) {
        const double all = static_cast<double>(P + kept + joined);
        return all == 0.0 ? 0.0 : 1.0 - 2.0 * static_cast<double>(kept) / all;
    }

    std::vector<std::int32_t> all_, good_, bad_;
};

}  // namespace structlearn
