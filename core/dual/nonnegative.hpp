#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "linear/vector.hpp"

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
        runs_.clear();
        for (const std::int64_t j : weights) {
            if (runs_.empty() || runs_.back().end != j) runs_.push_back({j, j});
            ++runs_.back().end;
        }
        beta_.assign(weights.size(), 0.0);
        unclipped_ = 0;
    }

    bool empty() const { return beta_.empty(); }
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
        Lanes gains{};
        double gain = 0.0;
        double* beta = beta_.data();
        for (const auto [begin, end] : runs_) {
            std::int64_t j = begin;
            for (; j + lanes <= end; j += lanes, beta += lanes) {
                Lanes weight, multiplier;
                load(w + j, weight);
                load(beta, multiplier);
                const Lanes v = weight - multiplier;
                const Lanes clipped = v > 0.0 ? v : Lanes{};
                gains += (weight - clipped) * (weight + clipped);
                store(clipped - v, beta);
                store(clipped, w + j);
            }
            for (; j < end; ++j, ++beta) {
                const double v = w[j] - *beta;
                const double clipped = std::max(0.0, v);
                gain += (w[j] - clipped) * (w[j] + clipped);
                *beta = clipped - v;
                w[j] = clipped;
            }
        }
        for (int k = 0; k < lanes; ++k) gain += gains[k];
        return 0.5 * gain;
    }

    // Whether it is time to clip: a look at all these weights should not cost more than the visits to other blocks between.
    bool is_due() { return !empty() && ++unclipped_ > static_cast<std::int64_t>(beta_.size()) / 256; }

    // Where w is at its bound, β takes up what a small step adds to v.
    void absorb(double* step) const {
        const double* beta = beta_.data();
        for (const auto [begin, end] : runs_)
            for (std::int64_t j = begin; j < end; ++j, ++beta)
                if (*beta > 0.0) step[j] = 0.0;
    }

private:
    struct Run {
        std::int64_t begin, end;
    };
    std::vector<Run> runs_;     // of neighbours, which are read side by side
    std::vector<double> beta_;  // of all of them in order
    std::int64_t unclipped_ = 0;  // visits to other blocks since the last time
};

}  // namespace structlearn
