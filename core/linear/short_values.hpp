#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace structlearn {

// Writes values in single precision and says whether that is exact; ends at the first block where it is not.
inline bool shorten(std::span<const double> values, std::span<float> out) {
    constexpr std::size_t block = 4096;
    for (std::size_t begin = 0; begin < values.size(); begin += block) {
        const std::size_t end = std::min(begin + block, values.size());
        bool exact = true;
        for (std::size_t k = begin; k < end; ++k) {
            out[k] = static_cast<float>(values[k]);
            exact &= double{out[k]} == values[k];
        }
        if (!exact) return false;
    }
    return true;
}

}  // namespace structlearn
