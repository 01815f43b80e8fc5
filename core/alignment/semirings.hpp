#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/vector.hpp"

namespace structlearn {

// Semirings for dynamic programs that go over rows of cells. A cell has `width` doubles. Sums of cells are `join`, products
// with a score add it to all doubles of a cell:
//
//     shift(n, a, s, out)                             out[j] = a[j] ⊗ s[j]
//     join(n, a, b, out)                              out[j] = a[j] ⊕ b[j]
//     join_shifted(n, a, a0, a1, b, b0, b1, out)      out[j] = a[j] ⊗ (a0 + a1[j]) ⊕ b[j] ⊗ (b0 + b1[j])
//     scan(n, a, a0, a1, b0, b1, out)                 out[0] = 0, out[j + 1] = a[j] ⊗ (a0 + a1[j]) ⊕ out[j] ⊗ (b0 + b1[j])
//     fill(n, out), set_one(cell), join_one(n, out)   out[j] = 0; cell = 1; out[j] = out[j] ⊕ 1

// What semirings of single numbers share.
struct Numbers {
    static constexpr std::int64_t width() { return 1; }
    static void fill(std::int64_t n, double* out) { std::fill_n(out, n, minus_infinity); }
    static void set_one(double* cell) { *cell = 0.0; }
    static void shift(std::int64_t n, const double* a, const double* s, double* out);
};

// log Σ exp of the scores.
class LogSum : public Numbers {
public:
    void join_one(std::int64_t n, double* cells);
    void join(std::int64_t n, const double* a, const double* b, double* out);
    void join_shifted(std::int64_t n, const double* a, double a0, const double* a1, const double* b, double b0,
                      const double* b1, double* out);
    // With E[j] = Σ_{k≤j} (b0 + b1[k]) it is out[j + 1] = E[j] + log Σ_{k≤j} exp(a[k] + a0 + a1[k] − E[k]); the sum goes along
    // relative to its largest term so far, so that neither underflows.
    void scan(std::int64_t n, const double* a, double a0, const double* a1, double b0, const double* b1, double* out);

private:
    std::vector<double> rest_, shifted_, zeros_;
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
    void join_one(std::int64_t n, double* cells) {
        for (std::int64_t j = 0; j < n; ++j) merge(cells + j * k_, 0.0, &one_, 1, 0.0, cells + j * k_);
    }
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
