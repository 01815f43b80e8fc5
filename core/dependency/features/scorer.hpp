#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "dependency/features/arc_features.hpp"
#include "dependency/features/kept_arcs.hpp"
#include "dependency/shape.hpp"
#include "parts/scorers.hpp"

namespace structlearn {

// What dependency trees are scored by: features of arcs, features of arcs with a weight for every label, and features of siblings.
struct DependencyFeatures {
    FeatureGroup arcs, labels, siblings;

    std::int64_t n_weights() const { return siblings.end(); }
    FeatureGroup& operator[](std::int64_t k) { return k == 0 ? arcs : k == 1 ? labels : siblings; }
    const FeatureGroup& operator[](std::int64_t k) const { return k == 0 ? arcs : k == 1 ? labels : siblings; }
    // After features were added: where the weights of each group begin.
    void place() {
        arcs.at = 0;
        labels.at = arcs.end();
        siblings.at = labels.end();
    }
};

// Scores of the parts of dependency trees by features that are found on the way; no table of them is kept.
class DependencyScorer {
public:
    // `values` are those of all tokens, (n_tokens, n_columns).
    DependencyScorer(const DependencyShape& shape, const DependencyFeatures& features, const std::int32_t* values,
                     std::int64_t n_columns)
        : shape_(shape), features_(&features), values_(values), n_columns_(n_columns) {}

    std::int64_t n_weights() const { return features_->n_weights(); }
    std::int64_t n_shared() const { return 0; }
    std::int64_t n_local(std::int64_t i) const { return shape_.n_local(i); }
    void shared(const double*, double*) const {}

    void local(std::int64_t i, const double* w, double* theta) {
        const std::int64_t n = shape_.length(i), L = shape_.n_labels;
        read(i);
        arcs_.score_common(w), labels_.score_common(w);
        sums_.resize(static_cast<std::size_t>(n + 1));
        for (std::int64_t head = 0; head <= n; ++head) {
            double* of_head = theta + shape_.arc(i, head, 0);
            labels_.scores(head, w, of_head, L);
            arcs_.scores(head, w, sums_.data(), 1);
            for (std::int64_t modifier = 1; modifier <= n; ++modifier)
                for (std::int64_t l = 0; l < L; ++l) of_head[modifier * L + l] += sums_[modifier];
            // What is no arc.
            for (const std::int64_t modifier : {std::int64_t{0}, head}) std::fill_n(of_head + modifier * L, L, 0.0);
        }
        if (!shape_.siblings) return;
        std::fill_n(theta + shape_.n_arcs(i) * L, shape_.n_siblings(i), 0.0);
        each_sibling(n, [&](std::int64_t head, std::int64_t sibling, std::int64_t modifier) {
            double sum = 0.0;
            each_sibling_weight(head, sibling, modifier, [&](std::int64_t at) { sum += w[at]; });
            theta[shape_.sibling(i, head, sibling, modifier)] = sum;
        });
    }

    // w += Aᵀ change; returns by how much ‖w‖² grows.
    double push(std::int64_t i, const double* change, double* w) {
        const std::int64_t n = shape_.length(i), L = shape_.n_labels;
        read(i);
        arcs_.clear_common(), labels_.clear_common();
        double growth = 0.0;
        sums_.resize(static_cast<std::size_t>(n + 1));
        for (std::int64_t head = 0; head <= n; ++head) {
            const double* of_head = change + shape_.arc(i, head, 0);
            for (std::int64_t modifier = 0; modifier <= n; ++modifier)
                sums_[modifier] = std::accumulate(of_head + modifier * L, of_head + (modifier + 1) * L, 0.0);
            growth += arcs_.push(head, sums_.data(), 1, w) + labels_.push(head, of_head, L, w);
        }
        growth += arcs_.push_common(w) + labels_.push_common(w);
        if (!shape_.siblings) return growth;
        each_sibling(n, [&](std::int64_t head, std::int64_t sibling, std::int64_t modifier) {
            const double more = change[shape_.sibling(i, head, sibling, modifier)];
            if (more == 0.0) return;
            each_sibling_weight(head, sibling, modifier, [&](std::int64_t at) { growth += ArcFeatures::grow(w[at], more); });
        });
        return growth;
    }

