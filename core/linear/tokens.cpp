#include "linear/tokens.hpp"

#include "linear/vector.hpp"

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

// The change of 4·Count neighbouring weights is held in registers; `growth` sums up that of their squares.
template <int Count, class Value>
[[gnu::always_inline]] inline void add_block(const std::int32_t* columns, const Value* x, std::int64_t count,
                                             const double* change, std::int64_t width, double* w, Lanes& growth) {
    Lanes changes[Count];
    for (int c = 0; c < Count; ++c) load(change + lanes * c, changes[c]);
    for (std::int64_t k = 0; k < count; ++k) {
        const double value = x[k];
        double* row = w + columns[k] * width;
        for (int c = 0; c < Count; ++c) {
            Lanes weights;
            load(row + lanes * c, weights);
            const Lanes more = value * changes[c];
            growth += more * (weights + weights + more);
            store(weights + more, row + lanes * c);
        }
    }
}

template <class Value>
[[gnu::always_inline]] inline double add_row(const std::int32_t* columns, const Value* x, std::int64_t count,
                                             const double* change, std::int64_t width, double* w) {
    Lanes growth{};
    double rest = 0.0;
    std::int64_t r = 0;
    for (; r + 16 <= width; r += 16) add_block<4>(columns, x, count, change + r, width, w + r, growth);
    for (; r + 4 <= width; r += 4) add_block<1>(columns, x, count, change + r, width, w + r, growth);
    for (; r < width; ++r)
        for (std::int64_t k = 0; k < count; ++k) {
            double& weight = w[columns[k] * width + r];
            const double more = x[k] * change[r];
            rest += more * (weight + weight + more);
            weight += more;
        }
    return rest + ((growth[0] + growth[1]) + (growth[2] + growth[3]));
}

STRUCTLEARN_CLONES
double add_doubles(const std::int32_t* columns, const double* x, std::int64_t count, const double* change,
                   std::int64_t width, double* w) {
    return add_row(columns, x, count, change, width, w);
}

STRUCTLEARN_CLONES
double add_floats(const std::int32_t* columns, const float* x, std::int64_t count, const double* change,
                  std::int64_t width, double* w) {
    return add_row(columns, x, count, change, width, w);
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

double add_token(const CsrMatrix& X, std::int64_t token, const double* change, std::int64_t width, double* w) {
    const std::int64_t begin = X.indptr[token];
    const std::int64_t count = X.indptr[token + 1] - begin;
    return X.short_values ? add_floats(X.columns + begin, X.short_values + begin, count, change, width, w)
                          : add_doubles(X.columns + begin, X.values + begin, count, change, width, w);
}

}  // namespace structlearn
