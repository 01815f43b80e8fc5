#pragma once

#include <cstdint>

#include "batch/ragged.hpp"
#include "hypergraph/graph.hpp"

namespace structlearn {

// Hypergraphs that are given as lists, one for each example: items in an order in which they can be derived, the last one the
// goal; the edges of each item; the items that an edge needs, and the local parts that it brings into an output.
struct DerivationShape {
    Ragged items;               // of the examples
    Ragged edges;               // of all items
    const std::int32_t* tails;  // (n_edges, 2), within the example, −1 for none
    Ragged edge_parts;          // of all edges
    const std::int32_t* parts;  // within the example
    Ragged n_parts;             // of the examples
    const std::uint8_t* allowed = nullptr;  // whether outputs may have each part of each example, null if all are

    std::int64_t n_local(std::int64_t i) const { return n_parts.size(i); }
    std::int64_t first_edge(std::int64_t i) const { return edges.begin(items.begin(i)); }
    std::int64_t n_edges(std::int64_t i) const { return edges.begin(items.end(i)) - first_edge(i); }

    bool allows(std::int64_t i, std::int64_t part) const { return !allowed || allowed[n_parts.begin(i) + part]; }

    template <class Visit>
    void each_part(std::int64_t edge, Visit&& visit) const {
        for (std::int64_t k = edge_parts.begin(edge); k < edge_parts.end(edge); ++k) visit(parts[k]);
    }
};

// One of them with scores, and steps if they are not null, of its edges. An output is coded by its parts.
struct DerivationGraph {
    const DerivationShape& shape;
    std::int64_t i;
    const double* scores;
    const double* values;
    const std::int32_t* steps = nullptr;

    std::int64_t n_items() const { return shape.items.size(i); }
    std::int64_t goal() const { return n_items() - 1; }
    double value(std::int64_t item) const { return values[item]; }

    template <class Visit>
    void each_item(Visit&& visit) const {
        for (std::int64_t item = 0; item < n_items(); ++item) visit(item);
    }
    template <class Visit>
    void each_edge(std::int64_t item, Visit&& visit) const {
        const std::int64_t at = shape.items.begin(i) + item, first = shape.first_edge(i);
        for (std::int64_t e = shape.edges.begin(at); e < shape.edges.end(at); ++e)
            visit(Edge{.score = scores[e - first],
                       .left = shape.tails[2 * e],
                       .right = shape.tails[2 * e + 1],
                       .step = steps ? steps[e - first] : 0,
                       .name = static_cast<std::int32_t>(e - first)});
    }
    void write(std::int64_t, const Edge& edge, Codes& codes) const {
        shape.each_part(shape.first_edge(i) + edge.name, [&](std::int32_t part) { codes.push_back(part); });
    }
};

}  // namespace structlearn
