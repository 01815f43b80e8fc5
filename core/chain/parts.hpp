#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "chain/data.hpp"
#include "chain/sums.hpp"

namespace structlearn {

// A chain as a sum of parts, Ψ(x, y) = Aᵀ μ(y): one part for every label at every position, (length, n_labels), then for
// every transition, (n_labels, n_labels), counted over all positions, or at every pair of neighbours where pairs have
// features, then, with boundaries, for the first and the last label. θ = A w are the scores of the parts. What is forbidden
// has a finite score here; the mask is applied by `read`. Labels are those of all tokens.
class ChainParts {
public:
    explicit ChainParts(const ChainData& data) : data_(data) {}

    // The weights for `log_loss`; they must stay as they are.
    void prepare(const double* w) {
        weights_ = std::make_shared<const ChainWeights>(data_, w);
        factors_.set(data_.n_labels, weights_->transition());
    }

    // −log P(y_i | x_i), and unless `change` is null the marginals less the parts of y_i.
    double log_loss(std::int64_t i, const std::int32_t* labels, double* change) {
        const ChainScores scores = weights_->scores(data_, i, workspace_);
        const double log_z = sums_.run(scores, scores.varying ? nullptr : &factors_);
        if (change) {
            marginals_of(scores, i, change);
            subtract(i, labels, 1.0, change);
        }
        return log_z - scores.of(labels + data_.tokens.begin(i));
    }

    // Uniform numbers that a sample takes.
    std::int64_t n_uniform(std::int64_t i) const { return data_.length(i); }
    // After `prepare`: sequences drawn with probability P(y | x_i), one after another.
    void samples(std::int64_t i, std::int64_t copies, const double* uniform, std::int32_t* labels) {
        const ChainScores scores = weights_->scores(data_, i, workspace_);
        sums_.run(scores, scores.varying ? nullptr : &factors_);
        for (std::int64_t copy = 0; copy < copies; ++copy)
            sums_.sample(scores, uniform + copy * scores.length, labels + copy * scores.length);
    }

    std::int64_t size(std::int64_t i) const {
        return ends_at(i) + (data_.boundaries ? 2 * data_.n_labels : 0);
    }

    // θ = A w of sequence i.
    void scores(std::int64_t i, const double* w, double* theta) const {
        const std::int64_t L = data_.n_labels;
        const std::int64_t T = data_.length(i);
        for (std::int64_t t = 0; t < T; ++t) token_scores(data_.X, data_.tokens.begin(i) + t, w, L, theta + t * L);
        double* edges = theta + T * L;
        for (std::int64_t t = 0; t < n_matrices(i); ++t) {
            double* here = edges + t * L * L;
            if (data_.n_pair_inputs)
                token_scores(data_.P, data_.tokens.begin(i) + t, w + data_.pairs_at(), L * L, here);
            else
                std::fill_n(here, L * L, 0.0);
            add_scaled(L * L, data_.balance, w + data_.transitions_at(), here);
        }
        if (!data_.boundaries) return;
        std::fill_n(theta + ends_at(i), 2 * L, 0.0);
        add_scaled(2 * L, data_.balance, w + data_.start_at(), theta + ends_at(i));
    }

    // The scores of a sequence whose parts are given; what is forbidden becomes −∞. They live until the next call.
    ChainScores read(std::int64_t i, const double* theta) {
        const std::int64_t L = data_.n_labels;
        const std::int64_t T = data_.length(i);
        zeros_.assign(static_cast<std::size_t>(2 * L), 0.0);
        const double* emission = theta;
        const double* transition = theta + T * L;
        const double* ends = data_.boundaries ? theta + ends_at(i) : zeros_.data();
        if (data_.allowed_labels) {
            emission_.assign(emission, transition);
            data_.forbid_labels(i, emission_.data());
            emission = emission_.data();
        }
        if (const std::uint8_t* allowed = data_.allowed_transitions) {
            transition_.assign(transition, theta + ends_at(i));
            for (std::int64_t t = 0; t < n_matrices(i); ++t) ChainData::forbid(L * L, allowed, &transition_[t * L * L]);
            transition = transition_.data();
            ends_.assign(ends, ends + 2 * L);
            ChainData::forbid(2 * L, allowed + L * L, ends_.data());
            ends = ends_.data();
        }
        return {T, L, emission, transition, ends, ends + L, data_.n_pair_inputs > 0};
    }

