#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "hypergraph/graph.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// What is counted along a derivation: a level is two counts, first × width + second, or one below the width.
struct Counting {
    const std::int32_t* steps;  // of the parts that the graph knows
    std::int64_t n_levels, width;
};

// Refuses tables of more than 4 GB.
inline void check_cells(std::int64_t n) {
    if (n > std::int64_t{1} << 29)
        throw std::length_error(
            "the best output of every loss level would take more than 4 GB; cut the example up, or use rescaling='margin' with "
            "slack='linear'");
}

// The best derivation of every level. Every item keeps its best score for each pair of counts between the least and the most
// that its derivations have; time and memory grow with edges × and items × these.
class BestPerLevel {
public:
    // The best score of each level, −∞ where there is none; until the next call.
    template <Hypergraph Graph>
    const std::vector<double>& run(const Graph& graph, const Counting& counted) {
        width_ = counted.width;
        make_room(graph);
        cells_.assign(static_cast<std::size_t>(n_cells_), minus_infinity);
        graph.each_item([&](std::int64_t item) {
            if (box(item).empty()) return;
            graph.each_edge(item, [&](const Edge& edge) {
                if (possible(edge)) take(edge, box(item));
            });
        });
        best_.assign(static_cast<std::size_t>(counted.n_levels), minus_infinity);
        const Box& goal = box(graph.goal());
        if (!goal.empty() && goal.most.first * width_ + goal.most.second >= counted.n_levels)
            throw std::logic_error("an output takes more steps than there are loss levels");
        for (std::int64_t first = goal.least.first; first <= goal.most.first; ++first)
            std::copy_n(row(goal, first), goal.columns(), best_.begin() + first * width_ + goal.least.second);
        return best_;
    }

    // After `run`: the codes of the best output of a level.
    template <Hypergraph Graph>
    void trace(const Graph& graph, std::int64_t level, Codes& codes) const {
        std::vector<Goal> rest{{graph.goal(), counts(level)}};
        while (!rest.empty()) {
            const Goal goal = rest.back();
            rest.pop_back();
            const Chosen chosen = choose(graph, goal);
            graph.write(goal.item, chosen.edge, codes);
            if (chosen.edge.right >= 0) rest.push_back({chosen.edge.right, chosen.right});
            if (chosen.edge.left >= 0) rest.push_back({chosen.edge.left, chosen.left});
        }
    }

private:
    struct Counts {
        std::int64_t first, second;
        Counts operator+(const Counts& other) const { return {first + other.first, second + other.second}; }
        Counts operator-(const Counts& other) const { return {first - other.first, second - other.second}; }
    };
    // Between which counts the derivations of an item are, and where its cells begin.
    struct Box {
        Counts least{0, 0}, most{-1, -1};
        std::int64_t at = 0;

        bool empty() const { return most.first < least.first; }
        std::int64_t columns() const { return most.second - least.second + 1; }
        std::int64_t size() const { return empty() ? 0 : (most.first - least.first + 1) * columns(); }
        bool holds(const Counts& c) const {
            return c.first >= least.first && c.first <= most.first && c.second >= least.second && c.second <= most.second;
        }
        void widen(const Counts& low, const Counts& high) {
            const bool fresh = empty();
            least = fresh ? low : Counts{std::min(least.first, low.first), std::min(least.second, low.second)};
            most = fresh ? high : Counts{std::max(most.first, high.first), std::max(most.second, high.second)};
        }
    };
    struct Goal {
        std::int64_t item;
        Counts counts;
    };
    struct Chosen {
        Edge edge;
        Counts left, right;
    };

