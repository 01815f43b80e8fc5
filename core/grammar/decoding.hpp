#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "batch/parallel.hpp"
#include "batch/ragged.hpp"
#include "grammar/descent.hpp"
#include "grammar/features.hpp"
#include "grammar/gold.hpp"
#include "grammar/k_best.hpp"
#include "grammar/levels.hpp"

namespace structlearn {

using TreeCodes = std::vector<std::int32_t>;

// What a thread needs to decode sentences.
struct GrammarWorker {
    GrammarWorker(const GrammarData& data, const double* w) : scores(data), gold(data) { scores.set_weights(w); }

    double best(std::int64_t i, const double* more) {
        scores.set_sentence(i, more);
        return chart.run(scores);
    }

    GrammarScores scores;
    GoldBrackets gold;
    Chart<false> chart;
    Descent<false> through;
    BestTrees trees;
    BestPerLevel levels;
    Chart<true> sums;
    Descent<true> expected;
    TreeSampler sampler;
    std::vector<double> extra;
};

// Calls work(k, i, worker) for every chosen sentence i = examples[k].
template <class Work>
void for_each_sentence(const GrammarData& data, std::span<const double> w, std::span<const std::int64_t> examples,
                       int n_threads, Work&& work) {
    for_each_example(examples, n_threads, GrammarWorker(data, w.data()), work);
}

// The best tree of each sentence, of no codes where there is none. With a loss, of the score plus the number of missed
// and spurious brackets.
inline RaggedArray<std::int32_t> best_trees(const GrammarData& data, std::span<const double> w,
                                            std::span<const std::int64_t> examples, bool loss, int n_threads) {
    std::vector<TreeCodes> trees(examples.size());
    for_each_sentence(data, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, GrammarWorker& worker) {
        if (loss) {
            worker.gold.read(i);
            const auto& gold = worker.gold.cells();
            worker.extra.resize(gold.size());
            const auto L = static_cast<std::size_t>(data.rules->n_labels);
            for (std::size_t c = 0; c < gold.size(); ++c)
                worker.extra[c] = data.rules->counts[c % L] ? 1.0 - 2.0 * gold[c] : 0.0;
        }
        worker.best(i, loss ? worker.extra.data() : nullptr);
        worker.chart.trace(worker.scores, trees[k]);
    });
    return RaggedArray(trees);
}

// The k best trees of each sentence, how many there are, and their scores.
inline std::tuple<RaggedArray<std::int32_t>, std::vector<std::int64_t>, std::vector<double>> k_best_trees(
    const GrammarData& data, std::span<const double> w, std::span<const std::int64_t> examples, std::int64_t count,
    int n_threads) {
    std::vector<std::vector<TreeCodes>> found(examples.size());
    std::vector<std::vector<double>> values(examples.size());
    for_each_sentence(data, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, GrammarWorker& worker) {
        worker.best(i, nullptr);
        worker.trees.run(worker.chart, worker.scores, count, found[k], values[k]);
    });
    RaggedArray<std::int32_t> trees;
    std::vector<std::int64_t> counts;
    for (const auto& of_sentence : found) {
        counts.push_back(static_cast<std::int64_t>(of_sentence.size()));
        for (const TreeCodes& tree : of_sentence) trees.append(tree);
    }
    return {std::move(trees), std::move(counts), RaggedArray(values).values};
}

// The tree of each sentence that violates most, or the truth where none does; see BestPerLevel.
inline RaggedArray<std::int32_t> most_violating_trees(const GrammarData& data, std::span<const double> w,
                                                      std::span<const std::int64_t> examples,
                                                      std::span<const std::int32_t> truths, bool f1, bool slack,
                                                      bool squared, int n_threads) {
    std::vector<TreeCodes> trees(examples.size());
    for_each_sentence(data, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, GrammarWorker& worker) {
        const auto truth = data.trees.of(truths, i);
        const BracketLoss loss{f1, slack, squared, data.brackets.size(i)};
        const double true_score = tree_score(data, i, truth, w.data());
        worker.gold.read(i);
        const double top = worker.best(i, nullptr);
        auto nothing = [](auto&&...) {};
        worker.through.run(worker.chart, worker.scores, nothing, nothing);
        TreeCodes best;
        worker.chart.trace(worker.scores, best);
        const auto [m, t] = worker.gold.match(best);
        const double known = loss.violation(m, t, true_score - top);
        worker.levels.run(worker.chart, worker.through, worker.scores, loss, worker.gold.cells().data(), true_score,
                          known, trees[k]);
        if (trees[k].empty()) trees[k].assign(truth.begin(), truth.end());
    });
    return RaggedArray(trees);
}

