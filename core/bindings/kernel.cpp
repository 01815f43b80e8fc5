#include "bindings/unlocked.hpp"
#include "kernel/block.hpp"
#include "kernel/gaussian.hpp"
#include "kernel/strings.hpp"
#include "kernel/walks.hpp"

namespace structlearn::bindings {

namespace {

template <class T>
void bind_precision(nb::module_& module) {
    module.def("add_kernel_rows", unlocked(&add_rows<T>), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg());
    module.def("gather_columns", unlocked(&gather_columns<T>), nb::arg().noconvert(), nb::arg(), nb::arg(),
               nb::arg().noconvert());
    module.def("gaussians", unlocked(&gaussians<T>), nb::arg().noconvert(), nb::arg().noconvert(),
               nb::arg().noconvert(), nb::arg());
    module.def("gaussian_matrix", unlocked(&gaussian_matrix<T>), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(),
               nb::arg().noconvert());
    module.def("add_gaussians", unlocked(&add_gaussians<T>), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(),
               nb::arg(), nb::arg());
    module.def(
        "solve_block",
        [](Matrix<T> K, Vector<double> r, Vector<double> lower, Vector<double> upper, bool sum_is_held,
           double accuracy, std::int64_t max_steps, MutableVector<double> beta, MutableVector<double> gradient) {
            BlockEnd end;
            {
                nb::gil_scoped_release unlocked;
                end = solve_block<T>(view(K), view(r), view(lower), view(upper), sum_is_held, accuracy, max_steps,
                                     view(beta), view(gradient));
            }
            return nb::make_tuple(end.steps, end.first, end.second);
        },
        nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace

void bind_kernel(nb::module_& module) {
    bind_precision<float>(module);
    bind_precision<double>(module);
    module.def("gap_weighted", unlocked(&gap_weighted));
    module.def("random_walks",
               unlocked(+[](std::span<const std::int64_t> nodes, std::span<const std::int64_t> arcs,
                            std::span<const std::int64_t> tails, std::span<const std::int64_t> heads,
                            MatrixView<double> weights, std::int64_t i, std::int64_t first, MatrixView<double> alike,
                            double decay, std::int64_t longest, std::span<double> out) {
                   return random_walks({nodes, arcs, tails, heads, weights}, i, first, alike, decay, longest, out);
               }));
}

}  // namespace structlearn::bindings
