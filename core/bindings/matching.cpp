#include "bindings/structures.hpp"
#include "matching/matching.hpp"
#include "matching/scans.hpp"
#include "matching/structure.hpp"

namespace structlearn::bindings {

namespace {

// Matchings of the rows and columns of examples, with the arrays.
struct MatchingEngine {
    MatchingEngine(Vector<std::int64_t> rows_, Vector<std::int64_t> columns_, bool alone, std::int64_t fertility, bool further,
                   std::optional<Vector<std::uint8_t>> forbidden_)
        : rows(std::move(rows_)),
          columns(std::move(columns_)),
          forbidden(std::move(forbidden_)),
          shape{view(rows), view(columns), alone, fertility, further} {
        if (!forbidden) return;
        for (std::int64_t i = 0; i < shape.rows.count(); ++i) parts.push_back(parts.back() + shape.n_local(i));
        shape.parts = Ragged(parts);
        shape.forbidden = forbidden->data();
    }
    MatchingEngine(const MatchingEngine&) = delete;

    Vector<std::int64_t> rows, columns;
    std::optional<Vector<std::uint8_t>> forbidden;
    std::vector<std::int64_t> parts{0};
    MatchingShape shape;
};

template <class Scorer, class Arrays>
void make_from(nb::class_<BoundProblem<MatchingStructure, Scorer>>&& problem) {
    using Bound = BoundProblem<MatchingStructure, Scorer>;
    problem.def(
        "__init__",
        [](Bound* place, const MatchingEngine& engine, const Arrays& scores) {
            new (place) Bound{{MatchingStructure(engine.shape), scores.scorer()}};
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

}  // namespace

void bind_matching(nb::module_& module) {
    module.def("all_scores", unlocked(&all_scores));
    module.def("best_matching", unlocked(&best_matching), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(),
               nb::arg(), nb::arg());
    module.def("unmatched_in_best", unlocked(&unmatched_in_best), nb::arg(), nb::arg().none(), nb::arg().none());
    module.def("k_best_matchings", unlocked(&k_best_matchings), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg());
    nb::class_<MatchingEngine>(module, "MatchingEngine")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int64_t>, bool, std::int64_t, bool, std::optional<Vector<std::uint8_t>>>(),
             nb::arg("rows"), nb::arg("columns"), nb::arg("alone"), nb::arg("fertility") = 1, nb::arg("further") = false,
             nb::arg("forbidden").none() = nb::none());
    make_from<TokenScorer, TokenScorerArrays>(bind_composed<MatchingStructure, TokenScorer>(module, "Matchings"));
    make_from<GivenScorer, GivenScores>(bind_engine<MatchingStructure, GivenScorer>(module, "GivenMatchings"));
}

}  // namespace structlearn::bindings
