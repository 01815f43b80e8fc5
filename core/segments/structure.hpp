#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "batch/ragged.hpp"
#include "hypergraph/k_best.hpp"
#include "hypergraph/levels.hpp"
#include "hypergraph/sampling.hpp"
#include "parts/composed.hpp"
#include "segments/codes.hpp"
#include "segments/graph.hpp"
#include "segments/losses.hpp"
#include "segments/sums.hpp"
#include "segments/viterbi.hpp"

namespace structlearn {

// Which segmentations there are, and their parts. Local: one for every label at every token, (length, n_labels), then, with
// `ends`, for every label of a segment that begins, and that ends, with a token, (length, n_labels) each. Shared: for every
// transition, (n_labels, n_labels), then, with `lengths`, for every length and label, (max_length, n_labels).
//
// Restrictions are `runs`, (n_tokens, n_labels), null for none: how many tokens up to this one may at most be in one segment
// with the label, 0 if this token may not have it, and that number times −1 if no segment may end there.
struct SegmentShape {
    Ragged tokens;
    std::int64_t n_labels;
    std::int64_t max_length;
    bool lengths;
    bool ends;
    const std::int32_t* runs = nullptr;

    std::int64_t length(std::int64_t i) const { return tokens.size(i); }
    // The longest segment that sequence i may have.
    std::int64_t longest(std::int64_t i) const { return std::min(length(i), max_length); }
    std::int64_t n_nodes(std::int64_t i) const { return length(i) * n_labels; }
    std::int64_t n_local(std::int64_t i) const { return (ends ? 3 : 1) * n_nodes(i); }
    std::int64_t n_shared() const { return (n_labels + (lengths ? max_length : 0)) * n_labels; }
    // Segments by first token, length and label.
    std::int64_t n_segments(std::int64_t i) const { return n_nodes(i) * longest(i); }
    // Neighbours by the last token of the first and both labels.
    std::int64_t n_boundaries(std::int64_t i) const {
        return std::max<std::int64_t>(length(i) - 1, 0) * n_labels * n_labels;
    }
};

class SegmentStructure {
public:
    explicit SegmentStructure(const SegmentShape& shape) : shape_(shape) {}

    std::int64_t output_size(std::int64_t i) const { return shape_.length(i); }

    std::int64_t n_local(std::int64_t i) const { return shape_.n_local(i); }
    std::int64_t n_shared() const { return shape_.n_shared(); }

    void prepare(const double* shared) { shared_ = shared; }

    double best(std::int64_t i, const double* local, Codes& codes) { return best(i, local, nullptr, codes); }
    double augmented(std::int64_t i, double* local, const PartLoss& loss, Codes& codes) {
        loss.add(i, local);
        return best(i, local, dynamic_cast<const SpanLoss*>(&loss), codes);
    }
    double score(std::int64_t i, const double* local, const std::int32_t* codes) const {
        const std::int64_t n = n_local(i);
        double sum = 0.0;
        each_part(i, codes, [&](std::int64_t part) { sum += part < n ? local[part] : shared_[part - n]; });
        return sum;
    }

    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found,
                std::vector<double>& values) {
        const SegmentScores scores = read(i, local);
        segment_messages(scores, max_, enter_, leave_);
        BestDerivations(SegmentGraph{scores, enter_.data(), leave_.data()}).run(k, found, values);
    }
    const std::vector<double>& levels(std::int64_t i, const double* local, const Counting& counted) {
        const SegmentScores scores = read(i, local);
        return levels_.run(SegmentGraph{scores, nullptr, nullptr, counted.steps}, counted);
    }
    void trace_level(std::int64_t i, const double* local, const Counting& counted, std::int64_t level, Codes& codes) {
        const SegmentScores scores = read(i, local);
        levels_.trace(SegmentGraph{scores, nullptr, nullptr, counted.steps}, level, codes);
    }

    double sums(std::int64_t i, const double* local, double* of_local, double* of_shared) {
        if (shape_.length(i) == 0) {
            if (of_local) std::fill_n(of_shared, n_shared(), 0.0);
            return 0.0;
        }
        const SegmentScores scores = read(i, local);
        const double log_z = sums_.run(scores);
        if (!of_local) return log_z;
        const std::int64_t n = shape_.n_nodes(i), L = shape_.n_labels;
        std::fill_n(of_shared, n_shared(), 0.0);
        sums_.marginals(scores, {of_local, of_shared, shape_.lengths ? of_shared + L * L : nullptr,
                                 shape_.ends ? of_local + n : nullptr, shape_.ends ? of_local + 2 * n : nullptr});
        return log_z;
    }
    // The probabilities of segments, (length, longest, n_labels), then of neighbours, (length − 1, n_labels, n_labels).
    std::int64_t n_pairs(std::int64_t i) const { return shape_.n_segments(i) + shape_.n_boundaries(i); }
    void pair_sums(std::int64_t i, const double* local, double* pairs) {
        const std::int64_t L = shape_.n_labels, longest = shape_.longest(i);
        std::fill_n(pairs, n_pairs(i), 0.0);
        if (shape_.length(i) == 0) return;
        const SegmentScores scores = read(i, local);
        if (sums_.run(scores) == minus_infinity) return;
        counts_.resize(static_cast<std::size_t>(shape_.n_nodes(i) + (L + longest) * L));
        double* transitions = counts_.data() + shape_.n_nodes(i);
        sums_.marginals(scores, {counts_.data(), transitions, transitions + L * L, nullptr, nullptr, pairs,
                                 pairs + shape_.n_segments(i)});
    }
    template <class Uniform>
    void sample(std::int64_t i, const double* local, Uniform&& uniform, Codes& codes) {
        const SegmentScores scores = read(i, local);
        draw_derivation(SegmentGraph{scores, sums_.enter().data(), sums_.leave().data()}, uniform, codes);
    }

