#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/vector.hpp"
#include "segments/losses.hpp"
#include "segments/scores.hpp"

namespace structlearn {

// The best segmentation.
class BestSegments {
public:
    // Appends the codes and returns their score, with the prices of a loss of whole segments, which may be null.
    double run(const SegmentScores& scores, std::int64_t i, const SpanLoss* loss, std::vector<std::int32_t>& codes) {
        const std::int64_t L = scores.n_labels;
        const SpanLoss::Few* few = loss ? loss->few(i, few_) : nullptr;
        const double* prices = loss ? loss->all(i) : nullptr;
        span_.assign(scores.span, scores.span + scores.longest * L);
        if (few)
            for (std::int64_t k = 0; k < scores.longest; ++k) add_scaled(L, 1.0, few->each.data(), &span_[k * L]);
        candidates_.resize(static_cast<std::size_t>(std::max(L, scores.longest)));
        SegmentScores priced = scores;
        priced.span = span_.data();
        segment_messages(priced, max_, enter_, leave_, [&](std::int64_t t, double* left) {
            auto look = [&](std::int64_t l) {
                if (scores.most(t, l) > 0) left[l] = candidates_[best_length(scores, few, prices, t, l) - 1];
            };
            if (prices)
                for (std::int64_t l = 0; l < L; ++l) look(l);
            if (few && few->size[t] <= std::min(t + 1, scores.longest)) few->each_label(t, look);
        });
        const double* last = &leave_[(scores.length - 1) * L];
        std::int64_t l = std::max_element(last, last + L) - last;
        const double best = last[l];
        codes.resize(static_cast<std::size_t>(scores.length));
        for (std::int64_t end = scores.length;;) {
            const std::int64_t begin = end - best_length(scores, few, prices, end - 1, l);
            std::fill(codes.begin() + begin, codes.begin() + end, static_cast<std::int32_t>(L + l));
            codes[begin] = static_cast<std::int32_t>(l);
            if (begin == 0) return best;
            l = arg_max_plus(L, &leave_[(begin - 1) * L], scores.transition, l, candidates_.data());
            end = begin;
        }
    }

private:
    // Of the segment with label l that ends with token t; leaves the values of all lengths in the candidates.
    std::int64_t best_length(const SegmentScores& scores, const SpanLoss::Few* few, const double* prices, std::int64_t t,
                             std::int64_t l) {
        const std::int64_t L = scores.n_labels;
        const std::int64_t rows = scores.most(t, l);
        for (std::int64_t k = 0; k < rows; ++k) {
            candidates_[k] = enter_[(t - k) * L + l] + span_[k * L + l];
            if (prices) candidates_[k] += prices[((t - k) * scores.max_length + k) * L + l];
        }
        if (few && few->has(t, l) && few->size[t] <= rows) candidates_[few->size[t] - 1] += few->more;
        // Candidates lack what closes a segment at t, which is the same for all lengths.
        return std::max_element(candidates_.begin(), candidates_.begin() + rows) - candidates_.begin() + 1;
    }

    MaxPlus max_;
    SpanLoss::Few few_;
    std::vector<double> enter_, leave_;  // (length, n_labels)
    std::vector<double> candidates_, span_;
};

}  // namespace structlearn
