#include "linear/pruned_max_plus.hpp"

#include <algorithm>

#include "linear/vector.hpp"

namespace structlearn {

namespace {

// out = base + row, and the gaps of the columns; +∞ for columns that end at −∞.
STRUCTLEARN_CLONES
void read_first(std::int64_t n, double base, const double* __restrict row, const double* __restrict tops,
                const double* __restrict after, double* __restrict out, double* __restrict gaps) {
    for (std::int64_t l = 0; l < n; ++l) {
        out[l] = base + row[l];
        const double gap = out[l] - tops[l];
        gaps[l] = after[l] > minus_infinity ? gap : -minus_infinity;
    }
}

STRUCTLEARN_CLONES
std::int64_t count_above(std::int64_t n, const double* __restrict x, double threshold) {
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < n; ++k) count += x[k] > threshold;
    return count;
}

STRUCTLEARN_CLONES
std::int64_t count_below(std::int64_t n, const double* __restrict x, double threshold) {
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < n; ++k) count += x[k] < threshold;
    return count;
}

// The least of the numbers above −∞, +∞ if there is none.
STRUCTLEARN_CLONES
double least_finite(std::int64_t n, const double* x) {
    double least[8];
    std::fill_n(least, 8, -minus_infinity);
    auto lower = [&](double value, int lane) __attribute__((always_inline)) {
        const double finite = value > minus_infinity ? value : -minus_infinity;
        least[lane] = finite < least[lane] ? finite : least[lane];
    };
    std::int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        for (int lane = 0; lane < 8; ++lane) lower(x[k + lane], lane);
    for (; k < n; ++k) lower(x[k], 0);
    return *std::min_element(least, least + 8);
}

std::int64_t list_above(std::int64_t n, const double* x, double threshold, std::int32_t* listed) {
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        listed[count] = static_cast<std::int32_t>(k);
        count += x[k] > threshold;
    }
    return count;
}

// The columns that rows with before[k] ≤ threshold might change.
std::int64_t list_open(std::int64_t n, double threshold, const double* tops, const double* after, const double* best,
                       std::int32_t* listed) {
    std::int64_t count = 0;
    for (std::int64_t l = 0; l < n; ++l) {
        listed[count] = static_cast<std::int32_t>(l);
        count += (threshold + tops[l] > best[l]) & (after[l] > minus_infinity);
    }
    return count;
}

}  // namespace

void PrunedMaxPlus::set(std::int64_t n, const double* matrix) {
    transposed_.resize(static_cast<std::size_t>(n * n));
    tops_.assign(static_cast<std::size_t>(n), minus_infinity);
    gaps_.resize(static_cast<std::size_t>(n));
    listed_.resize(static_cast<std::size_t>(n));
    skipped_ = patience_ = 0;
    for (std::int64_t k = 0; k < n; ++k) max_plus(n, 0.0, matrix + k * n, tops_.data());
    // In squares, so that what is read and what is written stay in the cache.
    constexpr std::int64_t side = 16;
    for (std::int64_t top = 0; top < n; top += side)
        for (std::int64_t left = 0; left < n; left += side)
            for (std::int64_t k = top; k < std::min(top + side, n); ++k)
                for (std::int64_t l = left; l < std::min(left + side, n); ++l) transposed_[l * n + k] = matrix[k * n + l];
}

void PrunedMaxPlus::product(std::int64_t n, const double* before, const double* matrix, const double* after,
                            double* out) {
    if (skipped_ > 0) {
        --skipped_;
        return MaxPlus::product(n, before, matrix, after, out);
    }
    if (pruned(n, before, matrix, after, out)) {
        patience_ = 0;
        return;
    }
    // Where it failed it is tried again less and less often.
    patience_ = std::min<std::int64_t>(2 * patience_ + 1, 63);
    skipped_ = patience_;
    MaxPlus::product(n, before, matrix, after, out);
}

double PrunedMaxPlus::threshold(std::int64_t n, double top, const double* before) const {
    double low = least_finite(n, gaps_.data()), high = top, found = -minus_infinity;
    if (low == -minus_infinity) return found;
    // More rows below, more columns above: where both are as many, their sum is at most twice the smallest.
    std::int64_t least = n / 3;
    double here = low;
    for (int step = 0; step < 8; ++step) {
        const std::int64_t rows = count_above(n, before, here), columns = count_below(n, gaps_.data(), here);
        if (rows + columns < least) least = rows + columns, found = here;
        if (least <= 4) break;
        (rows > columns ? low : high) = here;
        here = 0.5 * (low + high);
    }
    return found;
}

bool PrunedMaxPlus::pruned(std::int64_t n, const double* before, const double* matrix, const double* after,
                           double* out) {
    const double top = max_of(n, before);
    const std::int64_t first = std::find(before, before + n, top) - before;
    read_first(n, top, matrix + first * n, tops_.data(), after, out, gaps_.data());
    const double limit = threshold(n, top, before);
    if (limit == -minus_infinity) return false;
    max_plus_rows(list_above(n, before, limit, listed_.data()), listed_.data(), n, before, matrix, out);
    const std::int64_t n_open = list_open(n, limit, tops_.data(), after, out, listed_.data());
    for (std::int64_t c = 0; c < n_open; ++c) out[listed_[c]] = max_sum(n, before, column(listed_[c]));
    add_scaled(n, 1.0, after, out);
    return true;
}

}  // namespace structlearn
