#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "chain/scores.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

// exp of transition scores, by which the sum-product recursion multiplies, largest factor 1.
class TransitionFactors {
public:
    void set(std::int64_t L, const double* transition) {
        const auto size = static_cast<std::size_t>(L * L);
        top = *std::max_element(transition, transition + size);
        double least = top;
        masked = false;
        for (std::size_t k = 0; k < size; ++k) {
            masked = masked || transition[k] == minus_infinity;
            if (transition[k] < least && transition[k] != minus_infinity) least = transition[k];
        }
        narrow = top - least <= 300.0;
        if (!narrow) return;
        forward.resize(size);
        backward.resize(size);
        exponentials(L * L, transition, top, forward.data());
        for (std::int64_t k = 0; k < L; ++k)
            for (std::int64_t l = 0; l < L; ++l) backward[l * L + k] = forward[k * L + l];
    }

    double top = 0.0;
    bool masked = false;
    bool narrow = false;  // whether factors can stand for the scores, see ChainSums
    std::vector<double> forward, backward;  // (n_labels, n_labels): from, to; and to, from
};

// Sum-product over all label sequences: log Z, marginals, samples.
//
// The recursion multiplies probabilities that are normalised at every position. What underflows there cannot matter later
// if no transition is much worse than another, as it could then make up for at most two transitions. Otherwise, and where
// transitions are forbidden and something underflows after all, it works with logarithms, which costs an exponential a
// transition.
class ChainSums {
public:
    // log Σ_y exp F(y), −∞ if every sequence is forbidden. Without `factors` the recursion works with logarithms.
    double run(const ChainScores& scores, const TransitionFactors* factors) {
        L_ = scores.n_labels;
        T_ = scores.length;
        message_.resize(static_cast<std::size_t>(T_ * L_));
        back_.resize(static_cast<std::size_t>(T_ * L_));
        scratch_.resize(static_cast<std::size_t>(3 * L_));
        factors_ = factors && factors->narrow ? factors : nullptr;
        if (factors_ && multiply_forward(scores)) return log_z_;
        factors_ = nullptr;
        return add_forward(scores);
    }

    // After `run`: P(y_t = l), (length, n_labels), and P(y_{t-1} = k, y_t = l), (n_labels, n_labels): summed over t, or, if
    // `each`, one matrix for every pair of neighbours. Zero if every sequence is forbidden.
    void marginals(const ChainScores& scores, double* nodes, double* edges, bool each) {
        std::fill_n(edges, (each ? T_ - 1 : 1) * L_ * L_, 0.0);
        if (log_z_ == minus_infinity)
            std::fill_n(nodes, T_ * L_, 0.0);
        else if (factors_)
            multiply_backward(nodes, edges, each);
        else
            add_backward(scores, nodes, edges, each);
    }

    // After `run`: a sequence drawn with probability exp F(y) / Z, given a uniform number for each position.
    void sample(const ChainScores& scores, const double* uniform, std::int32_t* labels) {
        double* weight = scratch_.data();
        for (std::int64_t t = T_ - 1; t >= 0; --t) {
            const double* here = &message_[t * L_];
            const std::int64_t next = t + 1 < T_ ? labels[t + 1] : 0;
            for (std::int64_t l = 0; l < L_; ++l) {
                if (factors_)
                    weight[l] = here[l] * (t + 1 < T_ ? factors_->backward[next * L_ + l] : 1.0);
                else
                    weight[l] = here[l] + (t + 1 < T_ ? scores.into(t + 1)[l * L_ + next] : scores.stop[l]);
            }
            const std::int64_t label = factors_ ? draw_weighted(L_, weight, uniform[t]) : draw(L_, weight, uniform[t]);
            labels[t] = static_cast<std::int32_t>(label);
        }
    }

private:
    // Returns whether nothing reachable has underflowed that might matter.
    bool multiply_forward(const ChainScores& scores) {
        emitted_.resize(static_cast<std::size_t>(T_ * L_));
        scale_.resize(static_cast<std::size_t>(T_));
        double* row = scratch_.data();
        double least = 1.0;  // probability above zero of the labels before
        log_z_ = static_cast<double>(T_ - 1) * factors_->top;
        for (std::int64_t t = 0; t < T_; ++t) {
            const double* emission = scores.emission + t * L_;
            if (t == 0 || t == T_ - 1) {
                for (std::int64_t l = 0; l < L_; ++l)
                    row[l] = emission[l] + (t == 0 ? scores.start[l] : 0.0) + (t == T_ - 1 ? scores.stop[l] : 0.0);
                emission = row;
            }
            const double top = *std::max_element(emission, emission + L_);
            if (top == minus_infinity) {
                log_z_ = minus_infinity;
                return true;
            }
            double* emitted = &emitted_[t * L_];
            double* here = &message_[t * L_];
            exponentials(L_, emission, top, emitted);
            if (t == 0)
                std::copy_n(emitted, L_, here);
            else
                weighted_rows(L_, L_, &message_[(t - 1) * L_], 1, factors_->forward.data(), here);
            // No factor is below exp(−300): after such labels only what cannot be reached has no probability at all.
            const bool reach_is_known = t > 0 && least > 1e-160;
            double* reached = scratch_.data() + L_;
            if (factors_->masked) std::copy_n(here, L_, reached);
            double sum = 0.0;
            for (std::int64_t l = 0; l < L_; ++l) {
                if (t > 0) here[l] *= emitted[l];
                sum += here[l];
            }
            if (factors_->masked) {
                least = sum;
                for (std::int64_t l = 0; l < L_; ++l) {
                    if (emission[l] == minus_infinity || (reach_is_known && reached[l] == 0.0)) continue;
                    if (here[l] < 1e-250 * sum) return false;
                    least = std::min(least, here[l]);
                }
                least /= sum;
            }
            // The inverse of less would be infinite.
            if (sum < 1e-250) return false;
            const double inverse = 1.0 / sum;
            for (std::int64_t l = 0; l < L_; ++l) here[l] *= inverse;
            scale_[t] = inverse;
            log_z_ += top + std::log(sum);
        }
        return true;
    }

