#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cuts/pair_costs.hpp"

namespace structlearn {

// Labels, and moves that let each variable choose between two labels, all at once, by a cut (Boykov, Veksler and Zabih
// 2001).
//
// Where a pair of variables is not submodular in this choice, the cut sees it as dearer than it is where only one of
// both changes, just so that it is: what the move finds is at least as good as it seems, hence never worse than to stay.
// `truncated` counts such pairs over all moves.
//
// An energy has n_variables(), n_labels(i), cost(i, a), pair_cost(edge, a, b), lowest_pair_cost(edge),
// each_edge(visit(edge, i, j)) and each_edge_of(i, visit(edge, j, whether i is first)); and `flow` for its cuts, with
// each_variable(visit(i, node)), node(i) and add_pair(edge, first, second, half), which adds costs of label 1 to the
// excesses of both ends and sets the capacities between them.
template <class Energy>
class Fusion {
public:
    explicit Fusion(Energy energy) : energy_(std::move(energy)), labels_(energy_.n_variables()) {
        for (std::size_t i = 0; i < labels_.size(); ++i) labels_[i] = cheapest(i);
        total_ = cost_of(labels_);
    }

    const std::vector<std::int32_t>& labels() const { return labels_; }
    // What the labels cost.
    double total() const { return total_; }
    std::int64_t truncated() const { return truncated_; }

    // All variables may take this label. Whether the labels are better now.
    bool expand(std::int32_t label) {
        return choose([&](std::size_t i) { return labels_[i]; },
                      [&](std::size_t i) { return label < energy_.n_labels(i) ? label : labels_[i]; });
    }

    // All variables of two labels may change them for each other.
    bool swap(std::int32_t a, std::int32_t b) {
        const auto either = [&](std::size_t i, std::int32_t label) {
            const auto now = labels_[i];
            return (now == a || now == b) && label < energy_.n_labels(i) ? label : now;
        };
        return choose([&](std::size_t i) { return either(i, a); }, [&](std::size_t i) { return either(i, b); });
    }

    // All variables may take those of other labels.
    bool fuse(std::span<const std::int32_t> others) {
        return choose([&](std::size_t i) { return labels_[i]; }, [&](std::size_t i) { return others[i]; });
    }

    // Goes on from the one label that costs least where all variables that have it take it.
    void take_one() {
        std::vector<double> costs;
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            const auto n = static_cast<std::size_t>(energy_.n_labels(i));
            if (n > costs.size()) costs.resize(n, 0.0);
            const double lowest = energy_.cost(i, cheapest(i));
            for (std::size_t a = 0; a < n; ++a) costs[a] += energy_.cost(i, static_cast<std::int32_t>(a)) - lowest;
        }
        const auto best = static_cast<std::int32_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
        for (std::size_t i = 0; i < labels_.size(); ++i) labels_[i] = best < energy_.n_labels(i) ? best : cheapest(i);
        total_ = cost_of(labels_);
    }

    // Goes on from these labels instead.
    void take(std::span<const std::int32_t> others) {
        labels_.assign(others.begin(), others.end());
        total_ = cost_of(labels_);
    }

    // Begins a cut, of which `advance` is a part, and whether there is more to do; meanwhile no labels out of 0 and 1 cost
    // less than `bound`. At last `cut` makes the best of them the labels.
    void begin_cut() { energy_.flow.restart(fill(zero_, one_)); }
    bool advance() { return energy_.flow.advance(some_scans); }
    double bound() const { return energy_.flow.value(); }
    void cut() { accept(zero_, one_); }

    // No labels cost less: each variable and each pair alone.
    double lower_bound() const {
        double sum = 0.0;
        for (std::size_t i = 0; i < labels_.size(); ++i) sum += energy_.cost(i, cheapest(i));
        energy_.each_edge([&](const auto& edge, std::size_t, std::size_t) { sum += energy_.lowest_pair_cost(edge); });
        return sum;
    }

private:
    // A move must gain more than the rounding of a sum.
    double least_gain() const { return 1e-12 * (1.0 + std::abs(total_)); }

    std::int32_t cheapest(std::size_t i) const {
        std::int32_t best = 0;
        for (std::int32_t a = 1; a < energy_.n_labels(i); ++a)
            if (energy_.cost(i, a) < energy_.cost(i, best)) best = a;
        return best;
    }

