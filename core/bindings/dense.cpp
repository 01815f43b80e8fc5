#include <algorithm>

#include "bindings/arrays.hpp"

namespace structlearn::bindings {

namespace {

// indptr of the sparse form of a dense matrix, with one entry more in every row if there is an intercept.
void count_nonzeros(Matrix<double> X, bool intercept, MutableVector<std::int64_t> indptr) {
    nb::gil_scoped_release unlocked;
    const std::size_t width = X.shape(1);
    std::int64_t total = 0;
    indptr.data()[0] = 0;
    for (std::size_t i = 0; i < X.shape(0); ++i) {
        const double* row = X.data() + i * width;
        std::int64_t count = intercept ? 1 : 0;
        for (std::size_t j = 0; j < width; ++j) count += row[j] != 0.0;
        indptr.data()[i + 1] = total += count;
    }
}

// The columns and values that belong to it.
void gather_nonzeros(Matrix<double> X, bool intercept, Vector<std::int64_t> indptr, MutableVector<std::int32_t> columns,
                     MutableVector<double> values) {
    nb::gil_scoped_release unlocked;
    const std::size_t width = X.shape(1);
    // A column is written whether it is kept or not: a branch would be mispredicted at every other pixel.
    std::vector<std::int32_t> kept(width + 1);
    for (std::size_t i = 0; i < X.shape(0); ++i) {
        const double* row = X.data() + i * width;
        std::size_t count = 0;
        for (std::size_t j = 0; j < width; ++j) {
            kept[count] = static_cast<std::int32_t>(j);
            count += row[j] != 0.0;
        }
        const std::int64_t begin = indptr.data()[i];
        std::copy_n(kept.data(), count, columns.data() + begin);
        for (std::size_t k = 0; k < count; ++k) values.data()[begin + k] = row[kept[k]];
        if (intercept) {
            columns.data()[begin + count] = static_cast<std::int32_t>(width);
            values.data()[begin + count] = 1.0;
        }
    }
}

}  // namespace

void bind_dense(nb::module_& module) {
    module.def("count_nonzeros", &count_nonzeros);
    module.def("gather_nonzeros", &gather_nonzeros);
}

}  // namespace structlearn::bindings
