#include "bindings/structures.hpp"
#include "chain/distance.hpp"

namespace structlearn::bindings {

namespace {

template <class Structure, class Scorer, class Arrays>
void make_from(nb::class_<BoundProblem<Structure, Scorer>>& problem) {
    using Bound = BoundProblem<Structure, Scorer>;
    problem.def(
        "__init__",
        [](Bound* place, const ChainEngine& engine, const Arrays& scores) {
            new (place) Bound{{Structure(engine.shape), scores.scorer()}};
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

}  // namespace

void bind_chain(nb::module_& module) {
    nb::class_<ChainEngine>(module, "ChainEngine")
        .def(nb::init<Vector<std::int64_t>, std::int64_t, bool, bool, std::optional<Vector<std::uint8_t>>,
                      std::optional<Vector<std::uint8_t>>>(),
             nb::arg("offsets"), nb::arg("n_labels"), nb::arg("boundaries"), nb::arg("pairs"),
             nb::arg("allowed_labels").none() = nb::none(), nb::arg("allowed_transitions").none() = nb::none());
    auto chain = bind_composed<ChainStructure, TokenScorer>(module, "Chain");
    make_from<ChainStructure, TokenScorer, TokenScorerArrays>(chain);
    auto given = bind_engine<ChainStructure, GivenScorer>(module, "GivenChain");
    make_from<ChainStructure, GivenScorer, GivenScores>(given);
    module.def("farthest_sequences", unlocked(&farthest_sequences));
}

void bind_second_order(nb::module_& module) {
    auto chain = bind_composed<SecondOrderStructure, TokenScorer>(module, "SecondOrderChain");
    make_from<SecondOrderStructure, TokenScorer, TokenScorerArrays>(chain);
    auto given = bind_engine<SecondOrderStructure, GivenScorer>(module, "GivenSecondOrderChain");
    make_from<SecondOrderStructure, GivenScorer, GivenScores>(given);
}

}  // namespace structlearn::bindings
