#include "kernel/block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "linear/vector.hpp"

namespace structlearn {

namespace {

// Curvature below this part of the diagonal is taken for as much: the kernels of equal points leave only rounding.
constexpr double flattest = 1e-10;
// Curvature that is as far below 0 cannot be rounding.
template <class T>
constexpr double rounding = std::is_same_v<T, float> ? 1e-4 : 1e-8;

template <class T>
constexpr T nothing = -std::numeric_limits<T>::infinity();

template <class T>
[[gnu::always_inline]] inline T largest_of(std::int64_t n, const T* __restrict values) {
    // The lanes let the compiler take maxima in another order.
    constexpr int width = 32;
    T tops[width];
    for (T& top : tops) top = nothing<T>;
    std::int64_t k = 0;
    for (; k + width <= n; k += width)
        for (int lane = 0; lane < width; ++lane) tops[lane] = tops[lane] < values[k + lane] ? values[k + lane] : tops[lane];
    for (; k < n; ++k) tops[0] = std::max(tops[0], values[k]);
    for (const T top : tops) tops[0] = std::max(tops[0], top);
    return tops[0];
}

// out = sign gradient + free, where `free` is −∞ for variables that may not move that way; the largest of it.
template <class T>
[[gnu::always_inline]] inline T steepest_of(std::int64_t n, double sign, const double* __restrict gradient,
                                            const T* __restrict free, T* __restrict out) {
    for (std::int64_t k = 0; k < n; ++k) out[k] = free[k] + static_cast<T>(sign * gradient[k]);
    return largest_of(n, out);
}

// out = what a step between a variable of slope m and each other one gains, by their curvatures; the largest of it.
template <class T>
[[gnu::always_inline]] inline T best_pair_of(std::int64_t n, double m, T own, const T* __restrict row,
                                             const double* __restrict gradient, const T* __restrict diagonal,
                                             const T* __restrict falls, T* __restrict out) {
    for (std::int64_t k = 0; k < n; ++k) {
        const T slope = static_cast<T>(m + gradient[k]) + falls[k];
        const T across = own + diagonal[k] - 2 * row[k];
        const T least = static_cast<T>(1e-7) * (own + diagonal[k]) + static_cast<T>(1e-30);
        out[k] = slope > 0 ? slope * slope / (across < least ? least : across) : nothing<T>;
    }
    return largest_of(n, out);
}

// gradient += a x + b z
template <class T>
[[gnu::always_inline]] inline void move_of(std::int64_t n, double a, const T* __restrict x, double b,
                                           const T* __restrict z, double* __restrict gradient) {
    for (std::int64_t k = 0; k < n; ++k) gradient[k] += a * static_cast<double>(x[k]) + b * static_cast<double>(z[k]);
}

// Clones are functions, and no templates.
#define STRUCTLEARN_SCANS(T)                                                                                          \
    STRUCTLEARN_CLONES T steepest(std::int64_t n, double sign, const double* gradient, const T* free, T* out) {       \
        return steepest_of(n, sign, gradient, free, out);                                                             \
    }                                                                                                                 \
    STRUCTLEARN_CLONES T best_pair(std::int64_t n, double m, T own, const T* row, const double* gradient,             \
                                   const T* diagonal, const T* falls, T* out) {                                       \
        return best_pair_of(n, m, own, row, gradient, diagonal, falls, out);                                          \
    }                                                                                                                 \
    STRUCTLEARN_CLONES void move(std::int64_t n, double a, const T* x, double b, const T* z, double* gradient) {      \
        move_of(n, a, x, b, z, gradient);                                                                             \
    }
STRUCTLEARN_SCANS(float)
STRUCTLEARN_SCANS(double)
#undef STRUCTLEARN_SCANS

// The variables of a block; those that may rise have 0 in `rises`, those that may fall have 0 in `falls`, others −∞.
template <class T>
struct Block {
    MatrixView<T> K;
    std::span<const double> r, lower, upper;
    std::span<double> beta, gradient;
    std::vector<T> diagonal, rises, falls, found;