    // log Z, and the marginals of the parts under P(y) ∝ exp⟨θ, μ(y)⟩.
    double sums(std::int64_t i, const double* theta, double* marginals) {
        const ChainScores scores = read(i, theta);
        const double log_z = sum_up(scores);
        marginals_of(scores, i, marginals);
        return log_z;
    }

    // The same with the marginals of labels, and of the labels of every pair of neighbours.
    double sums(std::int64_t i, const double* theta, double* nodes, double* edges) {
        const ChainScores scores = read(i, theta);
        const double log_z = sum_up(scores);
        sums_.marginals(scores, nodes, edges, true);
        return log_z;
    }

    // marginals −= coefficient × the parts of a labelling.
    void subtract(std::int64_t i, const std::int32_t* all_labels, double coefficient, double* marginals) const {
        const std::int32_t* labels = all_labels + data_.tokens.begin(i);
        const std::int64_t L = data_.n_labels;
        const std::int64_t T = data_.length(i);
        for (std::int64_t t = 0; t < T; ++t) marginals[t * L + labels[t]] -= coefficient;
        double* edges = marginals + T * L;
        for (std::int64_t t = 0; t + 1 < T; ++t) {
            edges[labels[t] * L + labels[t + 1]] -= coefficient;
            if (data_.n_pair_inputs) edges += L * L;
        }
        if (!data_.boundaries) return;
        marginals[ends_at(i) + labels[0]] -= coefficient;
        marginals[ends_at(i) + L + labels[T - 1]] -= coefficient;
    }

    // w += Aᵀ change; returns by how much ‖w‖² grows.
    double push(std::int64_t i, const double* change, double* w) const {
        const std::int64_t L = data_.n_labels;
        const std::int64_t T = data_.length(i);
        double growth = 0.0;
        for (std::int64_t t = 0; t < T; ++t)
            growth += data_.kept ? add_token_where(data_.X, data_.tokens.begin(i) + t, change + t * L, L, data_.kept, w)
                                 : add_token(data_.X, data_.tokens.begin(i) + t, change + t * L, L, w);
        for (std::int64_t t = 0; t < n_matrices(i); ++t) {
            const double* here = change + T * L + t * L * L;
            growth += add(data_.transitions_at(), L * L, here, w);
            if (data_.n_pair_inputs)
                growth += add_token(data_.P, data_.tokens.begin(i) + t, here, L * L, w + data_.pairs_at());
        }
        if (data_.boundaries) growth += add(data_.start_at(), 2 * L, change + ends_at(i), w);
        return growth;
    }

private:
    double sum_up(const ChainScores& scores) {
        if (!scores.varying) factors_.set(scores.n_labels, scores.transition);
        return sums_.run(scores, scores.varying ? nullptr : &factors_);
    }

    // The marginals of the parts after `sums_.run(scores)`.
    void marginals_of(const ChainScores& scores, std::int64_t i, double* marginals) {
        const std::int64_t L = data_.n_labels;
        sums_.marginals(scores, marginals, marginals + scores.length * L, scores.varying);
        if (!data_.boundaries) return;
        double* ends = marginals + ends_at(i);
        std::copy_n(marginals, L, ends);
        std::copy_n(marginals + (scores.length - 1) * L, L, ends + L);
    }

    // w[at + k] += η change[k]
    double add(std::int64_t at, std::int64_t n, const double* change, double* w) const {
        double growth = 0.0;
        for (std::int64_t k = 0; k < n; ++k) {
            const double more = data_.kept && !data_.kept[at + k] ? 0.0 : data_.balance * change[k];
            growth += more * (2.0 * w[at + k] + more);
            w[at + k] += more;
        }
        return growth;
    }

    // How many transition matrices a sequence has parts for.
    std::int64_t n_matrices(std::int64_t i) const { return data_.n_pair_inputs ? data_.length(i) - 1 : 1; }
    std::int64_t ends_at(std::int64_t i) const {
        return data_.length(i) * data_.n_labels + n_matrices(i) * data_.n_labels * data_.n_labels;
    }

    ChainData data_;
    ChainSums sums_;
    TransitionFactors factors_;
    std::shared_ptr<const ChainWeights> weights_;
    ChainWorkspace workspace_;
    std::vector<double> emission_, transition_, ends_, zeros_;
};

// Node marginals, edge marginals of every pair of neighbours, and log Z of the first sequence, whose parts are given.
inline double sequence_marginals(const ChainData& data, std::span<const double> theta, std::span<double> nodes,
                                 std::span<double> edges) {
    return ChainParts(data).sums(0, theta.data(), nodes.data(), edges.data());
}

}  // namespace structlearn
