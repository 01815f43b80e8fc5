#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cuts/search_trees.hpp"

namespace structlearn {

// (rows, columns) from a node of a grid to its neighbours, each pair once.
inline constexpr std::array<std::array<int, 2>, 4> grid_steps{{{0, 1}, {1, 0}, {1, 1}, {1, -1}}};

// A grid whose nodes have `n_arcs` neighbours, for `SearchTrees`, without a list of arcs. Slots 2 d and 2 d + 1 lead
// along step d and against it. Nodes lie in squares of 8 × 8, so that those above and below are mostly near in memory,
// too; around the grid is a margin of nodes without capacities, so that every node of the grid has all its neighbours.
template <int n_arcs>
class GridNetwork {
public:
    using Slot = std::uint8_t;
    static constexpr Slot root = n_arcs;
    static constexpr Slot none = n_arcs + 1;

    GridNetwork(std::int32_t n_rows, std::int32_t n_columns)
        : across_((n_columns + 2 + side - 1) / side),
          nodes_(((n_rows + 2 + side - 1) / side) * static_cast<std::size_t>(across_) * square) {
        for (int k = 0; k < n_arcs; ++k)
            for (int place = 0; place < square; ++place) steps_[k][place] = step(k, place / side, place % side);
    }

    std::int32_t node(std::int32_t row, std::int32_t column) const {
        const auto r = row + 1, c = column + 1;
        return (r / side * across_ + c / side) * square + r % side * side + c % side;
    }

    double& excess(std::int32_t v) { return nodes_[v].excess; }
    std::int32_t& distance(std::int32_t v) { return nodes_[v].distance; }
    std::int32_t distance(std::int32_t v) const { return nodes_[v].distance; }
    Slot& parent(std::int32_t v) { return nodes_[v].parent; }

    static constexpr Slot begin(std::int32_t) { return 0; }
    static constexpr Slot end(std::int32_t) { return n_arcs; }
    std::int32_t head(std::int32_t v, Slot k) const { return v + steps_[k][v & (square - 1)]; }
    static constexpr Slot back(std::int32_t, Slot k) { return k ^ 1; }
    double& out(std::int32_t v, Slot k) { return nodes_[v].out[k]; }
    double& in(std::int32_t, Slot k, std::int32_t w) { return nodes_[w].out[k ^ 1]; }

    template <class Visit>
    void each_node(Visit&& visit) {
        for (std::size_t v = 0; v < nodes_.size(); ++v) visit(static_cast<std::int32_t>(v));
    }

private:
    static constexpr int side = 8;
    static constexpr int square = side * side;

    struct Node {
        double excess = 0.0;
        double out[n_arcs] = {};
        std::int32_t distance = 0;
        Slot parent = none;
    };

    // From a place in a square to its neighbour, which may be in the next square.
    std::int32_t step(int k, int row, int column) const {
        const int sign = k % 2 == 0 ? 1 : -1;
        const int r = row + sign * grid_steps[k / 2][0] + side, c = column + sign * grid_steps[k / 2][1] + side;
        const int squares = (r / side - 1) * across_ + (c / side - 1);
        return squares * square + r % side * side + c % side - (row * side + column);
    }

    std::int32_t across_;
    std::array<std::array<std::int32_t, square>, n_arcs> steps_;
    std::vector<Node> nodes_;
};

template <int n_arcs>
using GridFlow = SearchTrees<GridNetwork<n_arcs>>;

}  // namespace structlearn
