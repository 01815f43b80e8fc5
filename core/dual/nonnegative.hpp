#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace structlearn {

// Weights that must be ≥ 0, as one more block of the dual: the planes (e_j, b = 0) with multipliers β_j ≥ 0 that have no
// budget and no price, w = v + Σ_j β_j e_j with v = Σ α a row. The best β for a given v is max(0, −v_j), so that w is v
// clipped at zero, and β_j w_j = 0: the block has no gap of its own.
class Nonnegative {
public:
    void set(std::span<const std::int64_t> weights, std::int64_t n_weights) {
        for (const std::int64_t j : weights)
            if (j < 0 || j >= n_weights)
                throw std::invalid_argument("weight " + std::to_string(j) + " cannot be kept nonnegative: there are " +
                                            std::to_string(n_weights) + " weights");
        weights_.assign(weights.begin(), weights.end());
        beta_.assign(weights_.size(), 0.0);
        unclipped_ = 0;
    }

    bool empty() const { return weights_.empty(); }
    const std::vector<double>& beta() const { return beta_; }
    void set_beta(std::span<const double> beta) { beta_.assign(beta.begin(), beta.end()); }
    void scale(double t) {
        for (double& beta : beta_) beta *= t;
    }

    // Takes w for v, as if there were no β yet.
    void begin(double* w) {
        scale(0.0);
        clip(w);
    }

    // Maximises the dual over β: what was added to w since the last time was added to v. Returns the gain.
    double clip(double* w) {
        unclipped_ = 0;
        double gain = 0.0;
        for (std::size_t k = 0; k < weights_.size(); ++k) {
            double& weight = w[weights_[k]];
            const double v = weight - beta_[k];
            const double clipped = std::max(0.0, v);
            gain += 0.5 * (weight - clipped) * (weight + clipped);
            beta_[k] = clipped - v;
            weight = clipped;
        }
        return gain;
    }

    // Whether it is time to clip: a look at all these weights should not cost more than the visits to other blocks between.
    bool is_due() { return !empty() && ++unclipped_ > static_cast<std::int64_t>(weights_.size()) / 256; }

    // Where w is at its bound, β takes up what a small step adds to v.
    void absorb(double* step) const {
        for (std::size_t k = 0; k < weights_.size(); ++k)
            if (beta_[k] > 0.0) step[weights_[k]] = 0.0;
    }

private:
    std::vector<std::int64_t> weights_;
    std::vector<double> beta_;
    std::int64_t unclipped_ = 0;  // visits to other blocks since the last time
};

}  // namespace structlearn
