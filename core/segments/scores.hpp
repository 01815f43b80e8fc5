#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/vector.hpp"

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
};

// The one forward recursion over segments, O(T L (L + longest)): enter[t, l] is the value of all segmentations of the
// tokens before t and of the transition to a segment l that begins there, with its opening; leave[t, l] of those whose
// last segment is l and ends with token t. over_lengths(t, rows, enter_t, out) and over_labels(leave_t, out) are sums
// in some semiring.
template <class OverLengths, class OverLabels>
void segment_messages(const SegmentScores& scores, std::vector<double>& enter, std::vector<double>& leave,
                      OverLengths&& over_lengths, OverLabels&& over_labels) {
    const std::int64_t L = scores.n_labels;
    enter.assign(static_cast<std::size_t>(scores.length * L), 0.0);
    leave.resize(enter.size());
    for (std::int64_t t = 0; t < scores.length; ++t) {
        if (t > 0) over_labels(&leave[(t - 1) * L], &enter[t * L]);
        add_scaled(L, 1.0, scores.opening + t * L, &enter[t * L]);
        over_lengths(t, std::min(t + 1, scores.longest), &enter[t * L], &leave[t * L]);
        add_scaled(L, 1.0, scores.closing + t * L, &leave[t * L]);
    }
}

}  // namespace structlearn
