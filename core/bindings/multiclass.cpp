#include "bindings/structures.hpp"

namespace structlearn::bindings {

namespace {

template <class Bound, class Scores>
void make_from(nb::class_<Bound>& problem) {
    problem.def(
        "__init__",
        [](Bound* place, std::int64_t n_classes, const Scores& scores) {
            new (place) Bound{{MulticlassStructure(n_classes), scores.scorer()}};
        },
        nb::keep_alive<1, 3>());
}

}  // namespace

void bind_multiclass(nb::module_& module) {
    auto multiclass = bind_composed<MulticlassStructure, TokenScorer>(module, "Multiclass");
    make_from<BoundProblem<MulticlassStructure, TokenScorer>, TokenScorerArrays>(multiclass);
}

}  // namespace structlearn::bindings
