#include "bindings/structures.hpp"

namespace structlearn::bindings {

namespace {

template <class Bound, class Scores>
void make_from(nb::class_<Bound>& problem) {
    problem.def(
        "__init__",
        [](Bound* place, std::int64_t n_classes, const Scores& scores, std::optional<Matrix<std::uint8_t>> allowed) {
            new (place) Bound{{MulticlassStructure(n_classes, allowed ? allowed->data() : nullptr), scores.scorer()}};
        },
        nb::arg("n_classes"), nb::arg("scores"), nb::arg("allowed").noconvert().none() = nb::none(),
        nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
}

}  // namespace

void bind_multiclass(nb::module_& module) {
    auto multiclass = bind_composed<MulticlassStructure, TokenScorer>(module, "Multiclass");
    make_from<BoundProblem<MulticlassStructure, TokenScorer>, TokenScorerArrays>(multiclass);
}

}  // namespace structlearn::bindings