    double cost_of(std::span<const std::int32_t> labels) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < labels.size(); ++i) sum += energy_.cost(i, labels[i]);
        energy_.each_edge([&](const auto& edge, std::size_t i, std::size_t j) {
            sum += energy_.pair_cost(edge, labels[i], labels[j]);
        });
        return sum;
    }

    // Each variable i takes zero(i) or one(i), whichever is best for all together.
    template <class Zero, class One>
    bool choose(Zero&& zero, One&& one) {
        some_.clear();
        for (std::size_t i = 0; i < labels_.size(); ++i)
            if (zero(i) != one(i)) some_.push_back(i);
        const bool few = 2 * some_.size() < labels_.size();
        if (few)
            fill_some(zero, one);
        else
            energy_.flow.restart(fill(zero, one));
        energy_.flow.solve();
        return few ? accept_some(zero, one) : accept(zero, one);
    }

    template <class Zero, class One>
    bool accept(Zero&& zero, One&& one) {
        const auto& flow = energy_.flow;
        std::vector<std::int32_t> chosen(labels_.size());
        bool same = true;
        energy_.each_variable([&](std::size_t i, std::int32_t v) {
            chosen[i] = flow.at_source(v) ? zero(i) : one(i);
            same = same && chosen[i] == labels_[i];
        });
        if (same) return false;
        const double after = cost_of(chosen);
        if (!(after < total_ - least_gain())) return false;
        labels_.swap(chosen);
        total_ = after;
        return true;
    }

    // Capacities and excesses of the choice; what it costs in any case.
    template <class Zero, class One>
    double fill(Zero&& zero, One&& one) {
        auto& net = energy_.flow.net;
        double value = 0.0;
        energy_.each_variable([&](std::size_t i, std::int32_t v) {
            const double stay = energy_.cost(i, zero(i));
            value += stay;
            net.excess(v) = energy_.cost(i, one(i)) - stay;
        });
        energy_.each_edge([&](const auto& edge, std::size_t i, std::size_t j) {
            value += add_choices(edge, i, j, zero, one);
        });
        energy_.each_variable([&](std::size_t, std::int32_t v) { value += std::min(net.excess(v), 0.0); });
        return value;
    }

    // The same where only `some_` have a choice: the others are as good as not there.
    template <class Zero, class One>
    void fill_some(Zero&& zero, One&& one) {
        auto& flow = energy_.flow;
        for (const auto i : some_)
            flow.net.excess(energy_.node(i)) = energy_.cost(i, one(i)) - energy_.cost(i, zero(i));
        for (const auto i : some_)
            energy_.each_edge_of(i, [&](const auto& edge, std::size_t j, bool is_first) {
                if (zero(j) == one(j)) {
                    const double more = pair_cost(edge, one(i), labels_[j], is_first);
                    const double cost = more - pair_cost(edge, zero(i), labels_[j], is_first);
                    energy_.add_pair(edge, is_first ? cost : 0.0, is_first ? 0.0 : cost, 0.0);
                    flow.leave(energy_.node(j));
                } else if (is_first) {
                    add_choices(edge, i, j, zero, one);
                }
            });
        flow.restart_within([&](auto&& visit) {
            for (const auto i : some_) visit(energy_.node(i));
        });
    }

    template <class Zero, class One>
    bool accept_some(Zero&& zero, One&& one) {
        std::vector<std::pair<std::size_t, std::int32_t>> before;
        double gain = 0.0;
        for (const auto i : some_) {
            const auto label = energy_.flow.at_source(energy_.node(i)) ? zero(i) : one(i);
            if (label != labels_[i]) before.emplace_back(i, label);
        }
        for (auto& [i, label] : before) {
            gain += local_cost(i);
            std::swap(labels_[i], label);
            gain -= local_cost(i);
        }
        if (gain > least_gain()) {
            total_ -= gain;
            return true;
        }
        for (const auto& [i, label] : before) labels_[i] = label;
        return false;
    }

    // Of a variable and its pairs, as the labels are now.
    double local_cost(std::size_t i) const {
        double sum = energy_.cost(i, labels_[i]);
        energy_.each_edge_of(i, [&](const auto& edge, std::size_t j, bool is_first) {
            sum += pair_cost(edge, labels_[i], labels_[j], is_first);
        });
        return sum;
    }

    template <class Edge>
    double pair_cost(const Edge& edge, std::int32_t a, std::int32_t b, bool is_first) const {
        return energy_.pair_cost(edge, is_first ? a : b, is_first ? b : a);
    }

    // What two variables cost for all of their choices, into the network; what they cost in any case.
    template <class Edge, class Zero, class One>
    double add_choices(const Edge& edge, std::size_t i, std::size_t j, Zero&& zero, One&& one) {
        const PairCosts pair = choices(edge, i, j, {zero(i), one(i)}, {zero(j), one(j)});
        energy_.add_pair(edge, pair.first(), pair.second(), std::max(0.5 * pair.curvature(), 0.0));
        return pair.at[0][0];
    }

    template <class Edge>
    PairCosts choices(const Edge& edge, std::size_t i, std::size_t j, std::array<std::int32_t, 2> a,
                      std::array<std::int32_t, 2> b) {
        PairCosts pair;
        for (int x = 0; x < 2; ++x)
            for (int y = 0; y < 2; ++y) pair.at[x][y] = energy_.pair_cost(edge, a[x], b[y]);
        if (pair.curvature() < 0.0 && pair.curvature() < -pair.rounding())
            truncate(pair, labels_[i] != a[0], labels_[j] != b[0]);
        return pair;
    }

    // Makes (0, 1), (1, 0) or both dearer, but not what the labels are now.
    void truncate(PairCosts& pair, bool first_now, bool second_now) {
        const double lack = -pair.curvature();
        if (first_now == second_now) {
            pair.at[0][1] += 0.5 * lack;
            pair.at[1][0] += 0.5 * lack;
        } else {
            pair.at[second_now ? 1 : 0][second_now ? 0 : 1] += lack;
        }
        ++truncated_;
    }

    static constexpr auto zero_ = [](std::size_t) { return 0; };
    static constexpr auto one_ = [](std::size_t) { return 1; };

    Energy energy_;
    std::vector<std::int32_t> labels_;
    std::vector<std::size_t> some_;
    double total_ = 0.0;
    std::int64_t truncated_ = 0;
};

}  // namespace structlearn
