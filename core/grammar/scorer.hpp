#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "grammar/data.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Rules by their weights, and phrases by label, the tokens at their edges with their features, and length.
class GrammarScorer {
public:
    // `edges` is the kind of every token at the edge of a span, `rows` its features, (n_tokens, n_columns).
    GrammarScorer(const GrammarShape& shape, const std::int32_t* edges, const double* rows)
        : shape_(shape), edges_(edges), rows_(rows) {}

    std::int64_t n_weights() const { return shape_.rules->n_weights(); }
    std::int64_t n_shared() const { return shape_.n_shared(); }
    std::int64_t n_local(std::int64_t i) const { return shape_.n_local(i); }

    void shared(const double* w, double* theta) const { std::copy_n(w, n_shared(), theta); }
    void local(std::int64_t i, const double* w, double* theta) {
        const std::int64_t L = shape_.rules->n_labels;
        std::fill_n(theta, n_local(i), 0.0);
        clear_tokens(i);
        each_feature(i, [&](double* token, std::int64_t row, double value) { add_scaled(L, value, w + row, token); });
        each_span(i, [&](std::int64_t begin, std::int64_t end, std::int64_t at) {
            each_row(i, begin, end, [&](std::int64_t row) { add_scaled(L, 1.0, w + row, theta + at); });
            each_place(i, begin, end, [&](std::int64_t k) { add_scaled(L, 1.0, &tokens_[k * L], theta + at); });
        });
    }

    // w += Aᵀ change; returns by how much ‖w‖² grows.
    double push(std::int64_t i, const double* change, double* w) {
        const std::int64_t L = shape_.rules->n_labels;
        double growth = 0.0;
        auto add = [&](std::int64_t size, double scale, const double* values, double* to) {
            for (std::int64_t k = 0; k < size; ++k) {
                const double value = scale * values[k];
                growth += value * (2.0 * to[k] + value);
                to[k] += value;
            }
        };
        add(n_shared(), 1.0, change + n_local(i), w);
        clear_tokens(i);
        each_span(i, [&](std::int64_t begin, std::int64_t end, std::int64_t at) {
            if (std::all_of(change + at, change + at + L, [](double value) { return value == 0.0; })) return;
            each_row(i, begin, end, [&](std::int64_t row) { add(L, 1.0, change + at, w + row); });
            each_place(i, begin, end, [&](std::int64_t k) { add_scaled(L, 1.0, change + at, &tokens_[k * L]); });
        });
        each_feature(i, [&](const double* token, std::int64_t row, double value) { add(L, value, token, w + row); });
        return growth;
    }

    // Calls visit(index, value) for the features of a part, times a coefficient.
    template <class Visit>
    void features(std::int64_t i, std::int64_t part, double coefficient, Visit&& visit) const {
        if (part >= n_local(i)) return visit(part - n_local(i), coefficient);
        if (shape_.rules->n_edges == 0) return;
        const std::int64_t L = shape_.rules->n_labels, cell = part / L, n = shape_.length(i) + 1;
        each_row(i, cell / n, cell % n, [&](std::int64_t row) { visit(row + part % L, coefficient); });
        each_place(i, cell / n, cell % n, [&](std::int64_t k) {
            const std::int64_t d = shape_.rules->n_columns;
            const double* row = rows_ + (shape_.tokens.begin(i) + k % shape_.length(i)) * d;
            for (std::int64_t c = 0; c < d; ++c)
                if (row[c] != 0.0)
                    visit(shape_.rules->columns_at() + (k / shape_.length(i) * d + c) * L + part % L, coefficient * row[c]);
        });
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

    // visit(place · length + token) for the tokens with features at the four places of a span; there is none beyond the ends.
    template <class Visit>
    void each_place(std::int64_t i, std::int64_t begin, std::int64_t end, Visit&& visit) const {
        if (shape_.rules->n_columns == 0) return;
        const std::int64_t n = shape_.length(i);
        visit(begin);
        visit(n + end - 1);
        if (begin > 0) visit(2 * n + begin - 1);
        if (end < n) visit(3 * n + end);
    }
    void clear_tokens(std::int64_t i) {
        if (shape_.rules->n_columns)
            tokens_.assign(static_cast<std::size_t>(4 * shape_.length(i) * shape_.rules->n_labels), 0.0);
    }
    // visit(labels of a token at a place, row of w, value) for every feature of a token, at every place.
    template <class Visit>
    void each_feature(std::int64_t i, Visit&& visit) {
        const std::int64_t n = shape_.length(i), d = shape_.rules->n_columns, L = shape_.rules->n_labels;
        for (std::int64_t place = 0; place < 4; ++place)
            for (std::int64_t t = 0; t < n; ++t)
                for (std::int64_t c = 0; c < d; ++c)
                    if (const double value = rows_[(shape_.tokens.begin(i) + t) * d + c]; value != 0.0)
                        visit(&tokens_[(place * n + t) * L], shape_.rules->columns_at() + (place * d + c) * L, value);
    }

    GrammarShape shape_;
    const std::int32_t* edges_;
    const double* rows_;
    std::vector<double> tokens_;  // (4, length, n_labels): by the place of a token in a span
};

}  // namespace structlearn