    void multiply_backward(double* nodes, double* edges, bool each) {
        double* beta = scratch_.data();
        std::fill_n(beta, L_, 1.0);
        for (std::int64_t t = T_ - 1; t >= 0; --t) {
            const double* here = &message_[t * L_];
            double* g = &back_[t * L_];
            // What follows a label that cannot be reached may be beyond all numbers, and counts for nothing.
            for (std::int64_t l = 0; l < L_; ++l) {
                nodes[t * L_ + l] = here[l] == 0.0 ? 0.0 : here[l] * beta[l];
                g[l] = here[l] == 0.0 ? 0.0 : emitted_[t * L_ + l] * beta[l] * scale_[t];
            }
            if (t > 0) weighted_rows(L_, L_, g, 1, factors_->backward.data(), beta);
        }
        const std::int64_t summed = each ? 1 : T_ - 1;
        for (std::int64_t t = 1; t < T_; t += summed, edges += L_ * L_)
            for (std::int64_t k = 0; k < L_; ++k) {
                weighted_rows(summed, L_, &message_[(t - 1) * L_ + k], L_, &back_[t * L_], edges + k * L_);
                for (std::int64_t l = 0; l < L_; ++l) edges[k * L_ + l] *= factors_->forward[k * L_ + l];
            }
    }

    double add_forward(const ChainScores& scores) {
        log_z_ = chain_messages(scores, log_sum_, message_);
        if (log_z_ == minus_infinity) return log_z_;
        double* last = scratch_.data();
        for (std::int64_t l = 0; l < L_; ++l) last[l] = message_[(T_ - 1) * L_ + l] + scores.stop[l];
        const double top = *std::max_element(last, last + L_);
        log_z_ += top == minus_infinity ? top : top + std::log(normalise(L_, last));
        return log_z_;
    }

    void add_backward(const ChainScores& scores, double* nodes, double* edges, bool each) {
        transposed_.resize(static_cast<std::size_t>(L_ * L_));
        pairs_.resize(static_cast<std::size_t>(L_ * L_));
        zeros_.assign(static_cast<std::size_t>(L_), 0.0);
        double* after = scratch_.data() + 2 * L_;
        std::copy_n(scores.stop, L_, &back_[(T_ - 1) * L_]);
        for (std::int64_t t = T_ - 1; t >= 0; --t) {
            const double* here = &message_[t * L_];
            const double* back = &back_[t * L_];
            for (std::int64_t l = 0; l < L_; ++l) nodes[t * L_ + l] = here[l] + back[l];
            normalise(L_, nodes + t * L_);
            if (t == 0) return;
            const double* transition = scores.into(t);
            for (std::int64_t l = 0; l < L_; ++l) after[l] = scores.emission[t * L_ + l] + back[l];
            for (std::int64_t k = 0; k < L_; ++k)
                for (std::int64_t l = 0; l < L_; ++l) {
                    transposed_[l * L_ + k] = transition[k * L_ + l];
                    pairs_[k * L_ + l] = message_[(t - 1) * L_ + k] + transition[k * L_ + l] + after[l];
                }
            normalise(L_ * L_, pairs_.data());
            add_scaled(L_ * L_, 1.0, pairs_.data(), each ? edges + (t - 1) * L_ * L_ : edges);
            double* before = &back_[(t - 1) * L_];
            log_sum_.product(L_, after, transposed_.data(), zeros_.data(), before);
            take_top(L_, before);
        }
    }

    // Logarithms become probabilities; returns the sum of exp(value − largest value).
    static double normalise(std::int64_t n, double* values) {
        exponentials(n, values, *std::max_element(values, values + n), values);
        double sum = 0.0;
        for (std::int64_t k = 0; k < n; ++k) sum += values[k];
        for (std::int64_t k = 0; k < n; ++k) values[k] /= sum;
        return sum;
    }

    std::int64_t L_ = 0, T_ = 0;
    double log_z_ = 0.0;
    LogSum log_sum_;
    const TransitionFactors* factors_ = nullptr;  // null while working with logarithms
    std::vector<double> message_;                 // (length, n_labels): of the prefix that ends with this label
    std::vector<double> back_;                    // (length, n_labels): of what follows; with factors, times the emission
    std::vector<double> emitted_;                 // (length, n_labels): exp of the emissions, largest 1
    std::vector<double> scale_, scratch_, transposed_, pairs_, zeros_;
};

}  // namespace structlearn
