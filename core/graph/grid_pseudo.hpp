#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "batch/parallel.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Neighbours on a grid of variables with the same labels. In direction k, a pair (p, q) scores Σ_e φ_e(p, q) T_ke(y_p, y_q).
struct GridPairs {
    std::int64_t rows, columns, n_labels, n_features;
    std::span<const std::int32_t> steps;  // (rows, columns) to the second variable of each direction
    std::span<const double> tables;       // (direction, feature, label, label)
    std::span<const double> features;     // (direction, pair, feature); nothing where all are 1

    std::int64_t n_steps() const { return static_cast<std::int64_t>(steps.size()) / 2; }
    std::int64_t table(std::int64_t k, std::int64_t e) const { return (k * n_features + e) * n_labels * n_labels; }

    // visit(k, φ, other variable, whether this one is the first) for all neighbours of a variable.
    template <class Visit>
    void each_neighbour(std::int64_t row, std::int64_t column, Visit&& visit) const {
        std::int64_t begin = 0;
        for (std::int64_t k = 0; k < n_steps(); ++k) {
            const std::int64_t down = steps[2 * k], right = steps[2 * k + 1];
            const std::int64_t width = columns - std::abs(right), left = std::max<std::int64_t>(0, -right);
            auto pair = [&](std::int64_t i, std::int64_t j, std::int64_t other, bool first) {
                const std::int64_t at = n_features * (begin + i * width + j - left);
                visit(k, features.empty() ? nullptr : &features[at], other, first);
            };
            const std::int64_t p = row * columns + column, q = down * columns + right;
            if (row + down < rows && column + right >= 0 && column + right < columns) pair(row, column, p + q, true);
            if (row >= down && column >= right && column - right < columns)
                pair(row - down, column - right, p - q, false);
            begin += (rows - down) * width;
        }
    }
};

// −Σ_p log P(y_p | y of its neighbours), with the slopes in the scores of labels, and in the tables of pairs.
class GridPseudoLikelihood {
public:
    GridPseudoLikelihood(const GridPairs& pairs, std::span<const double> unaries, std::span<const std::int32_t> truth)
        : pairs_(pairs), unaries_(unaries), truth_(truth) {}

    // Bands of rows are shared out to threads; what they add up to is added in their order.
    double run(std::span<double> of_labels, std::span<double> of_tables, int n_threads) const {
        const std::int64_t height = std::max<std::int64_t>(1, band / pairs_.columns);
        const std::int64_t n_bands = (pairs_.rows + height - 1) / height;
        std::vector<double> losses(static_cast<std::size_t>(n_bands), 0.0);
        std::vector<double> slopes(static_cast<std::size_t>(n_bands) * of_tables.size(), 0.0);
        Workers<std::vector<double>>(n_threads, std::vector<double>(static_cast<std::size_t>(pairs_.n_labels)))
            .run(n_bands, [&](std::int64_t b, std::vector<double>& scores) {
                const std::int64_t end = std::min(pairs_.rows, (b + 1) * height);
                for (std::int64_t row = b * height; row < end; ++row)
                    for (std::int64_t column = 0; column < pairs_.columns; ++column)
                        losses[b] += add(row, column, scores, of_labels, slopes.data() + b * of_tables.size());
            });
        double loss = 0.0;
        std::fill(of_tables.begin(), of_tables.end(), 0.0);
        for (std::int64_t b = 0; b < n_bands; ++b) {
            loss += losses[b];
            for (std::size_t k = 0; k < of_tables.size(); ++k) of_tables[k] += slopes[b * of_tables.size() + k];
        }
        return loss;
    }

private:
    static constexpr std::int64_t band = 4096;

    double add(std::int64_t row, std::int64_t column, std::vector<double>& scores, std::span<double> of_labels,
               double* of_tables) const {
        const std::int64_t L = pairs_.n_labels, at = row * pairs_.columns + column;
        std::copy_n(unaries_.data() + at * L, L, scores.data());
        each_entry(row, column, [&](std::int64_t entry, std::int64_t step, double feature) {
            for (std::int64_t l = 0; l < L; ++l) scores[l] += feature * pairs_.tables[entry + l * step];
        });
        const double top = *std::max_element(scores.begin(), scores.end());
        const double true_score = scores[truth_[at]];
        double* excess = of_labels.data() + at * L;
        exponentials(L, scores.data(), top, excess);
        double sum = 0.0;
        for (std::int64_t l = 0; l < L; ++l) sum += excess[l];
        for (std::int64_t l = 0; l < L; ++l) excess[l] /= sum;
        excess[truth_[at]] -= 1.0;
        each_entry(row, column, [&](std::int64_t entry, std::int64_t step, double feature) {
            for (std::int64_t l = 0; l < L; ++l) of_tables[entry + l * step] += feature * excess[l];
        });
        return top + std::log(sum) - true_score;
    }

    // visit(first entry, distance to the next, φ_e) for the entries of tables that all labels of a variable have with the true
    // one of a neighbour.
    template <class Visit>
    void each_entry(std::int64_t row, std::int64_t column, Visit&& visit) const {
        const std::int64_t L = pairs_.n_labels;
        pairs_.each_neighbour(row, column, [&](std::int64_t k, const double* features, std::int64_t other, bool first) {
            const std::int64_t y = truth_[other];
            for (std::int64_t e = 0; e < pairs_.n_features; ++e)
                visit(pairs_.table(k, e) + (first ? y : y * L), first ? L : 1, features ? features[e] : 1.0);
        });
    }

    GridPairs pairs_;
    std::span<const double> unaries_;
    std::span<const std::int32_t> truth_;
};

// As above, for a grid of `rows` rows; steps as in GridPairs.
inline double grid_pseudo_loss(std::int64_t rows, std::int64_t n_labels, std::int64_t n_features,
                               std::span<const std::int32_t> steps, std::span<const double> tables,
                               std::span<const double> features, std::span<const double> unaries,
                               std::span<const std::int32_t> truth, std::span<double> of_labels,
                               std::span<double> of_tables, int n_threads) {
    const std::int64_t columns = static_cast<std::int64_t>(truth.size()) / rows;
    const GridPairs pairs{rows, columns, n_labels, n_features, steps, tables, features};
    return GridPseudoLikelihood(pairs, unaries, truth).run(of_labels, of_tables, n_threads);
}

}  // namespace structlearn
