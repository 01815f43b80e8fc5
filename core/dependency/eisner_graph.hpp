#pragma once

#include <cstdint>

#include "dependency/eisner.hpp"
#include "dependency/shape.hpp"
#include "hypergraph/graph.hpp"

namespace structlearn {

// Projective trees as derivations, with the spans of a chart as items. An arc has an edge for each of its labels, whose scores
// are those of the local parts; `steps`, which may be null, has what each part takes.
template <Semiring S>
struct EisnerGraph {
    const EisnerChart<S>& chart;
    const EisnerScores& scores;
    const DependencyShape& shape;
    std::int64_t i;
    const double* local;
    const std::int32_t* steps = nullptr;

    std::int64_t goal() const { return n_span_kinds * (chart.n() + 1) * (chart.n() + 1); }
    std::int64_t n_items() const { return goal() + 1; }
    double value(std::int64_t item) const { return item == goal() ? chart.root() : chart.value(item); }

    template <class Visit>
    void each_item(Visit&& visit) const {
        const std::int64_t n = chart.n(), first = scores.first();
        for (std::int64_t width = 0; width <= n - first; ++width)
            for (std::int64_t s = first; s + width <= n; ++s) {
                if (width > 0) visit(chart.item(joined, width, s));
                if (width > 0 && scores.siblings) visit(chart.item(opened_right, width, s)), visit(chart.item(opened_left, width, s));
                if (width > 0) visit(chart.item(incomplete_right, width, s)), visit(chart.item(incomplete_left, width, s));
                visit(chart.item(complete_right, width, s)), visit(chart.item(complete_left, width, s));
            }
        visit(goal());
    }
    template <class Visit>
    void each_edge(std::int64_t item, Visit&& visit) const {
        if (item == goal()) return each_root(visit);
        const auto [kind, width, s] = span(item);
        auto pieces = [&](SpanKind left, std::int64_t at, SpanKind right, std::int64_t to, std::int64_t gap, std::int64_t from) {
            for (std::int64_t k = from; k < from + width; ++k)
                visit(Edge{.left = chart.item(left, k, at), .right = chart.item(right, to - k, at + k + gap)});
        };
        switch (kind) {
            case joined: return pieces(complete_right, s, complete_left, width - 1, 1, 0);
            case complete_right: return width > 0 ? pieces(incomplete_right, s, complete_right, width, 0, 1) : visit(Edge{});
            case complete_left: return width > 0 ? pieces(complete_left, s, incomplete_left, width, 0, 0) : visit(Edge{});
            case incomplete_right: return each_label(s, s + width, opened(opened_right, width, s), visit);
            case incomplete_left: return each_label(s + width, s, opened(opened_left, width, s), visit);
            case opened_right: return each_sibling(s, width, visit);
            default: return each_sibling_left(s, width, visit);
        }
    }
    void write(std::int64_t item, const Edge& edge, Codes& codes) const {
        if (item == goal()) {
            codes.resize(static_cast<std::size_t>(chart.n()));
            const std::int64_t L = shape.n_labels;
            if (edge.name >= 0) codes[edge.name / L - 1] = static_cast<std::int32_t>(edge.name % L);
            return;
        }
        const auto [kind, width, s] = span(item);
        if (kind == incomplete_right) codes[s + width - 1] = edge.name;
        if (kind == incomplete_left && s > 0) codes[s - 1] = edge.name;
    }

private:
    struct Span {
        SpanKind kind;
        std::int64_t width, begin;
    };
    Span span(std::int64_t item) const {
        const std::int64_t size = chart.n() + 1;
        return {static_cast<SpanKind>(item / (size * size)), item / size % size, item % size};
    }
    std::int64_t opened(SpanKind kind, std::int64_t width, std::int64_t s) const {
        return chart.item(scores.siblings ? kind : joined, width, s);
    }

    // Calls visit with an edge for each label that an arc may have.
    template <class Visit>
    void each_label(std::int64_t head, std::int64_t modifier, std::int64_t left, Visit& visit) const {
        label_edges(head, modifier, [&](std::int64_t label, double score, std::int32_t step) {
            visit(Edge{.score = score,
                       .left = left,
                       .step = step,
                       .name = static_cast<std::int32_t>(head * shape.n_labels + label)});
        });
    }
    template <class Take>
    void label_edges(std::int64_t head, std::int64_t modifier, Take&& take) const {
        if (!shape.allows_head(i, head, modifier)) return;
        const std::int64_t at = shape.arc(i, head, modifier);
        for (std::int64_t label = 0; label < shape.n_labels; ++label)
            if (local[at + label] > minus_infinity && shape.allows_label(i, modifier, label))
                take(label, local[at + label], steps ? steps[at + label] : 0);
    }
    template <class Visit>
    void each_sibling(std::int64_t s, std::int64_t width, Visit& visit) const {
        visit(Edge{.score = scores.sibling(s, s, s + width), .left = chart.item(complete_left, width - 1, s + 1)});
        for (std::int64_t k = 1; k < width; ++k)
            visit(Edge{.score = scores.sibling(s, s + k, s + width),
                       .left = chart.item(incomplete_right, k, s),
                       .right = chart.item(joined, width - k, s + k)});
    }
    template <class Visit>
    void each_sibling_left(std::int64_t s, std::int64_t width, Visit& visit) const {
        const std::int64_t t = s + width;
        visit(Edge{.score = scores.sibling(t, t, s), .left = chart.item(complete_right, width - 1, s)});
        for (std::int64_t k = 1; k < width; ++k)
            visit(Edge{.score = scores.sibling(t, t - k, s),
                       .left = chart.item(joined, width - k, s),
                       .right = chart.item(incomplete_left, k, t - k)});
    }
    // The name of an edge of the goal has the root's one modifier and its label, or is −1.
    template <class Visit>
    void each_root(Visit& visit) const {
        const std::int64_t n = chart.n(), L = shape.n_labels;
        if (n == 0) return visit(Edge{.name = -1});
        if (!scores.single_root) return visit(Edge{.left = chart.item(complete_right, n, 0), .name = -1});
        for (std::int64_t m = 1; m <= n; ++m)
            label_edges(0, m, [&](std::int64_t label, double score, std::int32_t step) {
                visit(Edge{.score = score,
                           .of_item = scores.sibling(0, 0, m),
                           .left = chart.item(complete_left, m - 1, 1),
                           .right = chart.item(complete_right, n - m, m),
                           .step = step,
                           .name = static_cast<std::int32_t>(m * L + label)});
            });
    }
};

}  // namespace structlearn
