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

    // A step of `mix`: μ_i moves to μ_i + γ (p − μ_i), where p is the distribution that some w gave.
    struct Mixture {
        std::vector<double> change;  // u γ (μ − p)
        double entropy;              // u γ (H(p) − H(μ)), by how much that term of D grows at least
        double along;                // ⟨w, Aᵀ change⟩
        double square;               // ‖change‖²
    };

    // The step at this w with the best γ ≤ 1. Of the entropy it keeps a lower bound, H((1 − γ) μ + γ p) ≥ (1 − γ) H(μ) + γ H(p),
    // which makes D a parabola in γ, whose curvature is that of ‖Aᵀ change‖² = `ratio` ‖change‖². κ = 1, ℓ = 0.
    void mix(std::int64_t i, double u, const double* marginals, double entropy, double ratio, const double* w, Mixture& step) {
        const std::int64_t n = parts_.size(i);
        resize(n);
        step.change.resize(static_cast<std::size_t>(n));
        double* change = step.change.data();
        parts_.scores(i, w, theta_w_.data());
        const double log_z = parts_.sums(i, theta_w_.data(), found_.data());
        double gap = log_z - entropy;
        double found_entropy = log_z;
        double along = 0.0, square = 0.0;
        for (std::int64_t k = 0; k < n; ++k) {
            gap -= theta_w_[k] * marginals[k];
            found_entropy -= theta_w_[k] * found_[k];
            change[k] = u * (marginals[k] - found_[k]);
            along += theta_w_[k] * change[k];
            square += change[k] * change[k];
        }
        const double curvature = ratio * square;
        const double gamma = curvature > 0.0 ? std::clamp(u * gap / curvature, 0.0, 1.0) : 1.0;
        if (gamma < 1.0)
            for (std::int64_t k = 0; k < n; ++k) change[k] *= gamma;
        step.entropy = gamma * u * (found_entropy - entropy);
        step.along = gamma * along;
        step.square = gamma * gamma * square;
    }

    struct Carried {
        double part;   // of the step
        double ratio;  // ‖Aᵀ change‖² / ‖change‖²
    };
    // w += Aᵀ change, or, where D would fall, that part of it by which D grows most. What became of w since the step was found
    // counts as curvature at first, which makes steps shorter.
    Carried carry(std::int64_t i, const Mixture& step, double* w) {
        if (step.square == 0.0) return {0.0, 0.0};
        const double growth = parts_.push(i, step.change.data(), w);
        double curvature = growth - 2.0 * step.along;
        double part = 1.0;
        if (step.entropy < 0.5 * growth) {
            part = curvature > 0.0 ? std::clamp((step.entropy - step.along) / curvature, 0.0, 0.5) : 0.0;
            const double less = growth + push(i, step, part - 1.0, w);
            if (part > 0.0) {
                // Two points of a parabola that goes through 0.
                curvature = (growth - less / part) / (1.0 - part);
                const double along = 0.5 * (growth - curvature);
                if (part * step.entropy < 0.5 * less) {
                    const double best = curvature > 0.0 ? std::clamp((step.entropy - along) / curvature, 0.0, 1.0) : 0.0;
                    push(i, step, best - part, w);
                    part = best;
                }
            }
        }
        return {part, std::max(curvature, 0.0) / step.square};
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
    double push(std::int64_t i, const Mixture& step, double part, double* w) {
        change_ = step.change;
        for (double& value : change_) value *= part;
        return parts_.push(i, change_.data(), w);
    }

    void resize(std::int64_t n) {
        const auto size = static_cast<std::size_t>(n);
        theta_w_.resize(size), next_.resize(size), found_.resize(size), change_.resize(size);
    }

    Parts parts_;
    std::vector<double> theta_w_, next_, found_, change_;
};

}  // namespace structlearn
