#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "batch/parallel.hpp"
#include "batch/ragged.hpp"
#include "chain/scores.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// argmax_y F(y) + √(of_label h + of_pair m), where y has h labels and m pairs of neighbours that are not those of the truth.
//
// A sequence is right but for runs of wrong labels. The best labels of every run are found alone, O(T² L²); which runs there
// are is a dynamic program over how many labels and pairs have been wrong, O(T⁴), without the labels.
class FarthestSequence {
public:
    FarthestSequence(double of_label, double of_pair) : of_label_(of_label), of_pair_(of_pair) {}

    void run(const ChainScores& scores, const std::int32_t* truth, std::int32_t* labels) {
        scores_ = &scores, truth_ = truth, T_ = scores.length, L_ = scores.n_labels;
        // Beyond the labels, a run has one wrong pair more, or none if it is the first and begins at once.
        more_ = T_ / 2 + 1;
        best_.assign(static_cast<std::size_t>((T_ + 1) * (T_ + 1) * more_), minus_infinity);
        before_.assign(best_.size(), -1);
        score_runs();
        best_[at(0, 0, 0)] = 0.0;
        top_ = minus_infinity;
        for (std::int64_t t = 0; t <= T_; ++t)
            for (std::int64_t h = 0; h <= t; ++h)
                for (std::int64_t more = 0; more < more_; ++more)
                    if (best_[at(t, h, more)] != minus_infinity) advance(t, h, more);
        trace(labels);
    }

private:
    // Where the next label is t, after h wrong labels and h + more wrong pairs, the last label right.
    struct State {
        std::int64_t t, h, more;
    };

    std::size_t at(std::int64_t t, std::int64_t h, std::int64_t more) const {
        return static_cast<std::size_t>((t * (T_ + 1) + h) * more_ + more);
    }
    double pair(std::int64_t t, std::int64_t k, std::int64_t l) const { return t > 0 && t < T_ ? scores_->into(t)[k * L_ + l] : 0.0; }
    std::int64_t truth(std::int64_t t) const { return t >= 0 && t < T_ ? truth_[t] : 0; }

    // The scores of a run's labels at its first place, and at the one after.
    void begin_run(std::int64_t t, double* here) const {
        for (std::int64_t l = 0; l < L_; ++l) here[l] = scores_->emission[t * L_ + l] + pair(t, truth(t - 1), l);
        here[truth(t)] = minus_infinity;
    }
    void continue_run(std::int64_t t, const double* before, double* here) const {
        max_plus_product(L_, before, scores_->into(t), scores_->emission + t * L_, here);
        here[truth(t)] = minus_infinity;
    }
    // The label that a run ends with at t.
    std::int64_t last_of_run(std::int64_t t, const double* here) const {
        std::int64_t best = 0;
        for (std::int64_t l = 1; l < L_; ++l)
            if (here[l] + pair(t + 1, l, truth(t + 1)) > here[best] + pair(t + 1, best, truth(t + 1))) best = l;
        return best;
    }
    void score_runs() {
        runs_.assign(static_cast<std::size_t>(T_ * T_), minus_infinity);
        message_.resize(static_cast<std::size_t>(T_ * L_));
        for (std::int64_t s = 0; s < T_; ++s)
            for (std::int64_t t = s; t < T_; ++t) {
                double* here = &message_[t * L_];
                t == s ? begin_run(t, here) : continue_run(t, here - L_, here);
                const std::int64_t last = last_of_run(t, here);
                runs_[s * T_ + t] = here[last] + pair(t + 1, last, truth(t + 1));
            }
    }

