#pragma once

#include "log_weights.hpp"
#include "second_order.hpp"

namespace structlearn {

// Triplets as the sums need them: exp of the scores, largest factor 1, so that a step needs exponentials of L values and not
// of L² sums. What underflows there is at most e^−708 of the largest term, and no factor is below e^−500, so nothing is
// lost. Where scores differ by more, the scores themselves are kept.
class TripletFactors {
public:
    void set(std::int64_t L, const double* triplet) {
        L_ = L;
        const std::int64_t size = L * L * L;
        const auto [least, most] = std::minmax_element(triplet, triplet + size);
        factors = *most - *least <= 500.0;
        top = factors ? *most : 0.0;
        forward.assign(triplet, triplet + size);
        if (factors) exponentials(size, triplet, top, forward.data());
        backward.resize(forward.size());
        for (std::int64_t a = 0; a < L; ++a)
            for (std::int64_t c = 0; c < L; ++c)
                for (std::int64_t b = 0; b < L; ++b) backward[(a * L + b) * L + c] = forward[(a * L + c) * L + b];
    }

    // out[l] = log Σ_k exp(before[k] + triplet[k, l]) + after[l], with one of the two arrays below for some label in the
    // middle; the workspace has 2L doubles.
    void product(const std::vector<double>& direction, std::int64_t middle, const double* before, const double* after,
                 double* workspace, double* out) const {
        const double* matrix = &direction[middle * L_ * L_];
        const double shift = *std::max_element(before, before + L_);
        if (shift == minus_infinity) {
            std::fill_n(out, L_, minus_infinity);
        } else if (!factors) {
            log_sum_product(L_, before, matrix, after, workspace, out);
        } else {
            exponentials(L_, before, shift, workspace);
            weighted_rows(L_, L_, workspace, 1, matrix, out);
            for (std::int64_t l = 0; l < L_; ++l) out[l] = std::log(out[l]) + (shift + top) + after[l];
        }
    }

    bool factors = false;
    double top = 0.0;
    std::vector<double> forward;   // (n_labels, n_labels, n_labels): middle, before, after
    std::vector<double> backward;  // the same: middle, after, before

private:
    std::int64_t L_ = 0;
};

// Sums over all label sequences: log Z, marginals, samples. Messages are logarithms.
class SecondOrderSums {
public:
    // log Σ_y exp F(y), −∞ if every sequence is forbidden. `triplets` are those of the scores.
    double run(const SecondOrderScores& scores, const TripletFactors& triplets) {
        L_ = scores.chain.n_labels;
        T_ = scores.chain.length;
        workspace_.resize(static_cast<std::size_t>(3 * L_));
        pair_messages(scores, message_, scratch_,
                      [&](std::int64_t a, const double* before, const double* after, double* out) {
                          triplets.product(triplets.forward, a, before, after, workspace_.data(), out);
                      });
        last_values(scores, message_, values_);
        exponents_.resize(values_.size());
        log_z_ = log_sum(static_cast<std::int64_t>(values_.size()), values_.data(), exponents_.data());
        return log_z_;
    }

    // After `run`: P(y_t = l), (length, n_labels); P(y_{t-1} = k, y_t = l), (n_labels, n_labels), summed over t or, if `each`,
    // one matrix for every pair of neighbours; and the expected numbers of triplets, (n_labels, n_labels, n_labels). Zero if
    // every sequence is forbidden.
    void marginals(const SecondOrderScores& scores, const TripletFactors& triplets, double* nodes, double* edges,
                   bool each, double* of_triplets) {
        std::fill_n(nodes, T_ * L_, 0.0);
        std::fill_n(edges, (each ? T_ - 1 : 1) * L_ * L_, 0.0);
        std::fill_n(of_triplets, L_ * L_ * L_, 0.0);
        if (log_z_ == minus_infinity) return;
        if (T_ == 1) return exponentials(L_, values_.data(), log_z_, nodes);
        recur_backward(scores, triplets, of_triplets);
        for (std::int64_t t = 1; t < T_; ++t) {
            const std::int64_t at = (t - 1) * L_ * L_;
            double* pairs = exponents_.data();
            for (std::int64_t k = 0; k < L_ * L_; ++k) pairs[k] = message_[at + k] + back_[at + k];
            exponentials(L_ * L_, pairs, log_z_, pairs);
            add_scaled(L_ * L_, 1.0, pairs, each ? edges + at : edges);
            for (std::int64_t a = 0; a < L_; ++a) {
                add_scaled(L_, 1.0, pairs + a * L_, nodes + t * L_);
                for (std::int64_t b = 0; t == 1 && b < L_; ++b) nodes[a] += pairs[a * L_ + b];
            }
        }
        if (triplets.factors) multiply_triplets(triplets, of_triplets);
    }

