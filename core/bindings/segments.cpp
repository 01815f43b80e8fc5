#include "bindings/structures.hpp"

namespace structlearn::bindings {

void bind_segments(nb::module_& module) {
    nb::class_<SegmentEngine>(module, "SegmentEngine")
        .def(nb::init<Vector<std::int64_t>, std::int64_t, std::int64_t, bool, bool, std::optional<Matrix<std::int32_t>>>(),
             nb::arg("offsets"), nb::arg("n_labels"), nb::arg("max_length"), nb::arg("lengths"), nb::arg("ends"),
             nb::arg("runs").none() = nb::none());
    auto make = []<class Scorer, class Arrays>(nb::class_<BoundProblem<SegmentStructure, Scorer>>& problem, const Arrays*) {
        using Bound = BoundProblem<SegmentStructure, Scorer>;
        problem.def(
            "__init__",
            [](Bound* place, const SegmentEngine& engine, const Arrays& scores) {
                new (place) Bound{{SegmentStructure(engine.shape), scores.scorer()}};
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    };
    auto segments = bind_composed<SegmentStructure, TokenScorer>(module, "Segments");
    make(segments, static_cast<const TokenScorerArrays*>(nullptr));
    auto given = bind_engine<SegmentStructure, GivenScorer>(module, "GivenSegments");
    make(given, static_cast<const GivenScores*>(nullptr));

    auto bind_missed = []<class Missed>(auto bound, const Missed*) {
        bound.def(
            "__init__",
            [](Missed* place, Vector<std::int32_t> codes, Vector<std::int64_t> offsets, std::int64_t n_labels,
               std::int64_t longest) { new (place) Missed(view(codes), view(offsets), n_labels, longest); },
            nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::arg(), nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 3>());
    };
    bind_missed(nb::class_<MissedSegments, PartLoss>(module, "MissedSegments"), static_cast<const MissedSegments*>(nullptr));
    bind_missed(nb::class_<MissedSegmentSteps, PartSteps>(module, "MissedSegmentSteps"),
                static_cast<const MissedSegmentSteps*>(nullptr));
    auto bind_known = []<class Missed>(auto bound, const Missed*) {
        bound.def(
            "__init__",
            [](Missed* place, Vector<std::int32_t> size, Matrix<std::uint8_t> labels, Vector<std::int64_t> offsets,
               std::int64_t longest) {
                const auto n_labels = static_cast<std::int64_t>(labels.shape(1));
                new (place) Missed(KnownSegments{view(size), labels.data(), view(offsets), n_labels, longest});
            },
            nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    };
    bind_known(nb::class_<MissedKnownSegments, PartLoss>(module, "MissedKnownSegments"),
               static_cast<const MissedKnownSegments*>(nullptr));
    bind_known(nb::class_<MissedKnownSegmentSteps, PartSteps>(module, "MissedKnownSegmentSteps"),
               static_cast<const MissedKnownSegmentSteps*>(nullptr));
    nb::class_<ListedSpans, PartLoss>(module, "ListedSpans")
        .def(
            "__init__",
            [](ListedSpans* place, Vector<double> values, Vector<std::int64_t> offsets, Vector<double> truths) {
                new (place) ListedSpans(view(values), view(offsets), view(truths));
            },
            nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
}

}  // namespace structlearn::bindings
