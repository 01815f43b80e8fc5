#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/factor_graph.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// The order in which variables are eliminated, with what is met on the way: the bucket of the k-th variable is itself with
// its neighbours of that time, the separator, which are eliminated later. Separators are sorted by that.
struct Elimination {
    std::vector<std::int32_t> order;
    std::vector<std::int64_t> separator_offsets{0};
    std::vector<std::int32_t> separators;
    // Logarithms of how many entries the tables of all separators have, and the largest bucket.
    double log_entries = minus_infinity, log_largest = minus_infinity;
    std::int32_t width = 0;
    bool finished = false;

    std::span<const std::int32_t> separator(std::size_t k) const {
        return std::span(separators).subspan(separator_offsets[k], separator_offsets[k + 1] - separator_offsets[k]);
    }
};

// What the next variable is chosen by: the fewest edges that its elimination adds, the smallest bucket, or its number, which
// for grids sweeps from one side to the other.
enum class EliminationRule { min_fill, min_width, sweep };

// Elimination by a rule. Variables with at most one neighbour go first: no order is better, and what is left of a forest
// is nothing. Ends unfinished once a bucket has more than exp(log_most) entries.
class Eliminator {
public:
    Eliminator(const FactorGraph& graph, EliminationRule rule, double log_most)
        : graph_(graph), rule_(rule), log_most_(log_most), neighbours_(graph.n_variables()),
          gone_(graph.n_variables(), 0), version_(graph.n_variables(), 0) {
        for (std::size_t f = 0; f < graph.n_factors(); ++f) join(graph.scope(f));
        for (auto& list : neighbours_) {
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
        }
    }

    Elimination run() {
        peel();
        for (std::size_t i = 0; i < graph_.n_variables(); ++i)
            if (!gone_[i]) push(static_cast<std::int32_t>(i));
        while (!queue_.empty() && found_.log_largest <= log_most_) {
            const auto [cost, tie, i, version] = queue_.top();
            queue_.pop();
            if (!gone_[i] && version == version_[i]) eliminate(i);
        }
        found_.finished = found_.log_largest <= log_most_;
        if (found_.finished) sort_separators();
        return std::move(found_);
    }

private:
    // Cost, then size of the bucket, so that ties go to the smaller one; the version tells entries that are out of date.
    using Entry = std::tuple<double, double, std::int32_t, std::int32_t>;

    void join(std::span<const std::int32_t> variables) {
        for (const auto i : variables)
            for (const auto j : variables)
                if (i != j) neighbours_[i].push_back(j);
    }

    void peel() {
        std::vector<std::int32_t> leaves;
        for (std::size_t i = 0; i < graph_.n_variables(); ++i)
            if (neighbours_[i].size() <= 1) leaves.push_back(static_cast<std::int32_t>(i));
        while (!leaves.empty() && found_.log_largest <= log_most_) {
            const auto i = leaves.back();
            leaves.pop_back();
            if (gone_[i]) continue;
            record(i);
            for (const auto j : neighbours_[i]) {
                remove(neighbours_[j], i);
                if (neighbours_[j].size() == 1) leaves.push_back(j);
            }
        }
    }

    void record(std::int32_t i) {
        gone_[i] = 1;
        const auto& around = neighbours_[i];
        double size = 0.0;
        for (const auto j : around) size += std::log(graph_.n_labels[j]);
        found_.log_entries = log_added(found_.log_entries, size);
        found_.log_largest = std::max(found_.log_largest, size + std::log(graph_.n_labels[i]));
        found_.width = std::max(found_.width, static_cast<std::int32_t>(around.size()));
        found_.order.push_back(i);
        found_.separators.insert(found_.separators.end(), around.begin(), around.end());
        found_.separator_offsets.push_back(static_cast<std::int64_t>(found_.separators.size()));
    }

