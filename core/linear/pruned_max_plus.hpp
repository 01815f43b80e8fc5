#pragma once

#include <cstdint>
#include <vector>

#include "linear/semirings.hpp"

namespace structlearn {

// MaxPlus for many products with one (n, n) matrix: the numbers of max_plus_product from a part of the matrix. Rows with
// before[k] above a threshold are read; the others can change column l only if the threshold plus the column's largest
// entry is above what the column has by then, and such columns are read as a whole. That holds for rounded sums, too,
// because rounding is monotone. The threshold is where fewest rows and columns are read.
class PrunedMaxPlus : public MaxPlus {
public:
    // The matrix of the products that follow.
    void set(std::int64_t n, const double* matrix);

    void product(std::int64_t n, const double* before, const double* matrix, const double* after, double* out);

    const double* column(std::int64_t l) const { return transposed_.data() + l * static_cast<std::int64_t>(tops_.size()); }

private:
    // False, and out is worth nothing, where a large part of the matrix is to be read.
    bool pruned(std::int64_t n, const double* before, const double* matrix, const double* after, double* out);
    // +∞ if there is none that pays.
    double threshold(std::int64_t n, double top, const double* before) const;

    std::vector<double> transposed_;
    std::vector<double> tops_;  // the largest entry of each column
    std::vector<double> gaps_;  // the before[k] from which a row might change a column, given the first row read
    std::vector<std::int32_t> listed_;
    std::int64_t skipped_ = 0, patience_ = 0;  // products to come that are not pruned, and how many after a failure
};

}  // namespace structlearn
