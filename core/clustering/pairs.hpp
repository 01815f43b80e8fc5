#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "batch/ragged.hpp"

namespace structlearn {

// Pairs of items of several examples. The pairs of an example are grouped by kind: all pairs of one kind score alike, so that
// kinds are scored and sorted, never pairs.
struct PairKinds {
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
};

// Scores of the pairs of one example: those of its kinds, plus a term, such as a loss, by whether the items have one label.
struct PairScores {
    const double* of_kinds;
    const std::int32_t* labels;  // may be null where both terms are the same
    double inside, across;
};

}  // namespace structlearn
