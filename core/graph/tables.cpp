#include "graph/tables.hpp"

#include <algorithm>

namespace structlearn {

namespace {

// Columns that are joined at one time, so that what is kept of them stays near.
constexpr std::int64_t block = 512;

}  // namespace

STRUCTLEARN_CLONES
void max_rows(std::int64_t rows, std::int64_t n, const double* __restrict table, double* __restrict out) {
    for (std::int64_t begin = 0; begin < n; begin += block) {
        const std::int64_t end = std::min(begin + block, n);
        for (std::int64_t l = begin; l < end; ++l) out[l] = table[l];
        for (std::int64_t k = 1; k < rows; ++k)
            for (std::int64_t l = begin; l < end; ++l) out[l] = out[l] < table[k * n + l] ? table[k * n + l] : out[l];
    }
}

void log_sum_rows(std::int64_t rows, std::int64_t n, const double* table, double* out) {
    max_rows(rows, n, table, out);
    double sums[block], terms[block];
    for (std::int64_t begin = 0; begin < n; begin += block) {
        const std::int64_t size = std::min(block, n - begin);
        double* top = out + begin;
        std::fill_n(sums, size, 0.0);
        for (std::int64_t k = 0; k < rows; ++k) {
            const double* row = table + k * n + begin;
            for (std::int64_t l = 0; l < size; ++l) terms[l] = top[l] == minus_infinity ? minus_infinity : row[l] - top[l];
            exponentials(size, terms, 0.0, terms);
            for (std::int64_t l = 0; l < size; ++l) sums[l] += terms[l];
        }
        logarithms(size, sums, sums);
        for (std::int64_t l = 0; l < size; ++l) top[l] += sums[l];
    }
}

}  // namespace structlearn
