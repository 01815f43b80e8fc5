#include "bindings/structures.hpp"
#include "matching/matching.hpp"
#include "matching/scans.hpp"
#include "matching/structure.hpp"

namespace structlearn::bindings {

namespace {

// Matchings of the rows and columns of examples, with the arrays.
struct MatchingEngine {
    MatchingEngine(Vector<std::int64_t> rows_, Vector<std::int64_t> columns_, bool alone,
                   std::optional<Vector<std::int32_t>> known_)
        : rows(std::move(rows_)),
          columns(std::move(columns_)),
          known(std::move(known_)),
          shape{view(rows), view(columns), alone, known ? known->data() : nullptr} {}
    MatchingEngine(const MatchingEngine&) = delete;

    Vector<std::int64_t> rows, columns;
    std::optional<Vector<std::int32_t>> known;
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
        .def(nb::init<Vector<std::int64_t>, Vector<std::int64_t>, bool, std::optional<Vector<std::int32_t>>>(),
             nb::arg("rows"), nb::arg("columns"), nb::arg("alone"), nb::arg("known").none() = nb::none());
    make_from<TokenScorer, TokenScorerArrays>(bind_composed<MatchingStructure, TokenScorer>(module, "Matchings"));
    make_from<GivenScorer, GivenScores>(bind_engine<MatchingStructure, GivenScorer>(module, "GivenMatchings"));
}

}  // namespace structlearn::bindings
