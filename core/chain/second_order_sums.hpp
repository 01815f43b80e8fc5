#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "chain/second_order.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

// Triplets as the sums need them: exp of the scores, largest factor 1, so that a step needs exponentials of L² values
// and not of L³ sums. What underflows there is at most e^−708 of the largest term, and no factor is below e^−500, so
// nothing is lost. Where scores differ by more, the scores themselves are kept.
struct TripletFactors {
    void set(std::int64_t L, const double* triplet) {
        const std::int64_t size = L * L * L;
        const auto [least, most] = std::minmax_element(triplet, triplet + size);
        narrow = *most - *least <= 500.0;
        top = narrow ? *most : 0.0;
        forward.assign(triplet, triplet + size);
        if (narrow) exponentials(size, triplet, top, forward.data());
        backward.resize(forward.size());
        for (std::int64_t a = 0; a < L; ++a)
            for (std::int64_t c = 0; c < L; ++c)
                for (std::int64_t b = 0; b < L; ++b) backward[(a * L + b) * L + c] = forward[(a * L + c) * L + b];
    }

    bool narrow = false;
    double top = 0.0;
    std::vector<double> forward;   // (n_labels, n_labels, n_labels): middle, before, after
    std::vector<double> backward;  // the same: middle, after, before
};

// Sums over all label sequences: log Z and marginals. Messages are logarithms.
class SecondOrderSums {
public:
    // log Σ_y exp F(y), −∞ if every sequence is forbidden. `triplets` are those of the scores.
    double run(const SecondOrderScores& scores, const TripletFactors& triplets) {
        L_ = scores.chain.n_labels;
        T_ = scores.chain.length;
        const auto inner = static_cast<std::size_t>(std::max<std::int64_t>(T_ - 2, 0) * L_);
        left_.resize(inner * static_cast<std::size_t>(L_));
        left_top_.resize(inner);
        transposed_.resize(static_cast<std::size_t>(L_ * L_));
        workspace_.resize(static_cast<std::size_t>(2 * L_));
        zeros_.assign(static_cast<std::size_t>(L_), 0.0);
        if (triplets.narrow)
            multiply_forward(scores, triplets);
        else
            wide_.run(scores, message_);
        last_values(scores, message_, values_);
        exponents_.resize(static_cast<std::size_t>(L_ * L_));
        log_z_ = log_sum(static_cast<std::int64_t>(values_.size()), values_.data(), exponents_.data());
        return log_z_;
    }

    // After `run`: P(y_t = l), (length, n_labels); P(y_{t-1} = k, y_t = l), (n_labels, n_labels), summed over t or, if
    // `each`, one matrix for every pair of neighbours; and the expected numbers of triplets, (n_labels, n_labels,
    // n_labels). Zero if every sequence is forbidden.
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
        if (triplets.narrow && T_ > 2) multiply_triplets(triplets, of_triplets);
    }

    const std::vector<double>& message() const { return message_; }

