#pragma once

#include <span>

namespace structlearn {

// exp(−γ‖x − z‖²) in the place of ⟨x, z⟩: products of n rows of m columns, with γ‖x‖² of the rows and γ‖z‖² of the columns.
template <class T>
void gaussians(std::span<T> products, std::span<const T> of_rows, std::span<const T> of_columns, double gamma);

}  // namespace structlearn
