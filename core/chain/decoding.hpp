#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "batch/parallel.hpp"
#include "chain/data.hpp"
#include "chain/k_best.hpp"
#include "chain/levels.hpp"
#include "chain/second_order.hpp"
#include "chain/viterbi.hpp"

namespace structlearn {

// The two orders of a chain, for what is written once for both.
struct FirstOrder {
    using Data = ChainData;
    using Weights = ChainWeights;
    using Best = BestSequence;
};
struct SecondOrder {
    using Data = SecondOrderData;
    using Weights = SecondOrderWeights;
    using Best = BestOfSecondOrder;
};

// What a thread needs to score and decode sequences.
template <class Decoder>
struct ChainWorker {
    Decoder decoder;
    ChainWorkspace workspace{};
};

// Calls work(k, i, scores, worker) on the scores of every chosen example i = examples[k].
template <class Order, class Decoder, class Work>
void for_each_sequence(const typename Order::Data& data, const double* w, std::span<const std::int64_t> examples,
                       int n_threads, const Decoder& decoder, Work&& work) {
    const typename Order::Weights weights(data, w);
    for_each_example(examples, n_threads, ChainWorker<Decoder>{decoder},
                     [&](std::int64_t k, std::int64_t i, ChainWorker<Decoder>& worker) {
                         work(k, i, weights.scores(data, i, worker.workspace), worker);
                     });
}

// argmax F of each example.
template <class Order>
void best_sequences(const typename Order::Data& data, std::span<const double> w, std::span<const std::int64_t> examples,
                    std::span<std::int32_t> out, int n_threads) {
    const auto at = data.tokens.gathered(examples);
    for_each_sequence<Order>(data, w.data(), examples, n_threads, typename Order::Best(),
                             [&](std::int64_t k, std::int64_t, const auto& scores, auto& worker) {
                                 worker.decoder.run(scores, out.data() + at[k]);
                             });
}

// argmax Δ + F of each example: its labels, Δ, and by how much Δ + F exceeds the truth's score. Δ is the sum of the weights of
// the true labels that are missed.
template <class Order>
void loss_augmented_sequences(const typename Order::Data& data, std::span<const double> w,
                              std::span<const std::int64_t> examples, std::span<const std::int32_t> labels,
                              std::span<const double> weight, std::span<std::int32_t> out, std::span<double> losses,
                              std::span<double> violations, int n_threads) {
    const auto at = data.tokens.gathered(examples);
    const std::int64_t L = data.n_labels;
    for_each_sequence<Order>(data, w.data(), examples, n_threads, typename Order::Best(),
                             [&](std::int64_t k, std::int64_t i, const auto& scores, auto& worker) {
                                 const std::int32_t* truth = labels.data() + data.tokens.begin(i);
                                 std::int32_t* found = out.data() + at[k];
                                 const double truth_score = scores.of(truth);
                                 for (std::int64_t t = 0; t < data.length(i); ++t) {
                                     double* here = &worker.workspace.emission[t * L];
                                     const double kept = here[truth[t]];
                                     for (std::int64_t l = 0; l < L; ++l) here[l] += weight[truth[t]];
                                     here[truth[t]] = kept;
                                 }
                                 violations[k] = worker.decoder.run(scores, found) - truth_score;
                                 double loss = 0.0;
                                 for (std::int64_t t = 0; t < data.length(i); ++t)
                                     if (found[t] != truth[t]) loss += weight[truth[t]];
                                 losses[k] = loss;
                             });
}

// The best sequences of each example, one after another, their scores and how many there are.
inline void k_best_sequences(const ChainData& data, std::span<const double> w, std::span<const std::int64_t> examples,
                             std::int64_t n_best, std::span<std::int32_t> out, std::span<double> out_scores,
                             std::span<std::int64_t> counts, int n_threads) {
    const auto at = data.tokens.gathered(examples, n_best);
    for_each_sequence<FirstOrder>(data, w.data(), examples, n_threads, KBestSequences(n_best),
                                  [&](std::int64_t k, std::int64_t, const ChainScores& scores, auto& worker) {
                                      forward(scores, worker.decoder);
                                      counts[k] = worker.decoder.trace(scores, out.data() + at[k],
                                                                       out_scores.data() + k * n_best);
                                  });
}

// For each example the level e that maximises b[e] − a[e] (F(truth) − best score at loss e), and its labels.
inline void most_violating_levels(const ChainData& data, std::span<const double> w,
                                  std::span<const std::int64_t> examples, std::span<const std::int32_t> labels,
                                  std::span<const std::int32_t> weight, std::span<const double> a,
                                  std::span<const double> b, std::span<std::int32_t> out, int n_threads) {
    const auto at = data.tokens.gathered(examples);
    for_each_sequence<FirstOrder>(
        data, w.data(), examples, n_threads, BestPerLossLevel(weight.data(), data.n_labels),
        [&](std::int64_t k, std::int64_t i, const ChainScores& scores, auto& worker) {
            const std::int32_t* truth = labels.data() + data.tokens.begin(i);
            const std::vector<double>& best = worker.decoder.run(scores, truth);
            const double truth_score = scores.of(truth);
            std::int64_t level = -1;
            double top = 0.0;
            for (std::int64_t e = 0; e < worker.decoder.n_levels(); ++e) {
                if (best[e] == minus_infinity) continue;
                const double violation = b[e] - a[e] * (truth_score - best[e]);
                if (violation > top) top = violation, level = e;
            }
            if (level < 0)
                std::copy_n(truth, scores.length, out.data() + at[k]);
            else
                worker.decoder.trace(scores, level, out.data() + at[k]);
        });
}

// The best sequence of every loss level of one example: levels, scores, and the labels one level after another.
inline std::tuple<std::vector<std::int64_t>, std::vector<double>, std::vector<std::int32_t>> best_per_level(
    const ChainData& data, std::span<const double> w, std::int64_t example, std::span<const std::int32_t> truth,
    std::span<const std::int32_t> weight) {
    std::vector<std::int64_t> levels;
    std::vector<double> level_scores;
    std::vector<std::int32_t> labels;
    const ChainWeights weights(data, w.data());
    ChainWorkspace workspace;
    const ChainScores scores = weights.scores(data, example, workspace);
    BestPerLossLevel decoder(weight.data(), data.n_labels);
    const std::vector<double>& best = decoder.run(scores, truth.data());
    for (std::int64_t e = 0; e < decoder.n_levels(); ++e) {
        if (best[e] == minus_infinity) continue;
        levels.push_back(e);
        level_scores.push_back(best[e]);
        labels.resize(labels.size() + static_cast<std::size_t>(scores.length));
        decoder.trace(scores, e, labels.data() + labels.size() - scores.length);
    }
    return {std::move(levels), std::move(level_scores), std::move(labels)};
}

}  // namespace structlearn
