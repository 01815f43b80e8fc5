#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "batch/parallel.hpp"
#include "batch/ragged.hpp"
#include "linear/vector.hpp"
#include "parts/composed.hpp"

namespace structlearn {

// The decoders of a composed problem, for many examples at once. Outputs come one after another, with where each begins.

// Room for one output for each of the examples: of known sizes, or of any.
template <class Problem>
class FoundOutputs {
public:
    FoundOutputs(const Problem& problem, std::span<const std::int64_t> examples) {
        if constexpr (of_known_size) {
            found_.offsets = offsets_of(examples, [&](std::int64_t i) { return problem.structure.output_size(i); });
            found_.values.resize(static_cast<std::size_t>(found_.offsets.back()));
        } else {
            lists_.resize(examples.size());
        }
    }

    void set(std::int64_t k, std::span<const std::int32_t> codes) {
        if constexpr (of_known_size)
            std::ranges::copy(codes, found_.values.begin() + found_.offsets[k]);
        else
            lists_[k].assign(codes.begin(), codes.end());
    }
    RaggedArray<std::int32_t> take() {
        if constexpr (!of_known_size) found_ = RaggedArray(lists_);
        return std::move(found_);
    }

private:
    static constexpr bool of_known_size = requires(typename Problem::Structure s) { s.output_size(0); };

    RaggedArray<std::int32_t> found_;
    std::vector<Codes> lists_;
};

// Calls work(k, i, worker) for every chosen example i = examples[k] at the weights w.
template <class Problem, class Work>
void for_each_scored(const Problem& problem, std::span<const double> w, std::span<const std::int64_t> examples,
                     int n_threads, Work&& work) {
    Problem prepared = problem;
    prepared.prepare(w.data());
    for_each_example(examples, n_threads, prepared, work);
}

// argmax F of each example, and its score.
template <class Problem>
std::tuple<RaggedArray<std::int32_t>, std::vector<double>> best(const Problem& problem, std::span<const double> w,
                                                                 std::span<const std::int64_t> examples, int n_threads) {
    FoundOutputs found(problem, examples);
    std::vector<double> scores(examples.size());
    for_each_scored(problem, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        worker.codes.clear();
        scores[k] = worker.best(i, worker.codes);
        found.set(k, worker.codes);
    });
    return {found.take(), std::move(scores)};
}

// argmax F + Δ of each example, its loss, and by how much F + Δ exceeds the score of the truth; of no truth, if there are
// none.
template <class Problem>
std::tuple<RaggedArray<std::int32_t>, std::vector<double>, std::vector<double>> loss_augmented(
    const Problem& problem, std::span<const double> w, std::span<const std::int64_t> examples,
    std::span<const std::int32_t> truths, std::span<const std::int64_t> truth_offsets, const PartLoss& loss,
    int n_threads) {
    FoundOutputs found(problem, examples);
    std::vector<double> losses(examples.size()), violations(examples.size());
    const CodedOutputs truth{truths, truth_offsets};
    const bool no_truths = truth_offsets.size() <= 1;  // truths may well have no codes
    for_each_scored(problem, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        double* local = worker.local(i);
        const double true_score = no_truths ? 0.0 : worker.structure.score(i, local, truth[i]);
        worker.codes.clear();
        violations[k] = worker.augmented(i, local, loss, worker.codes) - loss.truth(i) - true_score;
        losses[k] = worker.loss(i, no_truths ? nullptr : truth[i], worker.codes.data(), loss);
        found.set(k, worker.codes);
    });
    return {found.take(), std::move(losses), std::move(violations)};
}

// Δ of given outputs, one for each of the examples.
template <class Problem>
std::vector<double> losses(const Problem& problem, std::span<const std::int64_t> examples,
                           std::span<const std::int32_t> outputs, std::span<const std::int64_t> offsets,
                           const PartLoss& loss) {
    std::vector<double> found(examples.size());
    const CodedOutputs output{outputs, offsets};
    for (std::size_t k = 0; k < examples.size(); ++k)
        found[k] = problem.loss(examples[k], output[static_cast<std::int64_t>(k)], loss);
    return found;
}

// The levels of given outputs, one for each of the examples.
template <class Problem>
std::vector<std::int64_t> levels_of(const Problem& problem, std::span<const std::int64_t> examples,
                                    std::span<const std::int32_t> outputs, std::span<const std::int64_t> offsets,
                                    const PartSteps& counted) {
    std::vector<std::int64_t> found(examples.size());
    const CodedOutputs output{outputs, offsets};
    for (std::size_t k = 0; k < examples.size(); ++k)
        found[k] = problem.level(examples[k], output[static_cast<std::int64_t>(k)], counted);
    return found;
}

