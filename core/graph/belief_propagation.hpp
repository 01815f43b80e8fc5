#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "graph/factor_graph.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

// Messages from factors to variables, of sums or of maxima. A factor counts with its weight ρ: 1 for belief propagation, the
// probability of standing in a random forest of factors for tree-reweighted belief propagation (Wainwright et al. 2005).
//
//     b_i = θ_i + Σ_f ρ_f m_{f→i}
//     m_{f→i}(x_i) = ⊕ over the other labels of f of θ_f / ρ_f + Σ_{j ≠ i} (b_j − m_{f→j})(x_j), up to a constant
//
// The factor whose incoming messages changed most goes first; forests are swept from their leaves and back.
template <class Semiring>
class BeliefPropagation {
public:
    BeliefPropagation(const FactorGraph& graph, std::span<const double> weights, double damping)
        : graph_(graph), adjacency_(graph), weights_(weights.begin(), weights.end()), damping_(damping),
          beliefs_(graph.unaries.begin(), graph.unaries.end()), priority_(graph.n_factors(), 0.0) {
        message_offsets_.assign(1, 0);
        for (const auto i : graph.scopes) message_offsets_.push_back(message_offsets_.back() + graph.n_labels[i]);
        messages_.assign(static_cast<std::size_t>(message_offsets_.back()), 0.0);
        for (std::size_t f = 0; f < graph.n_factors(); ++f) raise(static_cast<std::int32_t>(f), first_priority);
    }

    // At most so many updates of factors; the largest change that is still to be passed on.
    double run(std::int64_t updates, double tol) {
        if (!std::exchange(begun_, true)) sweep_forest();
        while (updates > 0 && !queue_.empty()) {
            const auto [residual, f] = queue_.top();
            queue_.pop();
            if (residual != priority_[f]) continue;  // another entry of the factor is up to date
            if (residual <= tol) {
                queue_.emplace(residual, f);
                return residual;
            }
            priority_[f] = 0.0;
            update(f);
            --updates;
        }
        return queue_.empty() ? 0.0 : queue_.top().first;
    }

    // The label with the largest belief, variable after variable.
    void labels(std::span<std::int32_t> out) const {
        for (std::size_t i = 0; i < graph_.n_variables(); ++i) {
            const double* b = belief(i);
            out[i] = static_cast<std::int32_t>(std::max_element(b, b + graph_.n_labels[i]) - b);
        }
    }

    // The same function of the labels, F = Σ_i b_i + Σ_f ρ_f θ'_f: the beliefs, and θ'_f = θ_f / ρ_f − Σ_{i∈f} m_{f→i}.
    void reparametrised(std::span<double> unaries, std::span<const std::int64_t> factor_offsets, std::span<double> factors) {
        std::copy(beliefs_.begin(), beliefs_.end(), unaries.begin());
        for (std::size_t f = 0; f < graph_.n_factors(); ++f) {
            double* out = factors.data() + factor_offsets[f];
            graph_.each_joint(f, [&](std::span<const std::int32_t> joint, double score) {
                *out = score / weights_[f];
                for (std::size_t k = 0; k < joint.size(); ++k) *out -= message(graph_.scope_offsets[f] + k)[joint[k]];
                ++out;
            });
        }
    }

    // Pseudo-marginals of all labels and, where there is room, of the joint labels of all factors; for each graph the
    // value Σ_i (E θ_i + H_i) + Σ_f (E θ_f − ρ_f (Σ_{i∈f} H_i − H_f)): Bethe's, where all weights are 1.
    void marginals(std::span<double> nodes, std::span<const std::int64_t> factor_offsets, std::span<double> factors,
                   std::span<double> log_z) {
        std::copy(graph_.constants.begin(), graph_.constants.end(), log_z.begin());
        std::vector<double> entropy(graph_.n_variables());
        for (std::size_t i = 0; i < graph_.n_variables(); ++i) {
            double* p = nodes.data() + graph_.unary_offsets[i];
            const auto n = graph_.n_labels[i];
            to_probabilities(belief(i), n, p);
            entropy[i] = entropy_of(p, n);
            log_z[graph_.graph_of(i)] += entropy[i] + expected(p, graph_.unary(i).data(), n);
        }
        for (std::size_t f = 0; f < graph_.n_factors(); ++f) {
            const double value = graph_.kind(f) == FactorKind::cardinality && graph_.scope(f).size() > small
                                     ? cardinality_value(f, entropy)
                                     : table_value(f, entropy, factors.empty() ? nullptr : factors.data() + factor_offsets[f]);
            log_z[graph_.graph_of(graph_.scope(f)[0])] += value;
        }
    }

private:
    static constexpr double first_priority = 1e300;
    // Cardinality factors of up to so many variables are treated as tables.
    static constexpr std::size_t small = 4;