    // From a state: the next label is right, or a run begins, after which a label is right or none follows.
    void advance(std::int64_t t, std::int64_t h, std::int64_t more) {
        const double score = best_[at(t, h, more)];
        if (t == T_) return finish({t, h, more}, score, h, h + more);
        reach({t + 1, h, more}, score + scores_->emission[t * L_ + truth(t)] + pair(t, truth(t - 1), truth(t)), t);
        for (std::int64_t end = t; end < T_; ++end) {
            const double with = score + runs_[t * T_ + end];
            const std::int64_t wrong = h + end + 1 - t, further = more + (t > 0);
            if (with == minus_infinity) continue;
            if (end + 1 == T_)
                finish({t, h, more}, with, wrong, wrong + further - 1);
            else
                reach({end + 2, wrong, further}, with + scores_->emission[(end + 1) * L_ + truth(end + 1)], t);
        }
    }
    void reach(const State& state, double score, std::int64_t from) {
        const std::size_t place = at(state.t, state.h, state.more);
        if (score <= best_[place]) return;
        best_[place] = score, before_[place] = static_cast<std::int32_t>(from);
    }
    void finish(const State& state, double score, std::int64_t labels, std::int64_t pairs) {
        const double value = score + std::sqrt(of_label_ * static_cast<double>(labels) + of_pair_ * static_cast<double>(pairs));
        if (value > top_) top_ = value, end_ = state;
    }

    void trace(std::int32_t* labels) {
        std::copy_n(truth_, T_, labels);
        State state = end_;
        if (state.t < T_) write_run(state.t, T_ - 1, labels);
        while (state.t > 0) {
            const std::int64_t from = before_[at(state.t, state.h, state.more)], wrong = state.t - 1 - from;
            if (wrong > 0) write_run(from, state.t - 2, labels);
            state = {from, state.h - wrong, state.more - (wrong > 0 && from > 0)};
        }
    }
    void write_run(std::int64_t begin, std::int64_t end, std::int32_t* labels) {
        workspace_.resize(static_cast<std::size_t>(L_));
        for (std::int64_t t = begin; t <= end; ++t) {
            double* here = &message_[t * L_];
            t == begin ? begin_run(t, here) : continue_run(t, here - L_, here);
        }
        labels[end] = static_cast<std::int32_t>(last_of_run(end, &message_[end * L_]));
        for (std::int64_t t = end; t > begin; --t)
            labels[t - 1] = static_cast<std::int32_t>(
                arg_max_plus(L_, &message_[(t - 1) * L_], scores_->into(t), labels[t], workspace_.data()));
    }

    double of_label_, of_pair_;
    const ChainScores* scores_ = nullptr;
    const std::int32_t* truth_ = nullptr;
    std::int64_t T_ = 0, L_ = 0, more_ = 0;
    double top_ = minus_infinity;
    State end_{};
    std::vector<double> best_;          // (length + 1, length + 1, more), of states
    std::vector<std::int32_t> before_;  // the t of the state before
    std::vector<double> runs_;          // (length, length): from its first to its last wrong label
    std::vector<double> message_, workspace_;
};

// The same for many sequences: scores of labels, (n_tokens, n_labels), and of pairs of a token and the next one,
// (n_tokens, n_labels, n_labels), of which those of last tokens do not matter.
inline std::vector<std::int32_t> farthest_sequences(std::span<const double> nodes, std::span<const double> pairs,
                                                    std::int64_t n_labels, std::span<const std::int64_t> offsets,
                                                    std::span<const std::int32_t> truths, double of_label, double of_pair,
                                                    int n_threads) {
    const Ragged tokens(offsets);
    const std::vector<double> zeros(static_cast<std::size_t>(n_labels));
    std::vector<std::int32_t> found(truths.size());
    Workers<FarthestSequence>(n_threads, FarthestSequence(of_label, of_pair))
        .run(tokens.count(), [&](std::int64_t i, FarthestSequence& worker) {
            const std::int64_t begin = tokens.begin(i), L = n_labels;
            const ChainScores scores{tokens.size(i), L,           nodes.data() + begin * L, pairs.data() + begin * L * L,
                                     zeros.data(),   zeros.data(), true};
            if (scores.length) worker.run(scores, truths.data() + begin, found.data() + begin);
        });
    return found;
}

}  // namespace structlearn
