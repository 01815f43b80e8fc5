#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace structlearn {

// A fraction of a second, after which a search may be stopped.
inline constexpr std::size_t some_scans = 1 << 18;

// Maximum flow by incremental breadth-first search (Goldberg, Hed, Kaplan, Tarjan and Werneck 2011; reuse as in their
// "Faster and more dynamic maximum flow", 2015).
//
// A node has an excess: what the source still sends to it, or, negative, what the sink still takes from it. Two forests
// grow breadth first, one from nodes with an excess along residual arcs, one from nodes with a deficit against them. A
// distance of d > 0 is level d of the first, d < 0 level −d of the second, 0 neither. Where they meet, flow is sent
// along the path; what loses its residual arc to its parent looks for another parent, at its own level or a higher one,
// lowest levels first. Hence levels never fall, and an arc with capacity left leads up by one level at most.
//
// A network lists the arcs of a node v by slots: head(v, k) is the other end, out(v, k) the residual capacity from v,
// in(v, k, w) that of the reverse arc from the other end w, back(v, k) its slot there. A parent is kept as a slot.
// Capacities may be infinite. They are doubles, and the arc that limits an augmentation ends at exactly 0: rounding is
// that of sums of capacities.
template <class Network>
class SearchTrees {
public:
    using Slot = typename Network::Slot;
    static constexpr Slot root = Network::root;
    static constexpr Slot none = Network::none;

    Network net;

    explicit SearchTrees(Network network) : net(std::move(network)) {}

    // What the cut of least capacity costs, with what `add` made of it.
    double value() const { return value_; }
    bool feasible() const { return feasible_; }

    // Whether all that the source can still reach was found; otherwise, after `solve`, all that can reach the sink.
    bool exhausted_source() const { return active_[0].empty(); }

    // On which side of a least cut a node is.
    bool at_source(std::int32_t v) const {
        return exhausted_source() ? net.distance(v) > 0 : net.distance(v) >= 0;
    }

    // Forgets the forests, not the flow: for excesses and capacities that were set from outside.
    void plant_all() {
        restart_within([&](auto&& visit) { net.each_node(visit); });
    }

    // The same where only nodes that `each(visit)` lists have capacities, and none to others.
    template <class Each>
    void restart_within(Each&& each) {
        level_ = {1, 1};
        for (auto& active : active_) active.clear();
        each([&](std::int32_t v) {
            leave(v);
            if (net.excess(v) != 0.0) plant(v);
        });
    }

    // Takes a node out of the forests, with no regard to its children.
    void leave(std::int32_t v) {
        net.distance(v) = 0;
        net.parent(v) = none;
    }

    // Forgets everything but the value that is given.
    void restart(double value) {
        value_ = value;
        feasible_ = true;
        push_to_neighbours();
        plant_all();
    }

    // Makes it dearer, by `cost`, to have v on the side of the sink; for many nodes, `shift` and then `plant_all`.
    void add(std::int32_t v, double cost) {
        shift(v, cost);
        if (net.distance(v) > 0)
            settle<1>(v);
        else if (net.distance(v) < 0)
            settle<-1>(v);
        if (net.distance(v) == 0 && net.excess(v) != 0.0) plant(v);
    }

    void shift(std::int32_t v, double cost) {
        const double before = net.excess(v);
        const double after = before + cost;
        if (std::isfinite(before))
            value_ += std::max(-before, 0.0) - std::max(-after, 0.0);
        else if (before < 0.0)
            value_ += cost;
        net.excess(v) = after;
    }

    void solve() {
        if (std::max(level_[0], level_[1]) > most_levels) plant_all();
        while (advance()) {
        }
    }

    // A part of `solve`, of at least so many scans of nodes; whether there is more to do. No cut costs less than `value`,
    // now and ever.
    bool advance(std::size_t scans = 1) {
        while (feasible_ && !active_[0].empty() && !active_[1].empty()) {
            const int s = price(0) <= price(1) ? 0 : 1;
            const std::size_t n = active_[s].size();
            if (s == 0)
                grow<1>();
            else
                grow<-1>();
            if (n >= scans) return true;
            scans -= n;
        }
        return false;
    }

private:
    // Levels go up from solution to solution; beyond this many the forests are planted anew.
    static constexpr std::int32_t most_levels = 1 << 14;

    // What it costs to grow a forest: the nodes to be scanned, and the height, by which paths and adoptions get longer. Of
    // the measures that were tried, this one was best on grids.
    double price(int s) const { return static_cast<double>(active_[s].size()) * level_[s] * level_[s]; }