    const double* belief(std::size_t i) const { return beliefs_.data() + graph_.unary_offsets[i]; }
    double* message(std::size_t slot) { return messages_.data() + message_offsets_[slot]; }

    void raise(std::int32_t f, double residual) {
        if (residual <= priority_[f]) return;
        priority_[f] = residual;
        queue_.emplace(residual, f);
    }

    void update(std::int32_t f) {
        compute(f);
        for (std::size_t k = 0; k < graph_.scope(f).size(); ++k) {
            const double change = send(f, k, damping_);
            if (change == 0.0) continue;
            for (const auto other : adjacency_.of(graph_.scope(f)[k]))
                if (other != f) raise(other, change);
            // What was held back comes next time.
            if (damping_ > 0.0) raise(f, damping_ * change);
        }
    }

    // All messages of a forest, which are final after one way from the leaves and one back; other graphs stay as they are.
    void sweep_forest() {
        const auto order = leaves_first();
        if (order.size() < graph_.n_factors()) return;
        const auto update_undamped = [&](std::int32_t f) {
            compute(f);
            for (std::size_t k = 0; k < graph_.scope(f).size(); ++k) send(f, k, 0.0);
        };
        std::for_each(order.begin(), order.end(), update_undamped);
        std::for_each(order.rbegin(), order.rend(), update_undamped);
        std::fill(priority_.begin(), priority_.end(), 0.0);
        queue_ = {};
    }

    // Factors that have at most one variable in common with those after them, as many as there are.
    std::vector<std::int32_t> leaves_first() const {
        std::vector<std::int32_t> order, left(graph_.n_variables()), joints(graph_.n_factors(), 0);
        for (const auto i : graph_.scopes) ++left[i];
        for (std::size_t f = 0; f < joints.size(); ++f) {
            for (const auto i : graph_.scope(f)) joints[f] += left[i] > 1;
            if (joints[f] <= 1) order.push_back(static_cast<std::int32_t>(f));
        }
        std::vector<bool> taken(graph_.n_factors(), false);
        for (const auto f : order) taken[f] = true;
        std::size_t done = 0;
        for (; done < order.size(); ++done)
            for (const auto i : graph_.scope(order[done])) {
                if (--left[i] != 1) continue;
                for (const auto f : adjacency_.of(i))
                    if (!taken[f] && --joints[f] == 1) {
                        taken[f] = true;
                        order.push_back(f);
                    }
            }
        return order;
    }

    void compute(std::int32_t f) {
        const auto scope = graph_.scope(f);
        gather(f);
        fresh_.assign(incoming_.size(), minus_infinity);
        if (graph_.kind(f) == FactorKind::cardinality && scope.size() > small)
            from_cardinality(f);
        else if (scope.size() == 2)
            from_pair(f);
        else
            from_table(f);
    }

    // b_i − m_{f→i} for all variables of a factor, one after another.
    void gather(std::int32_t f) {
        const auto scope = graph_.scope(f);
        incoming_.clear();
        starts_.assign(1, 0);
        for (std::size_t k = 0; k < scope.size(); ++k) {
            const double *b = belief(scope[k]), *m = message(graph_.scope_offsets[f] + k);
            for (std::int32_t label = 0; label < graph_.n_labels[scope[k]]; ++label)
                incoming_.push_back(b[label] == minus_infinity ? minus_infinity : b[label] - m[label]);
            starts_.push_back(incoming_.size());
        }
    }