    std::int64_t size() const { return static_cast<std::int64_t>(beta.size()); }
    double curvature(std::int64_t i) const { return static_cast<double>(K.row(i)[i]) + r[i]; }
    std::int64_t place_of(T top) const { return std::find(found.begin(), found.end(), top) - found.begin(); }
    void mark(std::int64_t i) {
        rises[i] = beta[i] < upper[i] ? T{0} : nothing<T>;
        falls[i] = beta[i] > lower[i] ? T{0} : nothing<T>;
    }
};

template <class T>
BlockEnd solve_pairs(Block<T>& block, double accuracy, std::int64_t max_steps) {
    const std::int64_t n = block.size();
    double* gradient = block.gradient.data();
    T* found = block.found.data();
    for (std::int64_t step = 0; step < max_steps; ++step) {
        const T top = steepest(n, -1.0, gradient, block.rises.data(), found);
        if (top == nothing<T>) return {step};
        const std::int64_t i = block.place_of(top);
        const double m = -gradient[i];
        const T* row = block.K.row(i);
        const T gain = best_pair(n, m, block.diagonal[i], row, gradient, block.diagonal.data(), block.falls.data(), found);
        if (gain == nothing<T>) return {step};
        const std::int64_t j = block.place_of(gain);
        // The steepest pair decides nothing but the end: it is looked for where this one is not steep, and now and then.
        if (step % 16 == 0 || m + gradient[j] < accuracy) {
            if (m + static_cast<double>(steepest(n, 1.0, gradient, block.falls.data(), found)) < accuracy) return {step};
        }
        const double size = std::abs(block.curvature(i)) + std::abs(block.curvature(j));
        const double across = block.curvature(i) + block.curvature(j) - 2.0 * static_cast<double>(row[j]);
        if (across < -rounding<T> * size) return {step, i, j};
        double by = (m + gradient[j]) / std::max(across, flattest * size + 1e-300);
        // At a bound the variable is put exactly.
        const double room_i = block.upper[i] - block.beta[i], room_j = block.beta[j] - block.lower[j];
        by = std::min({by, room_i, room_j});
        if (!(by > 0.0)) return {step};
        block.beta[i] = by == room_i ? block.upper[i] : block.beta[i] + by;
        block.beta[j] = by == room_j ? block.lower[j] : block.beta[j] - by;
        move(n, by, row, -by, block.K.row(j), gradient);
        gradient[i] += block.r[i] * by;
        gradient[j] -= block.r[j] * by;
        block.mark(i);
        block.mark(j);
    }
    return {max_steps};
}

// How far a variable alone goes to its optimum.
template <class T>
double single_step(const Block<T>& block, std::int64_t i) {
    const double across = std::max(block.curvature(i), 1e-300);
    return std::clamp(block.beta[i] - block.gradient[i] / across, block.lower[i], block.upper[i]) - block.beta[i];
}

template <class T>
BlockEnd solve_singles(Block<T>& block, double accuracy, std::int64_t max_steps) {
    const std::int64_t n = block.size();
    const std::vector<T> zeros(n);
    for (std::int64_t step = 0; step < max_steps; ++step) {
        double best = 0.0, steepest = 0.0;
        std::int64_t i = -1;
        for (std::int64_t k = 0; k < n; ++k) {
            const double slope = block.gradient[k];
            if (slope == 0.0 || (slope < 0.0 ? block.rises[k] : block.falls[k]) != T{0}) continue;
            steepest = std::max(steepest, std::abs(slope));
            const double by = single_step(block, k);
            const double gain = -by * (slope + 0.5 * by * block.curvature(k));
            if (gain > best) best = gain, i = k;
        }
        if (steepest < accuracy || i < 0) return {step};
        if (block.curvature(i) < 0.0) return {step, i, i};
        const double before = block.beta[i];
        block.beta[i] += single_step(block, i);
        const double by = block.beta[i] - before;
        move(n, by, block.K.row(i), 0.0, zeros.data(), block.gradient.data());
        block.gradient[i] += block.r[i] * by;
        block.mark(i);
    }
    return {max_steps};
}

template <class T>
[[gnu::always_inline]] inline void add_rows_of(MatrixView<T> rows, std::span<const std::int64_t> which,
                                               const double* coefficients, double* __restrict total) {
    // A stretch of the total stays in the nearest cache while all rows pass over it, two at a time.
    constexpr std::int64_t stretch = 1024;
    const auto columns = static_cast<std::int64_t>(rows.columns);
    const auto count = static_cast<std::int64_t>(which.size());
    for (std::int64_t begin = 0; begin < columns; begin += stretch) {
        const std::int64_t n = std::min(stretch, columns - begin);
        double* out = total + begin;
        std::int64_t k = 0;
        for (; k + 4 <= count; k += 4) {
            const T *x = rows.row(which[k]) + begin, *z = rows.row(which[k + 1]) + begin,
                    *u = rows.row(which[k + 2]) + begin, *v = rows.row(which[k + 3]) + begin;
            const double a = coefficients[k], b = coefficients[k + 1], c = coefficients[k + 2], d = coefficients[k + 3];
            for (std::int64_t l = 0; l < n; ++l)
                out[l] += (a * static_cast<double>(x[l]) + b * static_cast<double>(z[l])) +
                          (c * static_cast<double>(u[l]) + d * static_cast<double>(v[l]));
        }
        for (; k < count; ++k) {
            const T* x = rows.row(which[k]) + begin;
            for (std::int64_t l = 0; l < n; ++l) out[l] += coefficients[k] * static_cast<double>(x[l]);
        }
    }
}

STRUCTLEARN_CLONES
void add_all(MatrixView<float> rows, std::span<const std::int64_t> which, const double* coefficients, double* total) {
    add_rows_of(rows, which, coefficients, total);
}
STRUCTLEARN_CLONES
void add_all(MatrixView<double> rows, std::span<const std::int64_t> which, const double* coefficients, double* total) {
    add_rows_of(rows, which, coefficients, total);
}

}  // namespace

template <class T>
BlockEnd solve_block(MatrixView<T> K, std::span<const double> r, std::span<const double> lower,
                     std::span<const double> upper, bool sum_is_held, double accuracy, std::int64_t max_steps,
                     std::span<double> beta, std::span<double> gradient) {
    const std::size_t n = beta.size();
    Block<T> block{K,
                   r,
                   lower,
                   upper,
                   beta,
                   gradient,
                   std::vector<T>(n),
                   std::vector<T>(n),
                   std::vector<T>(n),
                   std::vector<T>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        block.diagonal[i] = static_cast<T>(block.curvature(i));
        block.mark(i);
    }
    return sum_is_held ? solve_pairs(block, accuracy, max_steps) : solve_singles(block, accuracy, max_steps);
}

template <class T>
void gather_columns(MatrixView<T> rows, std::span<const std::int64_t> which, std::span<const std::int64_t> columns,
                    std::span<T> out) {
    T* to = out.data();
    for (const std::int64_t k : which) {
        const T* row = rows.row(k);
        for (const std::int64_t l : columns) *to++ = row[l];
    }
}

template <class T>
void add_rows(MatrixView<T> rows, std::span<const std::int64_t> which, std::span<const double> coefficients,
              std::span<double> total) {
    add_all(rows, which, coefficients.data(), total.data());
}

template BlockEnd solve_block(MatrixView<float>, std::span<const double>, std::span<const double>,
                              std::span<const double>, bool, double, std::int64_t, std::span<double>,
                              std::span<double>);
template BlockEnd solve_block(MatrixView<double>, std::span<const double>, std::span<const double>,
                              std::span<const double>, bool, double, std::int64_t, std::span<double>,
                              std::span<double>);
template void gather_columns(MatrixView<float>, std::span<const std::int64_t>, std::span<const std::int64_t>,
                             std::span<float>);
template void gather_columns(MatrixView<double>, std::span<const std::int64_t>, std::span<const std::int64_t>,
                             std::span<double>);
template void add_rows(MatrixView<float>, std::span<const std::int64_t>, std::span<const double>, std::span<double>);
template void add_rows(MatrixView<double>, std::span<const std::int64_t>, std::span<const double>, std::span<double>);

}  // namespace structlearn
