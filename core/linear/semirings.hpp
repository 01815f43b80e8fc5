#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

#include "linear/log_weights.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Scores are added along an output, ⊗, and joined over outputs, ⊕. Each dynamic program is written once, as a template over
// the semiring that says what ⊕ is, on rows of numbers:
//
//     product(n, before, matrix, after, out)            out[l] = ⊕_k before[k] ⊗ matrix[k, l] ⊗ after[l]
//     sum_of_products(rows, n, left, step, right, right_step, out)
//                                                       out[l] = ⊕_k left[k step + l] ⊗ right[k right_step + l]
//     join(n, a, b, out)                                out[l] = a[l] ⊕ b[l]
//     join_shifted(n, a, a0, a1, b, b0, b1, out)        out[l] = a[l] ⊗ (a0 + a1[l]) ⊕ b[l] ⊗ (b0 + b1[l])
//     total(n, x)                                       ⊕_k x[k], −∞ where n = 0
//     scan(n, a, a0, a1, b0, b1, out)                   out[0] = −∞, out[l + 1] = a[l] ⊗ (a0 + a1[l]) ⊕ out[l] ⊗ (b0 + b1[l])
//
// −∞ is the zero, 0 the one. Where ⊕ is idempotent, one of the joined scores is their sum, and it can be traced back.
template <class S>
concept Semiring = requires(S s, std::int64_t n, const double* x, double* out) {
    { S::idempotent } -> std::convertible_to<bool>;
    s.product(n, x, x, x, out);
    s.sum_of_products(n, n, x, n, x, n, out);
    s.join(n, x, x, out);
    s.join_shifted(n, x, 0.0, x, x, 0.0, x, out);
    s.scan(n, x, 0.0, x, 0.0, x, out);
    { s.total(n, x) } -> std::same_as<double>;
};

// The largest score.
struct MaxPlus {
    static constexpr bool idempotent = true;

    static void product(std::int64_t n, const double* before, const double* matrix, const double* after, double* out) {
        max_plus_product(n, before, matrix, after, out);
    }
    static void sum_of_products(std::int64_t rows, std::int64_t n, const double* left, std::int64_t step,
                                const double* right, std::int64_t right_step, double* out) {
        max_of_sums(rows, n, left, step, right, right_step, out);
    }
    static double total(std::int64_t n, const double* x) { return n > 0 ? *std::max_element(x, x + n) : minus_infinity; }
    static void join(std::int64_t n, const double* a, const double* b, double* out);
    static void join_shifted(std::int64_t n, const double* a, double a0, const double* a1, const double* b, double b0,
                             const double* b1, double* out);
    static void scan(std::int64_t n, const double* a, double a0, const double* a1, double b0, const double* b1,
                     double* out);
};

// The logarithm of the sum of the exponentials.
class LogSum {
public:
    static constexpr bool idempotent = false;

    void product(std::int64_t n, const double* before, const double* matrix, const double* after, double* out) {
        log_sum_product(n, before, matrix, after, room(2 * n), out);
    }
    void sum_of_products(std::int64_t rows, std::int64_t n, const double* left, std::int64_t step, const double* right,
                         std::int64_t right_step, double* out) {
        log_sum_of_sums(rows, n, left, step, right, right_step, room(n), out);
    }
    double total(std::int64_t n, const double* x) { return n > 0 ? log_sum(n, x, room(n)) : minus_infinity; }
    void join(std::int64_t n, const double* a, const double* b, double* out);
    void join_shifted(std::int64_t n, const double* a, double a0, const double* a1, const double* b, double b0,
                      const double* b1, double* out);
    // With E[j] = Σ_{k≤j} (b0 + b1[k]) it is out[j + 1] = E[j] + log Σ_{k≤j} exp(a[k] + a0 + a1[k] − E[k]); the sum goes along
    // relative to its largest term so far, so that neither underflows.
    void scan(std::int64_t n, const double* a, double a0, const double* a1, double b0, const double* b1, double* out);

private:
    double* room(std::int64_t n) {
        workspace_.resize(static_cast<std::size_t>(n));
        return workspace_.data();
    }

    std::vector<double> workspace_, shifted_;
};

static_assert(Semiring<MaxPlus> && Semiring<LogSum>);

}  // namespace structlearn