    template <class Visit>
    void each_part(std::int64_t i, const std::int32_t* codes, Visit&& visit) const {
        const std::int64_t L = shape_.n_labels, n = shape_.n_nodes(i), shared = n_local(i);
        std::int64_t before = -1;
        each_segment(shape_.length(i), L, codes, [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
            for (std::int64_t t = begin; t < end; ++t) visit(t * L + label);
            if (shape_.ends) visit(n + begin * L + label), visit(2 * n + (end - 1) * L + label);
            if (before >= 0) visit(shared + before * L + label);
            if (shape_.lengths) visit(shared + (L + end - begin - 1) * L + label);
            before = label;
        });
    }
    template <class Visit>
    void each_move(std::int64_t i, const std::int32_t* codes, const std::int32_t* other, Visit&& visit) const {
        const std::int64_t L = shape_.n_labels, T = shape_.length(i);
        if (std::equal(codes, codes + T, other)) return;
        for (std::int64_t t = 0; t < T; ++t)
            if (codes[t] % L != other[t] % L) visit(t * L + codes[t] % L, t * L + other[t] % L);
        each_of_one(i, codes, other, [&](std::int64_t part) { visit(part, -1); });
        each_of_one(i, other, codes, [&](std::int64_t part) { visit(-1, part); });
    }
    // What a loss counts: the labels of tokens, or whole segments.
    template <class Visit>
    void each_priced_part(std::int64_t i, const std::int32_t* codes, bool spans, Visit&& visit) const {
        const std::int64_t L = shape_.n_labels;
        each_segment(shape_.length(i), L, codes, [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
            if (spans) return visit((begin * shape_.max_length + end - begin - 1) * L + label);
            for (std::int64_t t = begin; t < end; ++t) visit(t * L + label);
        });
    }

    // The steps of all segments; those of tokens are added up.
    void write_steps(std::int64_t i, const PartSteps& counted, std::vector<std::int32_t>& steps) const {
        const std::int64_t L = shape_.n_labels, T = shape_.length(i), longest = shape_.max_length;
        steps.assign(static_cast<std::size_t>(T * longest * L), 0);
        if (counted.of_spans()) return counted.write(i, steps.data());
        std::vector<std::int32_t> of_tokens(static_cast<std::size_t>(T * L));
        counted.write(i, of_tokens.data());
        for (std::int64_t begin = 0; begin < T; ++begin)
            for (std::int64_t k = 0; k < std::min(longest, T - begin); ++k)
                for (std::int64_t l = 0; l < L; ++l)
                    steps[(begin * longest + k) * L + l] =
                        of_tokens[(begin + k) * L + l] + (k > 0 ? steps[(begin * longest + k - 1) * L + l] : 0);
    }

private:
    double best(std::int64_t i, const double* local, const SpanLoss* loss, Codes& codes) {
        return shape_.length(i) ? best_.run(read(i, local), i, loss, codes) : 0.0;
    }

    // Calls visit(part) for the parts of the first segmentation that the second one has not, labels of tokens aside.
    template <class Visit>
    void each_of_one(std::int64_t i, const std::int32_t* codes, const std::int32_t* other, Visit&& visit) const {
        const std::int64_t L = shape_.n_labels, T = shape_.length(i), n = shape_.n_nodes(i), shared = n_local(i);
        each_segment(T, L, codes, [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
            const bool begins = other[begin] == label, ends = end == T || begins_segment(other[end], L);
            const bool last = ends && other[end - 1] % L == label;
            if (shape_.ends && !begins) visit(n + begin * L + label);
            if (shape_.ends && !last) visit(2 * n + (end - 1) * L + label);
            if (begin > 0 && !(begins && other[begin - 1] % L == codes[begin - 1] % L))
                visit(shared + codes[begin - 1] % L * L + label);
            if (shape_.lengths && !(ends && std::equal(codes + begin, codes + end, other + begin)))
                visit(shared + (L + end - begin - 1) * L + label);
        });
    }

    // The scores of a sequence; they live until the next call.
    SegmentScores read(std::int64_t i, const double* local) {
        const std::int64_t L = shape_.n_labels, n = shape_.n_nodes(i);
        opening_.assign(static_cast<std::size_t>(n), 0.0);
        closing_.assign(local, local + n);
        for (std::int64_t k = L; k < n; ++k) {
            opening_[k] = -closing_[k - L];
            closing_[k] += closing_[k - L];
        }
        if (shape_.ends) {
            add_scaled(n, 1.0, local + n, opening_.data());
            add_scaled(n, 1.0, local + 2 * n, closing_.data());
        }
        const double* span = shared_ + L * L;
        if (!shape_.lengths) {
            zeros_.assign(static_cast<std::size_t>(shape_.longest(i) * L), 0.0);
            span = zeros_.data();
        }
        return {shape_.length(i), L,    shape_.longest(i), shape_.max_length, opening_.data(),
                closing_.data(),  span, shared_,           shape_.runs ? shape_.runs + shape_.tokens.begin(i) * L : nullptr};
    }

    SegmentShape shape_;
    const double* shared_ = nullptr;
    BestSegments best_;
    BestPerLevel levels_;
    SegmentSums sums_;
    MaxPlus max_;
    std::vector<double> enter_, leave_, opening_, closing_, zeros_, counts_;
};

}  // namespace structlearn