    Counts counts(std::int64_t level) const {
        return level < width_ ? Counts{0, level} : Counts{level / width_, level % width_};
    }
    const Box& box(std::int64_t item) const { return boxes_[static_cast<std::size_t>(item)]; }
    double* row(const Box& box, std::int64_t first) {
        return &cells_[box.at + (first - box.least.first) * box.columns()];
    }
    double cell(const Box& box, const Counts& c) const {
        if (!box.holds(c)) return minus_infinity;
        return cells_[box.at + (c.first - box.least.first) * box.columns() + c.second - box.least.second];
    }
    static double score_of(const Edge& edge) { return edge.score + edge.of_item; }
    bool possible(const Edge& edge) const {
        return score_of(edge) > minus_infinity && (edge.left < 0 || !box(edge.left).empty()) &&
               (edge.right < 0 || !box(edge.right).empty());
    }

    template <class Graph>
    void make_room(const Graph& graph) {
        boxes_.assign(static_cast<std::size_t>(graph.n_items()), Box{});
        n_cells_ = 0;
        graph.each_item([&](std::int64_t item) {
            Box here;
            graph.each_edge(item, [&](const Edge& edge) {
                if (!possible(edge)) return;
                Counts low = counts(edge.step), high = low;
                for (const std::int64_t tail : {edge.left, edge.right})
                    if (tail >= 0) low = low + box(tail).least, high = high + box(tail).most;
                here.widen(low, high);
            });
            here.at = n_cells_;
            n_cells_ += here.size();
            boxes_[static_cast<std::size_t>(item)] = here;
        });
        check_cells(n_cells_);
    }

    void take(const Edge& edge, const Box& head) {
        const Counts step = counts(edge.step);
        if (edge.left < 0) {
            double& best = row(head, step.first)[step.second - head.least.second];
            best = std::max(best, score_of(edge));
        } else if (edge.right < 0) {
            take_shifted(box(edge.left), step, score_of(edge), head);
        } else {
            const Box& left = box(edge.left);
            for (std::int64_t first = left.least.first; first <= left.most.first; ++first)
                for (std::int64_t second = left.least.second; second <= left.most.second; ++second) {
                    const double score = cell(left, {first, second});
                    if (score > minus_infinity)
                        take_shifted(box(edge.right), step + Counts{first, second}, score_of(edge) + score, head);
                }
        }
    }
    void take_shifted(const Box& tail, const Counts& by, double score, const Box& head) {
        const std::int64_t n = tail.columns();
        for (std::int64_t first = tail.least.first; first <= tail.most.first; ++first) {
            const double* from = row(tail, first);
            double* to = row(head, first + by.first) + tail.least.second + by.second - head.least.second;
            // Rows are short: to call the one for long ones costs more.
            for (std::int64_t k = 0; k < n; ++k) to[k] = to[k] < score + from[k] ? score + from[k] : to[k];
        }
    }

    // The edge, and the counts of its items, by which a cell has its score: sums in the order of `take`.
    template <class Graph>
    Chosen choose(const Graph& graph, const Goal& goal) const {
        const double score = cell(box(goal.item), goal.counts);
        Chosen chosen{};
        bool found = false;
        graph.each_edge(goal.item, [&](const Edge& edge) {
            if (found || !possible(edge)) return;
            const Counts rest = goal.counts - counts(edge.step);
            if (edge.left < 0) {
                found = rest.first == 0 && rest.second == 0 && score_of(edge) == score;
                if (found) chosen.edge = edge;
            } else if (edge.right < 0) {
                found = score_of(edge) + cell(box(edge.left), rest) == score;
                if (found) chosen = {edge, rest, {}};
            } else {
                const Box& left = box(edge.left);
                for (std::int64_t first = left.least.first; first <= left.most.first && !found; ++first)
                    for (std::int64_t second = left.least.second; second <= left.most.second && !found; ++second) {
                        const Counts here{first, second}, there = rest - here;
                        found = score_of(edge) + cell(left, here) + cell(box(edge.right), there) == score;
                        if (found) chosen = {edge, here, there};
                    }
            }
        });
        return chosen;
    }

    std::int64_t width_ = 1, n_cells_ = 0;
    std::vector<Box> boxes_;  // by item
    std::vector<double> cells_, best_;
};

}  // namespace structlearn
