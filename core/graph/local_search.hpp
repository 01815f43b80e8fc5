#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>

#include "graph/conditionals.hpp"
#include "linear/log_weights.hpp"

namespace structlearn {

// Iterated conditional modes: gives each variable the best label in turn; how many labels changed.
inline std::int64_t icm_sweep(Conditionals& conditionals, std::span<std::int32_t> labels) {
    std::int64_t changes = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto& scores = conditionals.of(i, labels);
        const auto top = std::max_element(scores.begin(), scores.end());
        // A label that is as good stays, so that this comes to an end.
        if (*top > scores[labels[i]]) {
            labels[i] = static_cast<std::int32_t>(top - scores.begin());
            ++changes;
        }
    }
    return changes;
}

// Gibbs sampling: draws the label of each variable in turn, given all others.
template <class Random>
void gibbs_sweep(Conditionals& conditionals, Random& random, std::span<std::int32_t> labels) {
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        auto& scores = conditionals.of(i, labels);
        labels[i] = static_cast<std::int32_t>(draw(static_cast<std::int64_t>(scores.size()), scores.data(), uniform(random)));
    }
}

}  // namespace structlearn
