#include "linear/vector.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "linear/exponential.hpp"

namespace structlearn {

namespace {

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

// The sums of 4·Count neighbouring columns, over all rows.
template <int Count>
[[gnu::always_inline]] inline void weighted_block(std::int64_t rows, std::int64_t n, const double* factors,
                                                  std::int64_t stride, const double* matrix, double* out) {
    Lanes sums[Count] = {};
    for (std::int64_t k = 0; k < rows; ++k) {
        const double factor = factors[k * stride];
        for (int c = 0; c < Count; ++c) {
            Lanes values;
            load(matrix + k * n + lanes * c, values);
            sums[c] += factor * values;
        }
    }
    for (int c = 0; c < Count; ++c) store(sums[c], out + lanes * c);
}

// The largest of n numbers, in lanes, as the compiler may not take maxima in another order by itself.
template <class Number>
[[gnu::always_inline]] inline double largest(std::int64_t n, Number&& number) {
    constexpr int width = 32;
    double tops[width];
    for (double& top : tops) top = minus_infinity;
    std::int64_t k = 0;
    for (; k + width <= n; k += width)
        for (int lane = 0; lane < width; ++lane) {
            const double value = number(k + lane);
            tops[lane] = tops[lane] < value ? value : tops[lane];
        }
    for (; k < n; ++k) tops[0] = std::max(tops[0], number(k));
    for (int half = width / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) tops[lane] = std::max(tops[lane], tops[lane + half]);
    return tops[0];
}

// log(x): x = 2^k m with √½ ≤ m < √2, and log m = 2 artanh s with s = (m − 1)/(m + 1), by its series.
[[gnu::always_inline]] inline double logarithm(double x) {
    constexpr std::uint64_t one = 0x3ff0000000000000, root = 0x3fe6a09e667f3bcd;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t power = (bits + (one - root)) >> 52;
    const double m = std::bit_cast<double>(bits - (power << 52) + one);
    const double k = std::bit_cast<double>(power | 0x4330000000000000) - (0x1p52 + 1023.0);
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double p = 2.0 / 23.0;
    p = p * z + 2.0 / 21.0;
    p = p * z + 2.0 / 19.0;
    p = p * z + 2.0 / 17.0;
    p = p * z + 2.0 / 15.0;
    p = p * z + 2.0 / 13.0;
    p = p * z + 2.0 / 11.0;
    p = p * z + 2.0 / 9.0;
    p = p * z + 2.0 / 7.0;
    p = p * z + 2.0 / 5.0;
    p = p * z + 2.0 / 3.0;
    const double value = k * 0x1.62e42fefa0000p-1 + (2.0 * s + (s * z * p + k * 0x1.cf79abc9e3b3ap-40));
    return x < 0x1p-1022 ? minus_infinity : value;
}

}  // namespace

STRUCTLEARN_CLONES
void add_scaled(std::int64_t n, double a, const double* __restrict x, double* __restrict y) {
    for (std::int64_t k = 0; k < n; ++k) y[k] += a * x[k];
}

STRUCTLEARN_CLONES
double add_growing(std::int64_t n, double a, const double* __restrict x, double* __restrict y) {
    // The lanes are fixed so that the sum is the same on every processor.
    double sums[8] = {};
    std::int64_t k = 0;
    auto add = [&](std::int64_t at, int lane) __attribute__((always_inline)) {
        const double more = a * x[at];
        sums[lane] += more * (y[at] + y[at] + more);
        y[at] += more;
    };
    for (; k + 8 <= n; k += 8)
        for (int lane = 0; lane < 8; ++lane) add(k + lane, lane);
    for (; k < n; ++k) add(k, 0);
    for (int half = 4; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
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
void max_plus_rows(std::int64_t count, const std::int32_t* __restrict rows, std::int64_t n,
                   const double* __restrict before, const double* __restrict matrix, double* __restrict best) {
    std::int64_t r = 0;
    // Four rows a pass: what the columns have is read and written once for them.
    for (; r + 4 <= count; r += 4) {
        const double *a = matrix + rows[r] * n, *b = matrix + rows[r + 1] * n, *c = matrix + rows[r + 2] * n,
                     *d = matrix + rows[r + 3] * n;
        const double at_a = before[rows[r]], at_b = before[rows[r + 1]], at_c = before[rows[r + 2]],
                     at_d = before[rows[r + 3]];
        for (std::int64_t l = 0; l < n; ++l) {
            const double x = at_a + a[l], y = at_b + b[l], z = at_c + c[l], u = at_d + d[l];
            const double left = x < y ? y : x, right = z < u ? u : z, top = left < right ? right : left;
            best[l] = best[l] < top ? top : best[l];
        }
    }
    for (; r < count; ++r) {
        const double* row = matrix + rows[r] * n;
        const double base = before[rows[r]];
        for (std::int64_t l = 0; l < n; ++l) best[l] = best[l] < base + row[l] ? base + row[l] : best[l];
    }
}

STRUCTLEARN_CLONES
double max_of(std::int64_t n, const double* x) {
    return largest(n, [&](std::int64_t k) __attribute__((always_inline)) { return x[k]; });
}

STRUCTLEARN_CLONES
double max_sum(std::int64_t n, const double* __restrict x, const double* __restrict y) {
    return largest(n, [&](std::int64_t k) __attribute__((always_inline)) { return x[k] + y[k]; });
}

std::int64_t arg_max_sum(std::int64_t n, const double* x, const double* y) {
    const double top = max_sum(n, x, y);
    for (std::int64_t k = 0; k < n; ++k)
        if (x[k] + y[k] == top) return k;
    return 0;
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

STRUCTLEARN_CLONES
void weighted_rows(std::int64_t rows, std::int64_t n, const double* __restrict factors, std::int64_t stride,
                   const double* __restrict matrix, double* __restrict out) {
    if (n > 256) {
        // As in max_plus_product.
        for (std::int64_t l = 0; l < n; ++l) out[l] = 0.0;
        for (std::int64_t k = 0; k < rows; ++k)
            for (std::int64_t l = 0; l < n; ++l) out[l] += factors[k * stride] * matrix[k * n + l];
        return;
    }
    cover(
        n,
        [&]<int Count>(std::int64_t l)
            __attribute__((always_inline)) { weighted_block<Count>(rows, n, factors, stride, matrix + l, out + l); },
        [&](std::int64_t l) {
            double sum = 0.0;
            for (std::int64_t k = 0; k < rows; ++k) sum += factors[k * stride] * matrix[k * n + l];
            out[l] = sum;
        });
}

STRUCTLEARN_CLONES
void exponentials(std::int64_t n, const double* x, double shift, double* out) {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < n; ++k) out[k] = exponential(x[k] - shift);
}

STRUCTLEARN_CLONES
void logarithms(std::int64_t n, const double* x, double* out) {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < n; ++k) out[k] = logarithm(x[k]);
}

STRUCTLEARN_CLONES
void log_sum_product(std::int64_t n, const double* __restrict before, const double* __restrict matrix,
                     const double* __restrict after, double* __restrict workspace, double* __restrict out) {
    double* tops = workspace;
    double* sums = workspace + n;
    for (std::int64_t l = 0; l < n; ++l) tops[l] = minus_infinity;
    for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t l = 0; l < n; ++l) {
            const double candidate = before[k] + matrix[k * n + l];
            tops[l] = tops[l] < candidate ? candidate : tops[l];
        }
    for (std::int64_t l = 0; l < n; ++l) {
        tops[l] = tops[l] == minus_infinity ? 0.0 : tops[l];
        sums[l] = 0.0;
    }
    for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t l = 0; l < n; ++l) sums[l] += exponential(before[k] + matrix[k * n + l] - tops[l]);
    for (std::int64_t l = 0; l < n; ++l) out[l] = tops[l] + logarithm(sums[l]) + after[l];
}