    void eliminate(std::int32_t i) {
        record(i);
        const auto around = neighbours_[i];
        std::vector<std::int32_t> stale(around);
        for (const auto j : around) {
            if (rule_ == EliminationRule::min_fill)
                stale.insert(stale.end(), neighbours_[j].begin(), neighbours_[j].end());
            remove(neighbours_[j], i);
            merge(neighbours_[j], around, j);
        }
        std::sort(stale.begin(), stale.end());
        stale.erase(std::unique(stale.begin(), stale.end()), stale.end());
        for (const auto j : stale)
            if (!gone_[j]) push(j);
    }

    void push(std::int32_t i) {
        double size = std::log(graph_.n_labels[i]);
        for (const auto j : neighbours_[i]) size += std::log(graph_.n_labels[j]);
        const double cost = rule_ == EliminationRule::min_fill ? fill(i) : rule_ == EliminationRule::sweep ? i : size;
        queue_.emplace(cost, size, i, ++version_[i]);
    }

    // Pairs of neighbours that are no neighbours of each other.
    double fill(std::int32_t i) const {
        const auto& around = neighbours_[i];
        std::size_t missing = 0;
        for (const auto j : around) missing += around.size() - 1 - common(around, neighbours_[j]);
        return 0.5 * static_cast<double>(missing);
    }

    static std::size_t common(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
        std::size_t both = 0;
        for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
            both += *x == *y;
            const bool first = *x <= *y, second = *y <= *x;
            x += first;
            y += second;
        }
        return both;
    }

    static void remove(std::vector<std::int32_t>& list, std::int32_t item) {
        list.erase(std::lower_bound(list.begin(), list.end(), item));
    }

    static void merge(std::vector<std::int32_t>& list, const std::vector<std::int32_t>& more, std::int32_t self) {
        std::vector<std::int32_t> both;
        both.reserve(list.size() + more.size());
        std::set_union(list.begin(), list.end(), more.begin(), more.end(), std::back_inserter(both));
        both.erase(std::lower_bound(both.begin(), both.end(), self));
        list = std::move(both);
    }

    static double log_added(double a, double b) {
        const double top = std::max(a, b);
        return top + std::log(std::exp(a - top) + std::exp(b - top));
    }

    void sort_separators() {
        std::vector<std::int32_t> rank(graph_.n_variables());
        for (std::size_t k = 0; k < found_.order.size(); ++k) rank[found_.order[k]] = static_cast<std::int32_t>(k);
        for (std::size_t k = 0; k < found_.order.size(); ++k)
            std::sort(found_.separators.begin() + found_.separator_offsets[k],
                      found_.separators.begin() + found_.separator_offsets[k + 1],
                      [&](std::int32_t a, std::int32_t b) { return rank[a] < rank[b]; });
    }

    const FactorGraph& graph_;
    EliminationRule rule_;
    double log_most_;
    std::vector<std::vector<std::int32_t>> neighbours_;
    std::vector<std::uint8_t> gone_;
    std::vector<std::int32_t> version_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
    Elimination found_;
};

// The best of the orders; unfinished if none of them keeps within the limit.
inline Elimination best_elimination(const FactorGraph& graph, double log_most) {
    // The variables of a factor stand in a bucket together, whatever the order; to list their pairs may be too much already.
    Elimination hopeless;
    for (std::size_t f = 0; f < graph.n_factors(); ++f) {
        double size = 0.0;
        for (const auto i : graph.scope(f)) size += std::log(graph.n_labels[i]);
        if (size > hopeless.log_largest) {
            hopeless.log_largest = size;
            hopeless.width = static_cast<std::int32_t>(graph.scope(f).size()) - 1;
        }
    }
    if (hopeless.log_largest > log_most) return hopeless;
    Elimination best = Eliminator(graph, EliminationRule::min_width, log_most).run();
    if (best.finished && best.width <= 1) return best;
    for (const auto rule : {EliminationRule::min_fill, EliminationRule::sweep}) {
        Elimination other = Eliminator(graph, rule, log_most).run();
        if (other.finished != best.finished ? other.finished : other.log_entries < best.log_entries) best = std::move(other);
    }
    return best;
}

}  // namespace structlearn