private:
    void multiply_forward(const SecondOrderScores& scores, const TripletFactors& triplets) {
        first_pairs(scores, message_);
        for (std::int64_t t = 2; t < T_; ++t) {
            const double* before = &message_[(t - 2) * L_ * L_];
            double* here = &message_[(t - 1) * L_ * L_];
            for (std::int64_t c = 0; c < L_; ++c)
                for (std::int64_t a = 0; a < L_; ++a) transposed_[a * L_ + c] = before[c * L_ + a];
            products(triplets, triplets.forward, transposed_.data(), &left_[(t - 2) * L_ * L_], &left_top_[(t - 2) * L_],
                     here);
            scores.arrive(t, here);
        }
    }

    // out[a, l] = log Σ_k exp(x[a, k] + matrices[a, k, l]), where `matrices` is one of the two directions of the
    // triplets. Leaves top[a] = max_k x[a, k], 0 where that is −∞, and if the triplets are narrow scaled[a, k] =
    // exp(x[a, k] − top[a]).
    void products(const TripletFactors& triplets, const std::vector<double>& matrices, const double* x, double* scaled,
                  double* top, double* out) {
        for (std::int64_t a = 0; a < L_; ++a) {
            const double most = *std::max_element(x + a * L_, x + (a + 1) * L_);
            top[a] = most == minus_infinity ? 0.0 : most;
        }
        if (!triplets.narrow) {
            for (std::int64_t a = 0; a < L_; ++a)
                log_sum_.product(L_, x + a * L_, &matrices[a * L_ * L_], zeros_.data(), out + a * L_);
            return;
        }
        for (std::int64_t a = 0; a < L_; ++a)
            for (std::int64_t k = 0; k < L_; ++k) scaled[a * L_ + k] = x[a * L_ + k] - top[a];
        exponentials(L_ * L_, scaled, 0.0, scaled);
        for (std::int64_t a = 0; a < L_; ++a)
            weighted_rows(L_, L_, scaled + a * L_, 1, &matrices[a * L_ * L_], out + a * L_);
        logarithms(L_ * L_, out, out);
        for (std::int64_t a = 0; a < L_; ++a)
            for (std::int64_t l = 0; l < L_; ++l) out[a * L_ + l] += top[a] + triplets.top;
    }

    // back[t − 1, a, b]: of what follows a at t − 1 and b at t. Wide triplets are counted on the way; for narrow ones
    // it leaves exp of what is after the middle, right[a, t − 2, b], with a scale that makes probabilities of left ×
    // triplet × right.
    void recur_backward(const SecondOrderScores& scores, const TripletFactors& triplets, double* of_triplets) {
        const std::int64_t inner = T_ - 2;
        back_.resize(message_.size());
        right_.resize(left_.size());
        scaled_.resize(transposed_.size());
        after_.resize(transposed_.size());
        right_top_.resize(static_cast<std::size_t>(L_));
        for (std::int64_t a = 0; a < L_; ++a) std::copy_n(scores.chain.stop, L_, &back_[(inner * L_ + a) * L_]);
        for (std::int64_t t = T_ - 1; t > 1; --t) {
            std::copy_n(&back_[(t - 1) * L_ * L_], L_ * L_, after_.data());
            scores.arrive(t, after_.data());
            products(triplets, triplets.backward, after_.data(), scaled_.data(), right_top_.data(), transposed_.data());
            for (std::int64_t c = 0; c < L_; ++c)
                for (std::int64_t a = 0; a < L_; ++a) back_[((t - 2) * L_ + c) * L_ + a] = transposed_[a * L_ + c];
            for (std::int64_t a = 0; a < L_; ++a) {
                if (!triplets.narrow) {
                    count(scores.around(a), &message_[(t - 2) * L_ * L_ + a], &after_[a * L_], of_triplets + a * L_ * L_);
                    continue;
                }
                // At most e^500, the range of the factors: no sequence has more than all together.
                const double top = left_top_[(t - 2) * L_ + a] + triplets.top + right_top_[a] - log_z_;
                const double scale = std::exp(std::min(top, 500.0));
                for (std::int64_t b = 0; b < L_; ++b)
                    right_[(a * inner + t - 2) * L_ + b] = scaled_[a * L_ + b] * scale;
            }
        }
    }

    // counts[c, b] += P(c, middle, b at some place); before[c L] and after[b] are what is on both sides of the triplet.
    void count(const double* around, const double* before, const double* after, double* counts) {
        double* row = workspace_.data();
        for (std::int64_t c = 0; c < L_; ++c) {
            for (std::int64_t b = 0; b < L_; ++b) row[b] = before[c * L_] + around[c * L_ + b] + after[b];
            exponentials(L_, row, log_z_, row);
            add_scaled(L_, 1.0, row, counts + c * L_);
        }
    }

    void multiply_triplets(const TripletFactors& triplets, double* of_triplets) {
        const std::int64_t inner = T_ - 2;
        for (std::int64_t a = 0; a < L_; ++a)
            for (std::int64_t c = 0; c < L_; ++c)
                weighted_rows(inner, L_, &left_[a * L_ + c], L_ * L_, &right_[a * inner * L_],
                              of_triplets + (a * L_ + c) * L_);
        for (std::int64_t k = 0; k < L_ * L_ * L_; ++k) of_triplets[k] *= triplets.forward[k];
    }

    std::int64_t L_ = 0, T_ = 0;
    double log_z_ = 0.0;
    LogSum log_sum_;
    PairMessages<LogSum> wide_;
    std::vector<double> message_, back_;  // (length − 1, n_labels, n_labels)
    std::vector<double> values_;          // of the pairs at the end
    std::vector<double> left_;            // (length − 2, n_labels, n_labels): exp of what is before a middle, and
    std::vector<double> left_top_;        // (length − 2, n_labels): the logarithm by which it is scaled
    std::vector<double> right_;           // (n_labels, length − 2, n_labels)
    std::vector<double> transposed_, scaled_, after_, right_top_, exponents_, workspace_, zeros_;
};

}  // namespace structlearn
