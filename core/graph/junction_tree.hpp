#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "graph/elimination.hpp"
#include "graph/factor_graph.hpp"
#include "graph/tables.hpp"
#include "linear/log_weights.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

// What a junction tree has of an order of elimination and of the factors of a graph, whatever these score. The bucket of a
// variable v has the scores of v, of the factors whose first variable in the order is v, and the messages of the buckets
// below it; joined over the labels of v it is the bucket's own message, a table over its separator, to the bucket of the
// separator's first variable.
struct TreeShape {
    // Lists of numbers, one for each bucket.
    struct Lists {
        std::vector<std::int64_t> offsets;
        std::vector<std::int32_t> items;
        std::span<const std::int32_t> of(std::size_t k) const {
            return std::span(items).subspan(offsets[k], offsets[k + 1] - offsets[k]);
        }
    };

    TreeShape(const FactorGraph& graph, Elimination elimination_)
        : elimination(std::move(elimination_)),
          parent(graph.n_variables(), -1),
          message_offsets(graph.n_variables() + 1, 0) {
        const std::size_t n = graph.n_variables();
        std::vector<std::int32_t> rank(n);
        for (std::size_t k = 0; k < n; ++k) rank[elimination.order[k]] = static_cast<std::int32_t>(k);
        for (std::size_t k = 0; k < n; ++k) {
            const auto separator = elimination.separator(k);
            if (!separator.empty()) parent[k] = rank[separator[0]];
            std::int64_t size = 1;
            for (const auto i : separator) size *= graph.n_labels[i];
            message_offsets[k + 1] = message_offsets[k] + size;
            largest = std::max(largest, size * graph.n_labels[elimination.order[k]]);
        }
        children = listed(parent);
        std::vector<std::int32_t> owner(graph.n_factors());
        for (std::size_t f = 0; f < graph.n_factors(); ++f) {
            const auto variables = graph.scope(f);
            owner[f] = rank[*std::min_element(variables.begin(), variables.end(),
                                              [&](auto a, auto b) { return rank[a] < rank[b]; })];
        }
        factors = listed(owner);
    }

    std::size_t size() const { return parent.size(); }
    std::int64_t separator_size(std::size_t k) const { return message_offsets[k + 1] - message_offsets[k]; }

    Elimination elimination;
    std::vector<std::int32_t> parent;  // −1 for roots
    std::vector<std::int64_t> message_offsets;
    std::int64_t largest = 1;  // entries of a bucket's table
    Lists children, factors;

private:
    Lists listed(const std::vector<std::int32_t>& owner) const {
        Lists lists{std::vector<std::int64_t>(size() + 1, 0), std::vector<std::int32_t>(owner.size())};
        for (const auto k : owner)
            if (k >= 0) ++lists.offsets[k + 1];
        for (std::size_t k = 0; k < size(); ++k) lists.offsets[k + 1] += lists.offsets[k];
        std::vector<std::int64_t> next(lists.offsets.begin(), lists.offsets.end() - 1);
        for (std::size_t item = 0; item < owner.size(); ++item)
            if (owner[item] >= 0) lists.items[next[owner[item]]++] = static_cast<std::int32_t>(item);
        return lists;
    }
};

// Exact inference along an order of elimination. Axes of tables are in that order, the first one slowest: the variable of a
// bucket, then its separator.
class JunctionTree {
public:
    JunctionTree() = default;
    JunctionTree(const FactorGraph& graph, std::shared_ptr<const TreeShape> shape) { set(graph, std::move(shape)); }

    // What follows is of this graph, a view whose arrays must stay as they are.
    void set(const FactorGraph& graph, std::shared_ptr<const TreeShape> shape) {
        graph_ = graph;
        shape_ = std::move(shape);
        n_ = graph_.n_variables();
    }

    // Messages from the leaves to the roots; the value of each graph.
    template <class Semiring>
    void collect(std::span<double> values) {
        messages_.resize(shape_->message_offsets[n_]);
        table_.resize(shape_->largest);
        std::copy(graph_.constants.begin(), graph_.constants.end(), values.begin());
        for (std::size_t k = 0; k < n_; ++k) {
            fill(k);
            if constexpr (Semiring::idempotent)
                max_rows(n_labels(k), separator_size(k), table_.data(), message(k));
            else
                log_sum_rows(n_labels(k), separator_size(k), table_.data(), message(k));
            if (shape_->parent[k] < 0) values[graph_.graph_of(variable(k))] += message(k)[0];
        }
    }

    // The best labels, after messages of maxima were collected.
    void best(std::span<std::int32_t> labels) {
        for (std::size_t k = n_; k-- > 0;) {
            const auto scores = conditional(k, labels);
            labels[variable(k)] =
                static_cast<std::int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
        }
    }