// The k best outputs of each example, how many there are, and their scores.
template <class Problem>
std::tuple<RaggedArray<std::int32_t>, std::vector<std::int64_t>, std::vector<double>> k_best(
    const Problem& problem, std::span<const double> w, std::span<const std::int64_t> examples, std::int64_t k_most,
    int n_threads) {
    std::vector<std::vector<Codes>> found(examples.size());
    std::vector<std::vector<double>> scores(examples.size());
    for_each_scored(problem, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        worker.structure.k_best(i, worker.local(i), k_most, found[k], scores[k]);
    });
    RaggedArray<std::int32_t> outputs;
    std::vector<std::int64_t> counts;
    for (const auto& of_example : found) {
        counts.push_back(static_cast<std::int64_t>(of_example.size()));
        for (const Codes& codes : of_example) outputs.append(codes);
    }
    return {std::move(outputs), std::move(counts), RaggedArray(scores).values};
}

// The best output of each example that is not the truth; those examples that have one, and the outputs.
template <class Problem>
std::tuple<std::vector<std::int64_t>, RaggedArray<std::int32_t>> second_best(
    const Problem& problem, std::span<const double> w, std::span<const std::int64_t> examples,
    std::span<const std::int32_t> truths, std::span<const std::int64_t> truth_offsets, int n_threads) {
    std::vector<std::vector<Codes>> found(examples.size());
    for_each_scored(problem, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        std::vector<double> scores;
        worker.structure.k_best(i, worker.local(i), 2, found[k], scores);
    });
    const CodedOutputs truth{truths, truth_offsets};
    std::vector<std::int64_t> answered;
    RaggedArray<std::int32_t> outputs;
    for (std::size_t k = 0; k < examples.size(); ++k)
        for (const Codes& codes : found[k]) {
            if (std::ranges::equal(codes, truth.of(examples[k]))) continue;
            answered.push_back(examples[k]);
            outputs.append(codes);
            break;
        }
    return {std::move(answered), std::move(outputs)};
}

// For each example the level e that maximises b[e] − a[e] (F(truth) − best score at level e), and its output; the truth
// where none is above zero. a and b of all levels of the chosen examples stand one after another.
template <class Problem>
RaggedArray<std::int32_t> most_violating_level(const Problem& problem, std::span<const double> w,
                                               std::span<const std::int64_t> examples,
                                               std::span<const std::int32_t> truths,
                                               std::span<const std::int64_t> truth_offsets, const PartSteps& counted,
                                               std::span<const double> a, std::span<const double> b, int n_threads) {
    std::vector<Codes> found(examples.size());
    const CodedOutputs truth{truths, truth_offsets};
    const auto at = offsets_of(examples, [&](std::int64_t i) { return counted.n_levels(i); });
    for_each_scored(problem, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        const double* local = worker.local(i);
        const Counting counting = worker.counting(i, counted);
        const std::vector<double>& scores = worker.structure.levels(i, local, counting);
        const double true_score = worker.structure.score(i, local, truth[i]);
        std::int64_t level = -1;
        double top = 0.0;
        for (std::size_t e = 0; e < scores.size(); ++e) {
            if (scores[e] == minus_infinity) continue;
            const double violation = b[at[k] + e] - a[at[k] + e] * (true_score - scores[e]);
            if (violation > top) top = violation, level = static_cast<std::int64_t>(e);
        }
        if (level >= 0)
            worker.structure.trace_level(i, local, counting, level, found[k]);
        else
            found[k].assign(truth.of(i).begin(), truth.of(i).end());
    });
    return RaggedArray(found);
}

// The best output of every level of one example: levels, scores, outputs.
template <class Problem>
std::tuple<std::vector<std::int64_t>, std::vector<double>, RaggedArray<std::int32_t>> best_per_level(
    const Problem& problem, std::span<const double> w, std::int64_t i, const PartSteps& counted) {
    Problem worker = problem;
    worker.prepare(w.data());
    const double* local = worker.local(i);
    const Counting counting = worker.counting(i, counted);
    const std::vector<double>& best = worker.structure.levels(i, local, counting);
    std::vector<std::int64_t> levels;
    std::vector<double> scores;
    RaggedArray<std::int32_t> outputs;
    for (std::size_t e = 0; e < best.size(); ++e) {
        if (best[e] == minus_infinity) continue;
        levels.push_back(static_cast<std::int64_t>(e));
        scores.push_back(best[e]);
        Codes codes;
        worker.structure.trace_level(i, local, counting, levels.back(), codes);
        outputs.append(codes);
    }
    return {std::move(levels), std::move(scores), std::move(outputs)};
}

// Outputs drawn with probability P(y | x): `copies` of each chosen example, one after another, with a seed for each.
template <class Problem>
RaggedArray<std::int32_t> samples(const Problem& problem, std::span<const double> w,
                                  std::span<const std::int64_t> examples, std::int64_t copies,
                                  std::span<const std::int64_t> seeds, int n_threads) {
    std::vector<Codes> found(examples.size() * static_cast<std::size_t>(copies));
    for_each_scored(problem, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        const double* local = worker.local(i);
        worker.structure.sums(i, local, nullptr, nullptr);
        for (std::int64_t at = k * copies; at < (k + 1) * copies; ++at) {
            std::mt19937_64 random(static_cast<std::uint64_t>(seeds[at]));
            auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
            worker.structure.sample(i, local, uniform, found[at]);
        }
    });
    return RaggedArray(found);
}

}  // namespace structlearn
