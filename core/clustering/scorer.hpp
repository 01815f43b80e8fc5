#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "batch/parallel.hpp"
#include "batch/ragged.hpp"
#include "clustering/pairs.hpp"
#include "linear/sparse.hpp"
#include "linear/tokens.hpp"

namespace structlearn {

// Features of pairs, a row a kind: from weights to scores of kinds, and back to differences of features.
struct PairScorer {
    PairKinds pairs;
    CsrMatrix features;
    std::int64_t n_features;

    double score(std::int64_t kind, const double* w) const {
        return features.row(kind, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
            double sum = 0.0;
            for (std::int64_t k = 0; k < count; ++k) sum += x[k] * w[columns[k]];
            return sum;
        });
    }
};

// The scores of the kinds of each chosen example, one example after another.
inline std::vector<double> kind_scores(const PairScorer& scorer, std::span<const double> w,
                                       std::span<const std::int64_t> examples, int n_threads) {
    const auto at = scorer.pairs.kinds.gathered(examples);
    std::vector<double> scores(static_cast<std::size_t>(at.back()));
    parallel_for(static_cast<std::int64_t>(examples.size()), n_threads, [&](std::int64_t k, int) {
        const std::int64_t begin = scorer.pairs.kinds.begin(examples[k]);
        for (std::int64_t s = at[k]; s < at[k + 1]; ++s) scores[s] = scorer.score(begin + s - at[k], w.data());
    });
    return scores;
}

// Sums of rows of features, one coefficient a kind; entries that cancel are left out.
class FeatureSums {
public:
    explicit FeatureSums(std::int64_t n_weights) : dense_(static_cast<std::size_t>(n_weights), 0.0) {}

    void add(const CsrMatrix& features, std::int64_t kind, double coefficient) {
        features.row(kind, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
            for (std::int64_t k = 0; k < count; ++k) {
                double& sum = dense_[static_cast<std::size_t>(columns[k])];
                if (sum == 0.0) touched_.push_back(columns[k]);
                sum += coefficient * x[k];
            }
        });
    }

    // Appends the sum to rows and begins anew.
    void move_to(CsrRows& rows) {
        std::sort(touched_.begin(), touched_.end());
        touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
        for (const std::int32_t column : touched_) {
            double& sum = dense_[static_cast<std::size_t>(column)];
            if (sum == 0.0) continue;
            rows.indices.push_back(column);
            rows.values.push_back(sum);
            sum = 0.0;
        }
        rows.indptr.push_back(static_cast<std::int64_t>(rows.indices.size()));
        touched_.clear();
    }

private:
    std::vector<double> dense_;
    std::vector<std::int32_t> touched_;
};

// Calls work(kind, difference, disagreements) for the kinds of an example: how many more of its pairs have both items in one
// cluster on the left than on the right, and how many have on one side only.
template <class Work>
void compare(const PairKinds& data, std::int64_t example, const std::int32_t* left, const std::int32_t* right,
             Work&& work) {
    for (std::int64_t kind = data.kinds.begin(example); kind < data.kinds.end(example); ++kind) {
        std::int64_t difference = 0, disagreements = 0;
        for (std::int64_t p = data.pairs.begin(kind); p < data.pairs.end(kind); ++p) {
            const std::int32_t i = data.first[p], j = data.second[p];
            const int change = int{left[i] == left[j]} - int{right[i] == right[j]};
            difference += change;
            disagreements += change != 0;
        }
        work(kind, difference, disagreements);
    }
}

// Σ_left x − Σ_right x over the pairs of two forests of each chosen example, given by the places of their pairs.
inline CsrRows forest_differences(const PairScorer& scorer, std::span<const std::int64_t> left,
                                  std::span<const std::int64_t> left_offsets, std::span<const std::int64_t> right,
                                  std::span<const std::int64_t> right_offsets) {
    CsrRows rows;
    FeatureSums sums(scorer.n_features);
    std::vector<std::pair<std::int64_t, int>> kinds;
    auto read = [&](std::span<const std::int64_t> places, int sign) {
        for (const std::int64_t place : places) kinds.emplace_back(scorer.pairs.kind_of(place), sign);
    };
    for (std::int64_t k = 0; k < Ragged(left_offsets).count(); ++k) {
        kinds.clear();
        read(Ragged(left_offsets).of(left, k), 1);
        read(Ragged(right_offsets).of(right, k), -1);
        // Kind by kind, so that pairs on both sides cancel exactly.
        std::sort(kinds.begin(), kinds.end());
        for (std::size_t at = 0; at < kinds.size();) {
            const std::int64_t kind = kinds[at].first;
            int count = 0;
            for (; at < kinds.size() && kinds[at].first == kind; ++at) count += kinds[at].second;
            if (count != 0) sums.add(scorer.features, kind, count);
        }
        sums.move_to(rows);
    }
    return rows;
}

// The same over the pairs within the clusters of two clusterings, and how many pairs are within a cluster on one side only.
inline std::tuple<CsrRows, std::vector<std::int64_t>> cluster_differences(const PairScorer& scorer,
                                                                          std::span<const std::int64_t> examples,
                                                                          std::span<const std::int32_t> left,
                                                                          std::span<const std::int32_t> right) {
    CsrRows rows;
    std::vector<std::int64_t> disagreements(examples.size(), 0);
    FeatureSums sums(scorer.n_features);
    const auto at = scorer.pairs.items.gathered(examples);
    for (std::size_t k = 0; k < examples.size(); ++k) {
        compare(scorer.pairs, examples[k], left.data() + at[k], right.data() + at[k],
                [&](std::int64_t kind, std::int64_t difference, std::int64_t different) {
                    if (difference != 0) sums.add(scorer.features, kind, static_cast<double>(difference));
                    disagreements[k] += different;
                });
        sums.move_to(rows);
    }
    return {std::move(rows), std::move(disagreements)};
}

}  // namespace structlearn
