#include "parts/losses.hpp"

#include "bindings/arrays.hpp"

namespace structlearn::bindings {

namespace {

// A loss made of three arrays, which Python keeps; they must be of the right type, since a converted copy would be gone.
template <class Loss, class Base, class First, class Third>
void bind_kept(nb::module_& module, const char* name) {
    nb::class_<Loss, Base>(module, name)
        .def(
            "__init__",
            [](Loss* place, First first, Vector<std::int64_t> offsets, Third third) {
                new (place) Loss(view(first), view(offsets), view(third));
            },
            nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
}

}  // namespace

void bind_losses(nb::module_& module) {
    nb::class_<PartLoss>(module, "PartLoss")
        .def("add", [](const PartLoss& loss, std::int64_t i, MutableVector<double> local) { loss.add(i, local.data()); })
        .def("truth", &PartLoss::truth);
    bind_kept<LabelCosts, PartLoss, Vector<std::int32_t>, Matrix<double>>(module, "LabelCosts");
    bind_kept<ListedLosses, PartLoss, Vector<double>, Vector<double>>(module, "ListedLosses");
    nb::class_<PartSteps>(module, "PartSteps");
    bind_kept<LabelSteps, PartSteps, Vector<std::int32_t>, Matrix<std::int32_t>>(module, "LabelSteps");
    nb::class_<ListedSteps, PartSteps>(module, "ListedSteps")
        .def(
            "__init__",
            [](ListedSteps* place, Vector<std::int32_t> steps, Vector<std::int64_t> offsets, Matrix<std::int64_t> levels,
               bool of_spans) { new (place) ListedSteps(view(steps), view(offsets), view(levels), of_spans); },
            nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg("of_spans") = false,
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
}

}  // namespace structlearn::bindings
