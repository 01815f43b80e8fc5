#include "kernel/walks.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace structlearn {

namespace {

// Walks are over when a step adds less than this share of what is there.
constexpr double kNothing = 1e-16;

struct Walks {
    std::vector<double> alike, last, half, walks, total;
};

// walks = decay Σ_c A_c last B_cᵀ, where last is n × m.
void step(const Graphs& graphs, std::int64_t i, std::int64_t j, std::size_t n, std::size_t m, double decay, Walks& w) {
    std::fill(w.walks.begin(), w.walks.end(), 0.0);
    for (std::size_t c = 0; c < graphs.weights.columns; ++c) {
        std::fill(w.half.begin(), w.half.end(), 0.0);
        for (std::int64_t e = graphs.arcs.begin(i); e < graphs.arcs.end(i); ++e) {
            const double weight = decay * graphs.weights.row(static_cast<std::size_t>(e))[c];
            const double* from = w.last.data() + static_cast<std::size_t>(graphs.heads[e]) * m;
            double* to = w.half.data() + static_cast<std::size_t>(graphs.tails[e]) * m;
            for (std::size_t q = 0; q < m; ++q) to[q] += weight * from[q];
        }
        for (std::int64_t e = graphs.arcs.begin(j); e < graphs.arcs.end(j); ++e) {
            const double weight = graphs.weights.row(static_cast<std::size_t>(e))[c];
            for (std::size_t p = 0; p < n; ++p) w.walks[p * m + graphs.tails[e]] += weight * w.half[p * m + graphs.heads[e]];
        }
    }
}

// NaN where walks do not die out.
double of_pair(const Graphs& graphs, std::int64_t i, std::int64_t j, std::size_t n, std::size_t m, double decay,
               std::int64_t longest, Walks& w) {
    w.walks.assign(n * m, 1.0);
    w.total = w.walks;
    w.last.resize(n * m);
    w.half.resize(n * m);
    for (std::int64_t steps = 0; steps < longest; ++steps) {
        for (std::size_t k = 0; k < n * m; ++k) w.last[k] = w.alike[k] * w.walks[k];
        step(graphs, i, j, n, m, decay, w);
        double largest = 0.0, added = 0.0;
        bool finite = true;
        for (std::size_t k = 0; k < n * m; ++k) {
            w.total[k] += w.walks[k];
            finite = finite && std::isfinite(w.total[k]);
            largest = std::max(largest, std::abs(w.total[k]));
            added = std::max(added, std::abs(w.walks[k]));
        }
        if (!finite) break;
        if (added <= kNothing * largest) {
            double sum = 0.0;
            for (std::size_t k = 0; k < n * m; ++k) sum += w.alike[k] * w.total[k];
            return sum;
        }
    }
    return std::nan("");
}

}  // namespace

std::int64_t random_walks(const Graphs& graphs, std::int64_t i, std::int64_t first, MatrixView<double> alike, double decay,
                          std::int64_t longest, std::span<double> out) {
    Walks w;
    const std::size_t n = alike.rows;
    for (std::size_t k = 0; k < out.size(); ++k) {
        const std::int64_t j = first + static_cast<std::int64_t>(k);
        const auto begin = static_cast<std::size_t>(graphs.nodes.begin(j) - graphs.nodes.begin(first));
        const auto m = static_cast<std::size_t>(graphs.nodes.end(j) - graphs.nodes.begin(j));
        w.alike.resize(n * m);
        for (std::size_t p = 0; p < n; ++p) std::copy_n(alike.row(p) + begin, m, w.alike.data() + p * m);
        out[k] = of_pair(graphs, i, j, n, m, decay, longest, w);
        if (std::isnan(out[k])) return j;
    }
    return -1;
}

}  // namespace structlearn
