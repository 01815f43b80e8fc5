#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "batch/ragged.hpp"
#include "graph/elimination.hpp"
#include "graph/factor_graph.hpp"
#include "graph/junction_tree.hpp"

namespace structlearn {

// Variables of one kind, with labels of their own. In every example those of one type follow those of another.
struct NodeType {
    Ragged nodes;
    std::int64_t n_labels;
};

// Factors that share weights. All have as many variables, with the same numbers of labels, and a part for some of their joint
// labels; joint labels may share a part, and those without one score 0.
struct FactorTemplate {
    Ragged factors;
    std::span<const std::int32_t> scopes;  // (n_factors, arity): the variables, counted in their example
    std::int64_t arity;
    std::span<const std::int32_t> columns;  // the part of each joint label, −1 for none
    std::int64_t width;                     // how many parts there are
    bool shared;                            // whether the parts are the same for all factors, which then have no features

    // One part, for equal labels: a factor that never becomes a table.
    bool is_potts() const {
        if (arity != 2 || width != 1) return false;
        const auto n = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(columns.size()))));
        if (n * n != columns.size()) return false;
        for (std::size_t joint = 0; joint < columns.size(); ++joint)
            if (columns[joint] != (joint / n == joint % n ? 0 : -1)) return false;
        return true;
    }
};

// The factor graphs of all examples, without their scores. Local parts are the labels of all variables, then the parts of the
// factors of one template after another; shared parts those of shared templates.
class NetworkShape {
public:
    // Junction trees are made for examples whose tables have at most `most` entries in all.
    NetworkShape(std::vector<NodeType> types, std::vector<FactorTemplate> templates, const std::uint8_t* allowed, double most)
        : types_(std::move(types)), templates_(std::move(templates)), allowed_(allowed) {
        n_examples_ = types_[0].nodes.count();
        for (const auto& one : templates_) {
            potts_.push_back(one.is_potts());
            n_values_.push_back(potts_.back() ? 1 : static_cast<std::int64_t>(one.columns.size()));
            if (!one.shared) continue;
            n_shared_ += one.width;
            n_shared_values_ += n_values_.back();
        }
        for (std::int64_t i = 0; i < n_examples_; ++i) append(i);
        make_trees(most);
    }

    std::int64_t n_examples() const { return n_examples_; }
    std::int64_t n_variables(std::int64_t i) const { return variables_[i + 1] - variables_[i]; }
    std::int64_t n_unaries(std::int64_t i) const { return unaries_[i + 1] - unaries_[i]; }
    std::int64_t n_local(std::int64_t i) const { return local_[i + 1] - local_[i]; }
    std::int64_t n_shared() const { return n_shared_; }
    std::int64_t n_shared_values() const { return n_shared_values_; }
    std::int64_t n_values(std::int64_t i) const { return values_[i + 1] - values_[i]; }
    std::span<const FactorTemplate> templates() const { return templates_; }
    bool is_potts(std::size_t t) const { return potts_[t]; }
    // Which labels the variables of an example may have, null if all.
    const std::uint8_t* allowed(std::int64_t i) const { return allowed_ ? allowed_ + unaries_[i] : nullptr; }

    // The graph of an example, a view. `extent` has room for two numbers; `values` has the tables of shared templates, then
    // those of the example's factors.
    FactorGraph graph(std::int64_t i, std::span<const double> unaries, std::span<const double> values,
                      std::int64_t* extent) const {
        static constexpr double zero = 0.0;
        extent[0] = 0;
        extent[1] = n_variables(i);
        const auto n = static_cast<std::size_t>(n_variables(i)), f = static_cast<std::size_t>(factors_[i + 1] - factors_[i]);
        const std::span<const std::int64_t> at = std::span(scope_offsets_).subspan(factors_[i] + i, f + 1);
        return {{&zero, 1},
                {extent, 2},
                std::span(n_labels_).subspan(variables_[i], n),
                std::span(unary_offsets_).subspan(variables_[i] + i, n + 1),
                unaries,
                at,
                std::span(scopes_).subspan(scope_begins_[i], at.back()),
                std::span(kinds_).subspan(factors_[i], f),
                std::span(value_offsets_).subspan(factors_[i], f),
                values};
    }
    // Where the joint labels of an example's factors begin, when they stand one after another.
    std::span<const std::int64_t> cells(std::int64_t i) const {
        return std::span(cells_).subspan(factors_[i] + i, factors_[i + 1] - factors_[i] + 1);
    }
    // Null where it would be too large.
    const std::shared_ptr<const TreeShape>& tree(std::int64_t i) const { return trees_[i]; }

