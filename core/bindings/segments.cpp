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

    // Python keeps the arrays; they must be of the right type, since a converted copy would be gone.
    nb::class_<TrueSegments>(module, "TrueSegments")
        .def(
            "__init__",
            [](TrueSegments* place, Vector<std::int32_t> codes, Vector<std::int64_t> offsets, std::int64_t longest,
               Vector<std::uint8_t> counted, Vector<std::uint8_t> ends) {
                new (place) TrueSegments{view(codes), view(offsets), longest, view(counted), view(ends)};
            },
            nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(), nb::arg().noconvert(), nb::arg().noconvert(),
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>());
    nb::class_<MissedSegments, PartLoss>(module, "MissedSegments")
        .def(nb::init<const TrueSegments&, double>(), nb::keep_alive<1, 2>());
    nb::class_<MissedSegmentSteps, PartSteps>(module, "MissedSegmentSteps")
        .def(nb::init<const TrueSegments&, std::int32_t, std::int32_t>(), nb::keep_alive<1, 2>());
    nb::class_<FoundSegments, PartSteps>(module, "FoundSegments")
        .def(nb::init<const TrueSegments&>(), nb::keep_alive<1, 2>());
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
