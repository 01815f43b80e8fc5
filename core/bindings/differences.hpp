#pragma once

#include "batch/parallel.hpp"
#include "bindings/arrays.hpp"

namespace structlearn {

// ⟨w, Ψ(x_i, labels) − Ψ(x_i, other)⟩, for structures without a quicker way.
template <class Data>
double difference_dot(const Data& data, std::int64_t i, const std::int32_t* labels, const std::int32_t* other,
                      const double* w) {
    double sum = 0.0;
    difference(data, i, labels, other, [&](std::int64_t index, double value) { sum += value * w[index]; });
    return sum;
}

}  // namespace structlearn

namespace structlearn::bindings {

// What FactoredRows in Python asks of a problem: rows Ψ(x_i, y_i) − Ψ(x_i, ŷ), whose entries `difference` visits. `labels`
// holds the outputs of all examples, `others` the ŷ of the chosen ones, one after another.
template <class Problem>
void bind_differences(nb::class_<Problem>& problem_class) {
    // The rows written out.
    problem_class.def("differences", [](const Problem& problem, Vector<std::int64_t> examples,
                                        Vector<std::int32_t> labels, Vector<std::int32_t> others) {
        CsrRows rows;
        {
            nb::gil_scoped_release unlocked;
            const auto at = problem.data.outputs().gathered(view(examples));
            RowBuilder row;
            for (std::size_t k = 0; k < examples.shape(0); ++k) {
                const std::int64_t i = examples.data()[k];
                row.clear();
                difference(problem.data, i, labels.data() + problem.data.outputs().begin(i), others.data() + at[k], row);
                row.sort();
                rows.append(row);
            }
        }
        return to_numpy(std::move(rows));
    });
    // out[k] = ⟨w, row k⟩
    problem_class.def("difference_dots", [](const Problem& problem, Vector<std::int64_t> examples,
                                            Vector<std::int32_t> labels, Vector<std::int32_t> others, Vector<double> w,
                                            MutableVector<double> out, int n_threads) {
        nb::gil_scoped_release unlocked;
        const auto at = problem.data.outputs().gathered(view(examples));
        parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int) {
            const std::int64_t i = examples.data()[k];
            out.data()[k] = difference_dot(problem.data, i, labels.data() + problem.data.outputs().begin(i),
                                           others.data() + at[k], w.data());
        });
    });
    // w += Σ_k coefficients[k] row k
    problem_class.def("add_differences", [](const Problem& problem, Vector<std::int64_t> examples,
                                            Vector<std::int32_t> labels, Vector<std::int32_t> others,
                                            Vector<double> coefficients, MutableVector<double> w) {
        nb::gil_scoped_release unlocked;
        const auto at = problem.data.outputs().gathered(view(examples));
        for (std::size_t k = 0; k < examples.shape(0); ++k) {
            const std::int64_t i = examples.data()[k];
            const double coefficient = coefficients.data()[k];
            if (coefficient == 0.0) continue;
            difference(problem.data, i, labels.data() + problem.data.outputs().begin(i), others.data() + at[k],
                       [&](std::int64_t index, double value) { w.data()[index] += coefficient * value; });
        }
    });
}

}  // namespace structlearn::bindings
