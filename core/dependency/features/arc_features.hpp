#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "dependency/features/index.hpp"
#include "dependency/features/templates.hpp"
#include "dependency/features/token_shares.hpp"
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
        found_.resize(static_cast<std::size_t>(n_ + 1));
        for (Found& found : found_) found.ends.clear();
    }

    // Scores by what arcs have in common; before those of arcs.
    void score_common(const double* w) {
        clear_common();
        each_common([&](std::int64_t at, double* common) { add_scaled(group_->width, 1.0, w + at, common); });
    }
    // The scores of the arcs from a head to all modifiers; those of a modifier begin at out + modifier × stride.
    void scores(std::int64_t head, const double* w, double* out, std::int64_t stride) {
        const std::int64_t W = group_->width;
        each_from(head, w, [](std::int64_t) { return true; }, [&](std::int64_t modifier, std::span<const std::uint32_t> features) {
            const double *h = common_of(0, head, modifier < head), *m = common_of(1, modifier, modifier < head);
            double* scores = out + modifier * stride;
            if (W == 1) {
                double sum = *h + *m;
                for (const std::uint32_t at : features) sum += w[at];
                *scores = sum;
                return;
            }
            for (std::int64_t l = 0; l < W; ++l) scores[l] = h[l] + m[l];
            for (const std::uint32_t at : features) add_scaled(W, 1.0, w + at, scores);
        });
    }

    // Before changes are pushed.
    void clear_common() { common_.assign(static_cast<std::size_t>(4 * (n_ + 1) * group_->width), 0.0); }
    // w += change for the features of arcs from a head alone, the change of a modifier beginning at change + modifier × stride;
    // what they have in common with others waits for `push_common`. Returns by how much ‖w‖² grows.
    double push(std::int64_t head, const double* change, std::int64_t stride, double* w) {
        const std::int64_t W = group_->width;
        double growth = 0.0;
        auto changes = [&](std::int64_t modifier) {
            const double* first = change + modifier * stride;
            return std::any_of(first, first + W, [](double value) { return value != 0.0; });
        };
        each_from(head, w, changes, [&](std::int64_t modifier, std::span<const std::uint32_t> features) {
            const double* more = change + modifier * stride;
            add_scaled(W, 1.0, more, common_of(0, head, modifier < head));
            add_scaled(W, 1.0, more, common_of(1, modifier, modifier < head));
            for (const std::uint32_t at : features) growth += W == 1 ? grow(w[at], *more) : add_growing(W, 1.0, more, w + at);
        });
        return growth;
    }
    double push_common(double* w) {
        double growth = 0.0;
        each_common([&](std::int64_t at, double* common) { growth += add_growing(group_->width, 1.0, common, w + at); });
        return growth;
    }

    // weight += more; returns by how much its square grows.
    static double grow(double& weight, double more) {
        const double growth = more * (2.0 * weight + more);
        weight += more;
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
    // The first weights of the features of the arcs from a head, found when they are first asked for: those of one modifier after
    // another, and where these end.
    struct Found {
        std::vector<std::uint32_t> weights, ends;
    };
    const Found& found(std::int64_t head, const double* w) {
        Found& found = found_[head];
        if (!found.ends.empty()) return found;
        keys_.clear();
        for (std::int64_t modifier = 1; modifier <= n_; ++modifier) {
            if (modifier != head) list_keys(head, modifier);
            found.ends.push_back(static_cast<std::uint32_t>(keys_.size()));
        }
        group_->index.find(keys_, found.ends, found.weights);
        // Weights are asked for here, so that misses of the cache overlap; compilers drop loops that do nothing else.
        for (std::uint32_t& weight : found.weights) {
            weight = static_cast<std::uint32_t>(group_->at + weight * group_->width);
            for (std::int64_t l = 0; l < group_->width; l += 8) __builtin_prefetch(w + weight + l);
            __builtin_prefetch(w + weight + group_->width - 1);
        }
        return found;
    }
    // use(modifier, first weights) for the features of the arcs from a head to those modifiers that are wanted.
    template <class Wanted, class Use>
    void each_from(std::int64_t head, const double* w, Wanted&& wanted, Use&& use) {
        const Found& all = found(head, w);
        std::uint32_t begin = 0;
        for (std::int64_t modifier = 1; modifier <= n_; ++modifier) {
            const std::uint32_t end = all.ends[modifier - 1];
            if (modifier != head && wanted(modifier))
                use(modifier, std::span<const std::uint32_t>(all.weights.data() + begin, end - begin));
            begin = end;
        }
    }
    void list_keys(std::int64_t head, std::int64_t modifier) {
        keys_.resize(keys_.size() + group_->templates.of_arcs().size());
        std::uint64_t* out = keys_.data() + keys_.size() - group_->templates.of_arcs().size();
        of_arcs_.each(head, modifier, [&](std::int64_t k, std::uint64_t key) { out[k] = key; });
        of_between_.each(head, modifier, [&](std::int64_t k, std::uint64_t key) {
            const FeatureTemplates::Field& field = group_->templates.between_field(group_->templates.of_between()[k]);
            FeatureTemplates::each_value(between(k, head, modifier),
                                         [&](std::int32_t value) { keys_.push_back(key + field.share(value)); });
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
    std::vector<std::uint64_t> between_, keys_;
    std::vector<Found> found_;  // by heads
    std::vector<double> common_;
};

}  // namespace structlearn
