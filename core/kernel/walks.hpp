#pragma once

#include <cstdint>
#include <span>

#include "batch/ragged.hpp"
#include "linear/dense.hpp"

namespace structlearn {

// Graphs one after another: nodes and arcs of each, arcs by the numbers of their nodes within the graph, and what they weigh in
// each channel, (arcs, channels).
struct Graphs {
    Ragged nodes, arcs;
    std::span<const std::int64_t> tails, heads;
    MatrixView<double> weights;
};

// Σ V ∘ R, where R = 1 + decay Σ_c A_c (V ∘ R) B_cᵀ is found by adding up walks of 0, 1, 2, … steps: of graph i with the graphs
// first, first + 1, …, whose nodes are the columns of V, their inner products with those of graph i.
// Returns the first graph with which walks do not die out in `longest` steps, or −1.
std::int64_t random_walks(const Graphs& graphs, std::int64_t i, std::int64_t first, MatrixView<double> alike, double decay,
                          std::int64_t longest, std::span<double> out);

}  // namespace structlearn
