#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chain/scores.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Max-plus: the best sequence (Viterbi). No back-pointers: the arg-max is found again on the way back.
class BestSequence {
public:
    // Writes the best labels and returns their score.
    double run(const ChainScores& scores, std::int32_t* labels) {
        forward(scores, *this);
        return trace(scores, labels);
    }

    void begin(const ChainScores& scores) {
        L_ = scores.n_labels;
        message_.resize(static_cast<std::size_t>(scores.length * L_));
        candidates_.resize(static_cast<std::size_t>(L_));
        for (std::int64_t l = 0; l < L_; ++l) message_[l] = scores.start[l] + scores.emission[l];
    }
    void step(const ChainScores& scores, std::int64_t t) {
        max_plus_product(L_, &message_[(t - 1) * L_], scores.into(t), scores.emission + t * L_, &message_[t * L_]);
    }

private:
    double trace(const ChainScores& scores, std::int32_t* labels) {
        const std::int64_t last = scores.length - 1;
        double* end = &message_[last * L_];
        add_scaled(L_, 1.0, scores.stop, end);
        std::int64_t label = std::max_element(end, end + L_) - end;
        const double best = end[label];
        labels[last] = static_cast<std::int32_t>(label);
        for (std::int64_t t = last; t > 0; --t) {
            label = arg_max_plus(L_, &message_[(t - 1) * L_], scores.into(t), label, candidates_.data());
            labels[t - 1] = static_cast<std::int32_t>(label);
        }
        return best;
    }

    std::int64_t L_ = 0;
    std::vector<double> message_;  // (length, n_labels)
    std::vector<double> candidates_;
};

}  // namespace structlearn
