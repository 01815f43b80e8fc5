#include "bindings/differences.hpp"
#include "bindings/parts.hpp"
#include "bindings/problems.hpp"
#include "segments/decoding.hpp"

namespace structlearn::bindings {

namespace {

// A bound Segments.
struct Segments {
    Segments(const Tokens& tokens_, Vector<std::int64_t> offsets_, std::int64_t n_labels, std::int64_t max_length,
             bool lengths, bool ends)
        : data{tokens_.matrix(), view(offsets_), n_labels, tokens_.n_columns(), max_length, lengths, ends},
          tokens(tokens_),
          offsets(std::move(offsets_)) {}

    SegmentData data;
    Tokens tokens;
    Vector<std::int64_t> offsets;
};

}  // namespace

void bind_segments(nb::module_& module) {
    nb::class_<Segments> segments(module, "Segments");
    segments
        .def(nb::init<const Tokens&, Vector<std::int64_t>, std::int64_t, std::int64_t, bool, bool>(), nb::arg("tokens"),
             nb::arg("offsets"), nb::arg("n_labels"), nb::arg("max_length"), nb::arg("lengths"), nb::arg("ends"))
        .def("best", unlocked_method<Segments>(&best_segmentations))
        .def("loss_augmented", unlocked_method<Segments>(&loss_augmented_segmentations))
        .def("samples", unlocked_method<Segments>(&samples<SegmentParts, SegmentData>));
    bind_differences<SegmentData>(segments);
    bind_parts<SegmentParts, SegmentData>(segments);
}

}  // namespace structlearn::bindings
