#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chain/scores.hpp"
#include "linear/pruned_max_plus.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// The best sequence (Viterbi). No back-pointers: the arg-max is found again on the way back.
class BestSequence {
public:
    // Writes the best labels and returns their score. `pruned`, made of the transitions, may be null.
    double run(const ChainScores& scores, PrunedMaxPlus* pruned, std::int32_t* labels) {
        const std::int64_t L = scores.n_labels, last = scores.length - 1;
        candidates_.resize(static_cast<std::size_t>(L));
        pruned ? chain_messages(scores, *pruned, message_) : chain_messages(scores, max_, message_);
        double* end = &message_[last * L];
        add_scaled(L, 1.0, scores.stop, end);
        std::int64_t label = std::max_element(end, end + L) - end;
        const double best = end[label];
        labels[last] = static_cast<std::int32_t>(label);
        for (std::int64_t t = last; t > 0; --t) {
            const double* before = &message_[(t - 1) * L];
            label = pruned ? arg_max_sum(L, before, pruned->column(label))
                           : arg_max_plus(L, before, scores.into(t), label, candidates_.data());
            labels[t - 1] = static_cast<std::int32_t>(label);
        }
        return best;
    }

private:
    MaxPlus max_;
    std::vector<double> message_;  // (length, n_labels)
    std::vector<double> candidates_;
};

}  // namespace structlearn
