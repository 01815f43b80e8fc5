#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "hypergraph/graph.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// The k best derivations, lazily (Huang and Chiang 2005, Algorithm 3): given the best score of every item, an item looks for
// its second best derivation only when it is asked for. Time O(edges of the items on the way + k log k × items of an
// output). Nothing calls itself: derivations are as deep as sequences are long.
template <Hypergraph Graph>
class BestDerivations {
public:
    explicit BestDerivations(const Graph& graph)
        : graph_(graph), places_(static_cast<std::size_t>(graph.n_items()), -1) {}

    // Appends up to k outputs, best first, and their scores.
    void run(std::int64_t k, std::vector<Codes>& found, std::vector<double>& values) {
        const std::int32_t goal = place(graph_.goal());
        for (std::int32_t rank = 0; rank < k && reach(goal, rank); ++rank) {
            values.push_back(items_[goal].found[rank].value);
            write(goal, rank, found.emplace_back());
        }
    }

private:
    // An edge with the derivation of that rank of each of its items. Of equal ones the first comes first.
    struct Derivation {
        double value;
        Edge edge;
        std::int32_t place;  // among the edges of its item
        std::int32_t left = 0, right = 0;
        bool operator<(const Derivation& other) const {
            if (value != other.value) return value < other.value;
            return std::tie(place, left, right) > std::tie(other.place, other.left, other.right);
        }
    };
    struct Item {
        std::int64_t item;
        bool opened = false, followed = true;  // whether the neighbours of the last one found are candidates
        std::vector<Derivation> found, candidates;  // candidates are a heap
    };
    struct Wanted {
        std::int32_t place, rank;
    };

    std::int32_t place(std::int64_t item) {
        std::int32_t& found = places_[static_cast<std::size_t>(item)];
        if (found < 0) {
            found = static_cast<std::int32_t>(items_.size());
            items_.push_back({item, false, true, {}, {}});
        }
        return found;
    }

    // Whether an item has so many derivations.
    bool reach(std::int32_t at, std::int32_t rank) {
        wanted_.assign(1, {at, rank});
        while (!wanted_.empty()) {
            const Wanted want = wanted_.back();
            if (!items_[want.place].opened) open(items_[want.place]);
            if (decided(want)) {
                wanted_.pop_back();
                continue;
            }
            if (!items_[want.place].followed && !follow(want.place)) continue;
            Item& item = items_[want.place];
            if (item.candidates.empty()) continue;
            std::pop_heap(item.candidates.begin(), item.candidates.end());
            item.found.push_back(item.candidates.back());
            item.candidates.pop_back();
            item.followed = false;
        }
        return has({at, rank});
    }
    bool has(const Wanted& want) const {
        return static_cast<std::size_t>(want.rank) < items_[want.place].found.size();
    }
    bool decided(const Wanted& want) const {
        const Item& item = items_[want.place];
        return has(want) || (item.opened && item.followed && item.candidates.empty());
    }

    void open(Item& item) {
        item.opened = true;
        std::int32_t place = 0;
        graph_.each_edge(item.item, [&](const Edge& edge) {
            const double value = value_of(graph_, edge);
            if (value > minus_infinity) item.candidates.push_back({value, edge, place++});
        });
        std::make_heap(item.candidates.begin(), item.candidates.end());
    }

    // After a derivation, one with the next left or the next right part can follow; each pair is reached in one way only.
    // Returns false where those parts must be found first.
    bool follow(std::int32_t at) {
        const Derivation last = items_[at].found.back();
        const std::size_t before = wanted_.size();
        const std::int32_t left = last.edge.left >= 0 && last.right == 0 ? want(last.edge.left, last.left + 1) : -1;
        const std::int32_t right = last.edge.right >= 0 ? want(last.edge.right, last.right + 1) : -1;
        if (wanted_.size() > before) return false;
        if (left >= 0 && has({left, last.left + 1})) {
            Derivation next = last;
            next.value += step(left, next.left++);
            push(at, next);
        }
        if (right >= 0 && has({right, last.right + 1})) {
            Derivation next = last;
            next.value += step(right, next.right++);
            push(at, next);
        }
        items_[at].followed = true;
        return true;
    }
    std::int32_t want(std::int64_t item, std::int32_t rank) {
        const std::int32_t at = place(item);
        if (!decided({at, rank})) wanted_.push_back({at, rank});
        return at;
    }
    // What the next derivation of an item adds to the value of this one.
    double step(std::int32_t at, std::int32_t rank) const {
        return items_[at].found[rank + 1].value - items_[at].found[rank].value;
    }
    void push(std::int32_t at, const Derivation& derivation) {
        auto& candidates = items_[at].candidates;
        candidates.push_back(derivation);
        std::push_heap(candidates.begin(), candidates.end());
    }

    void write(std::int32_t at, std::int32_t rank, Codes& codes) {
        std::vector<Wanted> rest{{at, rank}};
        while (!rest.empty()) {
            const Wanted next = rest.back();
            rest.pop_back();
            reach(next.place, next.rank);
            const Derivation derivation = items_[next.place].found[next.rank];
            graph_.write(items_[next.place].item, derivation.edge, codes);
            if (derivation.edge.right >= 0) rest.push_back({place(derivation.edge.right), derivation.right});
            if (derivation.edge.left >= 0) rest.push_back({place(derivation.edge.left), derivation.left});
        }
    }

    const Graph& graph_;
    std::vector<Item> items_;
    std::vector<std::int32_t> places_;  // of the items of the graph, −1 while nothing is known of them
    std::vector<Wanted> wanted_;
};

}  // namespace structlearn
