#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace structlearn {

// Ascent on the dual of a likelihood or of a margin, one example at a time, for outputs that are sums of parts:
//
//     D(μ) = Σ_i u_i (κ H(μ_i) + ⟨ℓ_i, μ_i⟩) − ½‖w‖²,   w = Σ_i u_i A_iᵀ (τ_i − μ_i),
//
// with μ_i the marginals of a distribution over outputs, τ_i those of the truth, H the entropy. κ = 1 and ℓ = 0 is the
// conditional random field, κ = 0 and ℓ the loss of each part the max-margin Markov network.
template <class Parts>
class PartAscent {
public:
    explicit PartAscent(Parts parts) : parts_(std::move(parts)) {}

    // Moves μ_i to (1 − γ) μ_i + γ p, where p is the distribution that w gives, with the best γ ≤ 1. Of the entropy it keeps
    // a lower bound, H((1 − γ) μ + γ p) ≥ (1 − γ) H(μ) + γ H(p), which makes D a parabola in γ. κ = 1, ℓ = 0. Returns by how
    // much the example's own primal exceeds its own dual, log Z − H − ⟨A_i w, μ_i⟩.
    double mix(std::int64_t i, double u, double* marginals, double& entropy, double* w) {
        const std::int64_t n = parts_.size(i);
        resize(n);
        parts_.scores(i, w, theta_w_.data());
        const double log_z = parts_.sums(i, theta_w_.data(), found_.data());
        double gap = log_z - entropy;
        double found_entropy = log_z;
        double along = 0.0;
        for (std::int64_t k = 0; k < n; ++k) {
            gap -= theta_w_[k] * marginals[k];
            found_entropy -= theta_w_[k] * found_[k];
            change_[k] = u * (marginals[k] - found_[k]);
            along += theta_w_[k] * change_[k];
        }
        const double square = parts_.push(i, change_.data(), w) - 2.0 * along;
        const double step = square > 0.0 ? std::clamp(u * gap / square, 0.0, 1.0) : 1.0;
        if (step < 1.0) {
            for (double& value : change_) value *= step - 1.0;
            parts_.push(i, change_.data(), w);
        }
        for (std::int64_t k = 0; k < n; ++k) marginals[k] += step * (found_[k] - marginals[k]);
        entropy += step * (found_entropy - entropy);
        return gap;
    }

    // Moves the scores θ_i of which μ_i is the distribution to θ_i + η (ℓ_i + A_i w − κ θ_i), an exponentiated-gradient
    // step. η is halved until the dual grows, and grows a little where it did at once (Collins et al. 2008).
    void exponentiate(std::int64_t i, double u, double kappa, const double* losses, double* theta, double* marginals,
                      double& entropy, double& eta, double* w) {
        const std::int64_t n = parts_.size(i);
        resize(n);
        parts_.scores(i, w, theta_w_.data());
        for (int attempt = 0;; ++attempt) {
            for (std::int64_t k = 0; k < n; ++k) {
                const double slope = theta_w_[k] + (losses ? losses[k] : 0.0) - kappa * theta[k];
                next_[k] = theta[k] + eta * slope;
            }
            double found_entropy = parts_.sums(i, next_.data(), found_.data());
            double along = 0.0;
            double gain = 0.0;
            for (std::int64_t k = 0; k < n; ++k) {
                found_entropy -= next_[k] * found_[k];
                change_[k] = u * (marginals[k] - found_[k]);
                along += theta_w_[k] * change_[k];
                if (losses) gain -= losses[k] * change_[k];
            }
            const double square = parts_.push(i, change_.data(), w) - 2.0 * along;
            gain += u * kappa * (found_entropy - entropy) - along - 0.5 * square;
            if (gain >= 0.0) {
                std::copy_n(next_.data(), n, theta);
                std::copy_n(found_.data(), n, marginals);
                entropy = found_entropy;
                if (attempt == 0) eta *= 1.2;
                if (kappa > 0.0) eta = std::min(eta, 1.0 / kappa);
                return;
            }
            for (double& value : change_) value = -value;
            parts_.push(i, change_.data(), w);
            // At the optimum of the block rounding alone decides about the sign of the gain.
            if (attempt == 30) return;
            eta *= 0.5;
        }
    }

private:
    void resize(std::int64_t n) {
        const auto size = static_cast<std::size_t>(n);
        theta_w_.resize(size), next_.resize(size), found_.resize(size), change_.resize(size);
    }

    Parts parts_;
    std::vector<double> theta_w_, next_, found_, change_;
};

}  // namespace structlearn
