#pragma once

#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/arrays.hpp"
#include "bindings/tokens.hpp"
#include "bindings/unlocked.hpp"
#include "parts/decoding.hpp"
#include "parts/likelihood.hpp"
#include "parts/rows.hpp"
#include "parts/scorers.hpp"

namespace structlearn::bindings {

// What a scorer of tokens holds.
struct TokenScorerArrays {
    TokenScorerArrays(const std::vector<Vector<std::int64_t>>& offsets_, const std::vector<Tokens>& tokens_,
                      Matrix<std::int64_t> blocks_, Vector<std::int64_t> tied_at, Vector<std::int64_t> tied_sizes,
                      Vector<double> tied_factors, std::optional<Vector<std::uint8_t>> kept_,
                      std::optional<Matrix<double>> output_features_, std::int64_t n_weights, PairLayout* layout_)
        : offsets(offsets_),
          tokens(tokens_),
          kept(std::move(kept_)),
          output_features(std::move(output_features_)),
          layout(layout_),
          n_dense_weights(n_weights) {
        std::int64_t first_row = 0;
        for (std::size_t b = 0; b < tokens.size(); ++b) {
            const std::int64_t* row = view(blocks_).row(b);
            blocks.push_back({tokens[b].matrix(), row[0], row[1], row[2] != 0, view(offsets[b])});
            blocks.back().layout = layout;
            blocks.back().first_row = first_row;
            first_row += tokens[b].n_columns();
            if (!output_features) continue;
            blocks.back().output_features = output_features->data();
            blocks.back().n_outputs = static_cast<std::int64_t>(output_features->shape(1));
        }
        for (std::size_t b = 0; b < tied_at.shape(0); ++b)
            tied.push_back({tied_at.data()[b], tied_sizes.data()[b], tied_factors.data()[b]});
    }
    TokenScorerArrays(const TokenScorerArrays&) = delete;

    std::int64_t n_weights() const { return layout ? layout->n_weights() : n_dense_weights; }
    TokenScorer scorer() const { return {blocks, tied, kept ? kept->data() : nullptr, n_weights()}; }

    std::vector<Vector<std::int64_t>> offsets;  // of each block
    std::vector<Tokens> tokens;
    std::optional<Vector<std::uint8_t>> kept;
    std::optional<Matrix<double>> output_features;
    std::vector<TokenBlock> blocks;
    std::vector<TiedBlock> tied;
    PairLayout* layout;  // Python keeps it alive
    std::int64_t n_dense_weights;
};

// A composed problem; Python keeps alive what it was made of.
template <class Structure, class Scorer>
struct BoundProblem {
    using Problem = Composed<Structure, Scorer>;
    Problem data;
};

template <class Structure, class Scorer>
struct Taken<const Composed<Structure, Scorer>&> {
    using Type = const BoundProblem<Structure, Scorer>&;
    static const Composed<Structure, Scorer>& of(Type bound) { return bound.data; }
};

// What not all structures can: to find the best output of every loss level, and to sum over all outputs.
template <class Structure>
constexpr bool finds_levels = requires(Structure structure, const double* local, const Counting& counted) {
    structure.levels(0, local, counted);
};
template <class Structure>
constexpr bool finds_sums = requires(Structure structure, const double* local, double* out) {
    structure.sums(0, local, out, out);
};

// The decoders of any structure on any scores.
template <class Structure, class Scorer>
nb::class_<BoundProblem<Structure, Scorer>> bind_engine(nb::module_& module, const char* name) {
    using Bound = BoundProblem<Structure, Scorer>;
    using Problem = typename Bound::Problem;
    nb::class_<Bound> problem(module, name);
    problem.def("best", unlocked_method<Bound>(&best<Problem>)).def("k_best", unlocked_method<Bound>(&k_best<Problem>));
    if constexpr (finds_sums<Structure>)
        problem.def("part_sums", unlocked_method<Bound>(&part_sums<Problem>))
            .def("samples", unlocked_method<Bound>(&samples<Problem>));
    if constexpr (finds_levels<Structure>) problem.def("best_per_level", unlocked_method<Bound>(&best_per_level<Problem>));
    return problem;
}

// What needs sums over all outputs.
template <class Structure, class Scorer>
void bind_likelihoods(nb::class_<BoundProblem<Structure, Scorer>>& problem) {
    using Bound = BoundProblem<Structure, Scorer>;
    using Problem = typename Bound::Problem;
    problem.def("local_marginals", unlocked_method<Bound>(&local_marginals<Problem>))
        .def("log_losses", unlocked_method<Bound>(&log_losses<Problem>), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg())
        .def("set_log_losses", unlocked_method<Bound>(&set_log_losses<Problem>), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg())
        .def("mix", unlocked_method<Bound>(&mix<Problem>))
        .def("exponentiate", unlocked_method<Bound>(&exponentiate<Problem>), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

// All that a structure can do on the scores of a model.
template <class Structure, class Scorer>
nb::class_<BoundProblem<Structure, Scorer>> bind_composed(nb::module_& module, const char* name) {
    using Bound = BoundProblem<Structure, Scorer>;
    using Problem = typename Bound::Problem;
    auto problem = bind_engine<Structure, Scorer>(module, name);
    problem.def("loss_augmented", unlocked_method<Bound>(&loss_augmented<Problem>))
        .def("second_best", unlocked_method<Bound>(&second_best<Problem>))
        .def("losses", unlocked_method<Bound>(&losses<Problem>))
        .def("levels_of", unlocked_method<Bound>(&levels_of<Problem>))
        .def("moves", unlocked_method<Bound>(&moves<Problem>))
        .def("differences", unlocked_method<Bound>(&differences<Problem>))
        .def("difference_dots", unlocked_method<Bound>(&difference_dots<Problem>))
        .def("add_differences", unlocked_method<Bound>(&add_differences<Problem>))
        .def("part_scores", unlocked_method<Bound>(&part_scores<Problem>))
        .def("push", unlocked_method<Bound>(&push<Problem>))
        .def("indicators", unlocked_method<Bound>(&indicators<Problem>));
    if constexpr (finds_sums<Structure>) bind_likelihoods(problem);
    if constexpr (finds_levels<Structure>)
        problem.def("most_violating_level", unlocked_method<Bound>(&most_violating_level<Problem>));
    if constexpr (requires(Structure structure) { structure.n_pairs(0); })
        problem.def("pair_marginals", unlocked_method<Bound>(&pair_marginals<Problem>));
    return problem;
}

}  // namespace structlearn::bindings
