#pragma once

#include <cstdint>

#include "hypergraph/graph.hpp"
#include "segments/scores.hpp"

namespace structlearn {

// Segmentations as derivations, with the items of `segment_messages`: enter (t, l), then leave (t, l). `steps`, which may be
// null, has what each segment takes, (length, max_length, n_labels) by its begin, its length less one, and its label.
struct SegmentGraph {
    const SegmentScores& scores;
    const double *enter, *leave;
    const std::int32_t* steps = nullptr;

    std::int64_t n_nodes() const { return scores.length * scores.n_labels; }
    std::int64_t goal() const { return 2 * n_nodes(); }
    std::int64_t n_items() const { return goal() + 1; }
    double value(std::int64_t item) const { return item < n_nodes() ? enter[item] : leave[item - n_nodes()]; }

    template <class Visit>
    void each_item(Visit&& visit) const {
        const std::int64_t L = scores.n_labels, n = n_nodes();
        for (std::int64_t first = 0; first < n; first += L) {
            for (std::int64_t item = first; item < first + L; ++item) visit(item);
            for (std::int64_t item = first; item < first + L; ++item) visit(n + item);
        }
        visit(goal());
    }
    template <class Visit>
    void each_edge(std::int64_t item, Visit&& visit) const {
        const std::int64_t L = scores.n_labels, n = n_nodes(), node = item % std::max<std::int64_t>(n, 1), t = node / L,
                           l = node % L;
        if (item == goal()) {
            if (n == 0) return visit(Edge{});
            for (std::int64_t k = 0; k < L; ++k) visit(Edge{.left = goal() - L + k});
        } else if (item >= n) {
            for (std::int64_t k = 0; k < scores.most(t, l); ++k)
                visit(Edge{.score = scores.span[k * L + l],
                           .of_item = scores.closing[node],
                           .left = node - k * L,
                           .step = steps ? steps[((t - k) * scores.max_length + k) * L + l] : 0,
                           .name = static_cast<std::int32_t>(k)});
        } else if (t == 0) {
            visit(Edge{.score = scores.opening[node]});
        } else {
            for (std::int64_t k = 0; k < L; ++k)
                visit(Edge{.score = scores.transition[k * L + l],
                           .of_item = scores.opening[node],
                           .left = n + (t - 1) * L + k});
        }
    }
    void write(std::int64_t item, const Edge& edge, Codes& codes) const {
        const std::int64_t L = scores.n_labels, n = n_nodes();
        if (item == goal()) return codes.resize(static_cast<std::size_t>(scores.length));
        if (item < n) return;
        const std::int64_t end = (item - n) / L, label = (item - n) % L;
        std::fill(codes.begin() + end - edge.name, codes.begin() + end + 1, static_cast<std::int32_t>(L + label));
        codes[end - edge.name] = static_cast<std::int32_t>(label);
    }
};

}  // namespace structlearn
