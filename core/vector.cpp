#include "vector.hpp"

#include <algorithm>
#include <limits>

namespace structlearn {

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// The maxima of 4·Count neighbouring columns, over all rows.
template <int Count>
[[gnu::always_inline]] inline void max_plus_block(std::int64_t n, const double* before, const double* matrix,
                                                  const double* after, double* out) {
    Lanes best[Count];
    for (int c = 0; c < Count; ++c) best[c] = minus_infinity - Lanes{};
    for (std::int64_t k = 0; k < n; ++k) {
        const double* row = matrix + k * n;
        for (int c = 0; c < Count; ++c) {
            Lanes candidate;
            load(row + lanes * c, candidate);
            candidate += before[k];
            best[c] = best[c] < candidate ? candidate : best[c];
        }
    }
    for (int c = 0; c < Count; ++c) {
        Lanes more;
        load(after + lanes * c, more);
        store(best[c] + more, out + lanes * c);
    }
}

}  // namespace

STRUCTLEARN_CLONES
void add_scaled(std::int64_t n, double a, const double* __restrict x, double* __restrict y) {
    for (std::int64_t k = 0; k < n; ++k) y[k] += a * x[k];
}

STRUCTLEARN_CLONES
double inner_product(std::int64_t n, const double* __restrict x, const double* __restrict y) {
    // The lanes are fixed so that the sum is the same on every processor.
    double sums[16] = {};
    std::int64_t k = 0;
    for (; k + 16 <= n; k += 16)
        for (int lane = 0; lane < 16; ++lane) sums[lane] += x[k + lane] * y[k + lane];
    for (; k < n; ++k) sums[0] += x[k] * y[k];
    for (int half = 8; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
}

STRUCTLEARN_CLONES
void max_plus(std::int64_t n, double base, const double* __restrict row, double* __restrict best) {
    for (std::int64_t l = 0; l < n; ++l) {
        const double candidate = base + row[l];
        best[l] = best[l] < candidate ? candidate : best[l];
    }
}

STRUCTLEARN_CLONES
void max_plus_product(std::int64_t n, const double* __restrict before, const double* __restrict matrix,
                      const double* __restrict after, double* __restrict out) {
    if (n > 256) {
        // The matrix outgrows the nearest caches: read it row by row.
        for (std::int64_t l = 0; l < n; ++l) out[l] = minus_infinity;
        for (std::int64_t k = 0; k < n; ++k) {
            const double* row = matrix + k * n;
            const double base = before[k];
            for (std::int64_t l = 0; l < n; ++l) out[l] = out[l] < base + row[l] ? base + row[l] : out[l];
        }
        for (std::int64_t l = 0; l < n; ++l) out[l] += after[l];
        return;
    }
    cover(
        n,
        [&]<int Count>(std::int64_t l)
            __attribute__((always_inline)) { max_plus_block<Count>(n, before, matrix + l, after + l, out + l); },
        [&](std::int64_t l) {
            double best = minus_infinity;
            for (std::int64_t k = 0; k < n; ++k) best = std::max(best, before[k] + matrix[k * n + l]);
            out[l] = best + after[l];
        });
}

STRUCTLEARN_CLONES
std::int64_t arg_max_plus(std::int64_t n, const double* __restrict before, const double* __restrict matrix,
                          std::int64_t column, double* __restrict workspace) {
    double top = minus_infinity;
    for (std::int64_t k = 0; k < n; ++k) workspace[k] = before[k] + matrix[k * n + column];
    for (std::int64_t k = 0; k < n; ++k) top = top < workspace[k] ? workspace[k] : top;
    for (std::int64_t k = 0; k < n; ++k)
        if (workspace[k] == top) return k;
    return 0;
}

}  // namespace structlearn
