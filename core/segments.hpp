#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tokens.hpp"
#include "vector.hpp"

namespace structlearn {

// Segments of sequences (a semi-Markov chain) bound to data. Weights: emissions (n_inputs, n_labels), transitions from
// segment to segment (n_labels, n_labels), then, if asked for, of segment lengths (max_length, n_labels), then of the
// first and of the last token of a segment, (n_inputs, n_labels) each.
//
// A segmentation is one code a token: l where a segment with label l begins, n_labels + l where it goes on. Where the
// label is not known the codes are −1 and −2; only truths to compare with have those.
struct SegmentData {
    CsrMatrix X;
    const std::int64_t* offsets;  // tokens of sequence i: offsets[i] ... offsets[i + 1] - 1
    std::int64_t n_labels;
    std::int64_t n_inputs;
    std::int64_t max_length;
    bool lengths;
    bool ends;

    std::int64_t length(std::int64_t i) const { return offsets[i + 1] - offsets[i]; }
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

// Scores of one sequence: the segment (l, begin, end) has opening[begin, l] + span[end − begin − 1, l] + closing[end −
// 1, l], neighbours have transition[l, l']. Emissions are in the difference of openings and closings, as sums up to
// there.
struct SegmentScores {
    std::int64_t length;
    std::int64_t n_labels;
    std::int64_t longest;
    const double* opening;     // (length, n_labels)
    const double* closing;     // (length, n_labels)
    const double* span;        // (longest, n_labels)
    const double* transition;  // (n_labels, n_labels): from, to
};

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

// Calls visit(index, value) for the entries of Ψ(x_i, codes) − Ψ(x_i, other); an index may come more than once.
template <class Visit>
void difference(const SegmentData& data, std::int64_t i, const std::int32_t* codes, const std::int32_t* other,
                Visit&& visit) {
    const std::int64_t L = data.n_labels;
    if (std::equal(codes, codes + data.length(i), other)) return;
    auto token = [&](std::int64_t t, std::int64_t at, std::int64_t label, double sign) {
        data.X.row(data.offsets[i] + t, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
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
