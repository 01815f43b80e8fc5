#pragma once

#include <algorithm>
#include <cstdint>

#include "batch/ragged.hpp"
#include "linear/tokens.hpp"

namespace structlearn {

// Segments of sequences (a semi-Markov chain) bound to data. Weights: emissions (n_inputs, n_labels), transitions from
// segment to segment (n_labels, n_labels), then, if asked for, of segment lengths (max_length, n_labels), then of the
// first and of the last token of a segment, (n_inputs, n_labels) each.
//
// A segmentation is one code a token: l where a segment with label l begins, n_labels + l where it goes on. Where the
// label is not known the codes are −1 and −2; only truths to compare with have those.
struct SegmentData {
    CsrMatrix X;
    Ragged tokens;  // of the sequences
    std::int64_t n_labels;
    std::int64_t n_inputs;
    std::int64_t max_length;
    bool lengths;
    bool ends;

    std::int64_t length(std::int64_t i) const { return tokens.size(i); }
    // Where outputs lie in an array of labels or codes.
    Ragged outputs() const { return tokens; }
    // The longest segment that sequence i may have.
    std::int64_t longest(std::int64_t i) const { return std::min(length(i), max_length); }
    std::int64_t transitions_at() const { return n_inputs * n_labels; }
    std::int64_t lengths_at() const { return transitions_at() + n_labels * n_labels; }
    std::int64_t firsts_at() const { return lengths_at() + (lengths ? max_length * n_labels : 0); }
    std::int64_t lasts_at() const { return firsts_at() + n_inputs * n_labels; }
};

// Calls visit(label, begin, end) for the segments that codes stand for, in order.
template <class Visit>
void each_segment(std::int64_t length, std::int64_t n_labels, const std::int32_t* codes, Visit&& visit) {
    auto begins = [&](std::int64_t t) { return codes[t] >= -1 && codes[t] < n_labels; };
    for (std::int64_t begin = 0, end = 0; begin < length; begin = end) {
        for (end = begin + 1; end < length && !begins(end);) ++end;
        visit(static_cast<std::int64_t>(codes[begin]), begin, end);
    }
}

// Calls visit(index, value) for the entries of Ψ(x_i, codes) − Ψ(x_i, other); an index may come more than once.
template <class Visit>
void difference(const SegmentData& data, std::int64_t i, const std::int32_t* codes, const std::int32_t* other,
                Visit&& visit) {
    const std::int64_t L = data.n_labels;
    if (std::equal(codes, codes + data.length(i), other)) return;
    auto token = [&](std::int64_t t, std::int64_t at, std::int64_t label, double sign) {
        data.X.row(data.tokens.begin(i) + t, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
            for (std::int64_t k = 0; k < count; ++k) visit(at + columns[k] * L + label, sign * double{x[k]});
        });
    };
    for (std::int64_t t = 0; t < data.length(i); ++t)
        if (codes[t] % L != other[t] % L) token(t, 0, codes[t] % L, 1.0), token(t, 0, other[t] % L, -1.0);
    auto add = [&](const std::int32_t* segmentation, double sign) {
        std::int64_t before = -1;
        each_segment(data.length(i), L, segmentation, [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
            if (before >= 0) visit(data.transitions_at() + before * L + label, sign);
            if (data.lengths) visit(data.lengths_at() + (end - begin - 1) * L + label, sign);
            if (data.ends) token(begin, data.firsts_at(), label, sign), token(end - 1, data.lasts_at(), label, sign);
            before = label;
        });
    };
    add(codes, 1.0);
    add(other, -1.0);
}

}  // namespace structlearn
