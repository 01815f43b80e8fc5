#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/factor_graph.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// The product distribution q = Π q_i nearest to P, one factor at a time: q_i ∝ exp(θ_i + Σ_f E_q[θ_f | x_i]). What it is
// judged by, E_q F + H(q), never falls and is never above log Z.
class MeanField {
public:
    MeanField(const FactorGraph& graph, std::span<const double> start)
        : graph_(graph), adjacency_(graph), q_(start.begin(), start.end()) {}

    // One update of every variable; the largest change of a probability.
    double sweep() {
        double change = 0.0;
        for (std::size_t i = 0; i < graph_.n_variables(); ++i) {
            const auto unary = graph_.unary(i);
            fresh_.assign(unary.begin(), unary.end());
            for (auto at = adjacency_.offsets[i]; at < adjacency_.offsets[i + 1]; ++at)
                add_expected(adjacency_.factors[at], static_cast<std::size_t>(adjacency_.places[at]));
            const auto n = static_cast<std::int64_t>(fresh_.size());
            exponentials(n, fresh_.data(), *std::max_element(fresh_.begin(), fresh_.end()), fresh_.data());
            double sum = 0.0;
            for (const double weight : fresh_) sum += weight;
            double* q = probabilities(i);
            for (std::int64_t label = 0; label < n; ++label) {
                change = std::max(change, std::abs(q[label] - fresh_[label] / sum));
                q[label] = fresh_[label] / sum;
            }
        }
        return change;
    }

    // E_q F + H(q) of each graph.
    void values(std::span<double> out) {
        std::copy(graph_.constants.begin(), graph_.constants.end(), out.begin());
        for (std::size_t i = 0; i < graph_.n_variables(); ++i) {
            const auto unary = graph_.unary(i);
            double& sum = out[graph_.graph_of(i)];
            for (std::size_t label = 0; label < unary.size(); ++label)
                if (const double p = probabilities(i)[label]; p > 0.0) sum += p * (unary[label] - std::log(p));
        }
        for (std::size_t f = 0; f < graph_.n_factors(); ++f) out[graph_.graph_of(graph_.scope(f)[0])] += expected(f);
    }

    std::span<const double> probabilities() const { return q_; }

private:
    // Instead of −∞, so that expectations stay comparable where every label is forbidden by somebody for now.
    static constexpr double lowest = -1e9;

    double* probabilities(std::size_t i) { return q_.data() + graph_.unary_offsets[i]; }

    void add_expected(std::size_t f, std::size_t place) {
        const auto scope = graph_.scope(f);
        if (graph_.kind(f) == FactorKind::cardinality) {
            const auto ways = counts(f, place);
            for (std::size_t c = 0; c < ways.size(); ++c)
                for (std::size_t one = 0; one < 2; ++one) fresh_[one] += ways[c] * std::max(graph_.value(f)[c + one], lowest);
            return;
        }
        graph_.each_joint(f, [&](std::span<const std::int32_t> joint, double score) {
            double weight = 1.0;
            for (std::size_t k = 0; k < joint.size(); ++k)
                if (k != place) weight *= probabilities(scope[k])[joint[k]];
            fresh_[joint[place]] += weight * std::max(score, lowest);
        });
    }

    double expected(std::size_t f) {
        const auto scope = graph_.scope(f);
        double sum = 0.0;
        const auto add = [&](double weight, double score) {
            if (weight > 0.0) sum += weight * score;
        };
        if (graph_.kind(f) == FactorKind::cardinality) {
            const auto ways = counts(f, scope.size());
            for (std::size_t c = 0; c < ways.size(); ++c) add(ways[c], graph_.value(f)[c]);
            return sum;
        }
        graph_.each_joint(f, [&](std::span<const std::int32_t> joint, double score) {
            double weight = 1.0;
            for (std::size_t k = 0; k < joint.size(); ++k) weight *= probabilities(scope[k])[joint[k]];
            add(weight, score);
        });
        return sum;
    }

    // The probability of each number of ones among the variables of a factor but one.
    std::vector<double> counts(std::size_t f, std::size_t without) {
        const auto scope = graph_.scope(f);
        std::vector<double> ways{1.0};
        for (std::size_t k = 0; k < scope.size(); ++k) {
            if (k == without) continue;
            const double* q = probabilities(scope[k]);
            ways.push_back(0.0);
            for (std::size_t c = ways.size(); c-- > 0;) ways[c] = ways[c] * q[0] + (c > 0 ? ways[c - 1] * q[1] : 0.0);
        }
        return ways;
    }

    const FactorGraph& graph_;
    Adjacency adjacency_;
    std::vector<double> q_, fresh_;
};

}  // namespace structlearn
