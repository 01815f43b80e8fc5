#include "tokens.hpp"

#include "vector.hpp"

namespace structlearn {

namespace {

// The sums for 4·Count neighbouring weights, over all features.
template <int Count, class Value>
[[gnu::always_inline]] inline void sum_block(const std::int32_t* columns, const Value* x, std::int64_t count,
                                             const double* w, std::int64_t width, double* scores) {
    Lanes sums[Count] = {};
    for (std::int64_t k = 0; k < count; ++k) {
        const double value = x[k];
        const double* row = w + columns[k] * width;
        for (int c = 0; c < Count; ++c) {
            Lanes weights;
            load(row + lanes * c, weights);
            sums[c] += value * weights;
        }
    }
    for (int c = 0; c < Count; ++c) store(sums[c], scores + lanes * c);
}

template <class Value>
[[gnu::always_inline]] inline void sum_row(const std::int32_t* columns, const Value* x, std::int64_t count,
                                           const double* w, std::int64_t width, double* scores) {
    cover(
        width,
        [&]<int Count>(std::int64_t r)
            __attribute__((always_inline)) { sum_block<Count>(columns, x, count, w + r, width, scores + r); },
        [&](std::int64_t r) {
            double sum = 0.0;
            for (std::int64_t k = 0; k < count; ++k) sum += x[k] * w[columns[k] * width + r];
            scores[r] = sum;
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
