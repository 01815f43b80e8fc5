#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

// One portable build that uses the vector units of the machine it runs on: the loader picks the clone.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(STRUCTLEARN_SANITIZE)
#define STRUCTLEARN_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STRUCTLEARN_CLONES
#endif

namespace structlearn {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Four doubles in a register, or in two on older processors. Spelt out, because the compiler does not find by itself that a
// block of sums or maxima can stay in registers.
using Lanes = double __attribute__((vector_size(32)));
constexpr int lanes = 4;

[[gnu::always_inline]] inline void load(const double* from, Lanes& to) { std::memcpy(&to, from, sizeof to); }
[[gnu::always_inline]] inline void store(const Lanes& from, double* to) { std::memcpy(to, &from, sizeof from); }

// Covers the columns [0, n) with blocks of `Count` registers, the widest first: block.operator()<Count>(begin), or
// single(begin) where there are fewer than four columns. The last block overlaps its neighbour rather than being narrow:
// columns are independent of one another, and to compute a few of them twice costs less than a pass of its own.
template <class Block, class Single>
[[gnu::always_inline]] inline void cover(std::int64_t n, Block&& block, Single&& single) {
    std::int64_t begin = 0;
    for (; begin + 16 <= n; begin += 16) block.template operator()<4>(begin);
    if (n >= 8 && n < 16) block.template operator()<2>(0), begin = 8;
    if (n >= 4 && n < 8) block.template operator()<1>(0), begin = 4;
    const std::int64_t rest = n - begin;
    if (rest == 0) return;
    if (rest > 8)
        block.template operator()<4>(n - 16);
    else if (rest > 4)
        block.template operator()<2>(n - 8);
    else if (n >= 4)
        block.template operator()<1>(n - 4);
    else
        for (; begin < n; ++begin) single(begin);
}

// y += a x
void add_scaled(std::int64_t n, double a, const double* x, double* y);

// y += a x; returns by how much ‖y‖² grows.
double add_growing(std::int64_t n, double a, const double* x, double* y);

// Σ x y
double inner_product(std::int64_t n, const double* x, const double* y);

// best[l] = max(best[l], base + row[l])
void max_plus(std::int64_t n, double base, const double* row, double* best);

// best[l] = max(best[l], max_k before[k] + matrix[k, l]) over the listed rows k of n columns.
void max_plus_rows(std::int64_t count, const std::int32_t* rows, std::int64_t n, const double* before,
                   const double* matrix, double* best);

// max_k x[k]; max_k (x[k] + y[k]), and the first k that has it. For many numbers.
double max_of(std::int64_t n, const double* x);
double max_sum(std::int64_t n, const double* x, const double* y);
std::int64_t arg_max_sum(std::int64_t n, const double* x, const double* y);

// out[l] = max_k (before[k] + matrix[k, l]) + after[l], for an (n, n) matrix.
void max_plus_product(std::int64_t n, const double* before, const double* matrix, const double* after, double* out);

// The first k with the largest before[k] + matrix[k, column].
std::int64_t arg_max_plus(std::int64_t n, const double* before, const double* matrix, std::int64_t column,
                          double* workspace);

// out[l] = Σ_k factors[k stride] matrix[k, l], for `rows` rows of n columns.
void weighted_rows(std::int64_t rows, std::int64_t n, const double* factors, std::int64_t stride, const double* matrix,
                   double* out);

// out[k] = exp(x[k] − shift), to a few units in the last place; 0 below exp(−708). `out` may be x.
void exponentials(std::int64_t n, const double* x, double shift, double* out);

// out[k] = log(x[k]) for x ≥ 0, to a few units in the last place; −∞ below 2^−1022. `out` may be x.
void logarithms(std::int64_t n, const double* x, double* out);

// out[l] = log Σ_k exp(before[k] + matrix[k, l]) + after[l], for an (n, n) matrix; the workspace has 2n doubles.
void log_sum_product(std::int64_t n, const double* before, const double* matrix, const double* after,
                     double* workspace, double* out);

// out[l] = max_k (left[k step + l] + right[k right_step + l]), over rows of n; steps may be negative.
void max_of_sums(std::int64_t rows, std::int64_t n, const double* left, std::int64_t step, const double* right,
                 std::int64_t right_step, double* out);

// out[l] = log Σ_k exp(left[k step + l] + right[k right_step + l]); the workspace has n doubles.
void log_sum_of_sums(std::int64_t rows, std::int64_t n, const double* left, std::int64_t step, const double* right,
                     std::int64_t right_step, double* workspace, double* out);

}  // namespace structlearn
