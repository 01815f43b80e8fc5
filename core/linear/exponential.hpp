#pragma once

#include <bit>
#include <cstdint>

namespace structlearn {

// exp(x): x = k log 2 + r with |r| ≤ ½ log 2, the Taylor polynomial of exp(r), and 2^k put into the exponent's bits. Without
// branches, so that loops over it become vectors; 0 below exp(−708).
[[gnu::always_inline]] inline double exponential(double x) {
    constexpr double shifter = 0x1.8p52;
    const double bounded = x < -708.0 ? -708.0 : (x > 709.0 ? 709.0 : x);
    const double shifted = bounded * 0x1.71547652b82fep0 + shifter;
    const double k = shifted - shifter;
    const double r = (bounded - k * 0x1.62e42fefa0000p-1) - k * 0x1.cf79abc9e3b3ap-40;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const double power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
    return x < -708.0 ? 0.0 : p * power;
}

// The same in single precision; 0 below exp(−87).
[[gnu::always_inline]] inline float exponential(float x) {
    constexpr float shifter = 0x1.8p23F;
    const float bounded = x < -87.0F ? -87.0F : (x > 88.0F ? 88.0F : x);
    const float shifted = bounded * 0x1.715476p0F + shifter;
    const float k = shifted - shifter;
    const float r = (bounded - k * 0x1.62e4p-1F) - k * 0x1.7f7d1cp-20F;
    float p = 1.0F / 5040.0F;
    p = p * r + 1.0F / 720.0F;
    p = p * r + 1.0F / 120.0F;
    p = p * r + 1.0F / 24.0F;
    p = p * r + 1.0F / 6.0F;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    const float power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127U) << 23);
    return x < -87.0F ? 0.0F : p * power;
}

}  // namespace structlearn
