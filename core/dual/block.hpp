#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace structlearn {

// One example's part of the dual: multipliers α_k ≥ 0 of its planes, Σ_k α_k ≤ u, and a term −½ r (Σ_k α_k)².
// Planes are known here only by a, b and the inner products of their scaled rows a_k row_k.
//
// All numbers of a block lie in one piece of memory: a problem has a block for each example, visited in random order.
class DualBlock {
public:
    double u = 0.0;
    double r = 0.0;

    std::int64_t size() const { return size_; }
    std::span<double> alpha() { return row(0); }
    std::span<const double> alpha() const { return row(0); }
    std::span<const double> a() const { return row(1); }
    std::span<const double> b() const { return row(2); }
    // Times in a row the plane had α = 0 or was not marked as used.
    std::span<double> idle() { return row(3); }
    std::span<const double> idle() const { return row(3); }
    double sigma() const { return std::accumulate(alpha().begin(), alpha().end(), 0.0); }

    void push(double plane_a, double plane_b) {
        if (size_ == capacity_) grow();
        const std::int64_t k = size_++;
        row(0)[k] = 0.0;
        row(1)[k] = plane_a;
        row(2)[k] = plane_b;
        row(3)[k] = 0.0;
    }

    // Inner products are filled in when first needed: planes that are only looked up never pay for them.
    std::int64_t known_products() const { return known_; }
    const double* products(std::int64_t k) const { return &memory_[(rows + k) * capacity_]; }
    // Takes the inner products of plane k = known_products() with planes 0 … k.
    void add_products(const std::vector<double>& row) {
        const std::int64_t k = known_++;
        double* gram = &memory_[rows * capacity_];
        for (std::int64_t l = 0; l <= k; ++l) gram[k * capacity_ + l] = gram[l * capacity_ + k] = row[l];
    }

    void add_products_scaled(std::int64_t k, double factor, std::vector<double>& violations) const {
        const double* with = products(k);
        for (std::size_t l = 0; l < violations.size(); ++l) violations[l] += factor * with[l];
    }

    // After the rows have changed.
    void forget_products() { known_ = 0; }
    // After the first plane has: its new offset, and its inner products with all planes.
    void replace_first(double b, const std::vector<double>& with) {
        row(2)[0] = b;
        double* gram = &memory_[rows * capacity_];
        for (std::int64_t l = 0; l < known_; ++l) gram[l] = gram[l * capacity_] = with[l];
    }

    // ξ's share of the primal when the largest violation is h.
    double slack(double h) const {
        if (std::isfinite(u)) return u * h;
        return r > 0.0 ? h * h / (2.0 * r) : 0.0;
    }

    // Σ α v − ½ r σ² for the violations v = b − a⟨w, row⟩ of the planes.
    double covered(const std::vector<double>& violations) const {
        const double budget = sigma();
        return std::inner_product(violations.begin(), violations.end(), alpha().begin(), 0.0) - 0.5 * r * budget * budget;
    }

    // This block's part of primal − dual.
    double gap(const std::vector<double>& violations) const {
        double largest = 0.0;
        for (const double violation : violations) largest = std::max(largest, violation);
        return slack(largest) - covered(violations);
    }

    // Moves weight between pairs of planes, with exact line search, until the steepest pair is only `part` as steep as the
    // first. The truth is a plane with zero row and b = 0 that holds the rest of the budget. `violations` are kept up to
    // date. Returns false if the dual has no maximum.
    bool ascend(std::vector<double>& violations, double part) {
        constexpr std::int64_t truth = -1;
        const std::span<double> alpha = this->alpha();
        const std::int64_t m = size();
        double budget = sigma();
        double first = -1.0;
        for (std::int64_t step = 0; step < 20 + 4 * m; ++step) {
            std::int64_t up = truth;
            std::int64_t down = budget < u ? truth : m;
            double most = 0.0;
            double least = budget < u ? 0.0 : std::numeric_limits<double>::infinity();
            for (std::int64_t k = 0; k < m; ++k) {
                const double gradient = violations[k] - r * budget;
                if (gradient > most) most = gradient, up = k;
                if (alpha[k] > 0.0 && gradient < least) least = gradient, down = k;
            }
            if (down == m || up == down) return true;
            const double gradient = most - least;
            if (first < 0.0) first = gradient;
            if (gradient <= part * first && step > 0) return true;
            if (gradient <= 1e-15 * (1.0 + std::abs(most))) return true;

            const bool budget_moves = up == truth || down == truth;
            double curvature = budget_moves ? r : -2.0 * products(up)[down];
            if (up != truth) curvature += products(up)[up];
            if (down != truth) curvature += products(down)[down];
            const double available = down == truth ? u - budget : alpha[down];
            double move = curvature > 0.0 ? gradient / curvature : std::numeric_limits<double>::infinity();
            const bool whole = move >= available;
            if (whole) move = available;
            if (!std::isfinite(move)) return false;

            if (up != truth) alpha[up] += move;
            if (down != truth) alpha[down] = whole ? 0.0 : alpha[down] - move;
            if (budget_moves) budget = down == truth && whole ? u : sigma();
            if (up != truth) add_products_scaled(up, -move, violations);
            if (down != truth) add_products_scaled(down, move, violations);
        }
        return true;
    }

    // Keeps the given planes, in increasing order.
    void keep(std::span<const std::int64_t> kept) {
        DualBlock result;
        result.u = u;
        result.r = r;
        std::vector<double> products_with;
        for (const std::int64_t k : kept) {
            result.push(a()[k], b()[k]);
            result.alpha().back() = alpha()[k];
            result.idle().back() = idle()[k];
        }
        for (const std::int64_t k : kept) {
            if (k >= known_) break;
            products_with.clear();
            for (const std::int64_t l : kept)
                if (l <= k) products_with.push_back(products(k)[l]);
            result.add_products(products_with);
        }
        *this = std::move(result);
    }

    std::size_t nbytes() const { return 8 * memory_.capacity(); }

private:
    static constexpr std::int64_t rows = 4;

    std::span<double> row(std::int64_t which) {
        return {memory_.data() + which * capacity_, static_cast<std::size_t>(size_)};
    }
    std::span<const double> row(std::int64_t which) const {
        return {memory_.data() + which * capacity_, static_cast<std::size_t>(size_)};
    }

    void grow() {
        const std::int32_t wider = std::max(2, 2 * capacity_);
        std::vector<double> grown(static_cast<std::size_t>((rows + wider) * wider), 0.0);
        for (std::int64_t line = 0; line < rows + known_; ++line)
            std::copy_n(memory_.data() + line * capacity_, size_, grown.data() + line * wider);
        memory_ = std::move(grown);
        capacity_ = wider;
    }

    std::vector<double> memory_;  // (4 + capacity, capacity): α, a, b, idle, then the inner products
    std::int32_t size_ = 0;
    std::int32_t capacity_ = 0;
    std::int32_t known_ = 0;
};

}  // namespace structlearn
