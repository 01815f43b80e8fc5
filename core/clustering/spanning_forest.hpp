#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "batch/parallel.hpp"
#include "batch/ragged.hpp"
#include "clustering/pairs.hpp"

namespace structlearn {

// Kruskal's algorithm: the heaviest forest of an example's pairs.
class SpanningForest {
public:
    // Pairs whose score exceeds the floor, heaviest first; appends their places.
    void heaviest(const PairKinds& data, std::int64_t example, const PairScores& scores, double floor,
                  std::vector<std::int64_t>& out) {
        groups_.clear();
        const std::int32_t* labels = scores.labels;
        const double* score = scores.of_kinds;
        for (std::int64_t kind = data.kinds.begin(example); kind < data.kinds.end(example); ++kind, ++score) {
            if (scores.inside == scores.across) {
                add(*score + scores.inside, kind, Side::both, floor);
                continue;
            }
            const std::int64_t begin = data.pairs.begin(kind), end = data.pairs.end(kind);
            std::int64_t inside = 0;
            for (std::int64_t p = begin; p < end; ++p) inside += labels[data.first[p]] == labels[data.second[p]];
            // Most kinds are on one side only: those need not be looked at pair by pair again.
            if (inside > 0) add(*score + scores.inside, kind, inside == end - begin ? Side::both : Side::inside, floor);
            if (inside < end - begin) add(*score + scores.across, kind, inside == 0 ? Side::both : Side::across, floor);
        }
        std::sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
            if (a.weight != b.weight) return a.weight > b.weight;
            return a.kind != b.kind ? a.kind < b.kind : a.side < b.side;
        });
        reset(data.n_items(example));
        for (const Group& group : groups_) {
            for (std::int64_t p = data.pairs.begin(group.kind); p < data.pairs.end(group.kind); ++p) {
                const std::int32_t i = data.first[p], j = data.second[p];
                if (group.side != Side::both && (labels[i] == labels[j]) != (group.side == Side::inside)) continue;
                if (join(i, j)) out.push_back(p);
            }
            if (n_trees_ <= 1) return;
        }
    }

    // The pairs between items of the same label, in the order given, as far as they close no cycle.
    void in_order(const PairKinds& data, std::int64_t example, const std::int64_t* begin, const std::int64_t* end,
                  const std::int32_t* labels, std::vector<std::int64_t>& out) {
        reset(data.n_items(example));
        for (const std::int64_t* p = begin; p < end; ++p)
            if (labels[data.first[*p]] == labels[data.second[*p]] && join(data.first[*p], data.second[*p]))
                out.push_back(*p);
    }

private:
    enum class Side : std::int8_t { both, inside, across };
    struct Group {
        double weight;
        std::int64_t kind;
        Side side;
    };

    void add(double weight, std::int64_t kind, Side side, double floor) {
        if (weight > floor) groups_.push_back({weight, kind, side});
    }

    void reset(std::int64_t n_items) {
        parent_.resize(static_cast<std::size_t>(n_items));
        std::iota(parent_.begin(), parent_.end(), 0);
        n_trees_ = n_items;
    }

    std::int32_t root(std::int32_t i) {
        auto parent = [&](std::int32_t k) -> std::int32_t& { return parent_[static_cast<std::size_t>(k)]; };
        for (; parent(i) != i; i = parent(i)) parent(i) = parent(parent(i));
        return i;
    }

    bool join(std::int32_t i, std::int32_t j) {
        i = root(i), j = root(j);
        if (i == j) return false;
        // The smaller one is the root: with halved paths that is quick enough, and the answer depends on nothing else.
        parent_[static_cast<std::size_t>(std::max(i, j))] = std::min(i, j);
        --n_trees_;
        return true;
    }

    std::vector<Group> groups_;
    std::vector<std::int32_t> parent_;
    std::int64_t n_trees_ = 0;
};

// The heaviest forest of each chosen example, as places of pairs, from the scores of their kinds one after another. With the
// floor −∞ it spans all that the pairs connect.
inline RaggedArray<std::int64_t> heaviest_forests(const PairKinds& data, std::span<const double> scores,
                                                  std::span<const std::int64_t> examples,
                                                  std::optional<std::span<const std::int32_t>> labels, double inside,
                                                  double across, double floor, int n_threads) {
    std::vector<std::vector<std::int64_t>> found(examples.size());
    const auto at = data.kinds.gathered(examples);
    for_each_example(examples, n_threads, SpanningForest(), [&](std::int64_t k, std::int64_t i, SpanningForest& forest) {
        forest.heaviest(data, i, {scores.data() + at[k], data.of_example(labels, i), inside, across}, floor, found[k]);
    });
    return RaggedArray(found);
}

// For every example a forest within its labels, of pairs taken in the order given: that of all pairs of the first example,
// then those of the second, and so on.
inline RaggedArray<std::int64_t> forests_in_order(const PairKinds& data, std::span<const std::int64_t> order,
                                                  std::span<const std::int32_t> labels) {
    std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(data.kinds.count()));
    SpanningForest forest;
    for (std::int64_t i = 0; i < data.kinds.count(); ++i)
        forest.in_order(data, i, order.data() + data.pairs.begin(data.kinds.begin(i)),
                        order.data() + data.pairs.begin(data.kinds.end(i)), data.of_example(labels, i), found[i]);
    return RaggedArray(found);
}

}  // namespace structlearn
