#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace structlearn {

// A dense matrix, row after row.
template <class T>
struct MatrixView {
    const T* values;
    std::size_t rows, columns;

    const T* row(std::size_t i) const { return values + i * columns; }
};

// indptr of the sparse form of a dense matrix, with one entry more in every row if there is an intercept.
inline void count_nonzeros(MatrixView<double> X, bool intercept, std::span<std::int64_t> indptr) {
    std::int64_t total = 0;
    indptr[0] = 0;
    for (std::size_t i = 0; i < X.rows; ++i) {
        const double* row = X.row(i);
        std::int64_t count = intercept ? 1 : 0;
        for (std::size_t j = 0; j < X.columns; ++j) count += row[j] != 0.0;
        indptr[i + 1] = total += count;
    }
}

// The columns and values that belong to it.
inline void gather_nonzeros(MatrixView<double> X, bool intercept, std::span<const std::int64_t> indptr,
                            std::span<std::int32_t> columns, std::span<double> values) {
    // A column is written whether it is kept or not: a branch would be mispredicted at every other pixel.
    std::vector<std::int32_t> kept(X.columns + 1);
    for (std::size_t i = 0; i < X.rows; ++i) {
        const double* row = X.row(i);
        std::size_t count = 0;
        for (std::size_t j = 0; j < X.columns; ++j) {
            kept[count] = static_cast<std::int32_t>(j);
            count += row[j] != 0.0;
        }
        std::int32_t* columns_here = columns.data() + indptr[i];
        double* values_here = values.data() + indptr[i];
        std::copy_n(kept.data(), count, columns_here);
        for (std::size_t k = 0; k < count; ++k) values_here[k] = row[kept[k]];
        if (intercept) {
            columns_here[count] = static_cast<std::int32_t>(X.columns);
            values_here[count] = 1.0;
        }
    }
}

}  // namespace structlearn