    // After `run`: a sequence drawn with probability exp F(y) / Z, given a uniform number for each position.
    void sample(const SecondOrderScores& scores, const double* uniform, std::int32_t* labels) {
        const std::int64_t last = T_ - 1;
        exponents_ = values_;
        const std::int64_t pair = draw(static_cast<std::int64_t>(values_.size()), exponents_.data(), uniform[last]);
        labels[last] = static_cast<std::int32_t>(pair % L_);
        if (last > 0) labels[last - 1] = static_cast<std::int32_t>(pair / L_);
        double* weight = workspace_.data();
        for (std::int64_t t = last; t > 1; --t) {
            const std::int64_t a = labels[t - 1];
            for (std::int64_t c = 0; c < L_; ++c)
                weight[c] = message_[((t - 2) * L_ + c) * L_ + a] + scores.around(a)[c * L_ + labels[t]];
            labels[t - 2] = static_cast<std::int32_t>(draw(L_, weight, uniform[t - 2]));
        }
    }

private:
    // back[t − 1, a, b]: of what follows a at t − 1 and b at t. Triplets whose scores are no factors are counted on the way;
    // for the others it leaves exp of what is before, left[a, t, c], and after the middle, right[a, t, b].
    void recur_backward(const SecondOrderScores& scores, const TripletFactors& triplets, double* of_triplets) {
        const std::int64_t inner = T_ - 2;
        back_.resize(message_.size());
        left_.assign(static_cast<std::size_t>(inner * L_ * L_), 0.0);
        right_.assign(left_.size(), 0.0);
        zeros_.assign(static_cast<std::size_t>(L_), 0.0);
        for (std::int64_t a = 0; a < L_; ++a) std::copy_n(scores.chain.stop, L_, &back_[(inner * L_ + a) * L_]);
        double* before = scratch_.data();
        double* after = before + L_;
        double* out = workspace_.data() + 2 * L_;
        for (std::int64_t t = T_ - 1; t > 1; --t)
            for (std::int64_t a = 0; a < L_; ++a) {
                scores.arrive(t, a, after);
                add_scaled(L_, 1.0, &back_[((t - 1) * L_ + a) * L_], after);
                triplets.product(triplets.backward, a, after, zeros_.data(), workspace_.data(), out);
                for (std::int64_t c = 0; c < L_; ++c) {
                    back_[((t - 2) * L_ + c) * L_ + a] = out[c];
                    before[c] = message_[((t - 2) * L_ + c) * L_ + a];
                }
                const double most_before = *std::max_element(before, before + L_);
                const double most_after = *std::max_element(after, after + L_);
                if (most_before == minus_infinity || most_after == minus_infinity) continue;
                if (!triplets.factors) {
                    count(scores.around(a), before, after, of_triplets + a * L_ * L_);
                    continue;
                }
                // The scale is at most e^500, the range of the factors: no sequence has more than all together.
                const std::int64_t at = (a * inner + t - 2) * L_;
                const double scale = std::exp(most_before + triplets.top + most_after - log_z_);
                exponentials(L_, before, most_before, &left_[at]);
                exponentials(L_, after, most_after, &right_[at]);
                for (std::int64_t b = 0; b < L_; ++b) right_[at + b] *= scale;
            }
    }

    void count(const double* around, const double* before, const double* after, double* counts) {
        double* row = workspace_.data();
        for (std::int64_t c = 0; c < L_; ++c) {
            for (std::int64_t b = 0; b < L_; ++b) row[b] = before[c] + around[c * L_ + b] + after[b];
            exponentials(L_, row, log_z_, row);
            add_scaled(L_, 1.0, row, counts + c * L_);
        }
    }

    void multiply_triplets(const TripletFactors& triplets, double* of_triplets) {
        const std::int64_t inner = T_ - 2;
        for (std::int64_t a = 0; inner > 0 && a < L_; ++a)
            for (std::int64_t c = 0; c < L_; ++c) {
                const std::int64_t at = (a * L_ + c) * L_;
                weighted_rows(inner, L_, &left_[a * inner * L_ + c], L_, &right_[a * inner * L_], of_triplets + at);
                for (std::int64_t b = 0; b < L_; ++b) of_triplets[at + b] *= triplets.forward[at + b];
            }
    }

    std::int64_t L_ = 0, T_ = 0;
    double log_z_ = 0.0;
    std::vector<double> message_, back_;  // (length − 1, n_labels, n_labels)
    std::vector<double> values_;          // of the pairs at the end
    std::vector<double> left_, right_;    // (n_labels, length − 2, n_labels)
    std::vector<double> exponents_, workspace_, scratch_, zeros_;
};

}  // namespace structlearn
