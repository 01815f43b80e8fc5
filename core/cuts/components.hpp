#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace structlearn {

// The strong components of a network's residual arcs (Tarjan 1972) between nodes that `chosen` names; a component has a
// lower number than all from which it can be reached. Others get −1.
template <class Network, class Chosen>
class StrongComponents {
public:
    using Slot = typename Network::Slot;

    StrongComponents(Network& net, Chosen chosen)
        : component(net.size(), -1), net_(net), chosen_(chosen), order_(net.size(), 0), low_(net.size(), 0) {
        for (std::int32_t v = 0; v < static_cast<std::int32_t>(net.size()); ++v)
            if (chosen_(v) && order_[v] == 0) visit(v);
    }

    std::vector<std::int32_t> component;

private:
    struct Call {
        std::int32_t v;
        Slot k;
    };

    void enter(std::int32_t v) {
        order_[v] = low_[v] = ++count_;
        open_.push_back(v);
        calls_.push_back({v, net_.begin(v)});
    }

    void visit(std::int32_t start) {
        for (enter(start); !calls_.empty();) {
            auto& [v, k] = calls_.back();
            if (k == net_.end(v)) {
                leave(v);
                continue;
            }
            const std::int32_t w = net_.head(v, k);
            const bool follow = net_.out(v, k) > 0.0 && chosen_(w);
            ++k;
            if (follow && order_[w] == 0)
                enter(w);
            else if (follow && component[w] < 0)
                low_[v] = std::min(low_[v], order_[w]);
        }
    }

    void leave(std::int32_t v) {
        calls_.pop_back();
        if (!calls_.empty()) low_[calls_.back().v] = std::min(low_[calls_.back().v], low_[v]);
        if (low_[v] != order_[v]) return;
        for (std::int32_t w = -1; w != v; open_.pop_back()) component[w = open_.back()] = n_components_;
        ++n_components_;
    }

    Network& net_;
    Chosen chosen_;
    std::vector<std::int32_t> order_;
    std::vector<std::int32_t> low_;
    std::vector<std::int32_t> open_;
    std::vector<Call> calls_;
    std::int32_t count_ = 0;
    std::int32_t n_components_ = 0;
};

template <class Network, class Chosen>
std::vector<std::int32_t> strong_components(Network& net, Chosen chosen) {
    return StrongComponents<Network, Chosen>(net, chosen).component;
}

}  // namespace structlearn
