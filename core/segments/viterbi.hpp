#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/vector.hpp"
#include "segments/data.hpp"
#include "segments/scores.hpp"

namespace structlearn {

// The segments of the truth; one that is found again has a score that is lower by `discount`.
struct TrueSegments {
    void set(std::int64_t length, std::int64_t n_labels, const std::int32_t* codes) {
        label.assign(static_cast<std::size_t>(length), -1);
        size.assign(label.size(), 0);
        each_segment(length, n_labels, codes, [&](std::int64_t l, std::int64_t begin, std::int64_t end) {
            label[end - 1] = l;
            size[end - 1] = end - begin;
        });
    }

    static constexpr double discount = 2.0;
    std::vector<std::int64_t> label, size;  // (length,): of the segment that ends with a token
};

// The best segmentation.
class BestSegments {
public:
    // Writes the codes; `truth` may be null.
    void run(const SegmentScores& scores, const TrueSegments* truth, std::int32_t* codes) {
        const std::int64_t L = scores.n_labels;
        zeros_.assign(static_cast<std::size_t>(L), 0.0);
        candidates_.resize(static_cast<std::size_t>(std::max(L, scores.longest)));
        segment_messages(
            scores, enter_, leave_,
            [&](std::int64_t t, std::int64_t rows, const double* entered, double* out) {
                max_of_sums(rows, L, entered, -L, scores.span, out);
                if (truth && truth->label[t] >= 0 && truth->size[t] <= rows) {
                    const std::int64_t l = truth->label[t];
                    out[l] = candidates_[best_length(scores, truth, t, l) - 1];
                }
            },
            [&](const double* left, double* out) { max_plus_product(L, left, scores.transition, zeros_.data(), out); });
        const double* last = &leave_[(scores.length - 1) * L];
        std::int64_t l = std::max_element(last, last + L) - last;
        for (std::int64_t end = scores.length;;) {
            const std::int64_t begin = end - best_length(scores, truth, end - 1, l);
            std::fill(codes + begin, codes + end, static_cast<std::int32_t>(L + l));
            codes[begin] = static_cast<std::int32_t>(l);
            if (begin == 0) return;
            l = arg_max_plus(L, &leave_[(begin - 1) * L], scores.transition, l, candidates_.data());
            end = begin;
        }
    }

private:
    // Of the segment with label l that ends with token t; leaves the values of all lengths in the candidates.
    std::int64_t best_length(const SegmentScores& scores, const TrueSegments* truth, std::int64_t t, std::int64_t l) {
        const std::int64_t L = scores.n_labels;
        const std::int64_t rows = std::min(t + 1, scores.longest);
        for (std::int64_t k = 0; k < rows; ++k) candidates_[k] = enter_[(t - k) * L + l] + scores.span[k * L + l];
        if (truth && truth->label[t] == l && truth->size[t] <= rows)
            candidates_[truth->size[t] - 1] -= TrueSegments::discount;
        return std::max_element(candidates_.begin(), candidates_.begin() + rows) - candidates_.begin() + 1;
    }

    std::vector<double> enter_, leave_;  // (length, n_labels)
    std::vector<double> candidates_, zeros_;
};

}  // namespace structlearn
