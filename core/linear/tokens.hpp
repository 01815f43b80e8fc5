#pragma once

#include <algorithm>
#include <cstdint>

namespace structlearn {

// Inputs: one row of features a token, columns sorted within a row or not. Values are floats where that is exact, which
// halves their memory: one of the two pointers is null. Weights are feature-major, `width` weights a feature.
struct CsrMatrix {
    const std::int64_t* indptr;
    const std::int32_t* columns;
    const double* values;
    const float* short_values;

    // Calls work(columns, values, count) on the row of one token.
    template <class Work>
    decltype(auto) row(std::int64_t token, Work&& work) const {
        const std::int64_t begin = indptr[token];
        const std::int64_t count = indptr[token + 1] - begin;
        if (short_values) return work(columns + begin, short_values + begin, count);
        return work(columns + begin, values + begin, count);
    }

    double squared_norm(std::int64_t token) const {
        return row(token, [](const std::int32_t*, const auto* x, std::int64_t count) {
            double sum = 0.0;
            for (std::int64_t k = 0; k < count; ++k) sum += double{x[k]} * double{x[k]};
            return sum;
        });
    }
};

// scores[r] = Σ_f x_f w[f, r] for every r < width.
void token_scores(const CsrMatrix& X, std::int64_t token, const double* w, std::int64_t width, double* scores);

// w[f, r] += x_f change[r] for every f and r; returns by how much ‖w‖² grows.
double add_token(const CsrMatrix& X, std::int64_t token, const double* change, std::int64_t width, double* w);

// Σ_f x_f (w[f, left] − w[f, right]); the sums are independent of one another so that they overlap in time.
inline double pair_score(const CsrMatrix& X, std::int64_t token, const double* w, std::int64_t width, std::int64_t left,
                         std::int64_t right) {
    return X.row(token, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
        double sums[4] = {};
        auto term = [&](std::int64_t k) {
            const double* row = w + columns[k] * width;
            return x[k] * (row[left] - row[right]);
        };
        std::int64_t k = 0;
        for (; k + 4 <= count; k += 4)
            for (int lane = 0; lane < 4; ++lane) sums[lane] += term(k + lane);
        for (; k < count; ++k) sums[0] += term(k);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    });
}

// w[f, left] += x_f change and w[f, right] −= x_f change.
inline void add_pair(const CsrMatrix& X, std::int64_t token, double change, std::int64_t width, std::int64_t left,
                     std::int64_t right, double* w) {
    X.row(token, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) {
            double* row = w + columns[k] * width;
            row[left] += change * x[k];
            row[right] -= change * x[k];
        }
    });
}

}  // namespace structlearn
