#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace structlearn {

// One example's part of the dual: multipliers α_k ≥ 0 of its planes, Σ_k α_k ≤ u, and a term −½ r (Σ_k α_k)².
// Planes are known here only by a, b and the inner products of their scaled rows a_k row_k.
class DualBlock {
public:
    std::vector<double> a, b, alpha;
    std::vector<std::int32_t> idle;  // times in a row the plane had α = 0 or was not marked as used
    double u = 0.0;
    double r = 0.0;

    std::int64_t size() const { return static_cast<std::int64_t>(alpha.size()); }
    double sigma() const { return std::accumulate(alpha.begin(), alpha.end(), 0.0); }

    void push(double plane_a, double plane_b) {
        a.push_back(plane_a);
        b.push_back(plane_b);
        alpha.push_back(0.0);
        idle.push_back(0);
    }

    // Inner products are filled in when first needed: planes that are only looked up never pay for them.
    std::int64_t known_products() const { return known_; }
    const double* products(std::int64_t k) const { return &gram_[k * stride_]; }
    // Takes the inner products of plane k = known_products() with planes 0 … k.
    void add_products(const std::vector<double>& row) {
        const std::int64_t k = known_++;
        if (known_ > stride_) widen();
        for (std::int64_t l = 0; l <= k; ++l) gram_[k * stride_ + l] = gram_[l * stride_ + k] = row[l];
    }

    // ξ's share of the primal when the largest violation is h.
    double slack(double h) const {
        if (std::isfinite(u)) return u * h;
        return r > 0.0 ? h * h / (2.0 * r) : 0.0;
    }

    // This block's part of primal − dual, given b − a⟨w, row⟩ of its planes.
    double gap(const std::vector<double>& violations) const {
        double largest = 0.0;
        double paid = 0.0;
        for (std::size_t k = 0; k < violations.size(); ++k) {
            largest = std::max(largest, violations[k]);
            paid += alpha[k] * violations[k];
        }
        const double budget = sigma();
        return slack(largest) - paid + 0.5 * r * budget * budget;
    }

    // Moves weight between pairs of planes, with exact line search, until the block is nearly optimal. The truth is a plane
    // with zero row and b = 0 that holds the rest of the budget. `violations` are kept up to date. Returns false if the
    // dual has no maximum.
    bool ascend(std::vector<double>& violations) {
        constexpr std::int64_t truth = -1;
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
            if (gradient <= 1e-3 * first && step > 0) return true;
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
    void keep(const std::vector<std::int64_t>& kept) {
        DualBlock result;
        result.u = u;
        result.r = r;
        std::vector<double> row;
        for (const std::int64_t k : kept) {
            result.push(a[k], b[k]);
            result.alpha.back() = alpha[k];
            result.idle.back() = idle[k];
            if (k >= known_) continue;
            row.clear();
            for (const std::int64_t l : kept)
                if (l <= k) row.push_back(products(k)[l]);
            result.add_products(row);
        }
        *this = std::move(result);
    }

    std::size_t nbytes() const { return 8 * (gram_.capacity() + 3 * alpha.capacity()) + 4 * idle.capacity(); }

private:
    void add_products_scaled(std::int64_t k, double factor, std::vector<double>& violations) const {
        const double* row = products(k);
        for (std::size_t l = 0; l < violations.size(); ++l) violations[l] += factor * row[l];
    }

    void widen() {
        const std::int64_t wider = std::max<std::int64_t>(2, 2 * stride_);
        std::vector<double> grown(static_cast<std::size_t>(wider * wider), 0.0);
        for (std::int64_t k = 0; k + 1 < known_; ++k)
            std::copy_n(&gram_[k * stride_], known_ - 1, &grown[k * wider]);
        gram_.swap(grown);
        stride_ = wider;
    }

    std::vector<double> gram_;  // (stride, stride), of which known × known are filled
    std::int64_t stride_ = 0;
    std::int64_t known_ = 0;
};

}  // namespace structlearn
