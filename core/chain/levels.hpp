#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chain/scores.hpp"
#include "hypergraph/levels.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// What BestPerLevel would find, with the labels of one level side by side: one instruction serves several of them.
// Time O(T L² levels), memory O(T L levels).
class ChainLevels {
public:
    // The best score of each level, −∞ where there is none; until the next call.
    const std::vector<double>& run(const ChainScores& scores, const Counting& counted) {
        steps_ = counted.steps, levels_ = counted.n_levels, L_ = scores.n_labels;
        best_.assign(static_cast<std::size_t>(levels_), minus_infinity);
        if (scores.length == 0) return best_[0] = 0.0, best_;
        begin(scores);
        for (std::int64_t t = 1; t < scores.length; ++t) advance(scores, t);
        for (std::int64_t level = 0; level < levels_; ++level) {
            double* end = at(scores.length - 1, level);
            add_scaled(L_, 1.0, scores.stop, end);
            best_[static_cast<std::size_t>(level)] = *std::max_element(end, end + L_);
        }
        return best_;
    }

    // After `run`: the best labels of a level.
    void trace(const ChainScores& scores, std::int64_t level, Codes& labels) {
        labels.resize(static_cast<std::size_t>(scores.length));
        if (labels.empty()) return;
        const std::int64_t last = scores.length - 1;
        const double* end = at(last, level);
        std::int64_t label = std::max_element(end, end + L_) - end;
        labels[last] = static_cast<std::int32_t>(label);
        for (std::int64_t t = last; t > 0; --t) {
            level -= step_of(t, label);
            label = arg_max_plus(L_, at(t - 1, level), scores.into(t), label, candidates_.data());
            labels[t - 1] = static_cast<std::int32_t>(label);
        }
    }

private:
    void begin(const ChainScores& scores) {
        check_cells(scores.length * levels_ * L_);
        message_.assign(static_cast<std::size_t>(scores.length * levels_ * L_), minus_infinity);
        carried_.assign(static_cast<std::size_t>(levels_ * L_), minus_infinity);
        candidates_.resize(static_cast<std::size_t>(L_));
        for (std::int64_t l = 0; l < L_; ++l) at(0, step_of(0, l))[l] = scores.start[l] + scores.emission[l];
    }
    void advance(const ChainScores& scores, std::int64_t t) {
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
    double* at(std::int64_t t, std::int64_t level) { return &message_[(t * levels_ + level) * L_]; }
    std::int32_t step_of(std::int64_t t, std::int64_t label) const { return steps_[t * L_ + label]; }

    const std::int32_t* steps_ = nullptr;
    std::int64_t L_ = 0, levels_ = 0;
    std::vector<double> message_;  // (length, levels, n_labels)
    std::vector<double> carried_;  // (levels, n_labels): the next message before its emissions
    std::vector<double> candidates_, best_;
};

}  // namespace structlearn
