#include "tokens.hpp"

#include "vector.hpp"

namespace structlearn {

namespace {

// Sums for `Width` neighbouring weights at a time, so that they stay in registers over all features.
template <int Width, class Value>
[[gnu::always_inline]] inline void sum_block(const std::int32_t* columns, const Value* x, std::int64_t count,
                                             const double* w, std::int64_t width, double* scores) {
    double sums[Width] = {};
    for (std::int64_t k = 0; k < count; ++k) {
        const double value = x[k];
        const double* row = w + columns[k] * width;
        for (int r = 0; r < Width; ++r) sums[r] += value * row[r];
    }
    std::copy_n(sums, Width, scores);
}

template <class Value>
[[gnu::always_inline]] inline void sum_row(const std::int32_t* columns, const Value* x, std::int64_t count,
                                           const double* w, std::int64_t width, double* scores) {
    cover(width, [&]<int Width>(std::int64_t r) __attribute__((always_inline)) {
        sum_block<Width>(columns, x, count, w + r, width, scores + r);
    });
}

STRUCTLEARN_CLONES
void sum_doubles(const std::int32_t* columns, const double* x, std::int64_t count, const double* w, std::int64_t width,
                 double* scores) {
    sum_row(columns, x, count, w, width, scores);
}

STRUCTLEARN_CLONES
void sum_floats(const std::int32_t* columns, const float* x, std::int64_t count, const double* w, std::int64_t width,
                double* scores) {
    sum_row(columns, x, count, w, width, scores);
}

}  // namespace

void token_scores(const CsrMatrix& X, std::int64_t token, const double* w, std::int64_t width, double* scores) {
    const std::int64_t begin = X.indptr[token];
    const std::int64_t count = X.indptr[token + 1] - begin;
    if (X.short_values)
        sum_floats(X.columns + begin, X.short_values + begin, count, w, width, scores);
    else
        sum_doubles(X.columns + begin, X.values + begin, count, w, width, scores);
}

void add_token(const CsrMatrix& X, std::int64_t token, const double* change, std::int64_t width, double* w) {
    X.row(token, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) add_scaled(width, x[k], change, w + columns[k] * width);
    });
}

}  // namespace structlearn
