#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "batch/ragged.hpp"
#include "linear/tokens.hpp"

namespace structlearn {

// Pairs of items of several examples. The pairs of an example are grouped by kind: all pairs of one kind have the same row of
// features, so that kinds are scored and sorted, never pairs.
struct ItemPairsData {
    CsrMatrix features;         // a row a kind
    std::int64_t n_features;
    Ragged kinds;               // of the examples
    Ragged pairs;               // of the kinds
    const std::int32_t* first;  // items of the pairs, counted within the example
    const std::int32_t* second;
    Ragged items;  // of the examples

    std::int64_t n_items(std::int64_t example) const { return items.size(example); }
    // The labels of an example's items, or null.
    const std::int32_t* of_example(std::optional<std::span<const std::int32_t>> labels, std::int64_t example) const {
        return labels ? labels->data() + items.begin(example) : nullptr;
    }
    std::int64_t kind_of(std::int64_t pair) const { return pairs.holding(pair); }
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

}  // namespace structlearn
