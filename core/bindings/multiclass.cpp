#include "multiclass/data.hpp"

#include <tuple>

#include "batch/parallel.hpp"
#include "bindings/problems.hpp"

namespace structlearn::bindings {

namespace {

struct Workspace {
    std::vector<double> projected;
    std::vector<double> scores;
};

template <class Work>
void for_each_example(const Multiclass& problem, std::size_t n_examples, int n_threads, const double* w, Work&& work,
                      const std::int64_t* examples) {
    std::vector<Workspace> workspaces(static_cast<std::size_t>(std::max(n_threads, 1)));
    for (Workspace& space : workspaces) space.scores.resize(static_cast<std::size_t>(problem.data.n_classes));
    parallel_for(static_cast<std::int64_t>(n_examples), n_threads, [&](std::int64_t k, int thread) {
        Workspace& space = workspaces[static_cast<std::size_t>(thread)];
        class_scores(problem.data, examples[k], w, space.projected, space.scores.data());
        work(k, space.scores.data());
    });
}

}  // namespace

nb::class_<Multiclass> bind_multiclass(nb::module_& module) {
    return nb::class_<Multiclass>(module, "Multiclass")
        .def(nb::init<const Tokens&, std::optional<Matrix<double>>, std::int64_t>(), nb::arg("tokens"),
             nb::arg("output_features").none(), nb::arg("n_classes"))
        .def("scores",
             [](const Multiclass& problem, Vector<double> w, Vector<std::int64_t> examples,
                MutableVector<double> out, int n_threads) {
                 nb::gil_scoped_release unlocked;
                 const std::int64_t K = problem.data.n_classes;
                 for_each_example(
                     problem, examples.shape(0), n_threads, w.data(),
                     [&](std::int64_t k, const double* scores) { std::copy_n(scores, K, out.data() + k * K); },
                     examples.data());
             })
        .def("best",
             [](const Multiclass& problem, Vector<double> w, Vector<std::int64_t> examples,
                MutableVector<std::int32_t> out, int n_threads) {
                 nb::gil_scoped_release unlocked;
                 const std::int64_t K = problem.data.n_classes;
                 for_each_example(
                     problem, examples.shape(0), n_threads, w.data(),
                     [&](std::int64_t k, const double* scores) {
                         out.data()[k] = static_cast<std::int32_t>(std::max_element(scores, scores + K) - scores);
                     },
                     examples.data());
             })
        .def("most_violating",
             [](const Multiclass& problem, Vector<double> w, Vector<std::int64_t> examples,
                Vector<std::int32_t> labels, Matrix<double> a, Matrix<double> b, bool bar_truth,
                MutableVector<std::int32_t> out, MutableVector<double> violations, int n_threads) {
                 nb::gil_scoped_release unlocked;
                 const std::int64_t K = problem.data.n_classes;
                 const std::int64_t stride = a.shape(0) == 1 ? 0 : K;  // one row may serve all classes
                 for_each_example(
                     problem, examples.shape(0), n_threads, w.data(),
                     [&](std::int64_t k, const double* scores) {
                         const std::int32_t truth = labels.data()[examples.data()[k]];
                         std::tie(out.data()[k], violations.data()[k]) =
                             most_violating(scores, K, truth, a.data() + truth * stride, b.data() + truth * stride, bar_truth);
                     },
                     examples.data());
             })
        .def("differences",
             [](const Multiclass& problem, Vector<std::int64_t> examples, Vector<std::int32_t> labels,
                Vector<std::int32_t> others) {
                 CsrRows rows;
                 {
                     nb::gil_scoped_release unlocked;
                     RowBuilder row;
                     for (std::size_t k = 0; k < examples.shape(0); ++k) {
                         const std::int64_t i = examples.data()[k];
                         row.clear();
                         multiclass_difference(problem.data, i, labels.data()[i], others.data()[k], row);
                         row.sort();
                         rows.append(row);
                     }
                 }
                 return to_numpy(std::move(rows));
             })
        .def("difference_dots",
             [](const Multiclass& problem, Vector<std::int64_t> examples, Vector<std::int32_t> labels,
                Vector<std::int32_t> others, Vector<double> w, MutableVector<double> out, int n_threads) {
                 nb::gil_scoped_release unlocked;
                 parallel_for(static_cast<std::int64_t>(examples.shape(0)), n_threads, [&](std::int64_t k, int) {
                     const std::int64_t i = examples.data()[k];
                     out.data()[k] =
                         multiclass_difference_dot(problem.data, i, labels.data()[i], others.data()[k], w.data());
                 });
             })
        .def("add_differences",
             [](const Multiclass& problem, Vector<std::int64_t> examples, Vector<std::int32_t> labels,
                Vector<std::int32_t> others, Vector<double> coefficients, MutableVector<double> w) {
                 nb::gil_scoped_release unlocked;
                 for (std::size_t k = 0; k < examples.shape(0); ++k) {
                     const double coefficient = coefficients.data()[k];
                     if (coefficient == 0.0) continue;
                     const std::int64_t i = examples.data()[k];
                     multiclass_difference(
                         problem.data, i, labels.data()[i], others.data()[k],
                         [&](std::int64_t index, double value) { w.data()[index] += coefficient * value; });
                 }
             });
}

}  // namespace structlearn::bindings
