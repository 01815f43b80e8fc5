#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "chain/parts.hpp"
#include "chain/second_order_sums.hpp"

namespace structlearn {

// A second-order chain as a sum of parts: those of the chain, see ChainParts, then one for every triplet of labels,
// (n_labels, n_labels, n_labels) as in the weights, counted over all positions.
class SecondOrderParts {
public:
    explicit SecondOrderParts(const SecondOrderData& data) : data_(data), chain_(data) {}

    // The weights for `log_loss`; they must stay as they are.
    void prepare(const double* w) {
        weights_ = std::make_shared<const SecondOrderWeights>(data_, w);
        factors_.set(data_.n_labels, weights_->triplets());
    }

    // −log P(y_i | x_i), and unless `change` is null the marginals less the parts of y_i.
    double log_loss(std::int64_t i, const std::int32_t* labels, double* change) {
        const SecondOrderScores scores = weights_->scores(data_, i, workspace_);
        const double log_z = sums_.run(scores, factors_);
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
        const SecondOrderScores scores = weights_->scores(data_, i, workspace_);
        sums_.run(scores, factors_);
        for (std::int64_t copy = 0; copy < copies; ++copy)
            sums_.sample(scores, uniform + copy * data_.length(i), labels + copy * data_.length(i));
    }

    std::int64_t size(std::int64_t i) const { return chain_.size(i) + data_.n_triplets(); }

    void scores(std::int64_t i, const double* w, double* theta) const {
        chain_.scores(i, w, theta);
        double* triplets = theta + chain_.size(i);
        std::fill_n(triplets, data_.n_triplets(), 0.0);
        add_scaled(data_.n_triplets(), data_.balance, w + data_.triplets_at(), triplets);
    }

    // log Z, and the marginals of the parts under P(y) ∝ exp⟨θ, μ(y)⟩.
    double sums(std::int64_t i, const double* theta, double* marginals) {
        const SecondOrderScores scores{chain_.read(i, theta), theta + chain_.size(i)};
        factors_.set(data_.n_labels, scores.triplet);
        const double log_z = sums_.run(scores, factors_);
        marginals_of(scores, i, marginals);
        return log_z;
    }

    // marginals −= coefficient × the parts of a labelling.
    void subtract(std::int64_t i, const std::int32_t* all_labels, double coefficient, double* marginals) const {
        chain_.subtract(i, all_labels, coefficient, marginals);
        const std::int32_t* labels = all_labels + data_.tokens.begin(i);
        for (std::int64_t t = 1; t + 1 < data_.length(i); ++t)
            marginals[chain_.size(i) + data_.triplet(labels + t)] -= coefficient;
    }

    // w += Aᵀ change; returns by how much ‖w‖² grows.
    double push(std::int64_t i, const double* change, double* w) const {
        double growth = chain_.push(i, change, w);
        const double* triplets = change + chain_.size(i);
        const std::int64_t at = data_.triplets_at();
        for (std::int64_t k = 0; k < data_.n_triplets(); ++k) {
            const double more = data_.kept && !data_.kept[at + k] ? 0.0 : data_.balance * triplets[k];
            growth += more * (2.0 * w[at + k] + more);
            w[at + k] += more;
        }
        return growth;
    }

private:
    void marginals_of(const SecondOrderScores& scores, std::int64_t i, double* marginals) {
        const std::int64_t L = data_.n_labels;
        const std::int64_t T = data_.length(i);
        double* triplets = marginals + chain_.size(i);
        sums_.marginals(scores, factors_, marginals, marginals + T * L, scores.chain.varying, triplets);
        if (!data_.boundaries) return;
        std::copy_n(marginals, L, triplets - 2 * L);
        std::copy_n(marginals + (T - 1) * L, L, triplets - L);
    }

    SecondOrderData data_;
    ChainParts chain_;
    SecondOrderSums sums_;
    TripletFactors factors_;
    std::shared_ptr<const SecondOrderWeights> weights_;
    ChainWorkspace workspace_;
};

}  // namespace structlearn