    void from_pair(std::int32_t f) {
        const auto scope = graph_.scope(f);
        const auto rows = graph_.n_labels[scope[0]], columns = graph_.n_labels[scope[1]];
        const double scale = 1.0 / weights_[f];
        table_.resize(static_cast<std::size_t>(rows) * columns);
        for (std::int32_t a = 0; a < rows; ++a)
            for (std::int32_t b = 0; b < columns; ++b) table_[a * columns + b] = scale * graph_.pair_score(f, a, b);
        terms_.resize(std::max(rows, columns));
        for (std::int32_t a = 0; a < rows; ++a) {
            for (std::int32_t b = 0; b < columns; ++b) terms_[b] = table_[a * columns + b] + incoming_[rows + b];
            fresh_[a] = semiring_.total(columns, terms_.data());
        }
        for (std::int32_t b = 0; b < columns; ++b) {
            for (std::int32_t a = 0; a < rows; ++a) terms_[a] = table_[a * columns + b] + incoming_[a];
            fresh_[rows + b] = semiring_.total(rows, terms_.data());
        }
    }

    void from_table(std::int32_t f) {
        const auto n = graph_.scope(f).size();
        const double scale = 1.0 / weights_[f];
        graph_.each_joint(f, [&](std::span<const std::int32_t> joint, double score) {
            for (std::size_t k = 0; k < n; ++k) {
                double sum = scale * score;
                for (std::size_t j = 0; j < n; ++j)
                    if (j != k) sum += incoming_[starts_[j] + joint[j]];
                double& out = fresh_[starts_[k] + joint[k]];
                out = joined(out, sum);
            }
        });
    }