    // Calls visit(index, value) for the features of a part, times a coefficient.
    template <class Visit>
    void features(std::int64_t i, std::int64_t part, double coefficient, Visit&& visit) const {
        const std::int64_t label = part % shape_.n_labels;
        each_weight(i, part, [&](std::int64_t at, std::int64_t width) { visit(width == 1 ? at : at + label, coefficient); });
    }

    ArcPlace place(std::int64_t i, std::int64_t part) const { return arc_place(shape_, i, part); }
    // What planes keep of the parts of their moves, since it takes a while to find.
    using Kept = KeptArcs;
    void keep(std::int64_t i, std::span<const Move> moves, KeptArcs& kept) const {
        for (const Move move : moves)
            for (const std::int32_t part : {move.plus, move.minus})
                if (part >= 0) kept.add(place(i, part), [&](auto&& add) { each_weight(i, part, add); });
    }
    KeptArcScorer of(const KeptArcs& kept) const { return {shape_, kept}; }
    // No parts are shared.
    double shared_dot(std::span<const std::int32_t>, const double*) const { return 0.0; }
    void add_shared(std::span<const std::int32_t>, double, double*) const {}
    template <class Visit>
    void shared_features(std::span<const std::int32_t>, Visit&&) const {}

    // Calls visit(group, head, sibling, modifier) for the groups of features that a part has, by number, with −1 for no sibling.
    template <class Visit>
    void each_place(std::int64_t i, std::int64_t part, Visit&& visit) const {
        const std::int64_t L = shape_.n_labels, N = shape_.length(i) + 1, first = shape_.n_arcs(i) * L;
        if (part >= first) {
            const std::int64_t place = part - first;
            visit(2, place / (N * N), place / N % N, place % N);
            return;
        }
        const std::int64_t head = part / L / N, modifier = part / L % N;
        visit(0, head, -1, modifier);
        visit(1, head, -1, modifier);
    }

    SentenceValues sentence(std::int64_t i) const {
        return {values_ + shape_.tokens.begin(i) * n_columns_, shape_.length(i), n_columns_};
    }

private:
    // visit(first weight, width) for the features of the place of a part.
    template <class Visit>
    void each_weight(std::int64_t i, std::int64_t part, Visit&& visit) const {
        each_place(i, part, [&](std::int64_t g, std::int64_t head, std::int64_t sibling, std::int64_t modifier) {
            const FeatureGroup& group = (*features_)[g];
            group.templates.each(sentence(i), head, sibling, modifier, [&](std::int64_t, std::uint64_t key, std::int32_t) {
                if (const std::int64_t at = group.find(key); at >= 0) visit(at, group.width);
            });
        });
    }
    // What was found for the sentence before is used again if it is the same.
    void read(std::int64_t i) {
        if (i == read_) return;
        read_ = i;
        const SentenceValues values = sentence(i);
        arcs_.read(features_->arcs, values);
        labels_.read(features_->labels, values);
        if (shape_.siblings) siblings_.read(features_->siblings.templates, features_->siblings.templates.all(), values);
    }
    // The sibling is between the head and the modifier, or the head itself.
    template <class Visit>
    static void each_sibling(std::int64_t n, Visit&& visit) {
        for (std::int64_t head = 0; head <= n; ++head) {
            for (std::int64_t sibling = head; sibling <= n; ++sibling)
                for (std::int64_t modifier = sibling + 1; modifier <= n; ++modifier) visit(head, sibling, modifier);
            for (std::int64_t sibling = 1; sibling <= head; ++sibling)
                for (std::int64_t modifier = 1; modifier < sibling; ++modifier) visit(head, sibling, modifier);
        }
    }
    template <class Visit>
    void each_sibling_weight(std::int64_t head, std::int64_t sibling, std::int64_t modifier, Visit&& visit) const {
        siblings_.each(head, sibling, modifier, [&](std::int64_t, std::uint64_t key) {
            if (const std::int64_t at = features_->siblings.find(key); at >= 0) visit(at);
        });
    }

    DependencyShape shape_;
    const DependencyFeatures* features_;
    const std::int32_t* values_;
    std::int64_t n_columns_;
    ArcFeatures arcs_, labels_;
    TokenShares siblings_;
    std::int64_t read_ = -1;
    std::vector<double> sums_;  // of the labels of the arcs from a head
};

}  // namespace structlearn
