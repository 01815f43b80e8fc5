#pragma once

#include <cstdint>
#include <span>

#include "batch/parallel.hpp"
#include "segments/parts.hpp"
#include "segments/viterbi.hpp"

namespace structlearn {

// What a thread needs to score and decode sequences.
struct SegmentsWorker {
    SegmentParts parts;
    BestSegments decoder{};
    TrueSegments truth{};
};

// argmax F of each example.
inline void best_segmentations(const SegmentData& data, std::span<const double> w,
                               std::span<const std::int64_t> examples, std::span<std::int32_t> out, int n_threads) {
    const auto at = data.tokens.gathered(examples);
    for_each_example(examples, n_threads, SegmentsWorker{SegmentParts(data)},
                     [&](std::int64_t k, std::int64_t i, SegmentsWorker& worker) {
                         const SegmentScores scores = worker.parts.read(i, worker.parts.scores(i, w.data()));
                         worker.decoder.run(scores, nullptr, out.data() + at[k]);
                     });
}

// argmax Δ + F of each example, with Δ the number of tokens whose label is wrong (hamming), or of segments that are
// only in one of truth and output.
inline void loss_augmented_segmentations(const SegmentData& data, std::span<const double> w,
                                         std::span<const std::int64_t> examples, std::span<const std::int32_t> codes,
                                         bool hamming, std::span<std::int32_t> out, int n_threads) {
    const auto at = data.tokens.gathered(examples);
    const std::int64_t L = data.n_labels;
    for_each_example(
        examples, n_threads, SegmentsWorker{SegmentParts(data)},
        [&](std::int64_t k, std::int64_t i, SegmentsWorker& worker) {
            const std::int32_t* truth = codes.data() + data.tokens.begin(i);
            const std::int64_t length = data.length(i);
            double* theta = worker.parts.scores(i, w.data());
            for (std::int64_t t = 0; hamming && t < length; ++t)
                for (std::int64_t l = 0; l < L; ++l) theta[t * L + l] += truth[t] >= 0 && truth[t] % L == l ? 0.0 : 1.0;
            if (!hamming) worker.truth.set(length, L, truth);
            worker.decoder.run(worker.parts.read(i, theta, hamming ? 0.0 : 1.0), hamming ? nullptr : &worker.truth,
                               out.data() + at[k]);
        });
}

}  // namespace structlearn
