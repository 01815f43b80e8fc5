#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "alignment/best.hpp"
#include "alignment/k_best.hpp"
#include "alignment/parts.hpp"
#include "batch/parallel.hpp"
#include "linear/sparse.hpp"

namespace structlearn {

// The share of the true matches that have no match within the shift, counted along t for the same letter of s, or, if
// `along_s`, along s for the same letter of t: that of no match at all, and by how much each match makes it smaller.
inline double subtract_found_matches(std::int64_t m, std::int64_t n, const std::int32_t* truth, std::int64_t shift,
                                     bool along_s, double* theta) {
    const auto count = std::count_if(truth, truth + m, [](std::int32_t code) { return code >= 0; });
    const double share = 1.0 / static_cast<double>(std::max<std::int64_t>(count, 1));
    for (std::int64_t u = 0; u < m; ++u) {
        if (truth[u] < 0) continue;
        const std::int64_t middle = along_s ? u : truth[u];
        const std::int64_t last = std::min(middle + shift, (along_s ? m : n) - 1);
        for (std::int64_t v = std::max<std::int64_t>(middle - shift, 0); v <= last; ++v)
            theta[along_s ? v * n + truth[u] : u * n + v] -= share;
    }
    return count > 0 ? 1.0 : 0.0;
}

// What a thread needs to score and decode pairs.
struct AlignmentWorker {
    AlignmentParts parts;
    BestAlignment best{};
};

// argmax F of each example, and the score; with `truth` argmax F + Δ.
inline void best_alignments(const AlignmentData& data, std::span<const double> w, std::span<const std::int64_t> examples,
                            std::optional<std::span<const std::int32_t>> truth, std::int64_t shift, bool along_s,
                            std::span<std::int32_t> out, std::span<double> scores, int n_threads) {
    const auto at = data.outputs().gathered(examples);
    for_each_example(examples, n_threads, AlignmentWorker{AlignmentParts(data)},
                     [&](std::int64_t k, std::int64_t i, AlignmentWorker& worker) {
                         double constant = 0.0;
                         AlignmentScores read;
                         if (truth) {
                             double* theta = worker.parts.scores(i, w.data());
                             constant = subtract_found_matches(data.s.length(i), data.t.length(i),
                                                               truth->data() + data.outputs().begin(i), shift, along_s,
                                                               theta);
                             read = worker.parts.read(i, theta);
                         } else {
                             read = worker.parts.scores_to_decode(i, w.data());
                         }
                         worker.best.run(read);
                         worker.best.trace(out.data() + at[k]);
                         scores[k] = worker.best.score() + constant;
                     });
}

// The best alignment where matches score what is given, one pair after another, and gaps nothing: with the probabilities
// of matches, the alignment that has most of them right in expectation.
inline void most_matches(const AlignmentData& data, std::span<const double> match, std::span<const std::int64_t> examples,
                         std::span<std::int32_t> out, int n_threads) {
    struct Worker {
        AlignmentParts parts;
        BestAlignment best{};
        std::vector<double> theta{};
    };
    const auto at = data.outputs().gathered(examples);
    const auto begin = offsets_of(examples, [&](std::int64_t i) { return data.s.length(i) * data.t.length(i); });
    for_each_example(examples, n_threads, Worker{AlignmentParts(data)},
                     [&](std::int64_t k, std::int64_t i, Worker& worker) {
                         worker.theta.assign(static_cast<std::size_t>(worker.parts.size(i)), 0.0);
                         std::copy(match.data() + begin[k], match.data() + begin[k + 1], worker.theta.begin());
                         worker.best.run(worker.parts.read(i, worker.theta.data()));
                         worker.best.trace(out.data() + at[k]);
                     });
}

// The k best alignments of each example, one after another, their scores and how many there are.
inline void k_best_alignments(const AlignmentData& data, std::span<const double> w,
                              std::span<const std::int64_t> examples, std::int64_t width, std::span<std::int32_t> out,
                              std::span<double> scores, std::span<std::int64_t> counts, int n_threads) {
    struct Worker {
        AlignmentParts parts;
        BestAlignments best;
    };
    const auto at = data.outputs().gathered(examples, width);
    for_each_example(examples, n_threads, Worker{AlignmentParts(data), BestAlignments(width)},
                     [&](std::int64_t k, std::int64_t i, Worker& worker) {
                         const AlignmentScores read = worker.parts.read(i, worker.parts.scores(i, w.data()));
                         counts[k] = worker.best.run(read);
                         for (std::int64_t rank = 0; rank < counts[k]; ++rank) {
                             worker.best.trace(read, rank, out.data() + at[k] + rank * read.m);
                             scores[k * width + rank] = worker.best.score(rank);
                         }
                     });
}

// Ψ(x_i, y) of the chosen examples, with the codes of one alignment each, one after another.
inline CsrRows alignment_features(const AlignmentData& data, std::span<const std::int64_t> examples,
                                  std::span<const std::int32_t> codes) {
    const auto at = data.outputs().gathered(examples);
    CsrRows rows;
    RowBuilder row;
    for (std::size_t k = 0; k < examples.size(); ++k) {
        std::vector<double> dense(static_cast<std::size_t>(data.s.n_dense * data.t.n_dense), 0.0);
        row.clear();
        features(data, examples[k], codes.data() + at[k], nullptr, 1.0, dense, row);
        for (std::size_t j = 0; j < dense.size(); ++j)
            if (dense[j] != 0.0) row(data.dense_at + static_cast<std::int64_t>(j), dense[j]);
        row.sort();
        rows.append(row);
    }
    return rows;
}

}  // namespace structlearn
