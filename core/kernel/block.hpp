#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linear/dense.hpp"

namespace structlearn {

// How the dual of a kernel machine was left over a block of its variables.
struct BlockEnd {
    std::int64_t steps;
    // Two variables between which the kernel has negative curvature, or one that has it alone, twice; −1 if there are none.
    std::int64_t first = -1, second = -1;
};

// min ½βᵀ(K + diag r)β − ⟨y, β⟩ over lower ≤ β ≤ upper, perhaps with Σβ held, by steps of two variables (one without that
// sum), the pair by the second-order choice of Fan, Chen and Lin 2005. `gradient` = (K + diag r)β − y is kept up to date.
// Ends where no violation is above `accuracy`, or after so many steps.
template <class T>
BlockEnd solve_block(MatrixView<T> K, std::span<const double> r, std::span<const double> lower,
                     std::span<const double> upper, bool sum_is_held, double accuracy, std::int64_t max_steps,
                     std::span<double> beta, std::span<double> gradient);

// out[k, l] = rows[which[k], columns[l]], row after row.
template <class T>
void gather_columns(MatrixView<T> rows, std::span<const std::int64_t> which, std::span<const std::int64_t> columns,
                    std::span<T> out);

// total += Σ_k coefficients[k] rows[which[k]], in double precision.
template <class T>
void add_rows(MatrixView<T> rows, std::span<const std::int64_t> which, std::span<const double> coefficients,
              std::span<double> total);

}  // namespace structlearn