    // ways[c] of the variables before k and after k to have c ones, joined over all splits of the ones.
    void from_cardinality(std::int32_t f) {
        const auto n = graph_.scope(f).size();
        std::vector<std::vector<double>> before(n + 1), after(n + 1);
        before[0] = after[n] = {0.0};
        for (std::size_t k = 0; k < n; ++k) before[k + 1] = with_one_more(before[k], k);
        for (std::size_t k = n; k-- > 0;) after[k] = with_one_more(after[k + 1], k);
        const double scale = 1.0 / weights_[f];
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t a = 0; a < before[k].size(); ++a)
                for (std::size_t b = 0; b < after[k + 1].size(); ++b)
                    for (std::size_t one = 0; one < 2; ++one) {
                        const double sum = before[k][a] + after[k + 1][b] + scale * graph_.value(f)[a + b + one];
                        fresh_[2 * k + one] = joined(fresh_[2 * k + one], sum);
                    }
    }
    std::vector<double> with_one_more(const std::vector<double>& ways, std::size_t k) {
        std::vector<double> more(ways.size() + 1, minus_infinity);
        for (std::size_t c = 0; c < ways.size(); ++c)
            for (std::size_t one = 0; one < 2; ++one) more[c + one] = joined(more[c + one], ways[c] + incoming_[2 * k + one]);
        return more;
    }

    static double joined(double a, double b) {
        if (b == minus_infinity) return a;
        if (a == minus_infinity) return b;
        if constexpr (Semiring::idempotent) return std::max(a, b);
        return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
    }

    // The new message with its largest entry 0, damped; by how much it changed.
    double send(std::int32_t f, std::size_t k, double damping) {
        const auto slot = graph_.scope_offsets[f] + static_cast<std::int64_t>(k);
        const auto i = graph_.scope(f)[k];
        const auto n = graph_.n_labels[i];
        double *old = message(slot), *fresh = fresh_.data() + starts_[k], *b = beliefs_.data() + graph_.unary_offsets[i];
        const double top = *std::max_element(fresh, fresh + n);
        double change = 0.0;
        for (std::int32_t label = 0; label < n; ++label) {
            double value = top == minus_infinity ? 0.0 : fresh[label] - top;
            if (value > minus_infinity && old[label] > minus_infinity) value = (1.0 - damping) * value + damping * old[label];
            change = std::max(change, value == old[label] ? 0.0 : std::abs(value - old[label]));
            old[label] = value;
        }
        if (change > 0.0) restore(i, b);
        return change;
    }

    // From all messages anew: nothing can be subtracted from −∞, and rounding does not gather.
    void restore(std::int32_t i, double* b) {
        const auto n = graph_.n_labels[i];
        std::copy_n(graph_.unary(i).data(), n, b);
        for (auto at = adjacency_.offsets[i]; at < adjacency_.offsets[i + 1]; ++at) {
            const auto f = adjacency_.factors[at];
            const double* m = message(graph_.scope_offsets[f] + adjacency_.places[at]);
            for (std::int32_t label = 0; label < n; ++label) b[label] += weights_[f] * m[label];
        }
    }

    double table_value(std::size_t f, const std::vector<double>& entropy, double* out) {
        const auto scope = graph_.scope(f);
        gather(static_cast<std::int32_t>(f));
        table_.clear();
        scores_.clear();
        const double scale = 1.0 / weights_[f];
        graph_.each_joint(f, [&](std::span<const std::int32_t> joint, double score) {
            double sum = scale * score;
            for (std::size_t k = 0; k < joint.size(); ++k) sum += incoming_[starts_[k] + joint[k]];
            table_.push_back(sum);
            scores_.push_back(score);
        });
        const auto n = static_cast<std::int64_t>(table_.size());
        to_probabilities(table_.data(), n, table_.data());
        if (out != nullptr) std::copy_n(table_.data(), n, out);
        double apart = -entropy_of(table_.data(), n);
        for (const auto i : scope) apart += entropy[i];
        return expected(table_.data(), scores_.data(), n) - weights_[f] * apart;
    }

    // The same without a table: the joint entropy is log Z of the factor's own distribution less its expected score.
    double cardinality_value(std::size_t f, const std::vector<double>& entropy) {
        const auto scope = graph_.scope(f);
        gather(static_cast<std::int32_t>(f));
        std::vector<double> ways{0.0};
        for (std::size_t k = 0; k < scope.size(); ++k) ways = with_one_more(ways, k);
        const double scale = 1.0 / weights_[f];
        scores_.resize(ways.size());
        for (std::size_t c = 0; c < ways.size(); ++c) scores_[c] = ways[c] + scale * graph_.value(f)[c];
        const auto n = static_cast<std::int64_t>(scores_.size());
        const double log_z = LogSum().total(n, scores_.data());
        to_probabilities(scores_.data(), n, scores_.data());
        const double score = expected(scores_.data(), graph_.value(f), n);
        double apart = scale * score - log_z;
        for (std::size_t k = 0; k < scope.size(); ++k) {
            double p[2];
            to_probabilities(belief(scope[k]), 2, p);
            apart += entropy[scope[k]] + expected(p, incoming_.data() + 2 * k, 2);
        }
        return score - weights_[f] * apart;
    }

    static void to_probabilities(const double* x, std::int64_t n, double* out) {
        const double top = *std::max_element(x, x + n);
        exponentials(n, x, top == minus_infinity ? 0.0 : top, out);
        double sum = 0.0;
        for (std::int64_t k = 0; k < n; ++k) sum += out[k];
        if (sum > 0.0)
            for (std::int64_t k = 0; k < n; ++k) out[k] /= sum;
    }
    static double entropy_of(const double* p, std::int64_t n) {
        double sum = 0.0;
        for (std::int64_t k = 0; k < n; ++k)
            if (p[k] > 0.0) sum -= p[k] * std::log(p[k]);
        return sum;
    }
    static double expected(const double* p, const double* x, std::int64_t n) {
        double sum = 0.0;
        for (std::int64_t k = 0; k < n; ++k)
            if (p[k] > 0.0) sum += p[k] * x[k];
        return sum;
    }

    const FactorGraph& graph_;
    Adjacency adjacency_;
    std::vector<double> weights_;
    double damping_;
    std::vector<double> beliefs_, messages_, priority_;
    std::vector<std::int64_t> message_offsets_;
    std::priority_queue<std::pair<double, std::int32_t>> queue_;
    std::vector<double> incoming_, fresh_, table_, terms_, scores_;
    std::vector<std::size_t> starts_;
    Semiring semiring_;
    bool begun_ = false;
};

}  // namespace structlearn