    // Calls visit(template, number in it, its scope, where its parts begin) for the factors of an example.
    template <class Visit>
    void each_factor(std::int64_t i, Visit&& visit) const {
        std::int64_t local = n_unaries(i), shared = n_local(i);
        for (std::size_t t = 0; t < templates_.size(); ++t) {
            const FactorTemplate& one = templates_[t];
            const std::int64_t begin = one.factors.begin(i), end = one.factors.end(i);
            for (std::int64_t f = begin; f < end; ++f)
                visit(t, f - begin, one.scopes.data() + f * one.arity, one.shared ? shared : local + (f - begin) * one.width);
            (one.shared ? shared : local) += one.shared ? one.width : (end - begin) * one.width;
        }
    }
    std::int64_t unary_offset(std::int64_t i, std::int64_t v) const { return unary_offsets_[variables_[i] + i + v]; }
    std::int32_t n_labels(std::int64_t i, std::int64_t v) const { return n_labels_[variables_[i] + v]; }

private:
    void append(std::int64_t i) {
        std::int64_t at = 0;
        for (const NodeType& type : types_)
            for (std::int64_t k = 0; k < type.nodes.size(i); ++k, at += type.n_labels) {
                n_labels_.push_back(static_cast<std::int32_t>(type.n_labels));
                unary_offsets_.push_back(at);
            }
        unary_offsets_.push_back(at);
        std::int64_t scope = 0, value = n_shared_values_, shared_value = 0, cell = 0, local = at;
        scope_begins_.push_back(static_cast<std::int64_t>(scopes_.size()));
        for (std::size_t t = 0; t < templates_.size(); ++t) {
            const FactorTemplate& one = templates_[t];
            const auto kind = potts_[t] ? FactorKind::potts : FactorKind::table;
            for (std::int64_t f = one.factors.begin(i); f < one.factors.end(i); ++f) {
                scope_offsets_.push_back(scope);
                cells_.push_back(cell);
                kinds_.push_back(static_cast<std::uint8_t>(kind));
                value_offsets_.push_back(one.shared ? shared_value : value);
                const auto variables = one.scopes.subspan(f * one.arity, one.arity);
                scopes_.insert(scopes_.end(), variables.begin(), variables.end());
                scope += one.arity;
                cell += static_cast<std::int64_t>(one.columns.size());
                if (!one.shared) value += n_values_[t], local += one.width;
            }
            if (one.shared) shared_value += n_values_[t];
        }
        scope_offsets_.push_back(scope);
        cells_.push_back(cell);
        variables_.push_back(static_cast<std::int64_t>(n_labels_.size()));
        factors_.push_back(static_cast<std::int64_t>(kinds_.size()));
        unaries_.push_back(unaries_.back() + at);
        local_.push_back(local_.back() + local);
        values_.push_back(values_.back() + value);
    }

    // Examples whose graphs are the same share a tree.
    void make_trees(double most) {
        trees_.resize(static_cast<std::size_t>(n_examples_));
        if (!(most > 0.0)) return;
        std::map<std::vector<std::int32_t>, std::shared_ptr<const TreeShape>> known;
        std::vector<std::int32_t> key;
        for (std::int64_t i = 0; i < n_examples_; ++i) {
            std::int64_t extent[2];
            const FactorGraph graph = this->graph(i, {}, {}, extent);
            key.assign(graph.n_labels.begin(), graph.n_labels.end());
            for (std::size_t f = 0; f < graph.n_factors(); ++f) {
                key.push_back(-1);
                key.insert(key.end(), graph.scope(f).begin(), graph.scope(f).end());
            }
            const auto [at, is_new] = known.try_emplace(key);
            if (is_new) {
                Elimination found = best_elimination(graph, std::log(most));
                if (found.finished && std::exp(found.log_entries) <= most)
                    at->second = std::make_shared<const TreeShape>(graph, std::move(found));
            }
            trees_[i] = at->second;
        }
    }

    std::vector<NodeType> types_;
    std::vector<FactorTemplate> templates_;
    std::vector<bool> potts_;             // of each template: whether its factors never become tables
    std::vector<std::int64_t> n_values_;  // and how many values one of them has
    const std::uint8_t* allowed_;
    std::int64_t n_examples_ = 0, n_shared_ = 0, n_shared_values_ = 0;
    // Where each example begins in what follows.
    std::vector<std::int64_t> variables_{0}, factors_{0}, unaries_{0}, local_{0}, values_{0}, scope_begins_;
    std::vector<std::int32_t> n_labels_, scopes_;
    std::vector<std::uint8_t> kinds_;
    std::vector<std::int64_t> unary_offsets_, scope_offsets_, value_offsets_, cells_;
    std::vector<std::shared_ptr<const TreeShape>> trees_;
};

}  // namespace structlearn
