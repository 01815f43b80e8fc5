#pragma once

#include <algorithm>
#include <cstdint>

#include "grammar/data.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Rules by their weights, and phrases by label, the tokens at their edges, and length.
class GrammarScorer {
public:
    // `edges` is the kind of every token at the edge of a span.
    GrammarScorer(const GrammarShape& shape, const std::int32_t* edges) : shape_(shape), edges_(edges) {}

    std::int64_t n_weights() const { return shape_.rules->n_weights(); }
    std::int64_t n_shared() const { return shape_.n_shared(); }
    std::int64_t n_local(std::int64_t i) const { return shape_.n_local(i); }

    void shared(const double* w, double* theta) const { std::copy_n(w, n_shared(), theta); }
    void local(std::int64_t i, const double* w, double* theta) const {
        std::fill_n(theta, n_local(i), 0.0);
        each_span(i, [&](std::int64_t begin, std::int64_t end, std::int64_t at) {
            each_row(i, begin, end, [&](std::int64_t row) { add_scaled(shape_.rules->n_labels, 1.0, w + row, theta + at); });
        });
    }

    // w += Aᵀ change; returns by how much ‖w‖² grows.
    double push(std::int64_t i, const double* change, double* w) const {
        const std::int64_t L = shape_.rules->n_labels;
        double growth = 0.0;
        auto add = [&](std::int64_t size, const double* values, double* to) {
            for (std::int64_t k = 0; k < size; ++k) {
                growth += values[k] * (2.0 * to[k] + values[k]);
                to[k] += values[k];
            }
        };
        add(n_shared(), change + n_local(i), w);
        each_span(i, [&](std::int64_t begin, std::int64_t end, std::int64_t at) {
            if (std::all_of(change + at, change + at + L, [](double value) { return value == 0.0; })) return;
            each_row(i, begin, end, [&](std::int64_t row) { add(L, change + at, w + row); });
        });
        return growth;
    }

    // Calls visit(index, value) for the features of a part, times a coefficient.
    template <class Visit>
    void features(std::int64_t i, std::int64_t part, double coefficient, Visit&& visit) const {
        if (part >= n_local(i)) return visit(part - n_local(i), coefficient);
        if (shape_.rules->n_edges == 0) return;
        const std::int64_t L = shape_.rules->n_labels, cell = part / L, n = shape_.length(i) + 1;
        each_row(i, cell / n, cell % n, [&](std::int64_t row) { visit(row + part % L, coefficient); });
    }

private:
    // visit(begin, end, first part) for every span that has features.
    template <class Visit>
    void each_span(std::int64_t i, Visit&& visit) const {
        if (shape_.rules->n_edges == 0) return;
        for (std::int64_t begin = 0; begin < shape_.length(i); ++begin)
            for (std::int64_t end = begin + 1; end <= shape_.length(i); ++end)
                visit(begin, end, shape_.span_at(i, begin, end));
    }
    // visit(row) for the features of a span; w[row + label] is the weight for a label.
    template <class Visit>
    void each_row(std::int64_t i, std::int64_t begin, std::int64_t end, Visit&& visit) const {
        const GrammarRules& rules = *shape_.rules;
        const std::int64_t V = rules.n_edges;
        const std::int32_t* kind = edges_ + shape_.tokens.begin(i);
        auto column = [&](std::int64_t k) { visit(rules.spans_at() + k * rules.n_labels); };
        // The last kind stands for what is outside of the sentence.
        column(kind[begin]);
        column(V + kind[end - 1]);
        column(2 * V + (begin > 0 ? kind[begin - 1] : V - 1));
        column(3 * V + (end < shape_.length(i) ? kind[end] : V - 1));
        column(4 * V + GrammarRules::bucket(end - begin));
    }

    GrammarShape shape_;
    const std::int32_t* edges_;
};

}  // namespace structlearn
