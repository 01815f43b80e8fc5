#include "batch/parallel.hpp"
#include "bindings/arrays.hpp"

namespace structlearn::bindings {

namespace {

SparseRow row_of(const Vector<std::int64_t>& indptr, const Vector<std::int64_t>& indices, const Vector<double>& values,
                 std::int64_t k) {
    const auto begin = static_cast<std::size_t>(indptr.data()[k]);
    const auto count = static_cast<std::size_t>(indptr.data()[k + 1]) - begin;
    return {{indices.data() + begin, count}, {values.data() + begin, count}};
}

}  // namespace

void bind_rows(nb::module_& module) {
    module.def("rows_dot", [](Vector<std::int64_t> indptr, Vector<std::int64_t> indices, Vector<double> values,
                              Vector<double> w, MutableVector<double> out) {
        nb::gil_scoped_release unlocked;
        for (std::size_t k = 0; k < out.shape(0); ++k)
            out.data()[k] = dot(row_of(indptr, indices, values, static_cast<std::int64_t>(k)), w.data());
    });
    module.def("rows_add_to", [](Vector<std::int64_t> indptr, Vector<std::int64_t> indices, Vector<double> values,
                                 Vector<double> coefficients, MutableVector<double> w) {
        nb::gil_scoped_release unlocked;
        for (std::size_t k = 0; k < coefficients.shape(0); ++k)
            if (coefficients.data()[k] != 0.0)
                add_scaled(row_of(indptr, indices, values, static_cast<std::int64_t>(k)), coefficients.data()[k],
                           w.data());
    });
}

}  // namespace structlearn::bindings
