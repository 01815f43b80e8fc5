#include "bindings/unlocked.hpp"
#include "kernel/block.hpp"
#include "kernel/gaussian.hpp"

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
}

}  // namespace structlearn::bindings
