#pragma once

#include <cstdint>
#include <span>

#include "grammar/data.hpp"
#include "linear/sparse.hpp"

namespace structlearn {

// Calls visit(weight) for every feature of a coded tree, as often as the tree has it.
template <class Visit>
void each_tree_feature(const GrammarData& data, std::int64_t i, std::span<const std::int32_t> codes, Visit&& visit) {
    for (std::int32_t code : codes) visit(std::int64_t{code});
    const GrammarRules& rules = *data.rules;
    if (rules.n_edges == 0) return;
    walk_tree(rules, codes, [&](std::int32_t label, std::int64_t begin, std::int64_t end) {
        data.each_span_feature(i, begin, end, [&](std::int64_t column) {
            visit(rules.spans_at() + column * rules.n_labels + label);
        });
    });
}

inline double tree_score(const GrammarData& data, std::int64_t i, std::span<const std::int32_t> codes, const double* w) {
    double sum = 0.0;
    each_tree_feature(data, i, codes, [&](std::int64_t k) { sum += w[k]; });
    return sum;
}

// ⟨w, Ψ(x_i, y)⟩ of trees y, one for each entry of `examples`.
inline void tree_scores(const GrammarData& data, std::span<const double> w, std::span<const std::int64_t> examples,
                        std::span<const std::int32_t> codes, std::span<const std::int64_t> offsets,
                        std::span<double> out) {
    for (std::size_t k = 0; k < examples.size(); ++k)
        out[k] = tree_score(data, examples[k], Ragged(offsets).of(codes, static_cast<std::int64_t>(k)), w.data());
}

// Rows Ψ(x_i, y_i) − Ψ(x_i, ŷ), for trees ŷ, one for each entry of `examples`.
inline CsrRows tree_differences(const GrammarData& data, std::span<const std::int64_t> examples,
                                std::span<const std::int32_t> truths, std::span<const std::int32_t> codes,
                                std::span<const std::int64_t> offsets) {
    CsrRows rows;
    RowBuilder row;
    for (std::size_t k = 0; k < examples.size(); ++k) {
        const std::int64_t i = examples[k];
        row.clear();
        each_tree_feature(data, i, data.trees.of(truths, i), [&](std::int64_t f) { row(f, 1.0); });
        each_tree_feature(data, i, Ragged(offsets).of(codes, static_cast<std::int64_t>(k)),
                          [&](std::int64_t f) { row(f, -1.0); });
        row.sort();
        rows.append(row);
    }
    return rows;
}

}  // namespace structlearn