    template <int side>
    static constexpr int number = side > 0 ? 0 : 1;

    // Residual capacity of the arc by which w would be reached from v in a forest, and by which v would from w.
    template <int side>
    double& onward(std::int32_t v, Slot k, std::int32_t w) {
        return side > 0 ? net.out(v, k) : net.in(v, k, w);
    }
    template <int side>
    double& inward(std::int32_t v, Slot k, std::int32_t w) {
        return side > 0 ? net.in(v, k, w) : net.out(v, k);
    }

    // Paths of one arc need no forest.
    void push_to_neighbours() {
        net.each_node([&](std::int32_t v) {
            for (Slot k = net.begin(v); net.excess(v) < 0.0 && k != net.end(v); ++k) {
                const std::int32_t w = net.head(v, k);
                const double flow = std::min({-net.excess(v), net.excess(w), net.in(v, k, w)});
                if (flow > 0.0 && flow < infinite) {
                    net.excess(v) += flow;
                    net.excess(w) -= flow;
                    net.in(v, k, w) -= flow;
                    net.out(v, k) += flow;
                    value_ += flow;
                }
            }
        });
    }

    void plant(std::int32_t v) {
        const int side = net.excess(v) > 0.0 ? 1 : -1;
        const int number_of_side = side > 0 ? 0 : 1;
        net.distance(v) = side * level_[number_of_side];
        net.parent(v) = root;
        active_[number_of_side].push_back(v);
    }

    template <int side>
    void grow() {
        constexpr int s = number<side>;
        growing_ = side;
        for (std::size_t i = 0; i < active_[s].size() && feasible_; ++i) scan<side>(active_[s][i]);
        growing_ = 0;
        std::swap(active_[s], next_);
        next_.clear();
        ++level_[s];
    }

    template <int side>
    void scan(std::int32_t v) {
        constexpr int s = number<side>;
        for (Slot k = net.begin(v); k != net.end(v); ++k) {
            const std::int32_t w = net.head(v, k);
            if (side * net.distance(v) != level_[s]) return;
            while (side * net.distance(w) <= 0 && onward<side>(v, k, w) > 0.0) {
                if (net.distance(w) == 0) {
                    net.distance(w) = side * (level_[s] + 1);
                    net.parent(w) = net.back(v, k);
                    next_.push_back(w);
                    break;
                }
                augment<side>(v, k, w);
                if (!feasible_ || side * net.distance(v) != level_[s]) return;
            }
        }
    }

    template <int side>
    void augment(std::int32_t v, Slot k, std::int32_t w) {
        const double flow = std::min({onward<side>(v, k, w), path_capacity<side>(v), path_capacity<-side>(w)});
        if (flow == infinite) {
            feasible_ = false;
            return;
        }
        onward<side>(v, k, w) -= flow;
        inward<side>(v, k, w) += flow;
        value_ += flow;
        push<side>(v, flow);
        adopt<side>();
        push<-side>(w, flow);
        adopt<-side>();
    }

    // What can still flow between v and the root of its tree.
    template <int side>
    double path_capacity(std::int32_t v) {
        double most = infinite;
        for (Slot k = net.parent(v); k != root; k = net.parent(v)) {
            const std::int32_t parent = net.head(v, k);
            most = std::min(most, inward<side>(v, k, parent));
            v = parent;
        }
        return std::min(most, side * net.excess(v));
    }

    template <int side>
    void push(std::int32_t v, double flow) {
        for (Slot k = net.parent(v); k != root; k = net.parent(v)) {
            const std::int32_t parent = net.head(v, k);
            double& left = inward<side>(v, k, parent);
            onward<side>(v, k, parent) += flow;
            left -= flow;
            if (left == 0.0) abandon(v, side * net.distance(v));
            v = parent;
        }
        net.excess(v) -= side * flow;
        if (net.excess(v) == 0.0) abandon(v, side * net.distance(v));
    }

    void abandon(std::int32_t v, std::int32_t level) {
        net.parent(v) = none;
        wait(v, level);
    }

    void wait(std::int32_t v, std::int32_t level) {
        if (static_cast<std::size_t>(level) >= waiting_.size()) waiting_.resize(2 * level + 2);
        waiting_[level].push_back(v);
        lowest_ = std::min(lowest_, level);
        highest_ = std::max(highest_, level);
    }

