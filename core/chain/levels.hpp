#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chain/scores.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Level semiring: every (position, label) keeps the best prefix for each number of steps taken. Time and memory grow with
// length × levels.
class BestPerLossLevel {
public:
    // The best score of each level, −∞ where no sequence takes that many steps; until the next call. `steps` has what each
    // label takes at each position, (length, n_labels).
    const std::vector<double>& run(const ChainScores& scores, const std::int32_t* steps, std::int64_t n_levels) {
        steps_ = steps, levels_ = n_levels, L_ = scores.n_labels;
        best_.assign(static_cast<std::size_t>(levels_), minus_infinity);
        if (scores.length == 0) {
            best_[0] = 0.0;
            return best_;
        }
        forward(scores, *this);
        for (std::int64_t level = 0; level < levels_; ++level) {
            double* end = at(scores.length - 1, level);
            add_scaled(L_, 1.0, scores.stop, end);
            best_[static_cast<std::size_t>(level)] = *std::max_element(end, end + L_);
        }
        return best_;
    }

    void begin(const ChainScores& scores) {
        message_.assign(static_cast<std::size_t>(scores.length * levels_ * L_), minus_infinity);
        carried_.assign(static_cast<std::size_t>(levels_ * L_), minus_infinity);
        candidates_.resize(static_cast<std::size_t>(L_));
        for (std::int64_t l = 0; l < L_; ++l) at(0, step_of(0, l))[l] = scores.start[l] + scores.emission[l];
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
                at(t, level + step_of(t, l))[l] = carried + scores.emission[t * L_ + l];
                carried = minus_infinity;
            }
        }
    }

    // After `run`: the best labels of a level.
    void trace(const ChainScores& scores, std::int64_t level, std::int32_t* labels) {
        if (scores.length == 0) return;
        const std::int64_t last = scores.length - 1;
        const double* end = at(last, level);
        std::int64_t label = std::max_element(end, end + L_) - end;
        labels[last] = static_cast<std::int32_t>(label);
        for (std::int64_t t = last; t > 0; --t) {
            level -= step_of(t, label);
            const double* before = at(t - 1, level);
            label = arg_max_plus(L_, before, scores.into(t), label, candidates_.data());
            labels[t - 1] = static_cast<std::int32_t>(label);
        }
    }

private:
    double* at(std::int64_t t, std::int64_t level) { return &message_[(t * levels_ + level) * L_]; }
    std::int32_t step_of(std::int64_t t, std::int64_t label) const { return steps_[t * L_ + label]; }

    const std::int32_t* steps_ = nullptr;
    std::int64_t L_ = 0;
    std::int64_t levels_ = 0;
    std::vector<double> message_;  // (length, levels, n_labels)
    std::vector<double> carried_;  // (levels, n_labels): the next message before its emissions
    std::vector<double> candidates_, best_;
};

}  // namespace structlearn
