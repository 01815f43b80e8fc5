#pragma once

#include <cstdint>

namespace structlearn {

// A segmentation is one code a token: l where a segment with label l begins, n_labels + l where it goes on. Where the
// label is not known the codes are −1 and −2; only truths to compare with have those.
inline bool begins_segment(std::int32_t code, std::int64_t n_labels) { return code >= -1 && code < n_labels; }

// Calls visit(label, begin, end) for the segments that codes stand for, in order.
template <class Visit>
void each_segment(std::int64_t length, std::int64_t n_labels, const std::int32_t* codes, Visit&& visit) {
    for (std::int64_t begin = 0, end = 0; begin < length; begin = end) {
        for (end = begin + 1; end < length && !begins_segment(codes[end], n_labels);) ++end;
        visit(static_cast<std::int64_t>(codes[begin]), begin, end);
    }
}

}  // namespace structlearn
