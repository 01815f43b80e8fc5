#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "segments/scores.hpp"

namespace structlearn {

// Expected numbers of the parts of a segmentation; arrays that may be null are left out.
struct SegmentCounts {
    double* nodes;        // (length, n_labels): of tokens in a segment with this label
    double* transitions;  // (n_labels, n_labels)
    double* lengths;      // (longest, n_labels), or null
    double* firsts;       // (length, n_labels): of segments that begin with a token, or null
    double* lasts;        // (length, n_labels): of segments that end with it, or null
    double* segments = nullptr;    // (length, longest, n_labels): of segments by first token, length and label, or null
    double* boundaries = nullptr;  // (length − 1, n_labels, n_labels): of neighbours that meet after a token, or null
};

// Sums over all segmentations, in logarithms: log Z and marginals.
class SegmentSums {
public:
    // log Σ_y exp F(y)
    double run(const SegmentScores& scores) {
        L_ = scores.n_labels;
        T_ = scores.length;
        workspace_.resize(static_cast<std::size_t>(L_));
        segment_messages(scores, log_sum_, enter_, leave_);
        log_z_ = log_sum(L_, &leave_[(T_ - 1) * L_], workspace_.data());
        return log_z_;
    }

    // After `run`.
    void marginals(const SegmentScores& scores, const SegmentCounts& counts) {
        recur_backward(scores);
        begun_.resize(enter_.size());
        ended_.resize(enter_.size());
        for (std::int64_t k = 0; k < T_ * L_; ++k) {
            begun_[k] = enter_[k] + inside_[k];
            ended_[k] = leave_[k] + rest_[k] - scores.closing[k];
        }
        exponentials(T_ * L_, begun_.data(), log_z_, begun_.data());
        exponentials(T_ * L_, ended_.data(), log_z_, ended_.data());
        // A token is in the segments that began until there, less those that ended before.
        for (std::int64_t k = 0; k < T_ * L_; ++k)
            counts.nodes[k] = k < L_ ? begun_[k] : std::max(counts.nodes[k - L_] + begun_[k] - ended_[k - L_], 0.0);
        if (scores.runs)
            for (std::int64_t k = 0; k < T_ * L_; ++k)
                if (scores.runs[k] == 0) counts.nodes[k] = 0.0;
        if (counts.firsts) std::copy(begun_.begin(), begun_.end(), counts.firsts);
        if (counts.lasts) std::copy(ended_.begin(), ended_.end(), counts.lasts);
        count_transitions(scores, counts.transitions, counts.boundaries);
        if (counts.lengths) count_lengths(scores, counts.lengths, counts.segments);
    }

    const std::vector<double>& enter() const { return enter_; }
    const std::vector<double>& leave() const { return leave_; }

private:
    // inside[t, l]: of all that follows the opening of a segment l at t; rest[t, l]: of its closing after t and what
    // follows.
    void recur_backward(const SegmentScores& scores) {
        inside_.resize(enter_.size());
        rest_.assign(scores.closing, scores.closing + T_ * L_);
        transposed_.resize(static_cast<std::size_t>(L_ * L_));
        for (std::int64_t k = 0; k < L_; ++k)
            for (std::int64_t l = 0; l < L_; ++l) transposed_[l * L_ + k] = scores.transition[k * L_ + l];
        opened_.resize(static_cast<std::size_t>(L_));
        for (std::int64_t t = T_ - 1; t >= 0; --t) {
            if (t + 1 < T_) {
                for (std::int64_t l = 0; l < L_; ++l)
                    opened_[l] = scores.opening[(t + 1) * L_ + l] + inside_[(t + 1) * L_ + l];
                log_sum_.product(L_, opened_.data(), transposed_.data(), scores.closing + t * L_, &rest_[t * L_]);
            }
            const std::int64_t rows = std::min(T_ - t, scores.longest);
            const double* ends = &rest_[t * L_];
            if (scores.runs) {
                begun_.assign(ends, ends + rows * L_);
                for (std::int64_t k = 0; k < rows * L_; ++k)
                    if (scores.most(t + k / L_, k % L_) <= k / L_) begun_[k] = minus_infinity;
                ends = begun_.data();
            }
            log_sum_.sum_of_products(rows, L_, ends, L_, scores.span, L_, &inside_[t * L_]);
        }
    }

    void count_transitions(const SegmentScores& scores, double* transitions, double* boundaries) {
        std::fill_n(transitions, L_ * L_, 0.0);
        double* pairs = transposed_.data();
        for (std::int64_t t = 1; t < T_; ++t) {
            for (std::int64_t l = 0; l < L_; ++l) opened_[l] = scores.opening[t * L_ + l] + inside_[t * L_ + l];
            for (std::int64_t k = 0; k < L_; ++k)
                for (std::int64_t l = 0; l < L_; ++l)
                    pairs[k * L_ + l] = leave_[(t - 1) * L_ + k] + scores.transition[k * L_ + l] + opened_[l];
            exponentials(L_ * L_, pairs, log_z_, pairs);
            if (boundaries) std::copy_n(pairs, L_ * L_, boundaries + (t - 1) * L_ * L_);
            add_scaled(L_ * L_, 1.0, pairs, transitions);
        }
    }

    void count_lengths(const SegmentScores& scores, double* lengths, double* of_segments) {
        std::fill_n(lengths, scores.longest * L_, 0.0);
        double* segments = begun_.data();
        for (std::int64_t k = 0; k < scores.longest; ++k) {
            const std::int64_t n = T_ - k;
            for (std::int64_t t = 0; t < n; ++t)
                for (std::int64_t l = 0; l < L_; ++l)
                    segments[t * L_ + l] = enter_[t * L_ + l] + scores.span[k * L_ + l] + rest_[(t + k) * L_ + l];
            if (scores.runs)
                for (std::int64_t j = 0; j < n * L_; ++j)
                    if (scores.most(j / L_ + k, j % L_) <= k) segments[j] = minus_infinity;
            exponentials(n * L_, segments, log_z_, segments);
            for (std::int64_t t = 0; t < n; ++t) {
                add_scaled(L_, 1.0, segments + t * L_, lengths + k * L_);
                if (of_segments) std::copy_n(segments + t * L_, L_, of_segments + (t * scores.longest + k) * L_);
            }
        }
    }

    std::int64_t L_ = 0, T_ = 0;
    double log_z_ = 0.0;
    LogSum log_sum_;
    std::vector<double> enter_, leave_, inside_, rest_, begun_, ended_;  // (length, n_labels)
    std::vector<double> transposed_, opened_, workspace_;
};

}  // namespace structlearn
