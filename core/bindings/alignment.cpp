#include "alignment/decoding.hpp"
#include "bindings/differences.hpp"
#include "bindings/problems.hpp"

namespace structlearn::bindings {

nb::class_<Alignment> bind_alignment(nb::module_& module) {
    nb::class_<AlignmentSide>(module, "AlignmentSide")
        .def(nb::init<Vector<std::int64_t>, Matrix<std::int32_t>, Matrix<std::int32_t>, Matrix<std::int32_t>,
                      Matrix<double>>(),
             nb::arg("offsets"), nb::arg("codes"), nb::arg("gaps"), nb::arg("borders"), nb::arg("dense"));
    nb::class_<Alignment> alignment(module, "Alignment");
    alignment
        .def(nb::init<const AlignmentSide&, const AlignmentSide&, Matrix<std::int64_t>, Matrix<std::int64_t>,
                      std::int64_t, Vector<double>, int>(),
             nb::arg("s"), nb::arg("t"), nb::arg("matches"), nb::arg("gaps"), nb::arg("dense_at"), nb::arg("scale"),
             nb::arg("ends"))
        .def("best", unlocked_method<Alignment>(&best_alignments), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
             nb::arg(), nb::arg(), nb::arg(), nb::arg())
        .def("most_matches", unlocked_method<Alignment>(&most_matches))
        .def("k_best", unlocked_method<Alignment>(&k_best_alignments))
        .def("joint_features", unlocked_method<Alignment>(&alignment_features));
    bind_differences<AlignmentData>(alignment);
    return alignment;
}

}  // namespace structlearn::bindings
