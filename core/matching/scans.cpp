#include "matching/scans.hpp"

#include <algorithm>
#include <limits>

#include "linear/vector.hpp"

namespace structlearn {

namespace {

// Numbers side by side that the compiler keeps in vector registers; it may not take maxima in another order by itself.
constexpr int width = 16;

template <class Equal>
[[gnu::always_inline]] inline std::int64_t first_equal(std::int64_t begin, std::int64_t n, Equal&& equal) {
    std::int64_t j = begin;
    for (; j + width <= n; j += width) {
        int any = 0;
        for (int lane = 0; lane < width; ++lane) any |= equal(j + lane);
        if (any) break;
    }
    while (j < n && !equal(j)) ++j;
    return j;
}

}  // namespace

STRUCTLEARN_CLONES
bool all_scores(MatrixView<double> scores) {
    const double* x = scores.values;
    const auto n = static_cast<std::int64_t>(scores.rows * scores.columns);
    return first_equal(0, n, [&](std::int64_t k) __attribute__((always_inline)) {
               return !(x[k] < std::numeric_limits<double>::infinity());
           }) == n;
}

STRUCTLEARN_CLONES
TopTwo top_two(std::int64_t n, const double* __restrict score, const double* __restrict price) {
    double first[width], second[width];
    for (int lane = 0; lane < width; ++lane) first[lane] = second[lane] = minus_infinity;
    auto take = [&](std::int64_t j, int lane) __attribute__((always_inline)) {
        const double value = score[j] - price[j];
        const double lower = first[lane] < value ? first[lane] : value;
        first[lane] = first[lane] < value ? value : first[lane];
        second[lane] = second[lane] < lower ? lower : second[lane];
    };
    std::int64_t j = 0;
    for (; j + width <= n; j += width)
        for (int lane = 0; lane < width; ++lane) take(j + lane, lane);
    for (; j < n; ++j) take(j, 0);
    for (int half = width / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) {
            const double other = first[lane + half], lower = std::min(first[lane], other);
            first[lane] = std::max(first[lane], other);
            second[lane] = std::max({second[lane], second[lane + half], lower});
        }
    return {first[0], second[0]};
}

STRUCTLEARN_CLONES
std::int64_t find_difference(std::int64_t begin, std::int64_t n, const double* score, const double* price, double value) {
    return first_equal(begin, n, [&](std::int64_t j) __attribute__((always_inline)) { return score[j] - price[j] == value; });
}

STRUCTLEARN_CLONES
std::int64_t find_value(std::int64_t begin, std::int64_t n, const double* x, double value) {
    return first_equal(begin, n, [&](std::int64_t j) __attribute__((always_inline)) { return x[j] == value; });
}

STRUCTLEARN_CLONES
void raise_maxima(std::int64_t n, const double* __restrict score, std::int32_t row, double* __restrict best,
                  std::int32_t* __restrict which) {
    for (std::int64_t j = 0; j < n; ++j) {
        which[j] = best[j] < score[j] ? row : which[j];
        best[j] = best[j] < score[j] ? score[j] : best[j];
    }
}

STRUCTLEARN_CLONES
Nearest relax(std::int64_t n, double base, const double* __restrict price, const double* __restrict score, std::int32_t row,
              const double* __restrict more, double* __restrict distance, std::int32_t* __restrict from) {
    double any[width], end[width];
    for (int lane = 0; lane < width; ++lane) any[lane] = end[lane] = std::numeric_limits<double>::infinity();
    auto take = [&](std::int64_t j, int lane) __attribute__((always_inline)) {
        const double there = base + price[j] - score[j], before = distance[j];
        const double now = there < before ? there : before, ends = now + more[j];
        from[j] = there < before ? row : from[j];
        distance[j] = now;
        any[lane] = now < any[lane] ? now : any[lane];
        end[lane] = ends < end[lane] ? ends : end[lane];
    };
    std::int64_t j = 0;
    for (; j + width <= n; j += width)
        for (int lane = 0; lane < width; ++lane) take(j + lane, lane);
    for (; j < n; ++j) take(j, 0);
    return {*std::min_element(any, any + width), *std::min_element(end, end + width)};
}

}  // namespace structlearn
