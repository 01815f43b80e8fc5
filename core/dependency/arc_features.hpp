#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dependency/feature_index.hpp"
#include "dependency/templates.hpp"
#include "dependency/token_shares.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Templates, the numbers of their features, and where their weights begin: each feature has `width` of them, one after another.
struct FeatureGroup {
    FeatureTemplates templates;
    FeatureIndex index;
    std::int64_t at, width;

    // The first weight of a feature, −1 if it has none.
    std::int64_t find(std::uint64_t key) const {
        const std::int64_t number = index.find(key);
        return number < 0 ? -1 : at + number * width;
    }
    std::int64_t end() const { return at + index.size() * width; }
};

// The features of all arcs of one sentence. What a token adds to all its arcs of a direction is found once.
class ArcFeatures {
public:
    // The group must stay as it is.
    void read(const FeatureGroup& group, const SentenceValues& sentence) {
        group_ = &group, n_ = sentence.n;
        const FeatureTemplates& templates = group.templates;
        of_arcs_.read(templates, templates.of_arcs(), sentence);
        of_between_.read(templates, templates.of_between(), sentence);
        of_heads_.read(templates, templates.of_heads(), sentence);
        of_modifiers_.read(templates, templates.of_modifiers(), sentence);
        read_between(sentence);
        common_.assign(static_cast<std::size_t>(4 * (n_ + 1) * group.width), 0.0);
    }

    // Scores by what arcs have in common; before those of arcs.
    void score_common(const double* w) {
        each_common([&](std::int64_t at, double* common) { add_scaled(group_->width, 1.0, w + at, common); });
    }
    // Adds the scores of an arc.
    void add_scores(std::int64_t head, std::int64_t modifier, const double* w, double* out) const {
        const std::int64_t W = group_->width;
        const double *h = common_of(0, head, modifier < head), *m = common_of(1, modifier, modifier < head);
        if (W == 1) {
            double sum = *h + *m;
            each_of_arc(head, modifier, [&](std::int64_t at) { sum += w[at]; });
            *out += sum;
            return;
        }
        for (std::int64_t l = 0; l < W; ++l) out[l] += h[l] + m[l];
        each_of_arc(head, modifier, [&](std::int64_t at) { add_scaled(W, 1.0, w + at, out); });
    }

    // w += change for the features of an arc alone; what it has in common with others waits for `push_common`. Returns by how
    // much ‖w‖² grows.
    double push(std::int64_t head, std::int64_t modifier, const double* change, double* w) {
        const std::int64_t W = group_->width;
        add_scaled(W, 1.0, change, common_of(0, head, modifier < head));
        add_scaled(W, 1.0, change, common_of(1, modifier, modifier < head));
        double growth = 0.0;
        if (W == 1)
            each_of_arc(head, modifier, [&](std::int64_t at) {
                growth += *change * (2.0 * w[at] + *change);
                w[at] += *change;
            });
        else
            each_of_arc(head, modifier, [&](std::int64_t at) { growth += add_growing(W, 1.0, change, w + at); });
        return growth;
    }
    double push_common(double* w) {
        double growth = 0.0;
        each_common([&](std::int64_t at, double* common) { growth += add_growing(group_->width, 1.0, common, w + at); });
        return growth;
    }

private:
    // Of a head (side 0) or a modifier (side 1) and a direction.
    double* common_of(std::int64_t side, std::int64_t token, bool left) {
        return common_.data() + ((2 * side + left) * (n_ + 1) + token) * group_->width;
    }
    const double* common_of(std::int64_t side, std::int64_t token, bool left) const {
        return common_.data() + ((2 * side + left) * (n_ + 1) + token) * group_->width;
    }
    template <class Visit>
    void each_common(Visit&& visit) {
        for (const bool left : {false, true})
            for (std::int64_t token = 0; token <= n_; ++token) {
                auto with = [&](double* common) {
                    return [&visit, this, common](std::int64_t, std::uint64_t key) {
                        if (const std::int64_t at = group_->find(key); at >= 0) visit(at, common);
                    };
                };
                of_heads_.each_from(token, left, with(common_of(0, token, left)));
                if (token > 0) of_modifiers_.each_to(token, left, with(common_of(1, token, left)));
            }
    }
    // visit(first weight) for the features of one arc.
    template <class Visit>
    void each_of_arc(std::int64_t head, std::int64_t modifier, Visit&& visit) const {
        auto found = [&](std::int64_t at) {
            if (at >= 0) visit(at);
        };
        of_arcs_.each(head, modifier, [&](std::int64_t, std::uint64_t key) { found(group_->find(key)); });
        of_between_.each(head, modifier, [&](std::int64_t k, std::uint64_t key) {
            const FeatureTemplates::Field& field = group_->templates.between_field(group_->templates.of_between()[k]);
            FeatureTemplates::each_value(between(k, head, modifier),
                                         [&](std::int32_t value) { found(group_->find(key + field.share(value))); });
        });
    }

    // The values at the tokens between two, as bits, for all pairs.
    std::uint64_t between(std::int64_t k, std::int64_t a, std::int64_t b) const {
        return between_[(k * (n_ + 1) + std::min(a, b)) * (n_ + 1) + std::max(a, b)];
    }
    void read_between(const SentenceValues& sentence) {
        const auto& chosen = group_->templates.of_between();
        between_.assign(chosen.size() * static_cast<std::size_t>((n_ + 1) * (n_ + 1)), 0);
        for (std::size_t k = 0; k < chosen.size(); ++k) {
            const std::int32_t column = group_->templates.between_field(chosen[k]).column;
            for (std::int64_t a = 0; a <= n_; ++a) {
                std::uint64_t* row = between_.data() + (static_cast<std::int64_t>(k) * (n_ + 1) + a) * (n_ + 1);
                for (std::int64_t b = a + 2; b <= n_; ++b)
                    row[b] = row[b - 1] | std::uint64_t{1} << sentence.at(b - 1, column);
            }
        }
    }

    const FeatureGroup* group_ = nullptr;
    std::int64_t n_ = 0;
    TokenShares of_arcs_, of_between_, of_heads_, of_modifiers_;
    std::vector<std::uint64_t> between_;
    std::vector<double> common_;
};

}  // namespace structlearn
