#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batch/parallel.hpp"
#include "linear/sparse.hpp"
#include "parts/composed.hpp"

namespace structlearn {

// Rows Ψ(x_i, y_i) − Ψ(x_i, ŷ) of the chosen examples: `truths` are the outputs of all examples, `others` one ŷ for each of
// the chosen ones.

// The moves between the parts of y and ŷ, (plus, minus) one after another, and where those of each row begin.
template <class Problem>
RaggedArray<std::int32_t> moves(const Problem& problem, std::span<const std::int64_t> examples,
                                std::span<const std::int32_t> truths, std::span<const std::int64_t> truth_offsets,
                                std::span<const std::int32_t> others, std::span<const std::int64_t> offsets) {
    const CodedOutputs truth{truths, truth_offsets}, other{others, offsets};
    RaggedArray<std::int32_t> found;
    found.offsets.reserve(examples.size() + 1);
    for (std::size_t k = 0; k < examples.size(); ++k) {
        const std::int64_t i = examples[k];
        problem.structure.each_move(i, truth[i], other[static_cast<std::int64_t>(k)], [&](std::int64_t plus, std::int64_t minus) {
            found.values.push_back(static_cast<std::int32_t>(plus));
            found.values.push_back(static_cast<std::int32_t>(minus));
        });
        found.offsets.push_back(static_cast<std::int64_t>(found.values.size()));
    }
    return found;
}

// The rows written out.
template <class Problem>
CsrRows differences(const Problem& problem, std::span<const std::int64_t> examples, std::span<const std::int32_t> truths,
                    std::span<const std::int64_t> truth_offsets, std::span<const std::int32_t> others,
                    std::span<const std::int64_t> offsets) {
    const CodedOutputs truth{truths, truth_offsets}, other{others, offsets};
    CsrRows rows;
    RowBuilder row;
    for (std::size_t k = 0; k < examples.size(); ++k) {
        const std::int64_t i = examples[k];
        row.clear();
        problem.difference(i, truth[i], other[static_cast<std::int64_t>(k)], row);
        row.sort();
        rows.append(row);
    }
    return rows;
}

// ⟨w, row⟩ of every row.
template <class Problem>
std::vector<double> difference_dots(const Problem& problem, std::span<const std::int64_t> examples,
                                    std::span<const std::int32_t> truths, std::span<const std::int64_t> truth_offsets,
                                    std::span<const std::int32_t> others, std::span<const std::int64_t> offsets,
                                    std::span<const double> w, int n_threads) {
    const CodedOutputs truth{truths, truth_offsets}, other{others, offsets};
    std::vector<double> dots(examples.size());
    for_each_example(examples, n_threads, problem, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        double sum = 0.0;
        if constexpr (requires { worker.scorer.dot(i, 0, 0, w.data()); })
            worker.structure.each_move(i, truth[i], other[k], [&](std::int64_t plus, std::int64_t minus) {
                sum += worker.scorer.dot(i, plus, minus, w.data());
            });
        else
            worker.difference(i, truth[i], other[k], [&](std::int64_t index, double value) { sum += value * w[index]; });
        dots[k] = sum;
    });
    return dots;
}

// w += Σ_k coefficients[k] row k
template <class Problem>
void add_differences(const Problem& problem, std::span<const std::int64_t> examples,
                     std::span<const std::int32_t> truths, std::span<const std::int64_t> truth_offsets,
                     std::span<const std::int32_t> others, std::span<const std::int64_t> offsets,
                     std::span<const double> coefficients, std::span<double> w) {
    const CodedOutputs truth{truths, truth_offsets}, other{others, offsets};
    for (std::size_t k = 0; k < examples.size(); ++k) {
        const std::int64_t i = examples[k];
        if (coefficients[k] == 0.0) continue;
        const std::int32_t* output = other[static_cast<std::int64_t>(k)];
        if constexpr (requires { problem.scorer.add(i, 0, 0, 1.0, w.data()); })
            problem.structure.each_move(i, truth[i], output, [&](std::int64_t plus, std::int64_t minus) {
                problem.scorer.add(i, plus, minus, coefficients[k], w.data());
            });
        else
            problem.difference(i, truth[i], output,
                               [&](std::int64_t index, double value) { w[index] += coefficients[k] * value; });
    }
}

}  // namespace structlearn
