#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dual/working_sets.hpp"

namespace structlearn {

// The inner products of the planes of one block, row after row.
template <class Store>
std::vector<double> gram(WorkingSets<Store>& sets, std::int64_t i) {
    sets.complete_products(i);
    const std::int64_t n = sets.n_planes(i);
    std::vector<double> found;
    for (std::int64_t k = 0; k < n; ++k) found.insert(found.end(), sets.dual(i).products(k), sets.dual(i).products(k) + n);
    return found;
}

// The norm of the longest row.
template <class Store>
double radius(WorkingSets<Store>& sets) {
    double largest = 0.0;
    for (std::int64_t i = 0; i < sets.n_blocks(); ++i) {
        sets.complete_products(i);
        const DualBlock& dual = sets.dual(i);
        for (std::int64_t k = 0; k < dual.size(); ++k)
            if (dual.a()[k] != 0.0) largest = std::max(largest, dual.products(k)[k] / (dual.a()[k] * dual.a()[k]));
    }
    return std::sqrt(largest);
}

}  // namespace structlearn
