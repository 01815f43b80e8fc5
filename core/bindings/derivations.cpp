#include "bindings/structures.hpp"
#include "derivations/structure.hpp"

namespace structlearn::bindings {

namespace {

// Hypergraphs of all examples, with the arrays.
struct DerivationEngine {
    DerivationEngine(Vector<std::int64_t> items_, Vector<std::int64_t> edges_, Matrix<std::int32_t> tails_,
                     Vector<std::int64_t> edge_parts_, Vector<std::int32_t> parts_, Vector<std::int64_t> n_parts_,
                     std::optional<Vector<std::uint8_t>> allowed_)
        : items(std::move(items_)),
          edges(std::move(edges_)),
          tails(std::move(tails_)),
          edge_parts(std::move(edge_parts_)),
          parts(std::move(parts_)),
          n_parts(std::move(n_parts_)),
          allowed(std::move(allowed_)),
          shape{view(items),  view(edges),   tails.data(), view(edge_parts),
                parts.data(), view(n_parts), allowed ? allowed->data() : nullptr} {}
    DerivationEngine(const DerivationEngine&) = delete;

    Vector<std::int64_t> items, edges;
    Matrix<std::int32_t> tails;
    Vector<std::int64_t> edge_parts;
    Vector<std::int32_t> parts;
    Vector<std::int64_t> n_parts;
    std::optional<Vector<std::uint8_t>> allowed;
    DerivationShape shape;
};

template <class Scorer, class Arrays>
void make_from(nb::class_<BoundProblem<DerivationStructure, Scorer>>&& problem) {
    using Bound = BoundProblem<DerivationStructure, Scorer>;
    problem.def(
        "__init__",
        [](Bound* place, const DerivationEngine& engine, const Arrays& scores) {
            new (place) Bound{{DerivationStructure(engine.shape), scores.scorer()}};
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

}  // namespace

void bind_derivations(nb::module_& module) {
    nb::class_<DerivationEngine>(module, "DerivationEngine")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int64_t>, Matrix<std::int32_t>, Vector<std::int64_t>,
                      Vector<std::int32_t>, Vector<std::int64_t>, std::optional<Vector<std::uint8_t>>>(),
             nb::arg("items"), nb::arg("edges"), nb::arg("tails"), nb::arg("edge_parts"), nb::arg("parts"),
             nb::arg("n_parts"), nb::arg("allowed").none() = nb::none());
    make_from<TokenScorer, TokenScorerArrays>(bind_composed<DerivationStructure, TokenScorer>(module, "Derivations"));
    make_from<GivenScorer, GivenScores>(bind_engine<DerivationStructure, GivenScorer>(module, "GivenDerivations"));
}

}  // namespace structlearn::bindings