// The expected number of phrases of each label in every cell, (length + 1, length + 1, n_labels).
inline void expected_phrases(GrammarWorker& worker, std::int64_t i, double* out) {
    worker.scores.set_sentence(i, nullptr);
    const std::int64_t n = worker.scores.length(), L = worker.scores.rules().n_labels;
    std::fill_n(out, (n + 1) * (n + 1) * L, 0.0);
    if (worker.sums.run(worker.scores) == no_tree) return;
    worker.expected.run(
        worker.sums, worker.scores, [](auto&&...) {},
        [&](std::int32_t label, std::int64_t begin, std::int64_t end, double value) {
            out[(begin * (n + 1) + end) * L + label] += value;
        });
}

// How many numbers they are.
inline std::int64_t phrase_cells(const GrammarData& data, std::int64_t i) {
    return (data.length(i) + 1) * (data.length(i) + 1) * data.rules->n_labels;
}

inline void phrase_probabilities(const GrammarData& data, std::span<const double> w,
                                 std::span<const std::int64_t> examples, std::span<double> out, int n_threads) {
    const auto at = offsets_of(examples, [&](std::int64_t i) { return phrase_cells(data, i); });
    for_each_sentence(data, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, GrammarWorker& worker) {
        expected_phrases(worker, i, out.data() + at[k]);
    });
}

// The tree of the grammar with the fewest missed and spurious brackets in expectation: Σ 2 P(bracket) − 1 is largest.
inline RaggedArray<std::int32_t> least_risk_trees(const GrammarData& data, std::span<const double> w,
                                                  std::span<const std::int64_t> examples, int n_threads) {
    std::vector<TreeCodes> trees(examples.size());
    const std::vector<double> zeros(static_cast<std::size_t>(data.rules->n_weights()), 0.0);
    for_each_sentence(data, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, GrammarWorker& worker) {
        worker.extra.resize(static_cast<std::size_t>(phrase_cells(data, i)));
        expected_phrases(worker, i, worker.extra.data());
        const auto L = static_cast<std::size_t>(data.rules->n_labels);
        for (std::size_t c = 0; c < worker.extra.size(); ++c)
            worker.extra[c] = data.rules->counts[c % L] ? 2.0 * worker.extra[c] - 1.0 : 0.0;
        GrammarScores plain(data);
        plain.set_weights(zeros.data());
        plain.set_sentence(i, worker.extra.data());
        worker.chart.run(plain);
        worker.chart.trace(plain, trees[k]);
    });
    return RaggedArray(trees);
}

// Trees drawn with probability P(y | x), `copies` of each chosen sentence; a seed for each of them.
inline RaggedArray<std::int32_t> tree_samples(const GrammarData& data, std::span<const double> w,
                                              std::span<const std::int64_t> examples, std::int64_t copies,
                                              std::span<const std::int64_t> seeds, int n_threads) {
    std::vector<TreeCodes> trees(examples.size() * static_cast<std::size_t>(copies));
    for_each_sentence(data, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, GrammarWorker& worker) {
        worker.scores.set_sentence(i, nullptr);
        worker.sums.run(worker.scores);
        for (std::int64_t at = k * copies; at < (k + 1) * copies; ++at) {
            std::mt19937_64 random(static_cast<std::uint64_t>(seeds[at]));
            auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
            worker.sampler.run(worker.sums, worker.scores, uniform, trees[at]);
        }
    });
    return RaggedArray(trees);
}

}  // namespace structlearn
