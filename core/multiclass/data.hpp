#pragma once

#include <cstdint>
#include <vector>

#include "batch/ragged.hpp"
#include "linear/tokens.hpp"

namespace structlearn {

// Ψ(x, y) = φ(x) ⊗ Λ(y) bound to data. Weights are (n_inputs, n_outputs), feature-major; Λ is dense,
// (n_classes, n_outputs), or null for the identity.
struct MulticlassData {
    CsrMatrix X;
    const double* output_features;
    std::int64_t n_classes;
    std::int64_t n_outputs;

    // Where outputs lie in an array of labels.
    Single outputs() const { return {}; }
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

// Calls visit(index, value) for the entries of φ(x_i) ⊗ (Λ(y) − Λ(other)); an index may come more than once.
template <class Visit>
void difference(const MulticlassData& data, std::int64_t i, const std::int32_t* label, const std::int32_t* other_label,
                Visit&& visit) {
    const std::int32_t y = *label, other = *other_label;
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
inline double difference_dot(const MulticlassData& data, std::int64_t i, const std::int32_t* label,
                             const std::int32_t* other, const double* w) {
    if (!data.output_features) return pair_score(data.X, i, w, data.n_classes, *label, *other);
    double sum = 0.0;
    difference(data, i, label, other, [&](std::int64_t index, double value) { sum += value * w[index]; });
    return sum;
}

}  // namespace structlearn
