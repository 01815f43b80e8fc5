#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/semirings.hpp"

namespace structlearn {

// Scores of one sequence: the segment (l, begin, end) has opening[begin, l] + span[end − begin − 1, l] + closing[end −
// 1, l], neighbours have transition[l, l']. Emissions are in the difference of openings and closings, as sums up to
// there.
struct SegmentScores {
    std::int64_t length;
    std::int64_t n_labels;
    std::int64_t longest;     // segment of this sequence
    std::int64_t max_length;  // of all sequences
    const double* opening;     // (length, n_labels)
    const double* closing;     // (length, n_labels)
    const double* span;        // (longest, n_labels)
    const double* transition;  // (n_labels, n_labels): from, to
    const std::int32_t* runs = nullptr;  // (length, n_labels), see SegmentShape

    // How long a segment with label l that ends with token t may be, 0 for none.
    std::int64_t most(std::int64_t t, std::int64_t l) const {
        const std::int64_t rows = std::min(t + 1, longest);
        return runs ? std::clamp<std::int64_t>(runs[t * n_labels + l], 0, rows) : rows;
    }
};

// The one forward recursion over segments, O(T L (L + longest)): enter[t, l] is the value of all segmentations of the
// tokens before t and of the transition to a segment l that begins there, with its opening; leave[t, l] of those whose
// last segment is l and ends with token t. price(t, leave_t), between the sum over lengths and the closing, may change it.
template <Semiring S, class Price>
void segment_messages(const SegmentScores& scores, S& semiring, std::vector<double>& enter, std::vector<double>& leave,
                      Price&& price) {
    const std::int64_t L = scores.n_labels;
    enter.resize(static_cast<std::size_t>(scores.length * L));
    leave.resize(enter.size());
    std::vector<double> ending;  // by length less one and label, the entries of segments that may end with a token
    for (std::int64_t t = 0; t < scores.length; ++t) {
        double *entered = &enter[t * L], *left = &leave[t * L];
        if (t > 0)
            semiring.product(L, left - L, scores.transition, scores.opening + t * L, entered);
        else
            std::copy_n(scores.opening, L, entered);
        const std::int64_t rows = std::min(t + 1, scores.longest);
        if (scores.runs) {
            ending.assign(static_cast<std::size_t>(rows * L), minus_infinity);
            for (std::int64_t l = 0; l < L; ++l)
                for (std::int64_t k = 0; k < scores.most(t, l); ++k) ending[k * L + l] = entered[l - k * L];
            semiring.sum_of_products(rows, L, ending.data(), L, scores.span, L, left);
        } else {
            semiring.sum_of_products(rows, L, entered, -L, scores.span, L, left);
        }
        price(t, left);
        add_scaled(L, 1.0, scores.closing + t * L, left);
    }
}
template <Semiring S>
void segment_messages(const SegmentScores& scores, S& semiring, std::vector<double>& enter, std::vector<double>& leave) {
    segment_messages(scores, semiring, enter, leave, [](std::int64_t, double*) {});
}

}  // namespace structlearn
