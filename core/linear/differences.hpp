#pragma once

#include <cstdint>
#include <span>

#include "batch/parallel.hpp"
#include "linear/sparse.hpp"

namespace structlearn {

// Rows Ψ(x_i, y_i) − Ψ(x_i, ŷ) of the chosen examples. What examples are bound to says by `outputs()` where the codes of an
// output lie, and difference(data, i, y, ŷ, visit) visits the entries of a row. `labels` holds the outputs of all examples,
// `others` the ŷ of the chosen ones, one after another.

// ⟨w, Ψ(x_i, y) − Ψ(x_i, ŷ)⟩, for structures without a quicker way.
template <class Data>
double difference_dot(const Data& data, std::int64_t i, const std::int32_t* labels, const std::int32_t* other,
                      const double* w) {
    double sum = 0.0;
    difference(data, i, labels, other, [&](std::int64_t index, double value) { sum += value * w[index]; });
    return sum;
}

// The rows written out.
template <class Data>
CsrRows differences(const Data& data, std::span<const std::int64_t> examples, std::span<const std::int32_t> labels,
                    std::span<const std::int64_t>, std::span<const std::int32_t> others, std::span<const std::int64_t>) {
    const auto at = data.outputs().gathered(examples);
    CsrRows rows;
    RowBuilder row;
    for (std::size_t k = 0; k < examples.size(); ++k) {
        const std::int64_t i = examples[k];
        row.clear();
        difference(data, i, labels.data() + data.outputs().begin(i), others.data() + at[k], row);
        row.sort();
        rows.append(row);
    }
    return rows;
}

// out[k] = ⟨w, row k⟩
template <class Data>
std::vector<double> difference_dots(const Data& data, std::span<const std::int64_t> examples,
                                    std::span<const std::int32_t> labels, std::span<const std::int64_t>,
                                    std::span<const std::int32_t> others, std::span<const std::int64_t>,
                                    std::span<const double> w, int n_threads) {
    const auto at = data.outputs().gathered(examples);
    std::vector<double> out(examples.size());
    parallel_for(static_cast<std::int64_t>(examples.size()), n_threads, [&](std::int64_t k, int) {
        const std::int64_t i = examples[k];
        out[k] = difference_dot(data, i, labels.data() + data.outputs().begin(i), others.data() + at[k], w.data());
    });
    return out;
}

// w += Σ_k coefficients[k] row k
template <class Data>
void add_differences(const Data& data, std::span<const std::int64_t> examples, std::span<const std::int32_t> labels,
                     std::span<const std::int64_t>, std::span<const std::int32_t> others, std::span<const std::int64_t>,
                     std::span<const double> coefficients, std::span<double> w) {
    const auto at = data.outputs().gathered(examples);
    for (std::size_t k = 0; k < examples.size(); ++k) {
        const std::int64_t i = examples[k];
        const double coefficient = coefficients[k];
        if (coefficient == 0.0) continue;
        difference(data, i, labels.data() + data.outputs().begin(i), others.data() + at[k],
                   [coefficient, w = w.data()](std::int64_t index, double value) __attribute__((always_inline)) {
                       w[index] += coefficient * value;
                   });
    }
}

}  // namespace structlearn