    // Labels drawn with their probability, after messages of sums were collected.
    template <class Uniform>
    void sample(Uniform&& uniform, std::span<std::int32_t> labels) {
        for (std::size_t k = n_; k-- > 0;) {
            auto& scores = conditional(k, labels);
            labels[variable(k)] =
                static_cast<std::int32_t>(draw(static_cast<std::int64_t>(scores.size()), scores.data(), uniform()));
        }
    }

    // The `most` best labellings, best first, after messages of maxima were collected, and by how much less each of them
    // scores than the best. Once the labels of all later buckets are fixed, another label of this one costs what its
    // conditional score is less than the best, and everything below follows at no cost: so each labelling is one before it
    // with one label changed and the rest decoded anew (Lawler's partition).
    std::pair<std::vector<std::int32_t>, std::vector<double>> k_best(std::size_t most) {
        std::vector<std::int32_t> found;
        std::vector<double> less;
        std::priority_queue<Deviation> queue;
        queue.push({0.0, 0, -1, n_, 0});
        while (!queue.empty() && less.size() < most) {
            const Deviation chosen = queue.top();
            queue.pop();
            std::vector<std::int32_t> labels(n_);
            if (chosen.base >= 0) std::copy_n(found.begin() + chosen.base * static_cast<std::int64_t>(n_), n_, labels.begin());
            extend(chosen, static_cast<std::int64_t>(less.size()), most - less.size(), labels, queue);
            found.insert(found.end(), labels.begin(), labels.end());
            less.push_back(chosen.less);
        }
        return {std::move(found), std::move(less)};
    }

    // Probabilities of the labels of all variables, and of the joint labels of all factors where there is room for them;
    // after messages of sums were collected, which are used up.
    void marginals(std::span<double> nodes, std::span<const std::int64_t> factor_offsets, std::span<double> factors) {
        std::vector<double> log_z(n_);
        for (std::size_t k = n_; k-- > 0;) {
            log_z[k] = shape_->parent[k] < 0 ? message(k)[0] : log_z[shape_->parent[k]];
            fill(k);
            const auto rows = n_labels(k), size = separator_size(k);
            if (shape_->parent[k] >= 0)
                for (std::int64_t row = 0; row < rows; ++row)
                    for (std::int64_t s = 0; s < size; ++s) table_[row * size + s] += message(k)[s];
            exponentials(rows * size, table_.data(), log_z[k], table_.data());
            sum_rows(rows, size, nodes.data() + graph_.unary_offsets[variable(k)]);
            for (const auto child : shape_->children.of(k)) send_down(k, child, log_z[k]);
            if (!factors.empty())
                for (const auto f : shape_->factors.of(k)) sum_factor(k, f, factors.data() + factor_offsets[f]);
        }
    }

private:
    // A labelling that differs from `base`, found before it, in bucket `bucket`, and may below it.
    struct Deviation {
        double less;
        std::int64_t turn;
        std::int64_t base;
        std::size_t bucket;
        std::int32_t label;
        bool operator<(const Deviation& other) const {
            return less != other.less ? less > other.less : turn > other.turn;
        }
    };

    std::int64_t n_labels(std::size_t k) const { return graph_.n_labels[variable(k)]; }
    std::int64_t separator_size(std::size_t k) const { return shape_->separator_size(k); }
    std::int32_t variable(std::size_t k) const { return shape_->elimination.order[k]; }
    std::span<const std::int32_t> separator(std::size_t k) const { return shape_->elimination.separator(k); }
    double* message(std::size_t k) { return messages_.data() + shape_->message_offsets[k]; }

    // The scores of a bucket's labels, with what is below it.
    void fill(std::size_t k) {
        const auto rows = n_labels(k), size = separator_size(k);
        const auto unary = graph_.unary(variable(k));
        for (std::int64_t row = 0; row < rows; ++row) std::fill_n(table_.begin() + row * size, size, unary[row]);
        for (const auto f : shape_->factors.of(k)) spread_factor(k, f).add(factor_table(f), table_.data());
        for (const auto child : shape_->children.of(k)) spread_message(k, child).add(message(child), table_.data());
    }

    // A bucket's variable and its separator, one axis each, in a table that has the variables of a child's separator.
    Spread& spread_message(std::size_t k, std::size_t child) {
        const auto inner = separator(child);
        std::int64_t step = separator_size(child);
        std::size_t at = 0;
        spread_.clear();
        each_axis(k, [&](std::int32_t i) {
            const bool there = at < inner.size() && inner[at] == i;
            if (there) step /= graph_.n_labels[i], ++at;
            spread_.add_axis(graph_.n_labels[i], there ? step : 0);
        });
        return spread_;
    }

