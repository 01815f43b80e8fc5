#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace structlearn {

// Shuffles runs of neighbours, not single blocks: memory is read in pieces that way. (std::shuffle is not the same on every
// platform; this is.)
inline void shuffle_runs(std::vector<std::int64_t>& order, std::mt19937_64& random) {
    constexpr std::size_t run = 16;
    std::ranges::sort(order);
    std::vector<std::size_t> begins;
    for (std::size_t k = 0; k < order.size(); k += run) begins.push_back(k);
    for (std::size_t k = begins.size(); k > 1; --k) std::swap(begins[k - 1], begins[random() % k]);
    std::vector<std::int64_t> shuffled;
    shuffled.reserve(order.size());
    for (const std::size_t begin : begins)
        for (std::size_t k = begin; k < std::min(begin + run, order.size()); ++k) shuffled.push_back(order[k]);
    order.swap(shuffled);
}

}  // namespace structlearn
