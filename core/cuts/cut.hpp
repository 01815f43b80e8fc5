#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/factor_graph.hpp"
#include "cuts/max_flow.hpp"
#include "cuts/pair_costs.hpp"

namespace structlearn {

// The first factor that a cut cannot pay, or −1: θ(0,0) + θ(1,1) < θ(0,1) + θ(1,0), but for rounding.
inline std::int64_t first_not_submodular(const FactorGraph& graph) {
    for (std::size_t f = 0; f < graph.n_factors(); ++f) {
        PairCosts costs = pair_costs(graph, f);
        const auto forbidden = ForbiddenPairs::taken_from(costs);
        if (forbidden.joint[0][0] || forbidden.joint[1][1] || costs.curvature() < -costs.rounding())
            return static_cast<std::int64_t>(f);
    }
    return -1;
}

// The best labels of a graph of submodular pairs of variables of two labels, as a least cut: label 0 is the side of the
// source. Flow and search trees are kept, so that after a change of the unaries only what changed is paid for. Forbidden
// labels and pairs are infinite capacities, which IEEE arithmetic leaves infinite whatever flows through them.
class Cut {
public:
    explicit Cut(const FactorGraph& graph)
        : flow_(SparseNetwork(graph.n_variables(), graph.scopes)), unaries_(graph.unaries.begin(), graph.unaries.end()) {
        for (const double constant : graph.constants) base_ -= constant;
        std::vector<double> costs(graph.n_variables());
        for (std::size_t i = 0; i < costs.size(); ++i) {
            costs[i] = unaries_[2 * i] - unaries_[2 * i + 1];
            base_ -= unaries_[2 * i];
            range_ += std::abs(costs[i]);
        }
        Sides forced(costs.size());
        for (std::size_t f = 0; f < graph.n_factors(); ++f) add_pair(graph, f, costs, forced);
        flow_.restart(start(costs, forced));
    }

    // Of the variables whose unaries are others now; `scores` has two numbers a variable.
    void set_unaries(std::span<const double> scores) {
        std::vector<std::int32_t> changed;
        for (std::size_t i = 0; i < scores.size() / 2; ++i)
            if (scores[2 * i] != unaries_[2 * i] || scores[2 * i + 1] != unaries_[2 * i + 1])
                changed.push_back(static_cast<std::int32_t>(i));
        const bool many = changed.size() * 16 > scores.size();
        for (const auto i : changed) {
            const double cost = scores[2 * i] - scores[2 * i + 1] - (unaries_[2 * i] - unaries_[2 * i + 1]);
            if (many)
                flow_.shift(i, cost);
            else
                flow_.add(i, cost);
            base_ += unaries_[2 * i] - scores[2 * i];
        }
        if (many) flow_.plant_all();
        unaries_.assign(scores.begin(), scores.end());
    }

    // A part of `solve`; whether there is more to do.
    bool advance() { return flow_.advance(some_scans); }

    // No labelling scores more; the best one as much, after `solve`.
    double bound() const { return -(base_ + flow_.value()); }

    // False if every labelling is forbidden.
    bool solve(std::span<std::int32_t> labels) {
        flow_.solve();
        for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = label(static_cast<std::int32_t>(i));
        return feasible_ && flow_.feasible();
    }

    // max F(y) with y_i = a, at out[2 i + a]; after `solve`, whose labels score `highest`.
    void max_marginals(std::span<const std::int32_t> best, double highest, std::span<double> out) {
        const double lowest = flow_.value();
        for (std::size_t i = 0; i < best.size(); ++i) {
            out[2 * i + best[i]] = highest;
            out[2 * i + 1 - best[i]] = highest - (other(static_cast<std::int32_t>(i), best[i]) - lowest);
        }
    }

private:
    static constexpr double infinite = std::numeric_limits<double>::infinity();

    // Which labels of a variable its pairs forbid.
    struct Side {
        bool zero = false;
        bool one = false;
    };
    using Sides = std::vector<Side>;

    std::int32_t label(std::int32_t i) const { return flow_.at_source(i) ? 0 : 1; }

    void add_pair(const FactorGraph& graph, std::size_t f, std::vector<double>& costs, Sides& forced) {
        const auto i = graph.scope(f)[0], j = graph.scope(f)[1];
        PairCosts pair = pair_costs(graph, f);
        const auto forbidden = ForbiddenPairs::taken_from(pair);
        const double half = std::max(0.5 * pair.curvature(), 0.0);
        costs[i] += pair.first();
        costs[j] += pair.second();
        base_ += pair.at[0][0];
        range_ += std::abs(pair.first()) + std::abs(pair.second()) + 2.0 * half;
        forced[i].zero |= forbidden.first[0];
        forced[i].one |= forbidden.first[1];
        forced[j].zero |= forbidden.second[0];
        forced[j].one |= forbidden.second[1];
        flow_.net.set_edge(f, forbidden.joint[0][1] ? infinite : half, forbidden.joint[1][0] ? infinite : half);
    }

    double start(const std::vector<double>& costs, const Sides& forced) {
        double value = 0.0;
        for (std::size_t i = 0; i < costs.size(); ++i) {
            const bool must = forced[i].zero || forced[i].one;
            feasible_ = feasible_ && !(forced[i].zero && forced[i].one);
            flow_.net.excess(static_cast<std::int32_t>(i)) = !must ? costs[i] : forced[i].one ? infinite : -infinite;
            value += must ? (forced[i].zero ? costs[i] : 0.0) : std::min(costs[i], 0.0);
        }
        return value;
    }

    // What the least cut costs with the other label, which is bought by as much as all that touches the variable can
    // cost; where that is infinite, by more than any two labellings that are not forbidden differ.
    double other(std::int32_t i, std::int32_t label_now) {
        auto& net = flow_.net;
        if (std::isinf(net.excess(i))) return infinite;
        double price = 1.0 + std::abs(net.excess(i));
        for (auto k = net.begin(i); k != net.end(i); ++k) price += net.out(i, k) + net.in(i, k, net.head(i, k));
        price = label_now == 0 ? std::min(price, range_) : -std::min(price, range_);
        flow_.add(i, -price);
        flow_.solve();
        const double cost = label(i) == label_now ? infinite : flow_.value() + (label_now == 0 ? price : 0.0);
        flow_.add(i, price);
        return cost;
    }

    MaxFlow flow_;
    std::vector<double> unaries_;
    double base_ = 0.0;
    double range_ = 1.0;
    bool feasible_ = true;
};

}  // namespace structlearn
