#include "bindings/differences.hpp"
#include "bindings/problems.hpp"
#include "segments/decoding.hpp"

namespace structlearn::bindings {

nb::class_<Segments> bind_segments(nb::module_& module) {
    nb::class_<Segments> segments(module, "Segments");
    segments
        .def(nb::init<const Tokens&, Vector<std::int64_t>, std::int64_t, std::int64_t, bool, bool>(), nb::arg("tokens"),
             nb::arg("offsets"), nb::arg("n_labels"), nb::arg("max_length"), nb::arg("lengths"), nb::arg("ends"))
        .def("best", unlocked_method<Segments>(&best_segmentations))
        .def("loss_augmented", unlocked_method<Segments>(&loss_augmented_segmentations));
    bind_differences<SegmentData>(segments);
    return segments;
}

}  // namespace structlearn::bindings
