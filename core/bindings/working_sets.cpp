#include "../working_sets.hpp"
#include "arrays.hpp"

namespace structlearn::bindings {

namespace {

using Sets = WorkingSets<SparsePlanes>;

std::vector<double> to_vector(std::span<const double> values) { return {values.begin(), values.end()}; }

std::int64_t add_planes(Sets& sets, Vector<std::int64_t> examples, Vector<std::int64_t> indptr,
                        Vector<std::int64_t> indices, Vector<double> values, Vector<double> a, Vector<double> b) {
    nb::gil_scoped_release unlocked;
    std::int64_t added = 0;
    for (std::size_t k = 0; k < examples.shape(0); ++k) {
        const auto begin = static_cast<std::size_t>(indptr.data()[k]);
        const auto count = static_cast<std::size_t>(indptr.data()[k + 1]) - begin;
        const SparseRow row{{indices.data() + begin, count}, {values.data() + begin, count}};
        added += sets.add(examples.data()[k], row, a.data()[k], b.data()[k]);
    }
    return added;
}

}  // namespace

void bind_working_sets(nb::module_& module) {
    nb::class_<Sets>(module, "WorkingSets")
        .def(nb::init<std::int64_t>())
        .def("__deepcopy__", [](const Sets& sets, nb::dict) { return Sets(sets); })
        .def("add", &add_planes)
        .def("set_limits", [](Sets& sets, Vector<double> u, Vector<double> r) { sets.set_limits(view(u), view(r)); })
        .def("sizes",
             [](const Sets& sets) {
                 std::vector<std::int64_t> sizes;
                 for (std::int64_t i = 0; i < sets.n_blocks(); ++i) sizes.push_back(sets.n_planes(i));
                 return to_numpy(std::move(sizes));
             })
        .def("violations",
             [](const Sets& sets, Vector<double> w) {
                 std::vector<double> largest(static_cast<std::size_t>(sets.n_blocks()));
                 std::vector<std::int64_t> which(largest.size());
                 {
                     nb::gil_scoped_release unlocked;
                     sets.violations(w.data(), largest.data(), which.data());
                 }
                 return nb::make_tuple(to_numpy(std::move(largest)), to_numpy(std::move(which)));
             })
        .def("cut",
             [](const Sets& sets, Vector<std::int64_t> which, Vector<double> weights, MutableVector<double> gradient) {
                 nb::gil_scoped_release unlocked;
                 double offset = 0.0;
                 for (std::int64_t i = 0; i < sets.n_blocks(); ++i) {
                     const std::int64_t k = which.data()[i];
                     if (k < 0 || weights.data()[i] == 0.0) continue;
                     add_scaled(sets.row(i, k), weights.data()[i] * sets.a(i, k), gradient.data());
                     offset += weights.data()[i] * sets.b(i, k);
                 }
                 return offset;
             })
        .def("linear_part", &Sets::linear_part)
        .def("weights", [](const Sets& sets, MutableVector<double> w) { sets.weights(w.data()); })
        .def("improve",
             [](Sets& sets, std::int64_t i, MutableVector<double> w) {
                 nb::gil_scoped_release unlocked;
                 return sets.improve(i, w.data());
             })
        .def("solve",
             [](Sets& sets, MutableVector<double> w, double relative, std::int64_t max_passes, std::uint64_t seed) {
                 SolveReport report;
                 {
                     nb::gil_scoped_release unlocked;
                     report = sets.solve(w.data(), static_cast<std::int64_t>(w.shape(0)), relative, max_passes, seed);
                 }
                 return nb::make_tuple(report.passes, report.gap, report.unbounded);
             })
        .def("solve_alone",
             [](Sets& sets, std::int64_t i, double relative, std::int64_t max_rounds) {
                 nb::gil_scoped_release unlocked;
                 return sets.solve_alone(i, relative, max_rounds);
             })
        .def("largest_violation", [](const Sets& sets, std::int64_t i,
                                     Vector<double> w) { return sets.largest_violation(i, w.data()); })
        .def("mark_used", [](Sets& sets, Vector<std::int64_t> which) { sets.mark_used(which.data()); })
        .def("drop_idle", &Sets::drop_idle)
        .def("alpha", [](const Sets& sets, std::int64_t i) { return to_numpy(to_vector(sets.alpha(i))); })
        .def("offsets", [](const Sets& sets, std::int64_t i) { return to_numpy(to_vector(sets.offsets(i))); })
        .def("gram", [](Sets& sets, std::int64_t i) { return to_numpy(to_vector(sets.gram(i))); })
        .def("set_alpha", [](Sets& sets, std::int64_t i, Vector<double> alpha) { sets.set_alpha(i, view(alpha)); })
        .def("radius", &Sets::radius)
        .def("nbytes", &Sets::nbytes);
}

}  // namespace structlearn::bindings
