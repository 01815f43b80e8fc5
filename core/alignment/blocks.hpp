#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace structlearn::blocks {

// Numbers beyond the range of doubles, for `AlignmentProducts`: the values of a block of neighbouring columns share an exponent,
// and are themselves times that power of two.
constexpr std::int64_t block = 16;  // columns
constexpr std::int64_t nowhere = -(std::int64_t{1} << 40);  // exponent of zero

// Scores within these bounds multiply by 2^−505 to 2^87 for a match, by 2^−58 to 2^22 for a gap, and by no less than 2^−462 for all
// insertions of a block.
constexpr double least_match = -350.0, largest_match = 60.0, least_first = -40.0, least_next = -20.0, largest_gap = 15.0;
// The largest value of a block is within 2^±slack, and no value that is not zero is below `least_value`, nor one that is handed
// on to the next block below `least_handed`: what would be smaller is made larger, so that products never vanish, and what
// that adds in all is bounded in the end.
constexpr std::int64_t slack = 48;
constexpr double largest_value = 0x1p500, least_value = 0x1p-500, least_handed = 0x1p-400;
// By how much, at most, that makes a value larger: one that is handed on and the factors of a step, or of four insertions.
constexpr std::int64_t most_added = -400 + 87;

[[gnu::always_inline]] inline double power_of_two(std::int64_t k) {
    if (k < -1022) return 0.0;
    if (k > 1023) return std::numeric_limits<double>::infinity();
    return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

[[gnu::always_inline]] inline std::int64_t exponent_of(double value, std::int64_t exponent) {
    return value > 0.0 ? exponent + static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(value) >> 52) - 1023 : nowhere;
}

// 1 in a block of this exponent.
inline double one_at(std::int64_t exponent) { return std::max(power_of_two(-exponent), least_value); }

// `to` = a block of values times a power of two.
inline void scale_block(const double* from, std::int64_t by, double* to) {
    const double factor = power_of_two(by);
    for (std::int64_t j = 0; j < block; ++j) to[j] = from[j] == 0.0 ? 0.0 : std::max(from[j] * factor, least_value);
}

// A value that the neighbouring block hands on, and its exponent there.
struct Handed {
    double value = 0.0;
    std::int64_t exponent = nowhere;

    [[gnu::always_inline]] std::int64_t size() const { return exponent_of(value, exponent); }
    [[gnu::always_inline]] double in(std::int64_t other) const {
        return value == 0.0 ? 0.0 : std::max(value * power_of_two(exponent - other), least_handed);
    }
};

// A number with an exponent of its own.
struct WideNumber {
    double value = 0.0;
    std::int64_t exponent = 0;

    void add(double more, std::int64_t its_exponent) {
        if (more == 0.0) return;
        if (value == 0.0) exponent = its_exponent;
        const std::int64_t by = its_exponent - exponent;
        value = by <= 0 ? value + more * power_of_two(by) : value * power_of_two(-by) + more;
        if (by > 0) exponent = its_exponent;
    }
};

}  // namespace structlearn::blocks
