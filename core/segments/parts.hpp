#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "segments/data.hpp"
#include "segments/sums.hpp"

namespace structlearn {

// Segments as a sum of parts: one for every label at every token, (length, n_labels), then for every transition,
// (n_labels, n_labels), then, with lengths, for every length that is possible, (longest, n_labels), and with ends for
// every label of a segment that begins, and that ends, with a token, (length, n_labels) each. θ = A w are the scores of
// the parts.
class SegmentParts {
public:
    explicit SegmentParts(const SegmentData& data) : data_(data) {}

    void prepare(const double* w) { w_ = w; }

    // −log P(y_i | x_i), and unless `change` is null the marginals less the parts of y_i.
    double log_loss(std::int64_t i, const std::int32_t* codes, double* change) {
        const SegmentScores read_scores = read(i, scores(i, w_));
        const double log_z = sums_.run(read_scores);
        if (change) {
            sums_.marginals(read_scores, counts(i, change));
            subtract(i, codes, 1.0, change);
        }
        double score = 0.0;
        each_part(i, codes, [&](std::int64_t part) { score += theta_[part]; });
        return log_z - score;
    }

    // Uniform numbers that a sample takes.
    std::int64_t n_uniform(std::int64_t i) const { return 2 * data_.length(i); }
    // After `prepare`: segmentations drawn with probability P(y | x_i), one after another.
    void samples(std::int64_t i, std::int64_t copies, const double* uniform, std::int32_t* codes) {
        const SegmentScores read_scores = read(i, scores(i, w_));
        sums_.run(read_scores);
        for (std::int64_t copy = 0; copy < copies; ++copy)
            sums_.sample(read_scores, uniform + copy * n_uniform(i), codes + copy * read_scores.length);
    }

    std::int64_t size(std::int64_t i) const {
        return firsts_at(i) + (data_.ends ? 2 * data_.length(i) * data_.n_labels : 0);
    }

    // θ = A w of sequence i.
    void scores(std::int64_t i, const double* w, double* theta) const {
        const std::int64_t L = data_.n_labels;
        auto tokens = [&](const double* weights, double* out) {
            for (std::int64_t t = 0; t < data_.length(i); ++t)
                token_scores(data_.X, data_.tokens.begin(i) + t, weights, L, out + t * L);
        };
        tokens(w, theta);
        std::copy_n(w + data_.transitions_at(), L * L, theta + transitions_at(i));
        if (data_.lengths) std::copy_n(w + data_.lengths_at(), data_.longest(i) * L, theta + lengths_at(i));
        if (!data_.ends) return;
        tokens(w + data_.firsts_at(), theta + firsts_at(i));
        tokens(w + data_.lasts_at(), theta + lasts_at(i));
    }

    // The same in memory of its own, until the next call.
    double* scores(std::int64_t i, const double* w) {
        theta_.resize(static_cast<std::size_t>(size(i)));
        scores(i, w, theta_.data());
        return theta_.data();
    }

    // The scores of a sequence whose parts are given; they live until the next call. Each segment has `bonus` on top.
    SegmentScores read(std::int64_t i, const double* theta, double bonus = 0.0) {
        const std::int64_t L = data_.n_labels;
        const std::int64_t T = data_.length(i);
        opening_.assign(static_cast<std::size_t>(T * L), 0.0);
        closing_.assign(theta, theta + T * L);
        for (std::int64_t k = L; k < T * L; ++k) {
            opening_[k] = -closing_[k - L];
            closing_[k] += closing_[k - L];
        }
        span_.assign(static_cast<std::size_t>(data_.longest(i) * L), bonus);
        if (data_.lengths) add_scaled(data_.longest(i) * L, 1.0, theta + lengths_at(i), span_.data());
        if (data_.ends) {
            add_scaled(T * L, 1.0, theta + firsts_at(i), opening_.data());
            add_scaled(T * L, 1.0, theta + lasts_at(i), closing_.data());
        }
        return {T, L, data_.longest(i), opening_.data(), closing_.data(), span_.data(), theta + transitions_at(i)};
    }

    // log Z, and the marginals of the parts under P(y) ∝ exp⟨θ, μ(y)⟩.
    double sums(std::int64_t i, const double* theta, double* marginals) {
        const SegmentScores read_scores = read(i, theta);
        const double log_z = sums_.run(read_scores);
        sums_.marginals(read_scores, counts(i, marginals));
        return log_z;
    }

    // marginals −= coefficient × the parts of a segmentation; codes are those of all tokens.
    void subtract(std::int64_t i, const std::int32_t* codes, double coefficient, double* marginals) const {
        each_part(i, codes, [&](std::int64_t part) { marginals[part] -= coefficient; });
    }

    // w += Aᵀ change; returns by how much ‖w‖² grows.
    double push(std::int64_t i, const double* change, double* w) const {
        const std::int64_t L = data_.n_labels;
        double growth = 0.0;
        auto tokens = [&](const double* changes, double* weights) {
            for (std::int64_t t = 0; t < data_.length(i); ++t)
                growth += add_token(data_.X, data_.tokens.begin(i) + t, changes + t * L, L, weights);
        };
        auto add = [&](std::int64_t n, const double* changes, double* weights) {
            for (std::int64_t k = 0; k < n; ++k) {
                growth += changes[k] * (2.0 * weights[k] + changes[k]);
                weights[k] += changes[k];
            }
        };
        tokens(change, w);
        add(L * L, change + transitions_at(i), w + data_.transitions_at());
        if (data_.lengths) add(data_.longest(i) * L, change + lengths_at(i), w + data_.lengths_at());
        if (!data_.ends) return growth;
        tokens(change + firsts_at(i), w + data_.firsts_at());
        tokens(change + lasts_at(i), w + data_.lasts_at());
        return growth;
    }

private:
    template <class Visit>
    void each_part(std::int64_t i, const std::int32_t* all_codes, Visit&& visit) const {
        const std::int64_t L = data_.n_labels;
        std::int64_t before = -1;
        each_segment(data_.length(i), L, all_codes + data_.tokens.begin(i),
                     [&](std::int64_t label, std::int64_t begin, std::int64_t end) {
                         for (std::int64_t t = begin; t < end; ++t) visit(t * L + label);
                         if (before >= 0) visit(transitions_at(i) + before * L + label);
                         if (data_.lengths) visit(lengths_at(i) + (end - begin - 1) * L + label);
                         if (data_.ends) {
                             visit(firsts_at(i) + begin * L + label);
                             visit(lasts_at(i) + (end - 1) * L + label);
                         }
                         before = label;
                     });
    }

    SegmentCounts counts(std::int64_t i, double* parts) const {
        return {parts, parts + transitions_at(i), data_.lengths ? parts + lengths_at(i) : nullptr,
                data_.ends ? parts + firsts_at(i) : nullptr, data_.ends ? parts + lasts_at(i) : nullptr};
    }

    std::int64_t transitions_at(std::int64_t i) const { return data_.length(i) * data_.n_labels; }
    std::int64_t lengths_at(std::int64_t i) const { return transitions_at(i) + data_.n_labels * data_.n_labels; }
    std::int64_t firsts_at(std::int64_t i) const {
        return lengths_at(i) + (data_.lengths ? data_.longest(i) * data_.n_labels : 0);
    }
    std::int64_t lasts_at(std::int64_t i) const { return firsts_at(i) + data_.length(i) * data_.n_labels; }

    SegmentData data_;
    const double* w_ = nullptr;
    SegmentSums sums_;
    std::vector<double> theta_, opening_, closing_, span_;
};

}  // namespace structlearn
