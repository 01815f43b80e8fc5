#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "batch/parallel.hpp"
#include "linear/dense.hpp"
#include "linear/vector.hpp"
#include "multiclass/data.hpp"

namespace structlearn {

// argmax_y b[y] − a[y] (scores[truth] − scores[y]) and its value; −1 if the truth is barred and there is no other class.
inline std::pair<std::int32_t, double> most_violating(const double* scores, std::int64_t n_classes, std::int32_t truth,
                                                      const double* a, const double* b, bool bar_truth) {
    std::int32_t best = bar_truth ? -1 : truth;
    double top = bar_truth ? minus_infinity : 0.0;
    for (std::int32_t y = 0; y < n_classes; ++y) {
        if (y == truth) continue;
        const double violation = b[y] - a[y] * (scores[truth] - scores[y]);
        if (violation > top) top = violation, best = y;
    }
    return {best, top};
}

// Calls work(k, i, scores) on the scores of the classes of every chosen example i = examples[k].
template <class Work>
void for_each_scored(const MulticlassData& data, const double* w, std::span<const std::int64_t> examples, int n_threads,
                     Work&& work) {
    struct Worker {
        std::vector<double> scores, projected;
    };
    const Worker prototype{std::vector<double>(static_cast<std::size_t>(data.n_classes)), {}};
    for_each_example(examples, n_threads, prototype, [&](std::int64_t k, std::int64_t i, Worker& worker) {
        class_scores(data, i, w, worker.projected, worker.scores.data());
        work(k, i, worker.scores.data());
    });
}

// The scores of all classes, (n_chosen, n_classes).
inline void all_class_scores(const MulticlassData& data, std::span<const double> w,
                             std::span<const std::int64_t> examples, std::span<double> out, int n_threads) {
    for_each_scored(data, w.data(), examples, n_threads, [&](std::int64_t k, std::int64_t, const double* scores) {
        std::copy_n(scores, data.n_classes, out.data() + k * data.n_classes);
    });
}

inline void best_classes(const MulticlassData& data, std::span<const double> w, std::span<const std::int64_t> examples,
                         std::span<std::int32_t> out, int n_threads) {
    for_each_scored(data, w.data(), examples, n_threads, [&](std::int64_t k, std::int64_t, const double* scores) {
        out[k] = static_cast<std::int32_t>(std::max_element(scores, scores + data.n_classes) - scores);
    });
}

// Of each example the class that violates most, and by how much; a and b have a row for each true class, or one for all.
inline void most_violating_classes(const MulticlassData& data, std::span<const double> w,
                                   std::span<const std::int64_t> examples, std::span<const std::int32_t> labels,
                                   MatrixView<double> a, MatrixView<double> b, bool bar_truth,
                                   std::span<std::int32_t> out, std::span<double> violations, int n_threads) {
    for_each_scored(data, w.data(), examples, n_threads, [&](std::int64_t k, std::int64_t i, const double* scores) {
        const std::int32_t truth = labels[i];
        const std::size_t row = a.rows == 1 ? 0 : static_cast<std::size_t>(truth);
        std::tie(out[k], violations[k]) =
            most_violating(scores, data.n_classes, truth, a.row(row), b.row(row), bar_truth);
    });
}

}  // namespace structlearn
