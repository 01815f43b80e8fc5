#include "bindings/differences.hpp"
#include "bindings/parts.hpp"
#include "bindings/problems.hpp"
#include "chain/decoding.hpp"
#include "chain/second_order_parts.hpp"

namespace structlearn::bindings {

namespace {

// A bound Chain of the second order.
struct SecondOrderChain {
    explicit SecondOrderChain(const Chain& chain_) : chain(chain_), data(chain.data) {}

    Chain chain;
    SecondOrderData data;
};

}  // namespace

void bind_second_order(nb::module_& module) {
    nb::class_<SecondOrderChain> second_order(module, "SecondOrderChain");
    second_order.def(nb::init<const Chain&>())
        .def("best", unlocked_method<SecondOrderChain>(&best_sequences<SecondOrder>))
        .def("loss_augmented", unlocked_method<SecondOrderChain>(&loss_augmented_sequences<SecondOrder>))
        .def("samples", unlocked_method<SecondOrderChain>(&samples<SecondOrderParts, SecondOrderData>));
    bind_differences<SecondOrderData>(second_order);
    bind_parts<SecondOrderParts, SecondOrderData>(second_order);
}

}  // namespace structlearn::bindings
