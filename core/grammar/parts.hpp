#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "grammar/descent.hpp"
#include "grammar/features.hpp"

namespace structlearn {

// A grammar as a sum of parts. Its features are counts, so they are its parts: A is the identity and θ = w.
class GrammarParts {
public:
    explicit GrammarParts(const GrammarData& data) : data_(&data), scores_(data) {}

    void prepare(const double* w) {
        w_ = w;
        scores_.set_weights(w);
    }
    // −log P(y_i | x_i), and unless `change` is null the expected features less those of y_i; ∞ where there is no y_i.
    double log_loss(std::int64_t i, const std::int32_t* codes, double* change) {
        const double log_z = expected(i, change);
        const auto tree = truth(i, codes);
        if (tree.empty()) return std::numeric_limits<double>::infinity();
        if (change) subtract(i, codes, 1.0, change);
        return log_z - tree_score(*data_, i, tree, w_);
    }

    std::int64_t size(std::int64_t) const { return data_->rules->n_weights(); }

    void scores(std::int64_t, const double* w, double* theta) const { std::copy_n(w, size(0), theta); }

    // log Z, and expected numbers of features; −∞ and zeros where there is no tree.
    double sums(std::int64_t i, const double* theta, double* marginals) {
        scores_.set_weights(theta);
        return expected(i, marginals);
    }

    // marginals −= coefficient × the features of the true tree.
    void subtract(std::int64_t i, const std::int32_t* codes, double coefficient, double* marginals) const {
        each_tree_feature(*data_, i, truth(i, codes), [&](std::int64_t k) { marginals[k] -= coefficient; });
    }

    // w += change; returns by how much ‖w‖² grows.
    double push(std::int64_t, const double* change, double* w) const {
        double growth = 0.0;
        for (std::int64_t k = 0; k < size(0); ++k) {
            growth += change[k] * (2.0 * w[k] + change[k]);
            w[k] += change[k];
        }
        return growth;
    }

private:
    std::span<const std::int32_t> truth(std::int64_t i, const std::int32_t* codes) const {
        return {codes + data_->trees.begin(i), codes + data_->trees.end(i)};
    }
    double expected(std::int64_t i, double* counts) {
        scores_.set_sentence(i, nullptr);
        const double log_z = chart_.run(scores_);
        if (!counts) return log_z;
        std::fill_n(counts, size(i), 0.0);
        if (log_z == no_tree) return log_z;
        const GrammarRules& rules = *data_->rules;
        descent_.run(
            chart_, scores_, [&](std::int64_t code, double value) { counts[code] += value; },
            [&](std::int32_t label, std::int64_t begin, std::int64_t end, double value) {
                if (rules.n_edges == 0) return;
                data_->each_span_feature(i, begin, end, [&](std::int64_t column) {
                    counts[rules.spans_at() + column * rules.n_labels + label] += value;
                });
            });
        return log_z;
    }

    const GrammarData* data_;
    const double* w_ = nullptr;
    GrammarScores scores_;
    Chart<true> chart_;
    Descent<true> descent_;
};

}  // namespace structlearn
