#include "kernel/gaussian.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "linear/vector.hpp"

namespace structlearn {

namespace {

// exp(x) for x ≤ 0 in single precision: x = k log 2 + r with |r| ≤ ½ log 2, a polynomial, and 2^k put into the exponent's bits.
[[gnu::always_inline]] inline float exponential(float x) {
    constexpr float shifter = 0x1.8p23F;
    const float bounded = x < -87.0F ? -87.0F : x;
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

STRUCTLEARN_CLONES
void exponentials_of(std::int64_t n, float twice_gamma, float row, const float* __restrict columns,
                     float* __restrict out) {
    for (std::int64_t k = 0; k < n; ++k) {
        const float x = (twice_gamma * out[k] - row) - columns[k];
        out[k] = exponential(x < 0.0F ? x : 0.0F);
    }
}

STRUCTLEARN_CLONES
void exponents(std::int64_t n, double twice_gamma, double row, const double* __restrict columns,
               double* __restrict out) {
    for (std::int64_t k = 0; k < n; ++k) {
        const double x = (twice_gamma * out[k] - row) - columns[k];
        out[k] = x < 0.0 ? x : 0.0;
    }
}

void exponentials_of(std::int64_t n, double twice_gamma, double row, const double* columns, double* out) {
    exponents(n, twice_gamma, row, columns, out);
    exponentials(n, out, 0.0, out);
}

}  // namespace

template <class T>
void gaussians(std::span<T> products, std::span<const T> of_rows, std::span<const T> of_columns, double gamma) {
    const std::size_t n = of_columns.size();
    for (std::size_t i = 0; i < of_rows.size(); ++i)
        exponentials_of(static_cast<std::int64_t>(n), static_cast<T>(2.0 * gamma), of_rows[i], of_columns.data(),
                        products.data() + i * n);
}

template void gaussians(std::span<float>, std::span<const float>, std::span<const float>, double);
template void gaussians(std::span<double>, std::span<const double>, std::span<const double>, double);

}  // namespace structlearn
