#pragma once

#include <span>

#include "linear/dense.hpp"

namespace structlearn {

// exp(−γ‖x − z‖²) in the place of ⟨x, z⟩: products of n rows of m columns, with γ‖x‖² of the rows and γ‖z‖² of the columns.
template <class T>
void gaussians(std::span<T> products, std::span<const T> of_rows, std::span<const T> of_columns, double gamma);

// The same from the differences of rows, which is quicker and more exact where there are few features: out[i, j] is that of
// row i of X and row j of Z.
template <class T>
void gaussian_matrix(MatrixView<T> X, MatrixView<T> Z, double gamma, std::span<T> out);

// total[i] += Σ_j coefficients[j] exp(−γ‖x_i − z_j‖²), in double precision, without any matrix.
template <class T>
void add_gaussians(MatrixView<T> X, MatrixView<T> Z, std::span<const double> coefficients, double gamma,
                   std::span<double> total);

}  // namespace structlearn