    // Calls visit(v, level) for all that wait, and those that come to wait meanwhile, lowest levels first.
    template <class Visit>
    void each_waiting(Visit&& visit) {
        for (; lowest_ <= highest_; ++lowest_) {
            for (std::size_t i = 0; i < waiting_[lowest_].size(); ++i) visit(waiting_[lowest_][i], lowest_);
            waiting_[lowest_].clear();
        }
        lowest_ = std::numeric_limits<std::int32_t>::max();
        highest_ = 0;
    }

    // First all that lost their parents look for others at their own level. Whoever finds none is loose, and its
    // children have lost theirs. Then the loose ones go to the lowest level at which they can be reached, if any.
    template <int side>
    void adopt() {
        if (highest_ == 0) return;
        each_waiting([&](std::int32_t v, std::int32_t level) {
            if (!find_parent<side>(v, level)) loosen<side>(v, level);
        });
        if (loose_.empty()) return;
        const std::int32_t highest = level_[number<side>] + (growing_ == side ? 1 : 0);
        for (const std::int32_t v : loose_) {
            const std::int32_t level = lowest_level<side>(v);
            if (level <= highest) wait(v, level);
        }
        loose_.clear();
        each_waiting([&](std::int32_t v, std::int32_t level) {
            if (net.distance(v) == 0 && find_parent<side>(v, level)) reach<side>(v, level, highest);
        });
    }

    template <int side>
    bool find_parent(std::int32_t v, std::int32_t level) {
        if (level == 1) return false;
        for (Slot k = net.begin(v); k != net.end(v); ++k) {
            const std::int32_t w = net.head(v, k);
            if (side * net.distance(w) == level - 1 && inward<side>(v, k, w) > 0.0) {
                net.parent(v) = k;
                return true;
            }
        }
        return false;
    }

    template <int side>
    void loosen(std::int32_t v, std::int32_t level) {
        net.distance(v) = 0;
        loose_.push_back(v);
        for (Slot k = net.begin(v); k != net.end(v); ++k) {
            const std::int32_t w = net.head(v, k);
            if (net.parent(w) == net.back(v, k)) abandon(w, level + 1);
        }
    }

    template <int side>
    std::int32_t lowest_level(std::int32_t v) {
        std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
        for (Slot k = net.begin(v); k != net.end(v); ++k) {
            const std::int32_t w = net.head(v, k);
            const std::int32_t level = side * net.distance(w);
            if (level > 0 && level < lowest && inward<side>(v, k, w) > 0.0) lowest = level + 1;
        }
        return lowest;
    }

    // A loose node is in the forest again; those that are still loose may be reached from it.
    template <int side>
    void reach(std::int32_t v, std::int32_t level, std::int32_t highest) {
        constexpr int s = number<side>;
        net.distance(v) = side * level;
        if (level == level_[s]) active_[s].push_back(v);
        if (level > level_[s]) next_.push_back(v);
        if (level == highest) return;
        for (Slot k = net.begin(v); k != net.end(v); ++k) {
            const std::int32_t w = net.head(v, k);
            if (net.distance(w) == 0 && onward<side>(v, k, w) > 0.0) wait(w, level + 1);
        }
    }

    // A node of a forest whose excess has changed: it becomes a root, or what it lacks comes from the root of its tree.
    template <int side>
    void settle(std::int32_t v) {
        if (side * net.excess(v) > 0.0) {
            net.parent(v) = root;
            return;
        }
        if (net.parent(v) == root) {
            abandon(v, side * net.distance(v));
            adopt<side>();
        }
        while (side * net.distance(v) > 0 && side * net.excess(v) < 0.0) {
            const double flow = std::min(path_capacity<side>(v), -side * net.excess(v));
            if (flow == infinite) {
                feasible_ = false;
                return;
            }
            net.excess(v) += side * flow;
            value_ += flow;
            push<side>(v, flow);
            adopt<side>();
        }
    }

    static constexpr double infinite = std::numeric_limits<double>::infinity();

    double value_ = 0.0;
    bool feasible_ = true;
    int growing_ = 0;
    std::array<std::int32_t, 2> level_{1, 1};
    std::array<std::vector<std::int32_t>, 2> active_;
    std::vector<std::int32_t> next_;
    std::vector<std::int32_t> loose_;
    std::vector<std::vector<std::int32_t>> waiting_;
    std::int32_t lowest_ = std::numeric_limits<std::int32_t>::max();
    std::int32_t highest_ = 0;
};

}  // namespace structlearn
