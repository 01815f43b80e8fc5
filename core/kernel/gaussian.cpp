#include "kernel/gaussian.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/exponential.hpp"
#include "linear/vector.hpp"

namespace structlearn {

namespace {

template <class T>
[[gnu::always_inline]] inline void from_products(std::int64_t n, T twice_gamma, T row, const T* __restrict columns,
                                                 T* __restrict out) {
    for (std::int64_t k = 0; k < n; ++k) {
        const T x = (twice_gamma * out[k] - row) - columns[k];
        out[k] = exponential(x < T{0} ? x : T{0});
    }
}

// out[k] = exp(−γ Σ_j (columns[j, k] − z[j])²), where a column of the d features has `width` places.
template <class T>
[[gnu::always_inline]] inline void from_differences(std::int64_t n, std::int64_t d, std::int64_t width, T gamma,
                                                    const T* __restrict z, const T* __restrict columns,
                                                    T* __restrict out) {
    std::fill_n(out, n, T{0});
    std::int64_t j = 0;
    // Two features a pass: the sums are read and written once for them.
    for (; j + 2 <= d; j += 2) {
        const T *first = columns + j * width, *second = first + width;
        for (std::int64_t k = 0; k < n; ++k) {
            const T a = first[k] - z[j], b = second[k] - z[j + 1];
            out[k] += a * a + b * b;
        }
    }
    if (j < d)
        for (std::int64_t k = 0; k < n; ++k) {
            const T a = columns[j * width + k] - z[j];
            out[k] += a * a;
        }
    for (std::int64_t k = 0; k < n; ++k) out[k] = exponential(-gamma * out[k]);
}

template <class T>
[[gnu::always_inline]] inline void add(std::int64_t n, double coefficient, const T* __restrict values,
                                       double* __restrict total) {
    for (std::int64_t k = 0; k < n; ++k) total[k] += coefficient * static_cast<double>(values[k]);
}

// Clones are functions, and no templates.
#define STRUCTLEARN_GAUSSIANS(T)                                                                                   \
    STRUCTLEARN_CLONES void exponentials_of(std::int64_t n, T twice_gamma, T row, const T* columns, T* out) {      \
        from_products(n, twice_gamma, row, columns, out);                                                          \
    }                                                                                                              \
    STRUCTLEARN_CLONES void gaussians_of(std::int64_t n, std::int64_t d, std::int64_t width, T gamma, const T* z,  \
                                         const T* columns, T* out) {                                               \
        from_differences(n, d, width, gamma, z, columns, out);                                                     \
    }                                                                                                              \
    STRUCTLEARN_CLONES void add_of(std::int64_t n, double coefficient, const T* values, double* total) {           \
        add(n, coefficient, values, total);                                                                        \
    }
STRUCTLEARN_GAUSSIANS(float)
STRUCTLEARN_GAUSSIANS(double)
#undef STRUCTLEARN_GAUSSIANS

// Calls visit(begin, n, columns) for stretches of the rows of X that stay in the nearest cache, with their features as columns
// of `stretch` places.
constexpr std::int64_t stretch = 256;

template <class T, class Visit>
void by_stretches(MatrixView<T> X, Visit&& visit) {
    const auto rows = static_cast<std::int64_t>(X.rows), d = static_cast<std::int64_t>(X.columns);
    std::vector<T> columns(static_cast<std::size_t>(d * stretch));
    for (std::int64_t begin = 0; begin < rows; begin += stretch) {
        const std::int64_t n = std::min(stretch, rows - begin);
        for (std::int64_t k = 0; k < n; ++k)
            for (std::int64_t j = 0; j < d; ++j) columns[j * stretch + k] = X.row(begin + k)[j];
        visit(begin, n, columns.data());
    }
}

}  // namespace

template <class T>
void gaussians(std::span<T> products, std::span<const T> of_rows, std::span<const T> of_columns, double gamma) {
    const std::size_t n = of_columns.size();
    for (std::size_t i = 0; i < of_rows.size(); ++i)
        exponentials_of(static_cast<std::int64_t>(n), static_cast<T>(2.0 * gamma), of_rows[i], of_columns.data(),
                        products.data() + i * n);
}

template <class T>
void gaussian_matrix(MatrixView<T> X, MatrixView<T> Z, double gamma, std::span<T> out) {
    by_stretches(Z, [&](std::int64_t begin, std::int64_t n, const T* columns) {
        for (std::size_t i = 0; i < X.rows; ++i)
            gaussians_of(n, X.columns, stretch, static_cast<T>(gamma), X.row(i), columns,
                         out.data() + i * Z.rows + begin);
    });
}

template <class T>
void add_gaussians(MatrixView<T> X, MatrixView<T> Z, std::span<const double> coefficients, double gamma,
                   std::span<double> total) {
    T values[stretch];
    by_stretches(X, [&](std::int64_t begin, std::int64_t n, const T* columns) {
        for (std::size_t j = 0; j < Z.rows; ++j) {
            gaussians_of(n, Z.columns, stretch, static_cast<T>(gamma), Z.row(j), columns, values);
            add_of(n, coefficients[j], values, total.data() + begin);
        }
    });
}

template void gaussians(std::span<float>, std::span<const float>, std::span<const float>, double);
template void gaussians(std::span<double>, std::span<const double>, std::span<const double>, double);
template void gaussian_matrix(MatrixView<float>, MatrixView<float>, double, std::span<float>);
template void gaussian_matrix(MatrixView<double>, MatrixView<double>, double, std::span<double>);
template void add_gaussians(MatrixView<float>, MatrixView<float>, std::span<const double>, double, std::span<double>);
template void add_gaussians(MatrixView<double>, MatrixView<double>, std::span<const double>, double, std::span<double>);

}  // namespace structlearn
