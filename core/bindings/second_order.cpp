#include "bindings/differences.hpp"
#include "bindings/problems.hpp"
#include "chain/decoding.hpp"

namespace structlearn::bindings {

nb::class_<SecondOrderChain> bind_second_order(nb::module_& module) {
    nb::class_<SecondOrderChain> second_order(module, "SecondOrderChain");
    second_order.def(nb::init<const Chain&>())
        .def("best", unlocked_method<SecondOrderChain>(&best_sequences<SecondOrder>))
        .def("loss_augmented", unlocked_method<SecondOrderChain>(&loss_augmented_sequences<SecondOrder>));
    bind_differences<SecondOrderData>(second_order);
    return second_order;
}

}  // namespace structlearn::bindings
