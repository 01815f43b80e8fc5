#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "graph/factor_graph.hpp"
#include "graph/junction_tree.hpp"
#include "hypergraph/levels.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// The best labelling of every level, where each label takes some steps and the steps add up to a level. The messages of a
// junction tree get an axis for the level of what is below them; joining two of them is a max-plus convolution.
class LevelTree {
public:
    // The best score of each level, −∞ where there is none; until the next call. `steps` has one number ≥ 0 for each label
    // of each variable. What is given must stay as it is until `trace`.
    const std::vector<double>& run(const FactorGraph& graph, std::shared_ptr<const TreeShape> shape,
                                   const std::int32_t* steps, std::int64_t n_levels) {
        graph_ = graph;
        shape_ = std::move(shape);
        steps_ = steps;
        n_levels_ = n_levels;
        make_room();
        for (std::size_t k = 0; k < shape_->size(); ++k) send(k);
        labels_.assign(shape_->size(), 0);
        roots_.clear();
        for (std::size_t k = 0; k < shape_->size(); ++k)
            if (shape_->parent[k] < 0) roots_.push_back(static_cast<std::int32_t>(k));
        best_.assign(static_cast<std::size_t>(n_levels), minus_infinity);
        const auto& joined = join(0, graph_.constants[0], roots_);
        std::copy_n(joined.begin(), std::min(joined.size(), best_.size()), best_.begin());
        return best_;
    }

    // After `run`: the labels of the best labelling of a level.
    void trace(std::int64_t level, std::span<std::int32_t> labels) {
        levels_.assign(shape_->size(), 0);
        join(0, graph_.constants[0], roots_);
        split(level, roots_);
        for (std::size_t k = shape_->size(); k-- > 0;) {
            const std::int32_t v = variable(k);
            const auto children = shape_->children.of(k);
            std::int32_t chosen = 0;
            double top = minus_infinity;
            for (std::int32_t label = 0; label < graph_.n_labels[v]; ++label) {
                labels_[v] = label;
                const auto& joined = join(step(v), own_score(k), children);
                if (levels_[k] < static_cast<std::int64_t>(joined.size()) && joined[levels_[k]] > top)
                    top = joined[levels_[k]], chosen = label;
            }
            labels_[v] = chosen;
            join(step(v), own_score(k), children);
            split(levels_[k], children);
        }
        std::ranges::copy(labels_, labels.begin());
    }

private:
    std::int32_t variable(std::size_t k) const { return shape_->elimination.order[k]; }
    std::int64_t step(std::int32_t v) const { return steps_[graph_.unary_offsets[v] + labels_[v]]; }

    // How many levels there are below each bucket, itself included, and where their messages lie.
    void make_room() {
        const std::size_t n = shape_->size();
        depth_.assign(n, 0);
        offsets_.assign(n + 1, 0);
        for (std::size_t k = 0; k < n; ++k) {
            const std::int32_t v = variable(k);
            const std::int32_t* own = steps_ + graph_.unary_offsets[v];
            depth_[k] += *std::max_element(own, own + graph_.n_labels[v]) + 1;
            depth_[k] = std::min(depth_[k], n_levels_);
            if (shape_->parent[k] >= 0) depth_[shape_->parent[k]] += depth_[k] - 1;
            offsets_[k + 1] = offsets_[k] + shape_->separator_size(k) * depth_[k];
            check_cells(offsets_[k + 1]);
        }
        messages_.resize(static_cast<std::size_t>(offsets_[n]));
        labels_.assign(n, 0);
    }

    // The message of a bucket, row by row of its separator's labels.
    void send(std::size_t k) {
        const std::int32_t v = variable(k);
        const auto separator = shape_->elimination.separator(k);
        for (const auto i : separator) labels_[i] = 0;
        double* row = messages_.data() + offsets_[k];
        for (std::int64_t left = shape_->separator_size(k); left > 0; --left, row += depth_[k]) {
            std::fill_n(row, depth_[k], minus_infinity);
            for (labels_[v] = 0; labels_[v] < graph_.n_labels[v]; ++labels_[v]) {
                const auto& joined = join(step(v), own_score(k), shape_->children.of(k));
                for (std::size_t d = 0; d < joined.size(); ++d) row[d] = std::max(row[d], joined[d]);
            }
            for (std::size_t j = separator.size(); j-- > 0;) {
                if (++labels_[separator[j]] < graph_.n_labels[separator[j]]) break;
                labels_[separator[j]] = 0;
            }
        }
    }

    // The scores of a bucket's variable and factors at the labels that are set.
    double own_score(std::size_t k) const {
        double score = graph_.unary(variable(k))[labels_[variable(k)]];
        for (const auto f : shape_->factors.of(k)) {
            const auto variables = graph_.scope(f);
            score += graph_.factor_score(f, [&](std::size_t j) { return labels_[variables[j]]; });
        }
        return score;
    }

    // A child's message at the labels that are set.
    const double* message(std::size_t child) const {
        std::int64_t place = 0;
        for (const auto i : shape_->elimination.separator(child)) place = place * graph_.n_labels[i] + labels_[i];
        return messages_.data() + offsets_[child] + place * depth_[child];
    }

    // A score at one level, with the messages of children joined to it one after another; all steps of the way are kept.
    const std::vector<double>& join(std::int64_t level, double score, std::span<const std::int32_t> children) {
        if (joined_.size() < children.size() + 1) joined_.resize(children.size() + 1);
        joined_[0].assign(static_cast<std::size_t>(std::min(level + 1, n_levels_)), minus_infinity);
        if (level < n_levels_) joined_[0].back() = score;
        for (std::size_t c = 0; c < children.size(); ++c) {
            const auto& before = joined_[c];
            const double* below = message(children[c]);
            const auto size = static_cast<std::int64_t>(before.size()), depth = depth_[children[c]];
            auto& after = joined_[c + 1];
            after.assign(static_cast<std::size_t>(std::min(size + depth - 1, n_levels_)), minus_infinity);
            for (std::int64_t a = 0; a < size; ++a) {
                if (before[a] == minus_infinity) continue;
                const std::int64_t most = std::min(depth, static_cast<std::int64_t>(after.size()) - a);
                for (std::int64_t b = 0; b < most; ++b) after[a + b] = std::max(after[a + b], before[a] + below[b]);
            }
        }
        return joined_[children.size()];
    }

    // After `join`: how the children share a level.
    void split(std::int64_t level, std::span<const std::int32_t> children) {
        for (std::size_t c = children.size(); c-- > 0;) {
            const auto& before = joined_[c];
            const double* below = message(children[c]);
            std::int64_t chosen = 0;
            double top = minus_infinity;
            for (std::int64_t b = 0; b < depth_[children[c]] && b <= level; ++b) {
                if (level - b >= static_cast<std::int64_t>(before.size())) continue;
                const double sum = before[level - b] + below[b];
                if (sum > top) top = sum, chosen = b;
            }
            levels_[children[c]] = chosen;
            level -= chosen;
        }
    }

    FactorGraph graph_;
    std::shared_ptr<const TreeShape> shape_;
    const std::int32_t* steps_ = nullptr;
    std::int64_t n_levels_ = 0;
    std::vector<std::int64_t> depth_, offsets_, levels_;
    std::vector<std::int32_t> labels_, roots_;
    std::vector<double> messages_, best_;
    std::vector<std::vector<double>> joined_;
};

}  // namespace structlearn
