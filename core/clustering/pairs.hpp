#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "batch/ragged.hpp"
#include "linear/sparse.hpp"
#include "linear/tokens.hpp"

namespace structlearn {

// Pairs of items of several examples. The pairs of an example are grouped by kind: all pairs of one kind have the same row of
// features, so that kinds are scored and sorted, never pairs.
struct ItemPairsData {
    CsrMatrix features;         // a row a kind
    Ragged kinds;               // of the examples
    Ragged pairs;               // of the kinds
    const std::int32_t* first;  // items of the pairs, counted within the example
    const std::int32_t* second;
    Ragged items;  // of the examples

    std::int64_t n_items(std::int64_t example) const { return items.size(example); }
    double score(std::int64_t kind, const double* w) const {
        return features.row(kind, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
            double sum = 0.0;
            for (std::int64_t k = 0; k < count; ++k) sum += x[k] * w[columns[k]];
            return sum;
        });
    }
};

// What is added to the score of a pair, by whether its items have the same label, and which sums are too low to take.
struct PairTerms {
    double inside, across, floor;
};

// Sums of rows of features, one coefficient a kind; entries that cancel are left out.
class FeatureSums {
public:
    explicit FeatureSums(std::int64_t n_weights) : dense_(static_cast<std::size_t>(n_weights), 0.0) {}

    void add(const ItemPairsData& data, std::int64_t kind, double coefficient) {
        data.features.row(kind, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
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
void compare(const ItemPairsData& data, std::int64_t example, const std::int32_t* left, const std::int32_t* right,
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

}  // namespace structlearn
