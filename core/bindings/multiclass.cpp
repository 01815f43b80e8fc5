#include "bindings/differences.hpp"
#include "bindings/problems.hpp"
#include "multiclass/decoding.hpp"

namespace structlearn::bindings {

nb::class_<Multiclass> bind_multiclass(nb::module_& module) {
    nb::class_<Multiclass> multiclass(module, "Multiclass");
    multiclass
        .def(nb::init<const Tokens&, std::optional<Matrix<double>>, std::int64_t>(), nb::arg("tokens"),
             nb::arg("output_features").none(), nb::arg("n_classes"))
        .def("scores", unlocked_method<Multiclass>(&all_class_scores))
        .def("best", unlocked_method<Multiclass>(&best_classes))
        .def("most_violating", unlocked_method<Multiclass>(&most_violating_classes));
    bind_differences<MulticlassData>(multiclass);
    return multiclass;
}

}  // namespace structlearn::bindings
