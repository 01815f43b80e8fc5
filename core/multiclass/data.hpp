#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "linear/tokens.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Ψ(x, y) = φ(x) ⊗ Λ(y) bound to data. Weights are (n_inputs, n_outputs), feature-major; Λ is dense,
// (n_classes, n_outputs), or null for the identity.
struct MulticlassData {
    CsrMatrix X;
    const double* output_features;
    std::int64_t n_classes;
    std::int64_t n_outputs;
};

// The score of every class for example i.
inline void class_scores(const MulticlassData& data, std::int64_t i, const double* w,
                         std::vector<double>& projected, double* scores) {
    if (!data.output_features) return token_scores(data.X, i, w, data.n_classes, scores);
    projected.resize(static_cast<std::size_t>(data.n_outputs));
    token_scores(data.X, i, w, data.n_outputs, projected.data());
    for (std::int64_t y = 0; y < data.n_classes; ++y) {
        const double* row = data.output_features + y * data.n_outputs;
        double sum = 0.0;
        for (std::int64_t r = 0; r < data.n_outputs; ++r) sum += row[r] * projected[static_cast<std::size_t>(r)];
        scores[y] = sum;
    }
}

// argmax_y b[y] − a[y] (scores[truth] − scores[y]) and its value; −1 if the truth is barred and there is no other class.
inline std::pair<std::int32_t, double> most_violating(const double* scores, std::int64_t n_classes, std::int32_t truth,
                                                      const double* a, const double* b, bool bar_truth) {
    std::int32_t best = bar_truth ? -1 : truth;
    double top = bar_truth ? minus_infinity : 0.0;
    for (std::int32_t y = 0; y < n_classes; ++y) {
        if (y == truth) continue;
        const double violation = b[y] - a[y] * (scores[truth] - scores[y]);
        if (violation > top) top = violation, best = y;
    }
    return {best, top};
}

// Calls visit(index, value) for the entries of φ(x_i) ⊗ (Λ(y) − Λ(other)); an index may come more than once.
template <class Visit>
void multiclass_difference(const MulticlassData& data, std::int64_t i, std::int32_t y, std::int32_t other,
                           Visit&& visit) {
    if (y == other) return;
    const double* right = data.output_features ? data.output_features + y * data.n_outputs : nullptr;
    const double* wrong = data.output_features ? data.output_features + other * data.n_outputs : nullptr;
    data.X.row(i, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t feature = columns[k] * data.n_outputs;
            const double value = x[k];
            if (!data.output_features) {
                visit(feature + y, value);
                visit(feature + other, -value);
                continue;
            }
            for (std::int64_t r = 0; r < data.n_outputs; ++r)
                if (right[r] != wrong[r]) visit(feature + r, value * (right[r] - wrong[r]));
        }
    });
}

// ⟨w, φ(x_i) ⊗ (Λ(y) − Λ(other))⟩
inline double multiclass_difference_dot(const MulticlassData& data, std::int64_t i, std::int32_t y, std::int32_t other,
                                        const double* w) {
    if (!data.output_features) return pair_score(data.X, i, w, data.n_classes, y, other);
    double sum = 0.0;
    multiclass_difference(data, i, y, other, [&](std::int64_t index, double value) { sum += value * w[index]; });
    return sum;
}

}  // namespace structlearn