    Spread& spread_factor(std::size_t k, std::size_t f) {
        const auto variables = graph_.scope(f);
        spread_.clear();
        each_axis(k, [&](std::int32_t i) {
            std::int64_t step = 0;
            for (std::size_t j = variables.size(), inner = 1; j-- > 0;) {
                if (variables[j] == i) step = static_cast<std::int64_t>(inner);
                inner *= static_cast<std::size_t>(graph_.n_labels[variables[j]]);
            }
            spread_.add_axis(graph_.n_labels[i], step);
        });
        return spread_;
    }

    template <class Visit>
    void each_axis(std::size_t k, Visit&& visit) const {
        visit(variable(k));
        for (const auto i : separator(k)) visit(i);
    }

    const double* factor_table(std::size_t f) {
        if (graph_.kind(f) == FactorKind::table) return graph_.value(f);
        factor_.clear();
        graph_.each_joint(f, [&](std::span<const std::int32_t>, double score) { factor_.push_back(score); });
        return factor_.data();
    }

    // What the labels of a bucket's variable score, with the best or the sum of all below, given those of its separator.
    std::vector<double>& conditional(std::size_t k, std::span<const std::int32_t> labels) {
        const auto v = variable(k);
        const auto unary = graph_.unary(v);
        scores_.assign(unary.begin(), unary.end());
        for (const auto f : shape_->factors.of(k)) {
            const auto variables = graph_.scope(f);
            for (std::size_t label = 0; label < scores_.size(); ++label)
                scores_[label] += graph_.factor_score(f, [&](std::size_t j) {
                    return variables[j] == v ? static_cast<std::int32_t>(label) : labels[variables[j]];
                });
        }
        for (const auto child : shape_->children.of(k)) {
            // v is the first variable of the child's separator.
            std::int64_t place = 0;
            for (const auto i : separator(child).subspan(1)) place = place * graph_.n_labels[i] + labels[i];
            const auto step = separator_size(child) / n_labels(k);
            for (std::size_t label = 0; label < scores_.size(); ++label)
                scores_[label] += message(child)[static_cast<std::int64_t>(label) * step + place];
        }
        return scores_;
    }

    // Decodes what comes after the deviation, and queues the labellings that deviate from the result later still.
    void extend(const Deviation& chosen, std::int64_t number, std::size_t left, std::span<std::int32_t> labels,
                std::priority_queue<Deviation>& queue) {
        if (chosen.bucket < n_) labels[variable(chosen.bucket)] = chosen.label;
        std::vector<Deviation> next;
        for (std::size_t k = chosen.bucket; k-- > 0;) {
            const auto& scores = conditional(k, labels);
            const auto top = std::max_element(scores.begin(), scores.end());
            labels[variable(k)] = static_cast<std::int32_t>(top - scores.begin());
            for (std::size_t label = 0; label < scores.size(); ++label)
                if (static_cast<std::ptrdiff_t>(label) != top - scores.begin() && scores[label] > minus_infinity)
                    next.push_back({chosen.less + (*top - scores[label]), 0, number, k, static_cast<std::int32_t>(label)});
        }
        // More than are still wanted can never be needed.
        if (next.size() > left) {
            std::nth_element(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(left), next.end(),
                             [](const Deviation& a, const Deviation& b) { return b < a; });
            next.resize(left);
        }
        for (auto& deviation : next) {
            deviation.turn = ++turn_;
            queue.push(deviation);
        }
    }

    // The probabilities of a variable's labels, without the rounding of large sums.
    void sum_rows(std::int64_t rows, std::int64_t size, double* node) const {
        double total = 0.0;
        for (std::int64_t row = 0; row < rows; ++row) {
            node[row] = 0.0;
            for (std::int64_t s = 0; s < size; ++s) node[row] += table_[row * size + s];
            total += node[row];
        }
        for (std::int64_t row = 0; row < rows; ++row) node[row] /= total;
    }

    // The message upwards becomes that downwards: the logarithm of the separator's marginals without what came up.
    void send_down(std::size_t k, std::size_t child, double log_z) {
        const auto size = separator_size(child);
        sums_.assign(size, 0.0);
        spread_message(k, child).sum(table_.data(), sums_.data());
        logarithms(size, sums_.data(), sums_.data());
        for (std::int64_t s = 0; s < size; ++s) {
            const double up = message(child)[s];
            message(child)[s] = up == minus_infinity ? minus_infinity : log_z + sums_[s] - up;
        }
    }

    void sum_factor(std::size_t k, std::size_t f, double* out) {
        std::fill_n(out, graph_.table_size(f), 0.0);
        spread_factor(k, f).sum(table_.data(), out);
    }

    FactorGraph graph_;
    std::shared_ptr<const TreeShape> shape_;
    std::size_t n_ = 0;
    std::vector<double> messages_, table_, factor_, scores_, sums_;
    Spread spread_;
    std::int64_t turn_ = 0;
};

}  // namespace structlearn
