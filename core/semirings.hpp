#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "vector.hpp"

namespace structlearn {

// Semirings for dynamic programs that go over rows of cells. A cell has `width` doubles. Sums of cells are `join`, products
// with a score add it to all doubles of a cell:
//
//     shift(n, a, s, out)                             out[j] = a[j] ⊗ s[j]
//     join(n, a, b, out)                              out[j] = a[j] ⊕ b[j]; out may be a or b
//     join_shifted(n, a, a0, a1, b, b0, b1, out)      out[j] = a[j] ⊗ (a0 + a1[j]) ⊕ b[j] ⊗ (b0 + b1[j])
//     scan(n, a, a0, a1, b0, b1, out)                 out[0] = 0, out[j + 1] = a[j] ⊗ (a0 + a1[j]) ⊕ out[j] ⊗ (b0 + b1[j])
//     fill(n, out), set_one(cell), join_one(cell)     out[j] = 0; cell = 1; cell = cell ⊕ 1

// What semirings of single numbers share.
struct Numbers {
    static constexpr std::int64_t width() { return 1; }
    static void fill(std::int64_t n, double* out) { std::fill_n(out, n, minus_infinity); }
    static void set_one(double* cell) { *cell = 0.0; }
    static void shift(std::int64_t n, const double* a, const double* s, double* out) {
        for (std::int64_t j = 0; j < n; ++j) out[j] = a[j] + s[j];
    }
};

// The best score.
struct MaxPlus : Numbers {
    static double larger(double a, double b) { return a < b ? b : a; }
    static void join_one(double* cell) { *cell = larger(*cell, 0.0); }
    static void join(std::int64_t n, const double* a, const double* b, double* out) {
        for (std::int64_t j = 0; j < n; ++j) out[j] = larger(a[j], b[j]);
    }
    static void join_shifted(std::int64_t n, const double* a, double a0, const double* a1, const double* b, double b0,
                             const double* b1, double* out) {
        for (std::int64_t j = 0; j < n; ++j) out[j] = larger(a[j] + (a0 + a1[j]), b[j] + (b0 + b1[j]));
    }
    static void scan(std::int64_t n, const double* a, double a0, const double* a1, double b0, const double* b1,
                     double* out) {
        double last = minus_infinity;
        out[0] = last;
        for (std::int64_t j = 0; j < n; ++j) {
            last = larger(a[j] + (a0 + a1[j]), last + (b0 + b1[j]));
            out[j + 1] = last;
        }
    }
};

// log Σ exp of the scores.
class LogSum : public Numbers {
public:
    static double add(double a, double b) {
        const double top = std::max(a, b);
        return top == minus_infinity ? top : top + std::log1p(std::exp(-std::abs(a - b)));
    }
    static void join_one(double* cell) { *cell = add(*cell, 0.0); }
    void join(std::int64_t n, const double* a, const double* b, double* out) {
        rest_.resize(static_cast<std::size_t>(n));
        for (std::int64_t j = 0; j < n; ++j) {
            const double top = MaxPlus::larger(a[j], b[j]);
            const double low = a[j] < b[j] ? a[j] : b[j];
            rest_[j] = low == minus_infinity ? -1000.0 : low - top;
            out[j] = top;
        }
        exponentials(n, rest_.data(), 0.0, rest_.data());
        for (double& value : rest_) value += 1.0;
        logarithms(n, rest_.data(), rest_.data());
        for (std::int64_t j = 0; j < n; ++j) out[j] += rest_[j];
    }
    void join_shifted(std::int64_t n, const double* a, double a0, const double* a1, const double* b, double b0,
                      const double* b1, double* out) {
        shifted_.resize(static_cast<std::size_t>(n));
        for (std::int64_t j = 0; j < n; ++j) shifted_[j] = a[j] + (a0 + a1[j]);
        for (std::int64_t j = 0; j < n; ++j) out[j] = b[j] + (b0 + b1[j]);
        join(n, shifted_.data(), out, out);
    }
    static void scan(std::int64_t n, const double* a, double a0, const double* a1, double b0, const double* b1,
                     double* out) {
        out[0] = minus_infinity;
        for (std::int64_t j = 0; j < n; ++j) out[j + 1] = add(a[j] + (a0 + a1[j]), out[j] + (b0 + b1[j]));
    }

private:
    std::vector<double> rest_, shifted_;
};

// The k best scores, the best first; −∞ where there are fewer.
class KBest {
public:
    explicit KBest(std::int64_t k) : k_(k) {}

    std::int64_t width() const { return k_; }
    void fill(std::int64_t n, double* out) const { std::fill_n(out, n * k_, minus_infinity); }
    void set_one(double* cell) const {
        fill(1, cell);
        *cell = 0.0;
    }
    void join_one(double* cell) { merge(cell, 0.0, &one_, 1, 0.0, cell); }
    void shift(std::int64_t n, const double* a, const double* s, double* out) const {
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t r = 0; r < k_; ++r) out[j * k_ + r] = a[j * k_ + r] + s[j];
    }
    void join(std::int64_t n, const double* a, const double* b, double* out) {
        for (std::int64_t j = 0; j < n; ++j) merge(a + j * k_, 0.0, b + j * k_, k_, 0.0, out + j * k_);
    }
    void join_shifted(std::int64_t n, const double* a, double a0, const double* a1, const double* b, double b0,
                      const double* b1, double* out) {
        for (std::int64_t j = 0; j < n; ++j) merge(a + j * k_, a0 + a1[j], b + j * k_, k_, b0 + b1[j], out + j * k_);
    }
    void scan(std::int64_t n, const double* a, double a0, const double* a1, double b0, const double* b1, double* out) {
        fill(1, out);
        for (std::int64_t j = 0; j < n; ++j, out += k_) merge(a + j * k_, a0 + a1[j], out, k_, b0 + b1[j], out + k_);
    }

private:
    void merge(const double* a, double a_score, const double* b, std::int64_t n_b, double b_score, double* out) {
        merged_.resize(static_cast<std::size_t>(k_));
        std::int64_t from_a = 0, from_b = 0;
        for (double& value : merged_) {
            const double left = a[from_a] + a_score;
            const double right = from_b < n_b ? b[from_b] + b_score : minus_infinity;
            value = left < right ? (++from_b, right) : (++from_a, left);
        }
        std::copy(merged_.begin(), merged_.end(), out);
    }

    std::int64_t k_;
    double one_ = 0.0;
    std::vector<double> merged_;
};

}  // namespace structlearn
