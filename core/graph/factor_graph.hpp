#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace structlearn {

enum class FactorKind : std::uint8_t {
    table,             // a score for each joint label of the scope, the label of its last variable running fastest
    potts,             // two variables: one score if their labels are equal, 0 otherwise
    truncated_linear,  // two variables: −min(slope |a − b|, most)
    cardinality,       // variables of two labels: a score for each number of ones
};

// F(y) = constant + Σ_i θ_i(y_i) + Σ_f θ_f(y of f's scope). A view: the arrays are somebody else's, and valid. Several
// graphs may stand one after another, with a constant each; no factor joins them.
struct FactorGraph {
    std::span<const double> constants;
    std::span<const std::int64_t> variable_offsets;
    std::span<const std::int32_t> n_labels;
    std::span<const std::int64_t> unary_offsets;
    std::span<const double> unaries;
    std::span<const std::int64_t> scope_offsets;
    std::span<const std::int32_t> scopes;
    std::span<const std::uint8_t> kinds;
    std::span<const std::int64_t> value_offsets;
    std::span<const double> values;

    std::size_t n_graphs() const { return constants.size(); }
    std::size_t n_variables() const { return n_labels.size(); }
    std::size_t n_factors() const { return kinds.size(); }
    std::span<const double> unary(std::size_t i) const {
        return unaries.subspan(unary_offsets[i], n_labels[i]);
    }
    std::span<const std::int32_t> scope(std::size_t f) const {
        return scopes.subspan(scope_offsets[f], scope_offsets[f + 1] - scope_offsets[f]);
    }
    FactorKind kind(std::size_t f) const { return static_cast<FactorKind>(kinds[f]); }
    const double* value(std::size_t f) const { return values.data() + value_offsets[f]; }

    // Joint labels of a factor, which for a cardinality factor nobody should list.
    std::size_t table_size(std::size_t f) const {
        std::size_t size = 1;
        for (const auto i : scope(f)) size *= static_cast<std::size_t>(n_labels[i]);
        return size;
    }

    // The score of two labels under a factor of two variables.
    double pair_score(std::size_t f, std::int32_t a, std::int32_t b) const {
        const double* v = value(f);
        switch (kind(f)) {
            case FactorKind::table: return v[static_cast<std::int64_t>(a) * n_labels[scope(f)[1]] + b];
            case FactorKind::potts: return a == b ? v[0] : 0.0;
            case FactorKind::truncated_linear: return -std::min(v[0] * std::abs(a - b), v[1]);
            case FactorKind::cardinality: return v[a + b];
        }
        return 0.0;
    }

    // The score of a factor; `label_of` gives that of the k-th variable of its scope.
    template <class LabelOf>
    double factor_score(std::size_t f, LabelOf&& label_of) const {
        const auto variables = scope(f);
        if (variables.size() == 2) return pair_score(f, label_of(0), label_of(1));
        std::int64_t place = 0;
        if (kind(f) == FactorKind::cardinality)
            for (std::size_t k = 0; k < variables.size(); ++k) place += label_of(k);
        else
            for (std::size_t k = 0; k < variables.size(); ++k) place = place * n_labels[variables[k]] + label_of(k);
        return value(f)[place];
    }

    std::size_t graph_of(std::size_t variable) const {
        if (n_graphs() == 1) return 0;
        const auto after = std::upper_bound(variable_offsets.begin(), variable_offsets.end(),
                                            static_cast<std::int64_t>(variable));
        return static_cast<std::size_t>(after - variable_offsets.begin()) - 1;
    }

    // F(y) of each graph.
    void scores(std::span<const std::int32_t> labels, std::span<double> out) const {
        for (std::size_t g = 0; g < n_graphs(); ++g) {
            out[g] = constants[g];
            for (auto i = variable_offsets[g]; i < variable_offsets[g + 1]; ++i) out[g] += unary(i)[labels[i]];
        }
        for (std::size_t f = 0; f < n_factors(); ++f) {
            const auto variables = scope(f);
            out[graph_of(variables[0])] += factor_score(f, [&](std::size_t k) { return labels[variables[k]]; });
        }
    }

    // F(y) of all graphs together.
    double score(std::span<const std::int32_t> labels) const {
        std::vector<double> each(n_graphs());
        scores(labels, each);
        double sum = 0.0;
        for (const double one : each) sum += one;
        return sum;
    }

    // No labelling scores more: every variable and every factor at its best.
    double sum_of_maxima() const {
        double sum = 0.0;
        for (const double constant : constants) sum += constant;
        for (std::size_t i = 0; i < n_variables(); ++i) sum += *std::max_element(unary(i).begin(), unary(i).end());
        for (std::size_t f = 0; f < n_factors(); ++f) sum += largest(f);
        return sum;
    }
    double largest(std::size_t f) const {
        const double* v = value(f);
        switch (kind(f)) {
            case FactorKind::table: return *std::max_element(v, v + table_size(f));
            case FactorKind::potts: return n_labels[scope(f)[0]] > 1 ? std::max(v[0], 0.0) : v[0];
            case FactorKind::truncated_linear: return 0.0;
            case FactorKind::cardinality: return *std::max_element(v, v + scope(f).size() + 1);
        }
        return 0.0;
    }

    // Calls visit(joint label, score) for all joint labels of a factor, in the order of a table.
    template <class Visit>
    void each_joint(std::size_t f, Visit&& visit) const {
        const auto variables = scope(f);
        std::vector<std::int32_t> joint(variables.size(), 0);
        for (std::size_t left = table_size(f); left > 0; --left) {
            visit(std::span<const std::int32_t>(joint), factor_score(f, [&](std::size_t k) { return joint[k]; }));
            for (std::size_t k = joint.size(); k-- > 0;) {
                if (++joint[k] < n_labels[variables[k]]) break;
                joint[k] = 0;
            }
        }
    }
};

// The factors of each variable: those of i are factors[offsets[i]] to before factors[offsets[i + 1]], with the place
// that i has in the scope of each.
struct Adjacency {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> factors;
    std::vector<std::int32_t> places;

    explicit Adjacency(const FactorGraph& graph)
        : offsets(graph.n_variables() + 1, 0), factors(graph.scopes.size()), places(graph.scopes.size()) {
        for (const auto i : graph.scopes) ++offsets[i + 1];
        for (std::size_t i = 0; i < graph.n_variables(); ++i) offsets[i + 1] += offsets[i];
        std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
        for (std::size_t f = 0; f < graph.n_factors(); ++f) {
            const auto variables = graph.scope(f);
            for (std::size_t k = 0; k < variables.size(); ++k) {
                const auto slot = next[variables[k]]++;
                factors[slot] = static_cast<std::int32_t>(f);
                places[slot] = static_cast<std::int32_t>(k);
            }
        }
    }

    std::span<const std::int32_t> of(std::size_t i) const {
        return std::span(factors).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
};

}  // namespace structlearn
