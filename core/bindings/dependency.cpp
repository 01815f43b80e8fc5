#include "bindings/structures.hpp"
#include "dependency/nonprojective.hpp"
#include "dependency/projective.hpp"

namespace structlearn::bindings {

namespace {

// Dependency trees of sentences, with the arrays.
struct DependencyEngine {
    DependencyEngine(Vector<std::int64_t> offsets_, std::int64_t n_labels, bool single_root, bool siblings,
                     std::optional<Matrix<std::int32_t>> known_)
        : offsets(std::move(offsets_)),
          known(std::move(known_)),
          shape{view(offsets), n_labels, single_root, siblings, known ? known->data() : nullptr} {}
    DependencyEngine(const DependencyEngine&) = delete;

    Vector<std::int64_t> offsets;
    std::optional<Matrix<std::int32_t>> known;
    DependencyShape shape;
};

template <class Structure, class Scorer, class Arrays>
void make_from(nb::class_<BoundProblem<Structure, Scorer>>&& problem) {
    using Bound = BoundProblem<Structure, Scorer>;
    problem.def(
        "__init__",
        [](Bound* place, const DependencyEngine& engine, const Arrays& scores) {
            new (place) Bound{{Structure(engine.shape), scores.scorer()}};
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

template <class Structure>
void bind_trees(nb::module_& module, const char* name, const char* given) {
    make_from<Structure, TokenScorer, TokenScorerArrays>(bind_composed<Structure, TokenScorer>(module, name));
    make_from<Structure, GivenScorer, GivenScores>(bind_engine<Structure, GivenScorer>(module, given));
}

}  // namespace

void bind_dependency(nb::module_& module) {
    nb::class_<DependencyEngine>(module, "DependencyEngine")
        .def(nb::init<Vector<std::int64_t>, std::int64_t, bool, bool, std::optional<Matrix<std::int32_t>>>(),
             nb::arg("offsets"), nb::arg("n_labels"), nb::arg("single_root"), nb::arg("siblings"),
             nb::arg("known").none() = nb::none());
    bind_trees<ProjectiveTrees>(module, "ProjectiveTrees", "GivenProjectiveTrees");
    bind_trees<NonprojectiveTrees>(module, "NonprojectiveTrees", "GivenNonprojectiveTrees");
}

}  // namespace structlearn::bindings
