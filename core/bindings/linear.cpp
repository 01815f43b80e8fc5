#include "bindings/unlocked.hpp"
#include "linear/dense.hpp"
#include "linear/short_values.hpp"
#include "linear/sparse.hpp"

namespace structlearn::bindings {

void bind_linear(nb::module_& module) {
    module.def("count_nonzeros", unlocked(&count_nonzeros));
    module.def("gather_nonzeros", unlocked(&gather_nonzeros));
    module.def("shorten", unlocked(&shorten));
    module.def("rows_dot", [](Vector<std::int64_t> indptr, Vector<std::int64_t> indices, Vector<double> values,
                              Vector<double> w, MutableVector<double> out) {
        run_unlocked([&] { rows_dot({view(indptr), view(indices), view(values)}, view(w), view(out)); });
    });
    module.def("rows_add_to", [](Vector<std::int64_t> indptr, Vector<std::int64_t> indices, Vector<double> values,
                                 Vector<double> coefficients, MutableVector<double> w) {
        run_unlocked([&] { rows_add_to({view(indptr), view(indices), view(values)}, view(coefficients), view(w)); });
    });
}

}  // namespace structlearn::bindings
