#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chain/scores.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Loss-level semiring: every (position, label) keeps the best prefix for each accumulated loss. The loss is
// Σ_t weight[truth_t] [y_t ≠ truth_t] in whole units. Time and memory grow with length × largest loss.
class BestPerLossLevel {
public:
    BestPerLossLevel(const std::int32_t* weight, std::int64_t n_labels) : weight_(weight), L_(n_labels) {}

    // The largest possible loss of a sequence with this truth.
    std::int64_t largest_loss(const std::int32_t* truth, std::int64_t length) const {
        std::int64_t sum = 0;
        for (std::int64_t t = 0; t < length; ++t) sum += L_ > 1 ? weight_[truth[t]] : 0;
        return sum;
    }

    // The best score of each level, −∞ where no sequence has that loss; until the next call.
    const std::vector<double>& run(const ChainScores& scores, const std::int32_t* truth) {
        truth_ = truth;
        forward(scores, *this);
        best_.resize(static_cast<std::size_t>(levels_));
        for (std::int64_t level = 0; level < levels_; ++level) {
            double* end = at(scores.length - 1, level);
            add_scaled(L_, 1.0, scores.stop, end);
            best_[static_cast<std::size_t>(level)] = *std::max_element(end, end + L_);
        }
        return best_;
    }

    void begin(const ChainScores& scores) {
        levels_ = largest_loss(truth_, scores.length) + 1;
        message_.assign(static_cast<std::size_t>(scores.length * levels_ * L_), minus_infinity);
        carried_.assign(static_cast<std::size_t>(levels_ * L_), minus_infinity);
        candidates_.resize(static_cast<std::size_t>(L_));
        for (std::int64_t l = 0; l < L_; ++l) at(0, cost(0, l))[l] = scores.start[l] + scores.emission[l];
    }
    void step(const ChainScores& scores, std::int64_t t) {
        for (std::int64_t from = 0; from < L_; ++from) {
            for (std::int64_t level = 0; level < levels_; ++level) {
                const double base = at(t - 1, level)[from];
                if (base != minus_infinity) max_plus(L_, base, scores.into(t) + from * L_, &carried_[level * L_]);
            }
        }
        for (std::int64_t level = 0; level < levels_; ++level) {
            for (std::int64_t l = 0; l < L_; ++l) {
                double& carried = carried_[level * L_ + l];
                if (carried == minus_infinity) continue;
                at(t, level + cost(t, l))[l] = carried + scores.emission[t * L_ + l];
                carried = minus_infinity;
            }
        }
    }

    std::int64_t n_levels() const { return levels_; }

    // After `run`: the best labels of a level.
    void trace(const ChainScores& scores, std::int64_t level, std::int32_t* labels) {
        const std::int64_t last = scores.length - 1;
        const double* end = at(last, level);
        std::int64_t label = std::max_element(end, end + L_) - end;
        labels[last] = static_cast<std::int32_t>(label);
        for (std::int64_t t = last; t > 0; --t) {
            level -= cost(t, label);
            const double* before = at(t - 1, level);
            label = arg_max_plus(L_, before, scores.into(t), label, candidates_.data());
            labels[t - 1] = static_cast<std::int32_t>(label);
        }
    }

private:
    double* at(std::int64_t t, std::int64_t level) { return &message_[(t * levels_ + level) * L_]; }
    std::int32_t cost(std::int64_t t, std::int64_t label) const { return label == truth_[t] ? 0 : weight_[truth_[t]]; }

    const std::int32_t* weight_;  // what it costs to miss each label, in whole units
    std::int64_t L_;
    std::int64_t levels_ = 0;
    const std::int32_t* truth_ = nullptr;
    std::vector<double> message_;  // (length, levels, n_labels)
    std::vector<double> carried_;  // (levels, n_labels): the next message before its emissions
    std::vector<double> candidates_, best_;
};

}  // namespace structlearn