STRUCTLEARN_CLONES
void max_of_sums(std::int64_t rows, std::int64_t n, const double* __restrict left, std::int64_t step,
                 const double* __restrict right, std::int64_t right_step, double* __restrict out) {
    for (std::int64_t l = 0; l < n; ++l) out[l] = minus_infinity;
    for (std::int64_t k = 0; k < rows; ++k)
        for (std::int64_t l = 0; l < n; ++l) {
            const double candidate = left[k * step + l] + right[k * right_step + l];
            out[l] = out[l] < candidate ? candidate : out[l];
        }
}

STRUCTLEARN_CLONES
void log_sum_of_sums(std::int64_t rows, std::int64_t n, const double* __restrict left, std::int64_t step,
                     const double* __restrict right, std::int64_t right_step, double* __restrict workspace,
                     double* __restrict out) {
    max_of_sums(rows, n, left, step, right, right_step, workspace);
    for (std::int64_t l = 0; l < n; ++l) {
        workspace[l] = workspace[l] == minus_infinity ? 0.0 : workspace[l];
        out[l] = 0.0;
    }
    for (std::int64_t k = 0; k < rows; ++k)
        for (std::int64_t l = 0; l < n; ++l)
            out[l] += exponential(left[k * step + l] + right[k * right_step + l] - workspace[l]);
    for (std::int64_t l = 0; l < n; ++l) out[l] = workspace[l] + logarithm(out[l]);
}

}  // namespace structlearn
