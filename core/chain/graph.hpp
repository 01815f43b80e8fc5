#pragma once

#include <cstdint>

#include "chain/second_order.hpp"
#include "hypergraph/graph.hpp"

namespace structlearn {

// Label sequences as derivations: item (t, l) is a prefix that ends with l at t. `message` has the values of the items.
struct ChainGraph {
    const ChainScores& scores;
    const double* message;

    std::int64_t goal() const { return scores.length * scores.n_labels; }
    std::int64_t n_items() const { return goal() + 1; }
    double value(std::int64_t item) const { return message[item]; }

    template <class Visit>
    void each_item(Visit&& visit) const {
        for (std::int64_t item = 0; item <= goal(); ++item) visit(item);
    }
    template <class Visit>
    void each_edge(std::int64_t item, Visit&& visit) const {
        const std::int64_t L = scores.n_labels, t = item / L, l = item % L;
        if (item == goal()) {
            if (scores.length == 0) return visit(Edge{});
            for (std::int64_t k = 0; k < L; ++k) visit(Edge{.score = scores.stop[k], .left = item - L + k});
            return;
        }
        if (t == 0) return visit(Edge{.score = scores.start[l], .of_item = scores.emission[l]});
        for (std::int64_t k = 0; k < L; ++k)
            visit(Edge{.score = scores.into(t)[k * L + l], .of_item = scores.emission[item], .left = (t - 1) * L + k});
    }
    void write(std::int64_t item, const Edge&, Codes& codes) const {
        if (item == goal()) return codes.resize(static_cast<std::size_t>(scores.length));
        codes[item / scores.n_labels] = static_cast<std::int32_t>(item % scores.n_labels);
    }
};

// The same where item (t, a, b) is a prefix that ends with a at t − 1 and b at t. A sequence of one label has the goal alone.
// `steps`, which may be null, has what each label takes at each position, (length, n_labels).
struct SecondOrderGraph {
    const SecondOrderScores& scores;
    const double* message;
    const std::int32_t* steps = nullptr;

    std::int64_t goal() const {
        const ChainScores& chain = scores.chain;
        return chain.length > 1 ? (chain.length - 1) * chain.n_labels * chain.n_labels : 0;
    }
    std::int64_t n_items() const { return goal() + 1; }
    double value(std::int64_t item) const { return message[item]; }

    template <class Visit>
    void each_item(Visit&& visit) const {
        for (std::int64_t item = 0; item <= goal(); ++item) visit(item);
    }
    template <class Visit>
    void each_edge(std::int64_t item, Visit&& visit) const {
        const ChainScores& chain = scores.chain;
        const std::int64_t L = chain.n_labels;
        if (item == goal()) return each_end(visit);
        const std::int64_t t = item / (L * L) + 1, a = item / L % L, b = item % L;
        const double arrival = chain.into(t)[a * L + b] + chain.emission[t * L + b];
        if (t == 1)
            return visit(Edge{.score = chain.start[a] + chain.emission[a],
                              .of_item = arrival,
                              .step = step(0, a) + step(1, b)});
        for (std::int64_t c = 0; c < L; ++c)
            visit(Edge{.score = scores.around(a)[c * L + b],
                       .of_item = arrival,
                       .left = ((t - 2) * L + c) * L + a,
                       .step = step(t, b)});
    }
    void write(std::int64_t item, const Edge& edge, Codes& codes) const {
        const std::int64_t L = scores.chain.n_labels;
        if (item == goal()) {
            codes.assign(static_cast<std::size_t>(scores.chain.length), edge.name);
            return;
        }
        const std::int64_t t = item / (L * L) + 1;
        codes[t] = static_cast<std::int32_t>(item % L);
        codes[t - 1] = static_cast<std::int32_t>(item / L % L);
    }

private:
    std::int32_t step(std::int64_t t, std::int64_t label) const { return steps ? steps[t * scores.chain.n_labels + label] : 0; }

    template <class Visit>
    void each_end(Visit& visit) const {
        const ChainScores& chain = scores.chain;
        const std::int64_t L = chain.n_labels;
        if (chain.length == 0) return visit(Edge{});
        if (chain.length == 1) {
            for (std::int64_t b = 0; b < L; ++b)
                visit(Edge{.score = chain.start[b] + chain.emission[b] + chain.stop[b],
                           .step = step(0, b),
                           .name = static_cast<std::int32_t>(b)});
            return;
        }
        for (std::int64_t k = 0; k < L * L; ++k) visit(Edge{.score = chain.stop[k % L], .left = goal() - L * L + k});
    }
};

}  // namespace structlearn
