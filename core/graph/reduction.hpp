#pragma once

#include <cstdint>
#include <vector>

#include "graph/factor_graph.hpp"

namespace structlearn {

// A factor graph that owns its arrays.
struct OwnedFactorGraph {
    std::vector<double> constants;
    std::vector<std::int64_t> variable_offsets{0};
    std::vector<std::int32_t> n_labels;
    std::vector<std::int64_t> unary_offsets{0};
    std::vector<double> unaries;
    std::vector<std::int64_t> scope_offsets{0};
    std::vector<std::int32_t> scopes;
    std::vector<std::uint8_t> kinds;
    std::vector<std::int64_t> value_offsets;
    std::vector<double> values;

    FactorGraph view() const {
        return {constants,     variable_offsets, n_labels, unary_offsets, unaries,
                scope_offsets, scopes,           kinds,    value_offsets, values};
    }
};

// The same function of the labels that are left: a variable of one label is no variable any more, and what its
// factors say of the others goes to smaller factors, unaries and the constant. Labels and variables that are left keep
// their order. `labels` has those that each variable may have, at least one.
class Reduction {
public:
    OwnedFactorGraph graph;

    Reduction(const FactorGraph& whole, std::span<const std::int64_t> label_offsets,
              std::span<const std::int32_t> labels)
        : whole_(whole), offsets_(label_offsets), labels_(labels), number_(whole.n_variables(), -1) {
        graph.constants.assign(whole.constants.begin(), whole.constants.end());
        for (std::size_t g = 0; g < whole.n_graphs(); ++g) {
            for (auto i = whole.variable_offsets[g]; i < whole.variable_offsets[g + 1]; ++i) add_variable(i, g);
            graph.variable_offsets.push_back(static_cast<std::int64_t>(graph.n_labels.size()));
        }
        shared_.assign(whole.values.size(), -1);
        for (std::size_t f = 0; f < whole.n_factors(); ++f) add_factor(f);
    }

private:
    bool fixed(std::int32_t i) const { return number_[i] < 0; }
    std::span<const std::int32_t> left(std::int32_t i) const {
        return labels_.subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
    }

    void add_variable(std::size_t i, std::size_t g) {
        const auto kept = left(static_cast<std::int32_t>(i));
        if (kept.size() == 1) {
            graph.constants[g] += whole_.unary(i)[kept[0]];
            return;
        }
        number_[i] = static_cast<std::int32_t>(graph.n_labels.size());
        graph.n_labels.push_back(static_cast<std::int32_t>(kept.size()));
        for (const auto label : kept) graph.unaries.push_back(whole_.unary(i)[label]);
        graph.unary_offsets.push_back(static_cast<std::int64_t>(graph.unaries.size()));
    }

    void add_factor(std::size_t f) {
        bool same = true;
        std::vector<std::int32_t> free;
        for (const auto i : whole_.scope(f)) {
            same = same && !fixed(i) && left(i).size() == static_cast<std::size_t>(whole_.n_labels[i]);
            if (!fixed(i)) free.push_back(i);
        }
        if (same)
            keep(f);
        else if (whole_.kind(f) == FactorKind::cardinality && free.size() > 1)
            shift(f, free);
        else
            slice(f, free);
    }

    // Factors that shared their values go on sharing them.
    void keep(std::size_t f) {
        const auto begin = whole_.value_offsets[f];
        const auto size = value_count(f);
        if (size > 0 && shared_[begin] < 0) {
            shared_[begin] = static_cast<std::int64_t>(graph.values.size());
            const auto chosen = whole_.values.subspan(begin, size);
            graph.values.insert(graph.values.end(), chosen.begin(), chosen.end());
        }
        append(whole_.scope(f), whole_.kinds[f], size > 0 ? shared_[begin] : 0);
    }

    // Ones that are known count in advance.
    void shift(std::size_t f, const std::vector<std::int32_t>& free) {
        std::size_t ones = 0;
        for (const auto i : whole_.scope(f)) ones += fixed(i) && left(i)[0] == 1;
        const auto begin = static_cast<std::int64_t>(graph.values.size());
        graph.values.insert(graph.values.end(), whole_.value(f) + ones, whole_.value(f) + ones + free.size() + 1);
        append(free, whole_.kinds[f], begin);
    }

    void slice(std::size_t f, const std::vector<std::int32_t>& free) {
        const auto variables = whole_.scope(f);
        std::vector<std::int32_t> place(variables.size(), 0);
        std::vector<double> table;
        for (bool more = true; more;) {
            table.push_back(whole_.factor_score(f, [&](std::size_t k) { return left(variables[k])[place[k]]; }));
            more = false;
            for (std::size_t k = variables.size(); k-- > 0 && !more;) {
                more = ++place[k] < static_cast<std::int32_t>(left(variables[k]).size());
                if (!more) place[k] = 0;
            }
        }
        if (free.empty()) {
            graph.constants[whole_.graph_of(variables[0])] += table[0];
        } else if (free.size() == 1) {
            const auto begin = graph.unary_offsets[number_[free[0]]];
            for (std::size_t k = 0; k < table.size(); ++k) graph.unaries[begin + k] += table[k];
        } else {
            const auto begin = static_cast<std::int64_t>(graph.values.size());
            graph.values.insert(graph.values.end(), table.begin(), table.end());
            append(free, static_cast<std::uint8_t>(FactorKind::table), begin);
        }
    }

    void append(std::span<const std::int32_t> scope, std::uint8_t kind, std::int64_t begin) {
        for (const auto i : scope) graph.scopes.push_back(number_[i]);
        graph.scope_offsets.push_back(static_cast<std::int64_t>(graph.scopes.size()));
        graph.kinds.push_back(kind);
        graph.value_offsets.push_back(begin);
    }

    std::size_t value_count(std::size_t f) const {
        switch (whole_.kind(f)) {
            case FactorKind::table: return whole_.table_size(f);
            case FactorKind::potts: return 1;
            case FactorKind::truncated_linear: return 2;
            case FactorKind::cardinality: return whole_.scope(f).size() + 1;
        }
        return 0;
    }

    const FactorGraph& whole_;
    std::span<const std::int64_t> offsets_;
    std::span<const std::int32_t> labels_;
    std::vector<std::int32_t> number_;
    std::vector<std::int64_t> shared_;
};

}  // namespace structlearn
